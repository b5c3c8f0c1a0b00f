<?php
// Answers each line of standard input by the example in the folder given.
require $argv[1] . '/check.php';

$keys = ['2026-11' => 'a secret that gate and shop share!', 'old' => 'the secret that was used before it'];
while (($line = fgets(STDIN)) !== false) {
    [$method, $target, $session, $signature, $now] = explode("\t", rtrim($line, "\n"));
    $server = ['REQUEST_METHOD' => $method, 'REQUEST_URI' => $target, 'HTTP_ROPELINE_SIGNATURE' => $signature];
    if ($session !== '') {
        $server['HTTP_ROPELINE_SESSION'] = $session;
    }
    echo is_signed($server, $keys, (int) $now) ? "yes\n" : "no\n";
}

<?php
// Says how PHP reads a request, a line a value: the thing, the reader, the value in hexadecimal digits.

function leaves($value): array {
    if (is_array($value)) {
        return array_merge([], ...array_map('leaves', array_values($value)));
    }
    return is_null($value) ? [] : [is_bool($value) ? var_export($value, true) : (string) $value];
}

function say(string $thing, string $reader, $value): void {
    foreach (leaves($value) as $leaf) {
        echo "$thing $reader ", bin2hex($leaf), "\n";
    }
}

header('Content-Type: text/plain');
// As Symfony and Laravel route: the target without its query, decoded once.
$path = rawurldecode(strtok($_SERVER['REQUEST_URI'], '?'));
if (preg_match('#^/event/([^/]+)#', $path, $found)) {
    say('event', 'REQUEST_URI', $found[1]);
}
foreach (['id', 'event_id'] as $name) {
    say($name, '_GET', $_GET[$name] ?? null);
    say($name, '_REQUEST', $_REQUEST[$name] ?? null);
}
say('user', '_SERVER', $_SERVER['HTTP_X_USER'] ?? null);
say('sid', '_COOKIE', $_COOKIE['sid'] ?? null);
say('email', '_POST', $_POST['email'] ?? null);
// Laravel's rule for JSON.
$type = $_SERVER['CONTENT_TYPE'] ?? '';
if (str_contains($type, '/json') || str_contains($type, '+json')) {
    $body = json_decode(file_get_contents('php://input'), true);
    say('email', 'json_decode', is_array($body) ? ($body['email'] ?? null) : null);
}

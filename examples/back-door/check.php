<?php
// Was this request forwarded by the gate? Pass $_SERVER; docs/guides/back-door.md says more.
function is_signed(array $server, array $keys, ?int $now = null, int $within = 60): bool
{
    $form = '/\Av1;k=([a-z0-9-]{1,16});t=([0-9]{1,12});h=([0-9a-f]{64})\z/';
    if (!preg_match($form, $server['HTTP_ROPELINE_SIGNATURE'] ?? '', $part)) {
        return false;
    }
    [, $key, $time, $given] = $part;
    if (!isset($keys[$key]) || abs(($now ?? time()) - (int) $time) > $within) {
        return false;
    }
    $session = $server['HTTP_ROPELINE_SESSION'] ?? '';
    $text = ['ropeline-signature-v1', $time, $server['REQUEST_METHOD'], $server['REQUEST_URI'], $session];
    return hash_equals(hash_hmac('sha256', implode("\n", $text), $keys[$key]), $given);
}

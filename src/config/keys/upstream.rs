//! The keys of the way to the shop.

use super::{Key, Table, key, optional};

pub(super) const UPSTREAM: Table = Table {
    name: "upstream",
    many: false,
    about: "The shop behind the gate.",
    keys: &KEYS,
};

/// What a server's address looks like.
pub(in crate::config) const URL: &str = "URL such as \"http://127.0.0.1:3000\"";

const KEYS: [Key; 39] = [
    optional(
        "url",
        URL,
        "none; this or `servers` must be set, unless `[forward_auth]` alone is used",
        "Where the shop listens. Requests go there with their own path. `https://` for TLS, `unix:/path` for a socket. Every \
         address of a name is used.",
    ),
    optional(
        "servers",
        "list of { url = \"http://10.0.0.1:3000\", weight = 2 }",
        "none",
        "Where the shop listens, if it is several servers; `weight` is a server's share (1 if left out), and one of 0 is given \
         nothing new. A request goes to the less busy of two that are drawn by weight.",
    ),
    key(
        "resolve_every",
        "duration",
        "\"30s\"",
        "How often names are looked up again. One that cannot be resolved keeps the addresses it had.",
    ),
    key(
        "host",
        "\"pass\" or a host",
        "\"pass\"",
        "The Host that the shop is sent: what the visitor sent, or always this one. `X-Forwarded-Host` has the visitor's.",
    ),
    key(
        "http2",
        "\"off\", \"alpn\" or \"prior-knowledge\"",
        "\"off\"",
        "Whether the shop is spoken to in HTTP/2. \"alpn\": by `https://`, where the server chooses it. \"prior-knowledge\": there, and \
         from the first byte on by `http://` and `unix:`.",
    ),
    key(
        "connect_timeout",
        "duration",
        "\"2s\"",
        "How long a connection to the shop may take to come about, TLS included; then 504.",
    ),
    key(
        "response_timeout",
        "duration",
        "\"60s\"",
        "How long the shop may take until the head of its answer is complete, for each try; then 504.",
    ),
    optional(
        "total_timeout",
        "duration",
        "none",
        "How long a request may take until the head of its answer is complete, all tries and waits included; then 504. It \
         begins when as much of its body is here as `request_buffer` says.",
    ),
    key(
        "body_timeout",
        "duration",
        "\"5 min\"",
        "How long the body of an answer may pause; long, for the sake of event streams.",
    ),
    key(
        "write_timeout",
        "duration",
        "\"30s\"",
        "How long the shop may take nothing while a request's body is waiting.",
    ),
    key(
        "tunnel_timeout",
        "duration",
        "\"10 min\"",
        "How long a WebSocket may be silent in both directions.",
    ),
    key(
        "keep_alive",
        "duration",
        "\"4s\"",
        "How long an idle connection to the shop is kept. Shorter than the shop's own, or it closes one just as it is used.",
    ),
    key(
        "request_buffer",
        "size, or 0",
        "\"64 KiB\"",
        "Most bytes of a request's body that are received before a connection to the shop is taken. A body that ends within them \
         is sent whole; a longer one is streamed from then on. 0: all are streamed.",
    ),
    key(
        "buffer_memory",
        "size",
        "\"256 MiB\"",
        "The memory for what is received of bodies, of which each client may have an eighth, and all requests without a session \
         together half, that pass a room by `return_routes` or `except`. Without memory a body waits in the client's socket, for the \
         `body_timeout` of `[server]`; then 503. The first 4 KiB of each body count in its client's eighth alone, and one of up to 1 KiB \
         in none, so that small ones do not wait for others. One body of each client may have more than is left of its eighth, and two of all bodies more than is \
         left of all, so that bodies that hold a part do not wait for each other.",
    ),
    optional(
        "max_streaming_bodies",
        "number",
        "a quarter of `max_connections` for each server, or 64 where that is not set",
        "Most bodies that are streamed to the shop at once, over all servers; further ones wait as for `max_connections`. \
         One client may have half of them; so may all requests without a session together, that pass a room by `return_routes` or `except`.",
    ),
    key(
        "stream_routes",
        "routes such as \"POST /upload/*\"",
        "[]",
        "Requests whose bodies are streamed from the first byte, as those of type `application/grpc` are: for clients that \
         wait for the answer while they send.",
    ),
    optional(
        "max_connections",
        "number",
        "no bound",
        "Most requests at each server at once, WebSockets included; further ones wait for the first server that is free.",
    ),
    key(
        "max_waiting",
        "number",
        "1000",
        "Most requests that wait for a server; one that would go to any stands in the line of each; and most bodies that \
         wait to be streamed. One client may have half of these places. Then 503 with Retry-After.",
    ),
    key(
        "wait_timeout",
        "duration",
        "\"5s\"",
        "How long a request waits for a server, and a body to be streamed; then 503 with Retry-After.",
    ),
    optional(
        "max_unadmitted_reads",
        "number",
        "a quarter of `max_connections` for each server, or 64 where that is not set",
        "Most requests at once that pass a line without a session to read something: `except`, paths that never wait, crawlers; and as many \
         preflights. A further one takes the place of the client that reads a long answer most slowly, or gets 503 with Retry-After. One \
         client may have half of them.",
    ),
    optional(
        "max_unadmitted_posts",
        "number",
        "a quarter of `max_connections` for each server, or 64 where that is not set",
        "The same of requests to send something: `return_routes`, and other methods in `except`, such as a payment provider's \
         callback.",
    ),
    key(
        "retries",
        "number from 0 to 2",
        "1",
        "How often a request may be sent again: only without a body, with an idempotent method, before any byte of an answer, \
         and to another server. A connection that cannot be made is tried elsewhere in any case.",
    ),
    key(
        "retry_budget",
        "percent from 0 to 100",
        "20",
        "Most requests that are sent again, of all, over time; a shop in trouble must not be hit harder for it.",
    ),
    key(
        "max_failures",
        "number from 0 to 1000",
        "3",
        "So many failures of a server in a row (no connection, no answer, a broken one) and it is passed over; 0 for never. \
         When all are out, all are tried.",
    ),
    key(
        "fail_on_5xx",
        "true or false",
        "false",
        "Whether an answer of 500 and up counts as a failure too.",
    ),
    key(
        "out_for",
        "duration",
        "\"10s\"",
        "How long a server is passed over at first; twice that each time it fails again, less up to half by chance. Then one \
         request is the trial.",
    ),
    key(
        "out_at_most",
        "duration",
        "\"5 min\"",
        "The longest a server is passed over.",
    ),
    optional(
        "health_path",
        "path such as \"/health\"",
        "no checks",
        "What is fetched from every server to see whether it is well.",
    ),
    optional(
        "health_host",
        "host",
        "the server's own",
        "The Host that checks are sent with.",
    ),
    key(
        "health_interval",
        "duration",
        "\"5s\"",
        "The time between checks of a server.",
    ),
    key(
        "health_timeout",
        "duration",
        "\"2s\"",
        "How long a check may take, the connection included.",
    ),
    key(
        "health_status",
        "status or range of them",
        "\"200-399\"",
        "The statuses of a server that is well.",
    ),
    key(
        "unhealthy_after",
        "number from 1 to 100",
        "2",
        "So many failed checks in a row and a server is passed over.",
    ),
    key(
        "healthy_after",
        "number from 1 to 100",
        "2",
        "So many good checks in a row and it is back.",
    ),
    optional(
        "ca_file",
        "path of a PEM file",
        "the system's authorities",
        "The authorities that certificates of the shop must come from.",
    ),
    optional(
        "server_name",
        "host",
        "the one in the url",
        "The name that certificates of the shop must be for.",
    ),
    optional(
        "client_cert_file",
        "path of a PEM file",
        "none",
        "The certificate, with those above it, that the shop is shown. With `client_key_file`.",
    ),
    optional(
        "client_key_file",
        "path of a PEM file",
        "none",
        "The key of `client_cert_file`.",
    ),
    optional(
        "signature_key",
        "{ id, secret }, a secret of 32 bytes or more",
        "requests are not signed",
        "Signs every forwarded request in `Ropeline-Signature`, for a shop that can be reached around the gate: `docs/guides/back-door.md`. \
         To rotate, give the shop the new key before the gate.",
    ),
];

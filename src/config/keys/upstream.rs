//! Keys of the way to the shop.

use super::form::{AUTHORITIES, DAY, Form, HOST, ROUTE};
use super::key::{Table, duration, flag, key, list, number, size, text, words};
use super::store::SIGNING_KEY;

pub(super) const UPSTREAM: Table = Table {
    name: "upstream",
    many: false,
    about: "The shop behind the gate.",
    keys: &[
        key("url", SHOP)
            .unset("none; this or `servers` must be set, unless `[forward_auth]` alone is used")
            .about("Where the shop listens. Requests go there with their own path. `https://` for TLS, `unix:/path` \
                    for a socket. Every address of a name is used."),
        list("servers", &SERVER)
            .unset("none")
            .about("Where the shop listens, if it is several servers; `weight` is a server's share (1 if left out), \
                    and one of 0 is given nothing new. A request goes to the less busy of two that are drawn by \
                    weight."),
        duration("resolve_every", 1..=DAY)
            .or("30s")
            .about("How often names are looked up again. One that cannot be resolved keeps the addresses it had."),
        text("host", "\"pass\", or a host such as \"shop.example\"")
            .or("pass")
            .about("The Host that the shop is sent: what the visitor sent, or always this one. `X-Forwarded-Host` has \
                    the visitor's."),
        words("http2", &["off", "alpn", "prior-knowledge"])
            .or("off")
            .about("Whether the shop is spoken to in HTTP/2. \"alpn\": by `https://`, where the server chooses it. \
                    \"prior-knowledge\": there, and from the first byte on by `http://` and `unix:`."),
        duration("connect_timeout", 1..=DAY)
            .or("2s")
            .about("How long a connection to the shop may take to come about, TLS included; then 504."),
        duration("response_timeout", 1..=DAY)
            .or("60s")
            .about("How long the shop may take until the head of its answer is complete, for each try; then 504."),
        duration("total_timeout", 1..=DAY)
            .unset("none")
            .about("How long a request may take until the head of its answer is complete, all tries and waits \
                    included; then 504. It begins when as much of its body is here as `request_buffer` says."),
        duration("body_timeout", 1..=DAY)
            .or("5 min")
            .about("How long the body of an answer may pause; long, for the sake of event streams."),
        duration("write_timeout", 1..=DAY)
            .or("30s")
            .about("How long the shop may take nothing while a request's body is waiting."),
        duration("tunnel_timeout", 1..=7 * DAY)
            .or("10 min")
            .about("How long a WebSocket may be silent in both directions."),
        duration("keep_alive", 1..=DAY)
            .or("4s")
            .about("How long an idle connection to the shop is kept. Shorter than the shop's own, or it closes one \
                    just as it is used."),
        key("request_buffer", Form::Either(&Form::Size(0, 64 << 20), &Form::Number(0, 0)))
            .or("64 KiB")
            .about("Most bytes of a request's body that are received before a connection to the shop is taken. A body \
                    that ends within them is sent whole; a longer one is streamed from then on. 0: all are streamed."),
        size("buffer_memory", 1 << 20..=1 << 40)
            .or("256 MiB")
            .about("The memory for what is received of bodies, of which each client may have an eighth, and all \
                    requests without a session together half, that pass a room by `return_routes` or `except`. Without \
                    memory a body waits in the client's socket, for the `body_timeout` of `[server]`; then 503. The \
                    first 4 KiB of each body count in its client's eighth alone, and one of up to 1 KiB in none, so \
                    that small ones do not wait for others. One body of each client may have more than is left of its \
                    eighth, and two of all bodies more than is left of all, so that bodies that hold a part do not wait \
                    for each other."),
        number("max_streaming_bodies", 1..=1_000_000)
            .unset("a quarter of `max_connections` for each server, or 64 where that is not set")
            .about("Most bodies that are streamed to the shop at once, over all servers; further ones wait as for \
                    `max_connections`. One client may have half of them; so may all requests without a session \
                    together, that pass a room by `return_routes` or `except`."),
        list("stream_routes", &ROUTE)
            .or("[]")
            .about("Requests whose bodies are streamed from the first byte, as those of type `application/grpc` are: \
                    for clients that wait for the answer while they send."),
        number("max_connections", 1..=1_000_000)
            .unset("no bound")
            .about("Most requests at each server at once, WebSockets included; further ones wait for the first server \
                    that is free."),
        number("max_waiting", 0..=1_000_000)
            .or("1000")
            .about("Most requests that wait for a server; one that would go to any stands in the line of each; and \
                    most bodies that wait to be streamed. One client may have half of these places. Then 503 with \
                    Retry-After."),
        duration("wait_timeout", 1..=DAY)
            .or("5s")
            .about("How long a request waits for a server, and a body to be streamed; then 503 with Retry-After."),
        number("max_unadmitted_reads", 1..=1_000_000)
            .unset("a quarter of `max_connections` for each server, or 64 where that is not set")
            .about("Most requests at once that pass a line without a session to read something: `except`, paths that \
                    never wait, crawlers; and as many preflights. A further one takes the place of the client that \
                    reads a long answer most slowly, or gets 503 with Retry-After. One client may have half of them."),
        number("max_unadmitted_posts", 1..=1_000_000)
            .unset("a quarter of `max_connections` for each server, or 64 where that is not set")
            .about("The same of requests to send something: `return_routes`, and other methods in `except`, such as a \
                    payment provider's callback."),
        number("retries", 0..=2)
            .or("1")
            .about("How often a request may be sent again: only without a body, with an idempotent method, before any \
                    byte of an answer, and to another server. A connection that cannot be made is tried elsewhere in \
                    any case."),
        number("retry_budget", 0..=100)
            .or("20")
            .about("Most requests that are sent again, of all, over time; a shop in trouble must not be hit harder for \
                    it."),
        number("max_failures", 0..=1_000)
            .or("3")
            .about("So many failures of a server in a row (no connection, no answer, a broken one) and it is passed \
                    over; 0 for never. When all are out, all are tried."),
        flag("fail_on_5xx")
            .or("false")
            .about("Whether an answer of 500 and up counts as a failure too."),
        duration("out_for", 1..=DAY)
            .or("10s")
            .about("How long a server is passed over at first; twice that each time it fails again, less up to half by \
                    chance. Then one request is the trial."),
        duration("out_at_most", 1..=DAY)
            .or("5 min")
            .about("The longest a server is passed over."),
        text("health_path", "a path such as \"/health\"")
            .unset("no checks")
            .about("What is fetched from every server to see whether it is well."),
        key("health_host", HOST)
            .unset("the server's own")
            .about("The Host that checks are sent with."),
        duration("health_interval", 1..=DAY)
            .or("5s")
            .about("The time between checks of a server."),
        duration("health_timeout", 1..=DAY)
            .or("2s")
            .about("How long a check may take, the connection included."),
        text("health_status", "a status such as \"200\", or a range such as \"200-399\"")
            .or("200-399")
            .about("The statuses of a server that is well."),
        number("unhealthy_after", 1..=100)
            .or("2")
            .about("So many failed checks in a row and a server is passed over."),
        number("healthy_after", 1..=100)
            .or("2")
            .about("So many good checks in a row and it is back."),
        key("ca_file", AUTHORITIES)
            .unset("the system's authorities")
            .about("The authorities that certificates of the shop must come from."),
        key("server_name", HOST)
            .unset("the one in the url")
            .about("The name that certificates of the shop must be for."),
        text("client_cert_file", "the path of a PEM file with a certificate and those above it")
            .unset("none")
            .about("The certificate, with those above it, that the shop is shown. With `client_key_file`."),
        text("client_key_file", "the path of a PEM file with a private key")
            .unset("none")
            .about("The key of `client_cert_file`."),
        key("signature_key", SIGNING_KEY)
            .unset("requests are not signed")
            .about("Signs every forwarded request in `Ropeline-Signature`, for a shop that can be reached around the \
                    gate: docs/guides/back-door.md. To rotate, give the shop the new key before the gate."),
    ],
};

const SHOP: Form = Form::Text(
    "the shop's address, such as \"http://127.0.0.1:3000\", \"https://shop.internal\" or \"unix:/run/shop.sock\"",
);

const SERVER: Form = Form::Fields(
    &[("url", SHOP), ("weight", Form::Optional(&Form::Number(0, 1_000)))],
    "{ url = \"http://10.0.0.1:3000\", weight = 2 }, the weight left out for 1",
);

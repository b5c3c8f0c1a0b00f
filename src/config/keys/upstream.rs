//! Keys of `[upstream]`: its servers, their limits, TLS and HTTP/2.

use super::form::{AUTHORITIES, DAY, Form, HOST, NAME, ROUTE};
use super::key::{Brackets, Table, duration, flag, key, list, number, size, text, words};
use super::store::SIGNING_KEY;

pub(super) const UPSTREAM: Table = Table {
    name: "upstream",
    brackets: Brackets::Either,
    about: "The upstream: the shop behind the gate. Several shops are `[[upstream]]` in two pairs of brackets, once for \
        each, with `name` and `hosts`. See docs/guides/several-shops.md.",
    keys: &[
        key("name", NAME).unset("none; several upstreams must have one each").about(
            "Name of the upstream for `upstream` in `[[room]]` and `[[limit]]`, in logs, in metrics and in the admin \
                API.",
        ),
        list("hosts", &HOST).or("[]").about(
            "Hosts of the upstream, such as `\"shop.example\"` or `\"*.shop.example\"`, with the port unless it is 80 or \
                443. Requests for a host of no upstream get 421. An empty list: every host, which only a single \
                upstream may have.",
        ),
        key("url", SHOP)
            .unset("none; this or `servers` must be set, unless `[forward_auth]` alone is used")
            .about(
                "Address of the upstream. Requests keep their own path. `https://` is for TLS, `unix:/path` for a \
                 socket. All addresses of a name are used.",
            ),
        list("servers", &SERVER).unset("none").about(
            "Addresses of an upstream of several servers. `weight` is a server's share, 1 if left out; a server of \
                weight 0 gets no new requests. For each request two servers are picked at random by weight, and the \
                less busy one gets it.",
        ),
        duration("resolve_every", 1..=DAY)
            .or("30s")
            .about("Interval at which names are resolved again. A name that cannot be resolved keeps its addresses."),
        text("host", "\"pass\", or a host such as \"shop.example\"")
            .or("pass")
            .about(
                "The Host that the upstream gets. `pass`: the visitor's. Any other value: always that host. \
                    `X-Forwarded-Host` holds the visitor's.",
            ),
        words("http2", &["off", "alpn", "prior-knowledge"]).or("off").about(
            "HTTP/2 to the upstream. `alpn`: over `https://`, if the server chooses it. `prior-knowledge`: \
                 always, also over `http://` and `unix:`.",
        ),
        duration("connect_timeout", 1..=DAY)
            .or("2s")
            .about("Longest time to open a connection, TLS included. Then the answer is 504."),
        duration("response_timeout", 1..=DAY).or("60s").about(
            "Longest time until the head of the response is complete, for each attempt. Then the answer is 504.",
        ),
        duration("total_timeout", 1..=DAY).unset("none").about(
            "Longest time until the head of the response is complete, over all attempts and waits. Then the answer \
                is 504. The time starts when the whole request body, or its first `request_buffer` bytes, has \
                arrived.",
        ),
        duration("body_timeout", 1..=DAY)
            .or("5 min")
            .about("Longest pause within a response body. The default is long because event streams may pause."),
        duration("write_timeout", 1..=DAY)
            .or("30s")
            .about("Longest time that the upstream may stop reading while data of a request body is ready."),
        duration("tunnel_timeout", 1..=7 * DAY)
            .or("10 min")
            .about("Longest silence of a WebSocket in both directions."),
        duration("keep_alive", 1..=DAY).or("4s").about(
            "Longest idle time of a connection to the upstream. It must be shorter than the upstream's own, or \
                 the upstream may close a connection that is about to be used.",
        ),
        key(
            "request_buffer",
            Form::Either(&Form::Size(0, 64 << 20), &Form::Number(0, 0)),
        )
        .or("64 KiB")
        .about(
            "Maximum number of bytes of a request body that are received before a connection to the upstream is \
                taken. A body within this size is sent whole. A larger one is streamed from then on. 0: all bodies \
                are streamed.",
        ),
        size("buffer_memory", 1 << 20..=1 << 40).or("256 MiB").about(
            "Memory for the received parts of request bodies. One client may use an eighth. All requests that are \
                let through by `return_routes` or `except` without a session may together use half. If no memory is \
                free, the gate does not read the body. After `body_timeout` of `[server]` the request gets 503. The \
                first 4 KiB of a body count only against the client's share, not against the total. A body of up to \
                1 KiB does not count at all. So that bodies do not block each other, one waiting body of each \
                client may exceed the client's share. Two may exceed the total: one of those requests without a \
                session, and one of all others. Each may do so by `request_buffer`.",
        ),
        number("max_streaming_bodies", 1..=1_000_000)
            .unset("a quarter of this section's `max_connections`, summed over all servers, or 64 without that key")
            .about(
                "Maximum number of request bodies that are streamed at once, over all servers. Further ones wait, \
                    for `wait_timeout` at most. One client may have half of this number. All requests that are let \
                    through without a session may together have half of it too.",
            ),
        list("stream_routes", &ROUTE).or("[]").about(
            "Requests whose bodies are streamed from the first byte. Bodies of type `application/grpc` always are. \
                Use it for clients that read the response while they still send the request.",
        ),
        number("max_connections", 1..=1_000_000).unset("no bound").about(
            "Maximum number of requests at once at each server, WebSockets included. Further ones wait for \
                the first free server.",
        ),
        number("max_waiting", 0..=1_000_000).or("1000").about(
            "Maximum number of requests that wait for a server, and of bodies that wait to be streamed. Each server \
                has its own queue of this size. A request that any server may take waits in all queues, and counts \
                in each. One client may fill half of a queue. A further request gets 503 with Retry-After.",
        ),
        duration("wait_timeout", 1..=DAY).or("5s").about(
            "Longest wait of a request for a server, and of a body to be streamed. Then the answer is 503 with \
                 Retry-After.",
        ),
        number("max_unadmitted_reads", 1..=1_000_000)
            .unset("a quarter of this section's `max_connections`, summed over all servers, or 64 without that key")
            .about(
                "Maximum number of read requests without a session that are forwarded at once. These are requests \
                    that `except` lets through, requests for paths that are never queued, and requests of crawlers. \
                    The same number of preflights is allowed in addition. When one more comes, the gate cuts off \
                    the client that reads a long response most slowly, to make room. If no client reads slowly, the \
                    further request gets 503 with Retry-After. One client may have half of this number.",
            ),
        number("max_unadmitted_posts", 1..=1_000_000)
            .unset("a quarter of this section's `max_connections`, summed over all servers, or 64 without that key")
            .about(
                "The same limit for requests that send something, such as a payment provider's callback. These match \
                    `return_routes`, or an entry of `except` with a method other than GET, HEAD and OPTIONS.",
            ),
        number("retries", 0..=2).or("1").about(
            "Maximum number of retries of a request. A request is retried only if it has no body and an idempotent \
                method, and if no byte of a response has come. It goes to another server; if a reused connection had \
                died, it may go to the same one. If no connection can be opened, any request is tried at another \
                server.",
        ),
        number("retry_budget", 0..=100).or("20").about(
            "Maximum number of retries per hundred requests, so that retries do not overload an upstream in \
                trouble.",
        ),
        number("max_failures", 0..=1_000).or("3").about(
            "Failures of a server in a row (no connection, no response, a broken response) after which it is passed \
                over. 0: never. When all servers are passed over, all are tried.",
        ),
        flag("fail_on_5xx")
            .or("false")
            .about("Counts a response of 500 and above as a failure."),
        duration("out_for", 1..=DAY).or("10s").about(
            "Time for which a server is passed over at first. Each further failure doubles the time. A random part, \
                up to half, is taken off. When the time is over, one request tries the server.",
        ),
        duration("out_at_most", 1..=DAY)
            .or("5 min")
            .about("Longest time for which a server is passed over."),
        text("health_path", "a path such as \"/health\"")
            .unset("no checks")
            .about("Path of the health check, which is fetched from every server."),
        key("health_host", HOST)
            .unset("the server's own")
            .about("Host of the health check."),
        duration("health_interval", 1..=DAY)
            .or("5s")
            .about("Interval between two health checks of a server."),
        duration("health_timeout", 1..=DAY)
            .or("2s")
            .about("Longest time of a health check, the connection included."),
        text(
            "health_status",
            "a status such as \"200\", or a range such as \"200-399\"",
        )
        .or("200-399")
        .about("Statuses of a healthy server."),
        number("unhealthy_after", 1..=100)
            .or("2")
            .about("Failed checks in a row after which a server is passed over."),
        number("healthy_after", 1..=100)
            .or("2")
            .about("Good checks in a row after which a server is used again."),
        key("ca_file", AUTHORITIES)
            .unset("the system's authorities")
            .about("Authorities for the upstream's certificates."),
        key("server_name", HOST)
            .unset("the one in the url")
            .about("Name in the upstream's certificates."),
        text(
            "client_cert_file",
            "the path of a PEM file with a certificate and those above it",
        )
        .unset("none")
        .about(
            "Certificate that the gate shows the upstream, followed by the certificates that issued it. It needs \
                `client_key_file`.",
        ),
        text("client_key_file", "the path of a PEM file with a private key")
            .unset("none")
            .about("Key of `client_cert_file`."),
        key("signature_key", SIGNING_KEY)
            .unset("requests are not signed")
            .about(
                "Key that signs every forwarded request in `Ropeline-Signature`, for an upstream that can be reached \
                    without going through the gate. See docs/guides/back-door.md. To rotate, give the new key first \
                    to the upstream and then to the gate.",
            ),
    ],
};

const SHOP: Form = Form::Text(
    "the upstream's address, such as \"http://127.0.0.1:3000\", \"https://shop.internal\" or \"unix:/run/shop.sock\"",
);

const SERVER: Form = Form::Fields(
    &[("url", SHOP), ("weight", Form::Optional(&Form::Number(0, 1_000)))],
    "{ url = \"http://10.0.0.1:3000\", weight = 2 }, the weight left out for 1",
);

//! Keys of limits: the operator's on routes, and those of the gate's own endpoints.

use super::form::{DAY, Form, HOST, NAME, ROUTE, SECOND};
use super::key::{Table, key, list, number, size};

pub(super) const LIMIT: Table = Table {
    name: "limit",
    many: true,
    about: "A rate limit per client on routes, in a room or not. A client is an IPv4 address or an IPv6 /64.",
    keys: &[
        key("name", NAME).about("Stands in metrics and answers."),
        list("hosts", &HOST)
            .or("[]")
            .about("The hosts it is for; with none, every host."),
        list("routes", &ROUTE)
            .about("What counts, all routes together. The opening of a stream counts as one request."),
        key("requests", REQUESTS).about("How many are allowed at once; they come back evenly over `window`."),
        key("window", WINDOW).about("The time in which `requests` come back."),
    ],
};

pub(super) const LIMITS: Table = Table {
    name: "limits",
    many: false,
    about: "Limits of the gate's own endpoints. A 429 there costs nobody their place.",
    keys: &[
        key("join", RATE)
            .or("{ requests = 60, window = \"1 min\" }")
            .about("Joins per client: how many places one address can take. A carrier may have some 60 people behind \
                    one, a company or a school more. Who is over this or the next two is not refused for good: their \
                    page tries again by itself. See docs/guides/bots.md."),
        key("join_network", RATE)
            .or("{ requests = 1500, window = \"1 min\" }")
            .about("Joins per network, counted for each room: so many at once, and then as many a second as come back. \
                    At its default it is at least `join`."),
        key("join_network_prefix", PREFIXES)
            .or("{ ipv4 = 24, ipv6 = 48 }")
            .about("What a network is, for `join_network`."),
        key("join_wide", RATE)
            .or("{ requests = 30000, window = \"1 min\" }")
            .about("The same per wider network, for whoever has many of the others. At its default it is at least \
                    `join_network`."),
        key("join_wide_prefix", PREFIXES)
            .or("{ ipv4 = 16, ipv6 = 40 }")
            .about("What a wider network is, for `join_wide`. At its default it is at least as wide as \
                    `join_network_prefix`."),
        key("join_without_proof", RATE)
            .or("{ requests = 30, window = \"1 min\" }")
            .about("Where a room has a `proof_of_work`: joins per network and room of those who waited instead, for \
                    want of JavaScript."),
        key("status", RATE)
            .or("{ requests = 2, window = \"1s\" }")
            .about("Questions at the gate's endpoints per session, per ticket, or per client with neither. To leave is \
                    free while it frees something, and so is the answer to a newcomer that all is sold, or that the \
                    room is closed or not open yet."),
        key("status_network", RATE)
            .or("{ requests = 2000, window = \"1s\" }")
            .about("The same per network, but for sessions. At its default it is at least `status`."),
        number("streams", 1..=100)
            .or("4")
            .about("Event streams at once per ticket: one is enough for all tabs of a browser."),
        number("streams_per_client", 1..=1_000_000)
            .or("500")
            .about("Event streams at once per client. Over it a page asks for its status instead."),
        key("preflight", RATE)
            .or("{ requests = 100, window = \"10s\" }")
            .about("CORS preflights per client; they are forwarded without a pass, since browsers send them without \
                    cookies."),
        key("returns", RATE)
            .or("{ requests = 30, window = \"1 min\" }")
            .about("Requests to `return_routes` per client."),
        size("return_body", 0..=1 << 30)
            .or("1 MiB")
            .about("Longest body of a request to `return_routes`."),
        number("clients", 1_000..=1_000_000)
            .or("100000")
            .about("How many clients each limit remembers, about 100 bytes for each. One is forgotten ten minutes \
                    after its allowance is whole again, one over its limit never; when all are over it, newcomers share \
                    one allowance per network."),
    ],
};

const REQUESTS: Form = Form::Number(1, 1_000_000);

const WINDOW: Form = Form::Duration(SECOND, DAY);

const RATE: Form = Form::Fields(
    &[("requests", REQUESTS), ("window", WINDOW)],
    "{ requests = 30, window = \"1 min\" }",
);

/// In bits.
const PREFIXES: Form = Form::Fields(
    &[("ipv4", Form::Number(8, 32)), ("ipv6", Form::Number(16, 64))],
    "{ ipv4 = 24, ipv6 = 48 }",
);

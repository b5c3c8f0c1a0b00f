//! Keys of limits: the operator's on routes, and those of the gate's own endpoints.

use super::form::{DAY, Form, HOST, NAME, ROUTE, SECOND};
use super::key::{Table, key, list, number, size};

pub(super) const LIMIT: Table = Table {
    name: "limit",
    many: true,
    about: "A rate limit per client on routes, in a room or not. A client is an IPv4 address or an IPv6 /64.",
    keys: &[
        key("name", NAME).about("Name of the limit in metrics and answers."),
        list("hosts", &HOST)
            .or("[]")
            .about("Hosts of the limit. With none, every host."),
        list("routes", &ROUTE).about("Routes that count together. The opening of a stream counts as one request."),
        key("requests", REQUESTS).about(
            "Requests that are allowed at once. This allowance refills evenly over \
            `window`.",
        ),
        key("window", WINDOW).about("Time in which the whole allowance refills."),
    ],
};

pub(super) const LIMITS: Table = Table {
    name: "limits",
    many: false,
    about: "Limits of the gate's own endpoints. A visitor who gets 429 there keeps the place.",
    keys: &[
        key("join", RATE).or("{ requests = 60, window = \"1 min\" }").about(
            "Joins of a client. A carrier may have some 60 people behind one address, a company or a school \
                 more. A visitor over this limit or the next two is not lost: the page tries again by itself. See \
                 docs/guides/bots.md.",
        ),
        key("join_network", RATE)
            .or("{ requests = 1500, window = \"1 min\" }")
            .about(
                "Joins of a network, for each room: `requests` at once, and after that as fast as the allowance \
                    refills. If it is not set, it is at least `join`.",
            ),
        key("join_network_prefix", PREFIXES)
            .or("{ ipv4 = 24, ipv6 = 48 }")
            .about("Size of a network for `join_network`."),
        key("join_wide", RATE)
            .or("{ requests = 30000, window = \"1 min\" }")
            .about(
                "Joins of a wider network, against clients with many networks. If it is not set, it is at least \
                    `join_network`.",
            ),
        key("join_wide_prefix", PREFIXES).or("{ ipv4 = 16, ipv6 = 40 }").about(
            "Size of a wider network for `join_wide`. If it is not set, it is at least as wide as \
                `join_network_prefix`.",
        ),
        key("join_without_proof", RATE)
            .or("{ requests = 30, window = \"1 min\" }")
            .about(
                "In a room with `proof_of_work`: joins of a network, for each room, from browsers without \
                    JavaScript, which wait instead of computing a proof.",
            ),
        key("status", RATE).or("{ requests = 2, window = \"1s\" }").about(
            "Requests to the gate's endpoints by one session, by one ticket, or by one client with neither. Not \
                counted are a request to leave that frees something, and the answer to a new visitor that everything \
                is sold or the room is not open.",
        ),
        key("status_network", RATE)
            .or("{ requests = 2000, window = \"1s\" }")
            .about(
                "The same for a network; requests of a session do not count. If it is not set, it is at least \
                `status`.",
            ),
        number("streams", 1..=100)
            .or("4")
            .about("Event streams at once of a ticket. One is enough for all tabs of a browser."),
        number("streams_per_client", 1..=1_000_000)
            .or("500")
            .about("Event streams at once of a client. Above it a page polls its status instead."),
        key("preflight", RATE).or("{ requests = 100, window = \"10s\" }").about(
            "CORS preflights of a client. They are forwarded without a pass, since browsers send them without \
                 cookies.",
        ),
        key("returns", RATE)
            .or("{ requests = 30, window = \"1 min\" }")
            .about("Requests of a client to `return_routes`."),
        size("return_body", 0..=1 << 30)
            .or("1 MiB")
            .about("Largest body of a request to `return_routes`."),
        number("clients", 1_000..=1_000_000).or("100000").about(
            "Clients that each limit remembers, some 100 bytes each. A client is forgotten ten minutes after its \
                 allowance is whole again, one over its limit never. If all are over it, new clients share one \
                 allowance for each network.",
        ),
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

//! Keys of limits: the operator's on routes, and those of the gate's own endpoints.

use super::form::{DAY, Form, HOST, NAME, ROUTE, SECOND};
use super::key::{Brackets, Table, key, list, number, size};

pub(super) const LIMIT: Table = Table {
    name: "limit",
    brackets: Brackets::Two,
    about: "A rate limit per client on routes, in a room or not. A client is an IPv4 address or an IPv6 /64.",
    keys: &[
        key("name", NAME).about("Name of the limit in metrics and answers."),
        key("upstream", NAME)
            .unset("the only upstream")
            .about("Name of the upstream whose requests count. With several upstreams it must be set."),
        list("hosts", &HOST)
            .or("[]")
            .about("Hosts of the limit. An empty list: every host of its upstream."),
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
    brackets: Brackets::One,
    about: "Limits of the gate's own endpoints. A visitor who gets 429 there keeps the place.",
    keys: &[
        key("join", RATE).or("{ requests = 60, window = \"1 min\" }").about(
            "Joins of a client. A carrier may have some 60 people behind one address, a company or a school more. A \
                visitor over this limit, `join_network` or `join_wide` loses nothing: the page tries again by \
                itself. See docs/guides/bots.md.",
        ),
        key("join_network", RATE)
            .or("{ requests = 1500, window = \"1 min\" }")
            .about(
                "Joins of a network, for each room: `requests` at once, and after that as fast as the allowance \
                    refills. If you do not set it, the default rises with `join` and is never below it.",
            ),
        key("join_network_prefix", PREFIXES)
            .or("{ ipv4 = 24, ipv6 = 48 }")
            .about("Size of a network for `join_network`."),
        key("join_wide", RATE)
            .or("{ requests = 30000, window = \"1 min\" }")
            .about(
                "Joins of a wider network, against clients with many networks. If you do not set it, the default \
                    rises with `join_network` and is never below it.",
            ),
        key("join_wide_prefix", PREFIXES).or("{ ipv4 = 16, ipv6 = 40 }").about(
            "Size of a wider network for `join_wide`. If you do not set it, the default widens with \
                `join_network_prefix` and is never narrower.",
        ),
        key("join_without_proof", RATE)
            .or("{ requests = 30, window = \"1 min\" }")
            .about(
                "In a room with `proof_of_work`: joins of a network, for each room, from browsers without \
                    JavaScript, which wait instead of computing a proof.",
            ),
        key("status", RATE).or("{ requests = 2, window = \"1s\" }").about(
            "Requests to the gate's endpoints by one session, by one ticket, or by one client with neither. A \
                request to leave does not count if it frees a place or a slot. A new visitor's request does not \
                count if all is sold, or if the room is closed or not open yet.",
        ),
        key("status_network", RATE)
            .or("{ requests = 2000, window = \"1s\" }")
            .about(
                "Requests to the gate's endpoints by one network. Requests of a session do not count. If you do not \
                    set it, the default rises with `status` and is never below it.",
            ),
        number("streams", 1..=100)
            .or("4")
            .about("Maximum number of open event streams for one ticket. One is enough for all tabs of a browser."),
        number("streams_per_client", 1..=1_000_000)
            .or("500")
            .about("Maximum number of open event streams for one client. Further pages poll their status instead."),
        key("preflight", RATE).or("{ requests = 100, window = \"10s\" }").about(
            "CORS preflights of a client. They are forwarded without a pass, since browsers send preflights without \
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
                allowance is full again. A client over its limit is not forgotten. If all remembered clients are \
                over the limit, new clients share one allowance for each network.",
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

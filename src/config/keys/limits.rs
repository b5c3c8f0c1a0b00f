//! Keys of limits: the operator's on routes, and those of the gate's own endpoints.

use super::{Key, Table, key, required};

pub(super) const LIMIT: Table = Table {
    name: "limit",
    many: true,
    about: "A rate limit per client on routes, in a room or not. A client is an IPv4 address or an IPv6 /64.",
    keys: &LIMIT_KEYS,
};

const LIMIT_KEYS: [Key; 5] = [
    required(
        "name",
        "1 to 32 of a-z, 0-9 and \"-\"",
        "Stands in metrics and answers.",
    ),
    key("hosts", "hosts", "[]", "The hosts it is for; with none, every host."),
    required(
        "routes",
        "routes",
        "What counts, all routes together. The opening of a stream counts as one request.",
    ),
    required(
        "requests",
        "number, 1 to 1000000",
        "How many are allowed at once; they come back evenly over `window`.",
    ),
    required(
        "window",
        "duration, 1 s to 24 h",
        "The time in which `requests` come back.",
    ),
];

pub(super) const LIMITS: Table = Table {
    name: "limits",
    many: false,
    about: "Limits of the gate's own endpoints. A 429 there costs nobody their place.",
    keys: &LIMITS_KEYS,
};

const RATE: &str = "{ requests, window }";

const PREFIX: &str = "{ ipv4, ipv6 } in bits: 8 to 32, 16 to 64";

const LIMITS_KEYS: [Key; 14] = [
    key(
        "join",
        RATE,
        "{ requests = 60, window = \"1 min\" }",
        "Joins per client: how many places one address can take. A carrier may have some 60 people behind one, a company or a \
         school more. Who is over this or the next two is not refused for good: their page tries again by itself. See \
         [bots](../guides/bots.md).",
    ),
    key(
        "join_network",
        RATE,
        "{ requests = 1500, window = \"1 min\" }",
        "Joins per network, counted for each room: so many at once, and then as many a second as come back. At its default it is \
         at least `join`.",
    ),
    key(
        "join_network_prefix",
        PREFIX,
        "{ ipv4 = 24, ipv6 = 48 }",
        "What a network is, for `join_network`.",
    ),
    key(
        "join_wide",
        RATE,
        "{ requests = 30000, window = \"1 min\" }",
        "The same per wider network, for whoever has many of the others. At its default it is at least `join_network`.",
    ),
    key(
        "join_wide_prefix",
        PREFIX,
        "{ ipv4 = 16, ipv6 = 40 }",
        "What a wider network is, for `join_wide`. At its default it is at least as wide as `join_network_prefix`.",
    ),
    key(
        "join_without_proof",
        RATE,
        "{ requests = 30, window = \"1 min\" }",
        "Where a room has a `proof_of_work`: joins per network and room of those who waited instead, for want of JavaScript.",
    ),
    key(
        "status",
        RATE,
        "{ requests = 2, window = \"1s\" }",
        "Questions at the gate's endpoints per session, per ticket, or per client with neither. To leave is free while it frees something, and so is the answer to a newcomer that all is sold, or that the room is closed or not open yet.",
    ),
    key(
        "status_network",
        RATE,
        "{ requests = 2000, window = \"1s\" }",
        "The same per network, but for sessions. At its default it is at least `status`.",
    ),
    key(
        "streams",
        "number, 1 to 100",
        "4",
        "Event streams at once per ticket: one is enough for all tabs of a browser.",
    ),
    key(
        "streams_per_client",
        "number, 1 to 1000000",
        "500",
        "Event streams at once per client. Over it a page asks for its status instead.",
    ),
    key(
        "preflight",
        RATE,
        "{ requests = 100, window = \"10s\" }",
        "CORS preflights per client; they are forwarded without a pass, since browsers send them without cookies.",
    ),
    key(
        "returns",
        RATE,
        "{ requests = 30, window = \"1 min\" }",
        "Requests to `return_routes` per client.",
    ),
    key(
        "return_body",
        "size",
        "\"1 MiB\"",
        "Longest body of a request to `return_routes`.",
    ),
    key(
        "clients",
        "number, 1000 to 1000000",
        "100000",
        "How many clients each limit remembers, about 100 bytes for each. One is forgotten ten minutes after \
         its allowance is whole again, one over its limit never; when all are over it, newcomers share one allowance per network.",
    ),
];

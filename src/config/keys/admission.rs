//! Keys of following what the shop can take.

use super::{Key, Table, key, optional};

pub(super) const ADMISSION: Table = Table {
    name: "room.admission",
    many: false,
    about: "Calls visitors as the shop can take them, within `total_active_users` and `new_users_per_minute`. Without `by` a room goes by \
            these two alone. See [admission](../guides/load-control.md).",
    keys: &KEYS,
};

const KEYS: [Key; 6] = [
    optional(
        "by",
        "\"linear\" or \"adaptive\"",
        "nothing is followed",
        "`linear`: fewer are called the more requests the shop has. `adaptive`: as many as its latency and errors let through.",
    ),
    key(
        "ttl",
        "duration, 5s to 1h",
        "\"10s\"",
        "How long figures of the shop hold, at least 5 s. When there are none that hold, nobody is called, and page, log and metrics say so.",
    ),
    key(
        "calls",
        "{ most, least }, 0 to 1000000",
        "{ most = 50, least = 1 }",
        "By `linear`: visitors called in each `call_every`, while the shop has few requests and while it has many; falling throughout.",
    ),
    key(
        "requests",
        "{ few, many } a second, 0 to 10000000",
        "{ few = 0, many = 100 }",
        "By `linear`: the shop's requests a second up to which the most are called, and from which on the least.",
    ),
    key(
        "p95",
        "duration, 10ms to 1 min",
        "\"1500ms\"",
        "By `adaptive`: when 95 of 100 requests take longer, nobody is called until they do not. It gives way long before.",
    ),
    key(
        "errors",
        "number, 1 to 1000",
        "50",
        "By `adaptive`: of 1000 requests so many may fail (no answer, or 500 and above); with more, nobody is called.",
    ),
];

//! Keys of load control: a room that follows the load of the upstream.

use super::form::{Form, HOUR, MINUTE, SECOND};
use super::key::{Brackets, Table, duration, key, number, words};

pub(super) const LOAD_CONTROL: Table = Table {
    name: "room.load_control",
    brackets: Brackets::One,
    about: "Calls visitors as fast as the upstream can serve them, within `total_active_users` and \
        `new_users_per_minute`. Without `by` only these two limits apply. See docs/guides/load-control.md.",
    keys: &[
        words("by", &["linear", "adaptive"]).unset("no load control").about(
            "`linear`: the more requests the upstream has, the fewer visitors are called. `adaptive`: as many \
                 are called as latency and errors of the upstream allow.",
        ),
        duration("ttl", 5 * SECOND..=HOUR).or("10s").about(
            "Time for which a measurement of the upstream (requests, latency, failures) is used. Without a \
                measurement that is recent enough, calls pause; page, log and metrics say so.",
        ),
        key("calls", CALLS).or("{ most = 50, least = 1 }").about(
            "For `linear`: visitors called in each `call_every`, `most` while the upstream has few requests and \
                 `least` while it has many. In between the number falls evenly.",
        ),
        key("requests", REQUESTS).or("{ few = 0, many = 100 }").about(
            "For `linear`: requests a second of the upstream. Up to `few` requests a second, `most` visitors are \
                called; from `many` on, `least`.",
        ),
        duration("p95", 10..=MINUTE).or("1500ms").about(
            "For `adaptive`: the latency that 95 of 100 requests must stay below. Above it calls pause; they \
                 slow down long before.",
        ),
        number("errors", 1..=1_000).or("50").about(
            "For `adaptive`: failures in 1000 requests (no response, or 500 and above). With more, calls pause.",
        ),
    ],
};

const CALLS: Form = Form::Fields(
    &[
        ("most", Form::Number(0, 1_000_000)),
        ("least", Form::Number(0, 1_000_000)),
    ],
    "{ most = 50, least = 1 }",
);

const REQUESTS: Form = Form::Fields(
    &[
        ("few", Form::Number(0, 10_000_000)),
        ("many", Form::Number(0, 10_000_000)),
    ],
    "{ few = 0, many = 100 }",
);

//! Keys of following what the shop can take.

use super::form::{Form, HOUR, MINUTE, SECOND};
use super::key::{Table, duration, key, number, words};

pub(super) const LOAD_CONTROL: Table = Table {
    name: "room.load_control",
    many: false,
    about: "Calls visitors as the shop can take them, within `total_active_users` and `new_users_per_minute`. Without \
            `by` a room goes by these two alone. See docs/guides/load-control.md.",
    keys: &[
        words("by", &["linear", "adaptive"]).unset("nothing is followed").about(
            "`linear`: fewer are called the more requests the shop has. `adaptive`: as many as its latency and \
                    errors let through.",
        ),
        duration("ttl", 5 * SECOND..=HOUR).or("10s").about(
            "How long figures of the shop hold, at least 5 s. When there are none that hold, nobody is called, \
                    and page, log and metrics say so.",
        ),
        key("calls", CALLS).or("{ most = 50, least = 1 }").about(
            "By `linear`: visitors called in each `call_every`, while the shop has few requests and while it \
                    has many; falling throughout.",
        ),
        key("requests", REQUESTS).or("{ few = 0, many = 100 }").about(
            "By `linear`: the shop's requests a second up to which the most are called, and from which on the \
                    least.",
        ),
        duration("p95", 10..=MINUTE).or("1500ms").about(
            "By `adaptive`: when 95 of 100 requests take longer, nobody is called until they do not. It gives \
                    way long before.",
        ),
        number("errors", 1..=1_000).or("50").about(
            "By `adaptive`: of 1000 requests so many may fail (no answer, or 500 and above); with more, nobody \
                    is called.",
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

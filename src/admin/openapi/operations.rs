//! Every method of every path, in words.

use serde_json::{Value, json};

use super::{Given, Operation, Schemas};
use crate::admin::{api, patch};
use crate::room::MAX_MESSAGE;

pub(super) fn operations(s: &mut Schemas) -> Vec<Operation> {
    let mut all = of_rooms(s);
    all.extend(of_lines(s));
    all.extend(of_gates(s));
    all.extend(of_health(s));
    all
}

fn get(path: &'static str, summary: &'static str, gives: Given) -> Operation {
    Operation {
        method: "get",
        path,
        summary,
        takes: None,
        gives,
        query: &[],
    }
}

fn post(path: &'static str, summary: &'static str, (takes, gives): (Value, Given)) -> Operation {
    Operation {
        method: "post",
        takes: Some(takes),
        ..get(path, summary, gives)
    }
}

fn of_rooms(s: &mut Schemas) -> Vec<Operation> {
    const ROOM: &str = "/api/v1/rooms/{room}";
    const LOAD: &str = "/api/v1/rooms/{room}/load";
    vec![
        get(
            "/api/v1/rooms",
            "Every room, and how the gate stands",
            s.gives::<api::Rooms>(),
        ),
        Operation {
            query: &[("reason", "Why, at most 200 bytes")],
            ..post(
                "/api/v1/rooms",
                "Add a room: its `[[room]]` table as application/toml, or the table's keys as application/json",
                (json!({"type": "object"}), s.gives::<api::RoomAdded>()),
            )
        },
        get(
            "/api/v1/additions",
            "The last rooms that were added and removed",
            s.gives::<api::Additions>(),
        ),
        get(ROOM, "One room", s.gives::<api::Room>()),
        get(
            "/api/v1/rooms/{room}/probe",
            "A nonce by which a gate proves to have the same keys",
            s.gives::<api::Probe>(),
        ),
        Operation {
            method: "delete",
            takes: Some(s.takes::<api::RemoveRoom>()),
            ..get(
                ROOM,
                "Remove a room that was added: every session ends, every place is void",
                s.gives::<api::RoomRemoved>(),
            )
        },
        Operation {
            method: "patch",
            takes: Some(patch_schema()),
            ..get(
                ROOM,
                "Change a room (RFC 7396): null is the configured value",
                s.gives::<api::Room>(),
            )
        },
        post(
            "/api/v1/rooms/{room}/call",
            "Let visitors in now, above the rate",
            (s.takes::<api::Call>(), s.gives::<api::Called>()),
        ),
        post(
            "/api/v1/rooms/{room}/reset",
            "Begin anew: every session ends, every place is void",
            (s.takes::<api::Reset>(), s.gives::<api::Room>()),
        ),
        post(
            "/api/v1/rooms/{room}/message",
            "Tell those who wait something, each in their language",
            (s.takes::<api::Messages>(), s.gives::<api::Room>()),
        ),
        post(
            "/api/v1/rooms/{room}/healing/end",
            "Wait no longer for visitors of a lost log: the room calls again",
            (s.takes::<api::EndHealing>(), s.gives::<api::Room>()),
        ),
        post(
            "/api/v1/rooms/{room}/rehearsal",
            "Begin a rehearsal: virtual visitors may come",
            (s.takes::<api::Rehearse>(), s.gives::<api::Room>()),
        ),
        post(
            "/api/v1/rooms/{room}/rehearsal/renew",
            "The rehearsal goes on, for 15 s from now",
            (s.takes::<api::Renew>(), s.gives::<api::Room>()),
        ),
        post(
            "/api/v1/rooms/{room}/rehearsal/end",
            "End the rehearsal: every virtual visitor is gone",
            (s.takes::<api::EndRehearsal>(), s.gives::<api::Room>()),
        ),
        post(
            LOAD,
            "Say what the shop can take, in the place of measured figures",
            (s.takes::<api::Load>(), s.gives::<api::Room>()),
        ),
        Operation {
            method: "delete",
            ..get(LOAD, "Let the measured figures count again", s.gives::<api::Room>())
        },
        get(
            "/api/v1/rooms/{room}/changes",
            "The last changes of the keys of PATCH: who made them, and what was in force before",
            s.gives::<api::Changes>(),
        ),
        get(
            "/api/v1/rooms/{room}/history",
            "The room's figures of the last hours, as this gate has seen them",
            s.gives::<api::History>(),
        ),
    ]
}

fn of_lines(s: &mut Schemas) -> Vec<Operation> {
    const DRAW: &str = "/api/v1/rooms/{room}/draw";
    const VISITOR: &str = "/api/v1/rooms/{room}/visitors/{reference}";
    const LINE: &[(&str, &str)] = &[("line", "Which line, in a room that has many")];
    vec![
        Operation {
            query: &[
                ("after", "The last line of the page before"),
                ("limit", "1 to 1000; 100 without it"),
            ],
            ..get(
                "/api/v1/rooms/{room}/lines",
                "The lines of a room, a page at a time",
                s.gives::<api::Lines>(),
            )
        },
        Operation {
            query: &[
                ("line", "Only this line, in a room that has many"),
                ("after", "`next` of the page before"),
                ("limit", "1 to 10000; 1000 without it"),
            ],
            ..get(
                "/api/v1/rooms/{room}/winners",
                "Who completed, while the stock lasted",
                s.gives::<api::Winners>(),
            )
        },
        Operation {
            query: &[
                ("after", "`next` of the page before"),
                ("limit", "1 to 10000; 1000 without it"),
            ],
            ..get(
                "/api/v1/rooms/{room}/codes",
                "Single-use codes that are spent and have not expired",
                s.gives::<api::SpentCodes>(),
            )
        },
        Operation {
            query: LINE,
            ..get(DRAW, "How far the room's draw has come", s.gives::<api::Draw>())
        },
        Operation {
            query: LINE,
            ..post(
                DRAW,
                "Give the draw's beacon its value",
                (s.takes::<api::BeaconValue>(), s.gives::<api::Draw>()),
            )
        },
        Operation {
            query: LINE,
            ..get(
                VISITOR,
                "Where a visitor stands, by the reference on their page",
                s.gives::<api::Visitor>(),
            )
        },
        Operation {
            method: "delete",
            query: LINE,
            ..get(
                VISITOR,
                "End the session, or take the visitor out of the line",
                s.gives::<api::Visitor>(),
            )
        },
        get(
            "/api/v1/verify",
            "Where the session of the `Ropeline-Session` field stands",
            s.gives::<api::Verified>(),
        ),
    ]
}

fn of_gates(s: &mut Schemas) -> Vec<Operation> {
    let nothing = || json!({"type": "object"});
    vec![
        get(
            "/api/v1/openapi.json",
            "This document",
            Given::Json(json!({"type": "object"})),
        ),
        get(
            "/api/v1/gates",
            "The gates that share the rooms, and their log",
            s.gives::<api::Gates>(),
        ),
        post(
            "/api/v1/heal",
            "End the wait for silent gates",
            (nothing(), s.gives::<api::Gates>()),
        ),
        post(
            "/api/v1/skip",
            "Have every gate pass over an entry that freezes this one",
            (s.takes::<api::Skip>(), s.gives::<api::Gates>()),
        ),
        post(
            "/api/v1/raise",
            "Put a machine version in force that all gates know",
            (s.takes::<api::Raise>(), s.gives::<api::Gates>()),
        ),
        post(
            "/api/v1/upgrade",
            "Hand over to the binary at the gate's path",
            (nothing(), s.gives::<api::Upgraded>()),
        ),
        get(
            "/api/v1/upstreams",
            "The shop's servers, as this gate sees them",
            s.gives::<api::Upstreams>(),
        ),
        get(
            "/api/v1/reload",
            "What became of the last reload",
            s.gives::<api::Reload>(),
        ),
        post(
            "/api/v1/reload",
            "Read the file again",
            (nothing(), s.gives::<api::Reload>()),
        ),
    ]
}

fn of_health(s: &mut Schemas) -> Vec<Operation> {
    vec![
        get("/", "The operator's page", Given::Text("text/html")),
        get("/style.css", "Its looks", Given::Text("text/css")),
        get("/script.js", "Its script", Given::Text("text/javascript")),
        get("/livez", "The process is alive", s.gives::<api::Health>()),
        get("/healthz", "The same", s.gives::<api::Health>()),
        get("/readyz", "Visitors can be sent here", s.gives::<api::Health>()),
        get(
            "/metrics",
            "Figures for Prometheus, in OpenMetrics' text",
            Given::Text("application/openmetrics-text"),
        ),
    ]
}

/// A change is read key by key, so that every mistake is told at once: no type of ours holds it.
fn patch_schema() -> Value {
    let date =
        json!({"type": ["string", "null"], "description": "A date, `now`, `none`, or null for the configured one"});
    let count = |most: u32| json!({"type": ["integer", "null"], "minimum": 0, "maximum": most});
    json!({
        "type": "object",
        "minProperties": 1,
        "additionalProperties": false,
        "properties": {
            "mode": {"enum": ["auto", "hold", "closed", "off", null]},
            "total_active_users": count(patch::MAX_CAPACITY),
            "capacity": count(patch::MAX_CAPACITY),
            "new_users_per_minute": {"anyOf": [count(patch::MAX_RATE), {"const": "none"}]},
            "rate": {"anyOf": [count(patch::MAX_RATE), {"const": "none"}]},
            "message": {"type": ["string", "null"], "maxLength": MAX_MESSAGE},
            "prequeue_from": date,
            "opens_at": date,
            "closes_at": date,
            "stock": {"type": ["integer", "null"], "minimum": 1, "maximum": 1_000_000},
            "results_at": date,
            "reason": {"type": ["string", "null"], "maxLength": 200},
        },
    })
}

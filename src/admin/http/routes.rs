//! Every route of the admin listener, declared once: its path, its handler, and its description in the `OpenAPI` document.
//!
//! Not aide or utoipa: both want a trait or an attribute for each handler and each extractor, which is more code than this table.

use axum::handler::Handler;
use axum::routing::{self, MethodRouter};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::access::VERIFY;
use super::openapi;
use super::static_files;
use crate::admin::api;
use crate::admin::handlers::additions;
use crate::admin::handlers::codes;
use crate::admin::handlers::doctor;
use crate::admin::handlers::draws;
use crate::admin::handlers::gates;
use crate::admin::handlers::health;
use crate::admin::handlers::load;
use crate::admin::handlers::orders;
use crate::admin::handlers::probes;
use crate::admin::handlers::rehearsals;
use crate::admin::handlers::reload;
use crate::admin::handlers::rooms;
use crate::admin::handlers::upgrade;
use crate::admin::handlers::upstreams;
use crate::admin::handlers::verify;
use crate::admin::handlers::visitors;
use crate::admin::handlers::winners;
use crate::admin::patch;
use crate::admin::shared::Shared;
use crate::room::MAX_MESSAGE;

/// One method of one path.
pub struct Endpoint {
    pub method: &'static str,
    pub path: &'static str,
    pub handler: MethodRouter<Shared>,
    pub summary: &'static str,
    /// Parameters of the query, each with its description.
    pub query: &'static [(&'static str, &'static str)],
    /// The body of the request.
    pub takes: Option<SchemaOf>,
    pub gives: Gives,
}

/// The schema of a type, made when the document is.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Value;

/// The body of a good answer.
pub enum Gives {
    Json(SchemaOf),
    /// Text of this media type.
    Text(&'static str),
}

/// Every route; those of one path stand together.
pub fn table() -> Vec<Endpoint> {
    let mut all = of_rooms();
    all.extend(of_orders());
    all.extend(of_lines());
    all.extend(of_gates());
    all.extend(of_health());
    all
}

fn get<H: Handler<T, Shared>, T: 'static>(path: &'static str, handler: H, summary: &'static str) -> Endpoint {
    Endpoint::new("get", path, routing::get(handler), summary)
}

fn post<H: Handler<T, Shared>, T: 'static>(path: &'static str, handler: H, summary: &'static str) -> Endpoint {
    Endpoint {
        takes: Some(any_object),
        ..Endpoint::new("post", path, routing::post(handler), summary)
    }
}

fn delete<H: Handler<T, Shared>, T: 'static>(path: &'static str, handler: H, summary: &'static str) -> Endpoint {
    Endpoint::new("delete", path, routing::delete(handler), summary)
}

impl Endpoint {
    fn new(method: &'static str, path: &'static str, handler: MethodRouter<Shared>, summary: &'static str) -> Self {
        Self {
            method,
            path,
            handler,
            summary,
            query: &[],
            takes: None,
            gives: Gives::Json(any_object),
        }
    }

    fn query(self, query: &'static [(&'static str, &'static str)]) -> Self {
        Self { query, ..self }
    }

    fn takes<T: JsonSchema>(self) -> Self {
        Self {
            takes: Some(schema_of::<T>),
            ..self
        }
    }

    fn gives<T: JsonSchema>(self) -> Self {
        Self {
            gives: Gives::Json(schema_of::<T>),
            ..self
        }
    }

    fn gives_text(self, media_type: &'static str) -> Self {
        Self {
            gives: Gives::Text(media_type),
            ..self
        }
    }
}

fn schema_of<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Value {
    schemas.subschema_for::<T>().to_value()
}

fn any_object(_: &mut SchemaGenerator) -> Value {
    json!({"type": "object"})
}

fn of_rooms() -> Vec<Endpoint> {
    const ROOM: &str = "/api/v1/rooms/{room}";
    vec![
        get("/api/v1/rooms", rooms::list, "Every room, and how the gate stands").gives::<api::Rooms>(),
        post(
            "/api/v1/rooms",
            additions::add,
            "Add a room: its `[[room]]` table as application/toml, or the table's keys as application/json",
        )
        .query(&[("reason", "Why, at most 200 bytes")])
        .gives::<api::RoomAdded>(),
        get(
            "/api/v1/additions",
            additions::list,
            "The last rooms that were added and removed",
        )
        .gives::<api::Additions>(),
        get(ROOM, rooms::show, "One room").gives::<api::Room>(),
        Endpoint {
            takes: Some(patch_schema),
            ..Endpoint::new(
                "patch",
                ROOM,
                routing::patch(rooms::change),
                "Change a room (RFC 7396): null is the configured value",
            )
        }
        .gives::<api::Room>(),
        delete(
            ROOM,
            additions::remove,
            "Remove a room that was added: every session ends, every place is void",
        )
        .takes::<api::RemoveRoom>()
        .gives::<api::RoomRemoved>(),
        get(
            "/api/v1/rooms/{room}/probe",
            probes::show,
            "A nonce by which a gate proves to have the same keys",
        )
        .gives::<api::Probe>(),
        get(
            "/api/v1/rooms/{room}/changes",
            orders::changes,
            "The last changes of the keys of PATCH: who made them, and what was in force before",
        )
        .gives::<api::Changes>(),
        get(
            "/api/v1/rooms/{room}/history",
            rooms::history,
            "The room's figures of the last hours, as this gate has seen them",
        )
        .gives::<api::History>(),
    ]
}

fn of_orders() -> Vec<Endpoint> {
    const LOAD: &str = "/api/v1/rooms/{room}/load";
    vec![
        post(
            "/api/v1/rooms/{room}/call",
            orders::call,
            "Let visitors in now, above the rate",
        )
        .takes::<api::Call>()
        .gives::<api::Called>(),
        post(
            "/api/v1/rooms/{room}/reset",
            orders::reset,
            "Begin anew: every session ends, every place is void",
        )
        .takes::<api::Reset>()
        .gives::<api::Room>(),
        post(
            "/api/v1/rooms/{room}/message",
            orders::message,
            "Tell those who wait something, each in their language",
        )
        .takes::<api::Messages>()
        .gives::<api::Room>(),
        post(
            "/api/v1/rooms/{room}/healing/end",
            orders::end_healing,
            "Wait no longer for visitors of a lost log: the room calls again",
        )
        .takes::<api::EndHealing>()
        .gives::<api::Room>(),
        post(
            "/api/v1/rooms/{room}/rehearsal",
            rehearsals::begin,
            "Begin a rehearsal: virtual visitors may come",
        )
        .takes::<api::Rehearse>()
        .gives::<api::Room>(),
        post(
            "/api/v1/rooms/{room}/rehearsal/renew",
            rehearsals::renew,
            "The rehearsal goes on, for 15 s from now",
        )
        .takes::<api::Renew>()
        .gives::<api::Room>(),
        post(
            "/api/v1/rooms/{room}/rehearsal/end",
            rehearsals::end,
            "End the rehearsal: every virtual visitor is gone",
        )
        .takes::<api::EndRehearsal>()
        .gives::<api::Room>(),
        post(
            LOAD,
            load::give,
            "Say what the shop can take, in the place of measured figures",
        )
        .takes::<api::Load>()
        .gives::<api::Room>(),
        delete(LOAD, load::give_back, "Let the measured figures count again").gives::<api::Room>(),
    ]
}

fn of_lines() -> Vec<Endpoint> {
    const DRAW: &str = "/api/v1/rooms/{room}/draw";
    const VISITOR: &str = "/api/v1/rooms/{room}/visitors/{reference}";
    const LINE: &[(&str, &str)] = &[("line", "Which line, in a room that has many")];
    vec![
        get(
            "/api/v1/rooms/{room}/lines",
            rooms::lines,
            "The lines of a room, a page at a time",
        )
        .query(&[
            ("after", "The last line of the page before"),
            ("limit", "1 to 1000; 100 without it"),
        ])
        .gives::<api::Lines>(),
        get(
            "/api/v1/rooms/{room}/winners",
            winners::list,
            "Who completed, while the stock lasted",
        )
        .query(&[
            ("line", "Only this line, in a room that has many"),
            ("after", "`next` of the page before"),
            ("limit", "1 to 10000; 1000 without it"),
        ])
        .gives::<api::Winners>(),
        get(
            "/api/v1/rooms/{room}/codes",
            codes::list,
            "Single-use codes that are spent and have not expired",
        )
        .query(&[
            ("after", "`next` of the page before"),
            ("limit", "1 to 10000; 1000 without it"),
        ])
        .gives::<api::SpentCodes>(),
        get(DRAW, draws::show, "How far the room's draw has come")
            .query(LINE)
            .gives::<api::Draw>(),
        post(DRAW, draws::make, "Give the draw's beacon its value")
            .query(LINE)
            .takes::<api::BeaconValue>()
            .gives::<api::Draw>(),
        get(
            VISITOR,
            visitors::show,
            "Where a visitor stands, by the reference on their page",
        )
        .query(LINE)
        .gives::<api::Visitor>(),
        delete(
            VISITOR,
            visitors::end,
            "End the session, or take the visitor out of the line",
        )
        .query(LINE)
        .gives::<api::Visitor>(),
        get(
            VERIFY,
            verify::show,
            "Where the session of the `Ropeline-Session` field stands",
        )
        .gives::<api::Verified>(),
    ]
}

fn of_gates() -> Vec<Endpoint> {
    vec![
        get("/api/v1/openapi.json", openapi::show, "This document"),
        get(
            "/api/v1/gates",
            gates::list,
            "The gates that share the rooms, and their log",
        )
        .gives::<api::Gates>(),
        post("/api/v1/heal", gates::heal, "End the wait for silent gates").gives::<api::Gates>(),
        post(
            "/api/v1/skip",
            gates::skip,
            "Have every gate pass over an entry that freezes this one",
        )
        .takes::<api::Skip>()
        .gives::<api::Gates>(),
        post(
            "/api/v1/raise",
            gates::raise,
            "Put a machine version in force that all gates know",
        )
        .takes::<api::Raise>()
        .gives::<api::Gates>(),
        post(
            upgrade::UPGRADE,
            upgrade::upgrade,
            "Hand over to the binary at the gate's path",
        )
        .gives::<api::Upgraded>(),
        get(
            "/api/v1/upstreams",
            upstreams::list,
            "The shop's servers, as this gate sees them",
        )
        .gives::<api::Upstreams>(),
        get(
            "/api/v1/doctor",
            doctor::show,
            "What is wrong with this gate, its shop, store and machine, and what to write where",
        )
        .gives::<api::Doctor>(),
        get(reload::RELOAD, reload::show, "What became of the last reload").gives::<api::Reload>(),
        post(reload::RELOAD, reload::reload, "Read the file again").gives::<api::Reload>(),
    ]
}

fn of_health() -> Vec<Endpoint> {
    vec![
        get("/", static_files::index, "The operator's page").gives_text("text/html"),
        get("/style.css", static_files::style, "Its looks").gives_text("text/css"),
        get("/script.js", static_files::script, "Its script").gives_text("text/javascript"),
        get("/livez", health::live, "The process is alive").gives::<api::Health>(),
        get("/healthz", health::live, "The same").gives::<api::Health>(),
        get("/readyz", health::ready, "Visitors can be sent here").gives::<api::Health>(),
        get(
            "/metrics",
            health::metrics,
            "Figures for Prometheus, in OpenMetrics' text",
        )
        .gives_text("application/openmetrics-text"),
    ]
}

/// By hand: a change is read key by key, so that all mistakes are reported at once, and no type holds it.
fn patch_schema(_: &mut SchemaGenerator) -> Value {
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

//! The admin API as `OpenAPI` 3.1 has it: made from the types that it answers with and reads, so that it cannot say anything else.

use std::sync::OnceLock;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::{api, patch};
use crate::room::MAX_MESSAGE;

/// `GET /api/v1/openapi.json`.
pub(super) async fn show() -> Response {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| document().to_string());
    let mut response = Response::new(Body::from(text.as_str()));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// What one method of one path does.
struct Operation {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    takes: Option<Value>,
    gives: Given,
    query: &'static [(&'static str, &'static str)],
}

/// What a good answer holds.
enum Given {
    Json(Value),
    Text(&'static str),
}

struct Schemas {
    read: SchemaGenerator,
    written: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let at = |settings: SchemaSettings| {
            let settings = settings.with(|settings| settings.definitions_path = "/components/schemas".into());
            settings.into_generator()
        };
        Self {
            read: at(SchemaSettings::draft2020_12().for_deserialize()),
            written: at(SchemaSettings::draft2020_12().for_serialize()),
        }
    }

    fn gives<T: JsonSchema>(&mut self) -> Given {
        Given::Json(self.written.subschema_for::<T>().to_value())
    }

    fn takes<T: JsonSchema>(&mut self) -> Value {
        self.read.subschema_for::<T>().to_value()
    }

    fn all(mut self) -> Map<String, Value> {
        let mut all = self.written.take_definitions(true);
        all.extend(self.read.take_definitions(true));
        all
    }
}

fn document() -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for operation in operations(&mut schemas) {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described(&operation);
    }
    let problem = schemas.written.subschema_for::<api::Problem>().to_value();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Anteroom's admin API",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Rooms and their lines: what they are, and an operator's change of them. A refusal says why and has \
                            changed nothing; a change is answered once it is in the log.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        // Where no token is configured none is asked for.
        "security": [{"token": []}, {}],
        "paths": paths,
        "components": {
            "schemas": schemas.all(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {"Problem": {
                "description": "Refused, with the reason; nothing has changed.",
                "content": {"application/problem+json": {"schema": problem}},
            }},
        },
    })
}

fn described(operation: &Operation) -> Value {
    let refused = json!({"$ref": "#/components/responses/Problem"});
    let good = match &operation.gives {
        Given::Json(schema) => json!({"application/json": {"schema": schema}}),
        Given::Text(kind) => json!({*kind: {"schema": {"type": "string"}}}),
    };
    let mut told = json!({
        "operationId": name(operation),
        "summary": operation.summary,
        "parameters": parameters(operation),
        "responses": {"200": {"description": "Done.", "content": good}, "4XX": refused, "5XX": refused},
    });
    if operation.path == "/readyz"
        && let Given::Json(schema) = &operation.gives
    {
        let content = json!({"application/json": {"schema": schema}});
        told["responses"]["503"] = json!({"description": "Not ready, and why.", "content": content});
    }
    if let Some(schema) = &operation.takes {
        told["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": schema}}});
    }
    told
}

fn name(operation: &Operation) -> String {
    let path = operation.path.trim_start_matches("/api/v1");
    let words = path
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    [operation.method]
        .into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .join("_")
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let of_path = operation
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let of_path =
        of_path.map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}));
    let of_query = operation
        .query
        .iter()
        .map(|(name, about)| json!({"name": name, "in": "query", "description": about, "schema": {"type": "string"}}));
    of_path.chain(of_query).collect()
}

fn operations(s: &mut Schemas) -> Vec<Operation> {
    let mut all = of_rooms(s);
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
    const DRAW: &str = "/api/v1/rooms/{room}/draw";
    const VISITOR: &str = "/api/v1/rooms/{room}/visitors/{reference}";
    const LINE: &[(&str, &str)] = &[("line", "Which line, in a room that has many")];
    vec![
        get(
            "/api/v1/rooms",
            "Every room, and how the gate stands",
            s.gives::<api::Rooms>(),
        ),
        get(ROOM, "One room", s.gives::<api::Room>()),
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
        get(
            "/api/v1/rooms/{room}/changes",
            "Who changed the room of late, and what was before",
            s.gives::<api::Changes>(),
        ),
        get(
            "/api/v1/rooms/{room}/history",
            "The room's figures of the last hours, as this gate has seen them",
            s.gives::<api::History>(),
        ),
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
        get(
            "/api/v1/rooms/{room}/winners",
            "Who completed, while the stock lasted",
            s.gives::<api::Winners>(),
        ),
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
            "Where the session of the `Anteroom-Session` field stands",
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
        post(
            "/api/v1/upstreams/{server}",
            "Give a server of the shop another weight",
            (s.takes::<api::Weigh>(), s.gives::<api::Upstreams>()),
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
            "results_at": date,
            "reason": {"type": ["string", "null"], "maxLength": 200},
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::admin::routes;

    #[test]
    fn every_path_of_the_router_is_described_and_no_other() {
        let served: BTreeSet<String> = routes::table().into_iter().map(|(path, _)| path.to_owned()).collect();
        let document = document();
        let described = document["paths"].as_object().expect("paths").keys().cloned().collect();
        assert_eq!(served, described);
    }

    #[test]
    fn operations_have_names_of_their_own() {
        let all = operations(&mut Schemas::new());
        let names: BTreeSet<String> = all.iter().map(name).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.contains("post_rooms_room_call"), "{names:?}");
    }
}

//! The admin API as `OpenAPI` 3.1 has it: made from the types that it answers with and reads, so that it cannot say anything else.

mod operations;

use std::sync::OnceLock;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use self::operations::operations;
use super::api;

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
            "title": "Ropeline's admin API",
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
    let makes_room = operation.method == "post" && operation.path == "/api/v1/rooms";
    let done = if makes_room { "201" } else { "200" };
    let refused = json!({"$ref": "#/components/responses/Problem"});
    let good = match &operation.gives {
        Given::Json(schema) => json!({"application/json": {"schema": schema}}),
        Given::Text(kind) => json!({*kind: {"schema": {"type": "string"}}}),
    };
    let mut told = json!({
        "operationId": name(operation),
        "summary": operation.summary,
        "parameters": parameters(operation),
        "responses": {done: {"description": "Done.", "content": good}, "4XX": refused, "5XX": refused},
    });
    if operation.path == "/readyz"
        && let Given::Json(schema) = &operation.gives
    {
        let content = json!({"application/json": {"schema": schema}});
        told["responses"]["503"] = json!({"description": "Not ready, and why.", "content": content});
    }
    if let Some(schema) = &operation.takes {
        let mut content = json!({"application/json": {"schema": schema}});
        if makes_room {
            content["application/toml"] = json!({"schema": {"type": "string"}});
        }
        told["requestBody"] = json!({"required": true, "content": content});
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

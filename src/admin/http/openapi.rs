//! The admin API's `OpenAPI` 3.1 document, made from its routes and from the types that it reads and answers with.

use std::sync::OnceLock;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::routes::{self, Endpoint, Gives};
use crate::admin::api;

/// `GET /api/v1/openapi.json`.
pub async fn show() -> Response {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| document().to_string());
    let mut response = Response::new(Body::from(text.as_str()));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
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

    fn all(mut self) -> Map<String, Value> {
        let mut all = self.written.take_definitions(true);
        all.extend(self.read.take_definitions(true));
        all
    }
}

fn document() -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for route in routes::table() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = described(&route, &mut schemas);
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

fn described(route: &Endpoint, schemas: &mut Schemas) -> Value {
    let makes_room = route.method == "post" && route.path == "/api/v1/rooms";
    let done = if makes_room { "201" } else { "200" };
    let refused = json!({"$ref": "#/components/responses/Problem"});
    let good = match route.gives {
        Gives::Json(schema_of) => json!({"application/json": {"schema": schema_of(&mut schemas.written)}}),
        Gives::Text(media_type) => json!({media_type: {"schema": {"type": "string"}}}),
    };
    let mut described = json!({
        "operationId": name(route),
        "summary": route.summary,
        "parameters": parameters(route),
        "responses": {done: {"description": "Done.", "content": &good}, "4XX": refused, "5XX": refused},
    });
    if route.path == "/readyz" {
        described["responses"]["503"] = json!({"description": "Not ready, and why.", "content": good});
    }
    if let Some(schema_of) = route.takes {
        let mut content = json!({"application/json": {"schema": schema_of(&mut schemas.read)}});
        if makes_room {
            content["application/toml"] = json!({"schema": {"type": "string"}});
        }
        described["requestBody"] = json!({"required": true, "content": content});
    }
    described
}

fn name(route: &Endpoint) -> String {
    let path = route.path.trim_start_matches("/api/v1");
    let words = path
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    [route.method].into_iter().chain(words).collect::<Vec<_>>().join("_")
}

fn parameters(route: &Endpoint) -> Vec<Value> {
    let of_path = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let of_path =
        of_path.map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}));
    let of_query = route
        .query
        .iter()
        .map(|(name, about)| json!({"name": name, "in": "query", "description": about, "schema": {"type": "string"}}));
    of_path.chain(of_query).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn operations_have_names_of_their_own() {
        let all = routes::table();
        let names: BTreeSet<String> = all.iter().map(name).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.contains("post_rooms_room_call"), "{names:?}");
    }
}

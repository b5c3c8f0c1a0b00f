//! The document of the admin API: it is `OpenAPI`, it has every method that is taken, and real answers are as it says.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::load;
use crate::support::{Answer, Gate, path_of};

/// The judge's faults in a document and answers.
fn judged(document: &Value, answers: &[Value]) -> Vec<String> {
    const HERE: &str = env!("CARGO_MANIFEST_DIR");
    let python = format!("{HERE}/target/python/bin/python3");
    let mut judge = Command::new(python)
        .arg(format!("{HERE}/tests/admin/openapi.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python with openapi-spec-validator: run `scripts/test setup`");
    let asked = json!({"document": document, "answers": answers}).to_string();
    let mut input = judge.stdin.take().expect("a pipe");
    input.write_all(asked.as_bytes()).expect("read");
    drop(input);
    let output = judge.wait_with_output().expect("judged");
    assert!(output.status.success(), "the judge failed");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

/// A path with something in the place of its parameters.
fn filled(path: &str) -> String {
    path.replace("{room}", "main").replace("{reference}", "K7D-4D2-R1")
}

#[test]
fn every_method_that_is_taken_is_described_and_no_other() {
    let gate = Gate::start();
    let document = gate.get("/api/v1/openapi.json").ok();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let refused = gate.ask("TRACE", &filled(path), &[("host", "localhost")], "");
        assert_eq!(refused.status, 405, "{path}: {}", refused.text);
        let allowed = refused.headers["allow"].to_str().expect("text").to_lowercase();
        let allowed: BTreeSet<&str> = allowed
            .split(',')
            .map(str::trim)
            .filter(|method| *method != "head")
            .collect();
        let described: BTreeSet<&str> = methods
            .as_object()
            .expect("methods")
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(allowed, described, "{path}");
    }
}

/// Answers, by what of the document they are of.
#[derive(Default)]
struct Heard(Vec<Value>);

impl Heard {
    fn hear(&mut self, method: &str, path: &str, answer: &Answer) {
        let (status, body) = (answer.status, answer.json());
        self.0
            .push(json!({"method": method, "path": path, "status": status, "body": body}));
    }

    fn good(&self) -> BTreeSet<String> {
        let good = self.0.iter().filter(|heard| heard["status"] == 200);
        let place = |heard: &Value| Some(format!("{} {}", heard["method"].as_str()?, heard["path"].as_str()?));
        good.filter_map(place).collect()
    }
}

#[test]
fn the_document_is_openapi_and_real_answers_are_as_it_says() {
    let gate = Gate::start();
    let document = gate.get("/api/v1/openapi.json").ok();
    let mut heard = Heard::default();
    let inside = gate.join("main", "");
    gate.enter(&inside);
    let visitor = gate.join("main", "");
    gate.join("events", "a");
    let named = [("main", "{room}")];
    let of = |path: &str| {
        named
            .iter()
            .fold(path.to_owned(), |path, (value, name)| path.replace(name, value))
    };
    for (path, body) in [
        (
            "/api/v1/rooms/{room}/message",
            r#"{"en": "Back at two", "ko": "두 시에"}"#,
        ),
        (
            "/api/v1/rooms/{room}/call",
            r#"{"count": 1, "beyond_capacity": true, "reason": "friends"}"#,
        ),
        ("/api/v1/rooms/{room}/call", r#"{"count": 0}"#),
        ("/api/v1/rooms/{room}/reset", r#"{"confirm": "no", "reason": "x"}"#),
        ("/api/v1/rooms/{room}/healing/end", "{}"),
        ("/api/v1/heal", "{}"),
        ("/api/v1/skip", r#"{"position": "1-1"}"#),
        ("/api/v1/raise", r#"{"machine_version": 99}"#),
        ("/api/v1/upgrade", "{}"),
        ("/api/v1/reload", "{}"),
    ] {
        heard.hear("post", path, &gate.post(&of(path), body));
    }
    let patched = r#"{"capacity": 0, "rate": 60, "opens_at": "2030-01-01 10:00 UTC", "reason": "early"}"#;
    heard.hear("patch", "/api/v1/rooms/{room}", &gate.patch("main", patched));
    heard.hear("patch", "/api/v1/rooms/{room}", &gate.patch("main", r#"{"mode": 3}"#));
    for path in document["paths"].as_object().expect("paths").keys() {
        let content = &document["paths"][path]["get"]["responses"]["200"]["content"];
        if content.get("application/json").is_some() && !path.contains("reference") {
            heard.hear("get", path, &gate.get(&of(path)));
        }
    }
    heard.hear(
        "get",
        "/api/v1/rooms/{room}/lines",
        &gate.get("/api/v1/rooms/events/lines"),
    );
    for visitor in [&visitor, &inside] {
        heard.hear(
            "get",
            "/api/v1/rooms/{room}/visitors/{reference}",
            &gate.get(&path_of(visitor)),
        );
    }
    heard.hear(
        "delete",
        "/api/v1/rooms/{room}/visitors/{reference}",
        &gate.delete(&path_of(&inside)),
    );
    let reset = gate.post("/api/v1/rooms/main/reset", r#"{"confirm": "main", "reason": "over"}"#);
    heard.hear("post", "/api/v1/rooms/{room}/reset", &reset);
    heard.hear(
        "get",
        "/api/v1/rooms/{room}/changes",
        &gate.get("/api/v1/rooms/main/changes"),
    );
    let following = Gate::of_room(load::following());
    let given = r#"{"requests_per_second": 80, "p95_ms": 350, "error_share": 0.01, "ttl_secs": 30}"#;
    heard.hear(
        "post",
        "/api/v1/rooms/{room}/load",
        &following.post("/api/v1/rooms/main/load", given),
    );
    heard.hear("get", "/api/v1/rooms/{room}", &following.get("/api/v1/rooms/main"));
    let back = following.delete("/api/v1/rooms/main/load");
    heard.hear("delete", "/api/v1/rooms/{room}/load", &back);
    assert_eq!(judged(&document, &heard.0), Vec::<String>::new());
    assert_eq!(missing(&document, &heard.good()), UNHEARD, "heard with a good answer");
}

/// The operations without a successful answer.
fn missing(document: &Value, heard: &BTreeSet<String>) -> Vec<String> {
    let paths: BTreeMap<String, Value> = serde_json::from_value(document["paths"].clone()).expect("paths");
    let all = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods");
        methods.keys().map(move |method| format!("{method} {path}"))
    });
    all.filter(|place| !heard.contains(place)).collect()
}

/// Operations that need a fault, a lost log, another process, a reloader, a draw, a session's name or a gate that is ready;
/// and those without JSON.
const UNHEARD: [&str; 19] = [
    "get /",
    "post /api/v1/heal",
    "post /api/v1/raise",
    "post /api/v1/reload",
    "post /api/v1/rooms",
    "delete /api/v1/rooms/{room}",
    "get /api/v1/rooms/{room}/draw",
    "post /api/v1/rooms/{room}/draw",
    "post /api/v1/rooms/{room}/healing/end",
    "post /api/v1/rooms/{room}/rehearsal",
    "post /api/v1/rooms/{room}/rehearsal/end",
    "post /api/v1/rooms/{room}/rehearsal/renew",
    "post /api/v1/skip",
    "post /api/v1/upgrade",
    "get /api/v1/verify",
    "get /metrics",
    "get /readyz",
    "get /script.js",
    "get /style.css",
];

#[test]
fn the_judge_finds_what_is_wrong() {
    let gate = Gate::start();
    let mut document = gate.get("/api/v1/openapi.json").ok();
    let mut room = gate.get("/api/v1/rooms/main").ok();
    room["waiting"] = json!("many");
    room["colour"] = json!("red");
    let answer = json!({"method": "get", "path": "/api/v1/rooms/{room}", "status": 200, "body": room});
    let found = judged(&document, &[answer]).join("\n");
    assert!(found.contains("$.waiting") && found.contains("colour"), "{found}");
    document["paths"]["/livez"]["get"]["responses"] = json!([]);
    assert!(
        judged(&document, &[]).join("\n").contains("document"),
        "a document that is none"
    );
}

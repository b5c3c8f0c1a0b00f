use boon::{Compiler, Schemas};
use ropeline::config;
use serde_json::Value;

/// The schema's result for a file's text.
fn judged(text: &str) -> Result<(), String> {
    let mut compiler = Compiler::new();
    compiler
        .add_resource("config.json", config::schema())
        .expect("a resource");
    let mut schemas = Schemas::new();
    let schema = compiler
        .compile("config.json", &mut schemas)
        .expect("a schema of the draft it names");
    let table: toml::Table = text.parse().expect("TOML");
    let value = serde_json::to_value(table).expect("no dates stand bare in a configuration");
    schemas.validate(&value, schema).map_err(|error| error.to_string())
}

#[test]
fn the_schema_takes_every_good_file() {
    let shipped = ("config.toml".to_owned(), super::text("config.toml"));
    for (name, text) in super::files("tests/config/good").into_iter().chain([shipped]) {
        assert_eq!(judged(&text), Ok(()), "{name}");
    }
}

#[test]
fn the_schema_refuses_what_a_bad_file_has_wrong_in_one_key() {
    for (name, place) in [
        ("unknown-key", "lissten"),
        ("numbers-out-of-range", "/server/threads"),
        ("words", "/room/0/mode"),
        ("limit-incomplete", "/limit/0"),
        ("room-is-no-list", "/room"),
        ("duration-without-unit", "/server/head_timeout"),
    ] {
        let text = super::text(&format!("tests/config/bad/{name}.toml"));
        let refused = judged(&text).expect_err(name);
        assert!(refused.contains(place), "{name}: {refused}");
    }
}

/// An editor shows the texts of the table of keys, with defaults and bounds.
#[test]
fn the_schema_shows_texts_defaults_and_bounds() {
    let schema = config::schema();
    let key = |path: &str| schema.pointer(path).cloned().unwrap_or(Value::Null);
    let backlog = key("/properties/server/properties/backlog");
    assert_eq!((&backlog["default"], &backlog["minimum"]), (&4096.into(), &1.into()));
    let room = "/properties/room/items/properties";
    assert_eq!(key(&format!("{room}/grace/default")), "4 min");
    let page = key(&format!("{room}/page/properties/refresh/description"));
    assert!(page.as_str().is_some_and(|text| text.contains("JavaScript")), "{page}");
}

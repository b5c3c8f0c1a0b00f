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

/// Bad files in which each value has its form: what is wrong is the meaning of an address, a route or a secret, two keys that
/// contradict each other, a name that stands twice, or a file beside it.
const ONLY_CHECK_KNOWS: [&str; 57] = [
    "acme-nobody-listens",
    "active-slots-behind-a-proxy",
    "active-slots",
    "addresses",
    "admin-in-the-open",
    "admin-token-too-short",
    "audiences",
    "bypass",
    "cookie-domain",
    "forward-auth-hosts-without-url",
    "hosts",
    "identity-by-form",
    "keys-repeated",
    "lanes-by-claim",
    "limit-at-hosts-of-no-room",
    "limit-never-matches",
    "limits-join-prefixes",
    "lines-per-query",
    "listeners-clash",
    "listeners-of-other-kinds",
    "message-too-long",
    "no-listener",
    "no-upstream",
    "operators",
    "pace-limits",
    "pace-presence",
    "pace-sessions",
    "pace-turns",
    "page-brand",
    "page-template-missing",
    "per-allow-past-max",
    "per-without-variable",
    "room-left-outside-whole",
    "room-named-like-a-line",
    "room-unreachable",
    "room-without-routes",
    "routes-never-taken",
    "routes-that-never-match",
    "rules-of-another-room",
    "rules-outside-the-room",
    "schedule",
    "signature-key",
    "store-archive-in-the-data-folder",
    "store-redis-ca-without-tls",
    "store-redis-contradictions",
    "store-redis-url",
    "store-redis-without-keys",
    "tls-listeners",
    "tls-redirect-to-nowhere",
    "tokens-of-the-shop",
    "tokens-of-two",
    "upstream-is-the-gate",
    "upstream-no-port",
    "upstream-servers-none-with-weight",
    "upstream-servers",
    "upstream-with-path",
    "upstream-with-user",
];

#[test]
fn the_schema_refuses_every_bad_file_but_those_that_only_check_can_judge() {
    let passed = |(name, text): (String, String)| {
        // Broken TOML an editor marks without a schema.
        let passes = text.parse::<toml::Table>().is_ok() && judged(&text).is_ok();
        passes.then(|| name.trim_end_matches(".toml").to_owned())
    };
    let passed: Vec<String> = super::files("tests/config/bad")
        .into_iter()
        .filter_map(passed)
        .collect();
    assert_eq!(passed, ONLY_CHECK_KNOWS);
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
        ("size-without-unit", "/server/max_head"),
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

//! `ropeline check`: every mistake at once, and nothing where there is none.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::gate::Site;

#[test]
fn the_shipped_configuration_and_a_good_one_pass() {
    let site = Site::new("except = [\"/static/*\"]", "");
    let good = site.run(&["check"]);
    assert_eq!((good.code, good.err.as_str()), (Some(0), ""), "{good:?}");
    assert_eq!(good.out, "config.toml: good\n");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("config.toml");
    let ended = site.run(&["check", shipped.to_str().unwrap()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains(": good\nnote: room[0].except: static files wait"),
        "{ended:?}"
    );
}

#[test]
fn the_schema_is_printed_as_json() {
    let printed = Site::new("", "").run(&["schema"]);
    assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""), "{printed:?}");
    let schema: serde_json::Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(schema["properties"]["room"]["type"], "array", "{schema}");
}

#[test]
fn a_warning_is_told_and_is_no_mistake() {
    let site = Site::new("except = [\"/static/*\"]\nsession_duration = \"1 min\"", "");
    let ended = site.run(&["check"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains("warning: ") && ended.out.contains("claim_deadline"),
        "{ended:?}"
    );
    assert!(ended.out.ends_with("good, with 1 warning\n"), "{ended:?}");
}

#[test]
fn what_is_left_outside_beyond_files_is_named() {
    let except =
        "except = [\"/static/*\", \"/api/stock?*\", \"POST /payment/callback\", \"GET /feed\", \"HEAD /cart/*\"]";
    let ended = Site::new(except, "").run(&["check"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let notes: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("note: ")).collect();
    let wide = ["/api/stock?*", "POST /payment/callback", "GET /feed", "HEAD /cart/*"];
    assert_eq!(notes.len(), wide.len(), "{ended:?}");
    for (note, entry) in notes.iter().zip(wide) {
        let told = note.contains(&format!("room[0].except: {entry} lets more "));
        assert!(told, "{entry}: {ended:?}");
    }
}

#[test]
fn every_mistake_is_told_with_its_line_and_what_would_be_right() {
    let site = Site::new("grace = 5\ntotal_users = 3\nwaiting_status = 404", "");
    let ended = site.run(&["check"]);
    assert_eq!(ended.code, Some(78), "{ended:?}");
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    let config = fs::read_to_string(site.path("config.toml")).unwrap();
    for key in ["grace", "total_users", "waiting_status"] {
        let line = 1 + config.lines().position(|line| line.starts_with(key)).unwrap();
        let start = format!("config.toml: line {line}: room[0].{key}: ");
        let told = lines.iter().find(|told| told.starts_with(&start));
        assert!(
            told.is_some_and(|told| told.contains("; right: ")),
            "{start}\n{lines:#?}"
        );
    }
    assert!(lines[3].starts_with("config.toml: 3 mistakes"), "{lines:#?}");
}

#[test]
fn json_has_an_item_for_each_finding_with_its_place() {
    let wide = "except = [\"/static/*\", \"POST /payment/callback\"]";
    let checked = |room: &str| {
        let site = Site::new(room, "");
        let ended = site.run(&["check", "--format", "json"]);
        let items: Vec<Value> = serde_json::from_str(&ended.out).expect(&ended.out);
        let config = fs::read_to_string(site.path("config.toml")).unwrap();
        (ended.code, items, config)
    };
    let (code, items, config) = checked(&format!("{wide}\ntotal_users = 3\ngrace = 5"));
    assert_eq!((code, items.len()), (Some(78), 2), "{items:#?}");
    let line = |key: &str| json!(1 + config.lines().position(|line| line.starts_with(key)).unwrap());
    for (item, key, column) in [(&items[0], "total_users", 1), (&items[1], "grace", 9)] {
        assert_eq!(
            (&item["severity"], &item["file"]),
            (&json!("mistake"), &json!("config.toml")),
            "{item}"
        );
        assert_eq!((&item["line"], &item["column"]), (&line(key), &json!(column)), "{item}");
        assert_eq!(item["key"], format!("room[0].{key}"), "{item}");
        assert!(item["message"] != "" && item["remedy"] != "", "{item}");
    }
    let (code, items, _) = checked(&format!("{wide}\ncloses_at = \"2020-01-02T10:00:00Z\""));
    let found = |severity: &str| items.iter().find(|item| item["severity"] == severity).expect(severity);
    assert_eq!((code, items.len()), (Some(78), 3), "{items:#?}");
    assert_eq!(
        (&found("mistake")["key"], &found("mistake")["line"]),
        (&json!("room[0]"), &Value::Null)
    );
    assert_eq!(found("note")["key"], "room[0].except");
    let (code, items, _) = checked("except = [\"/static/*\"]\nsession_duration = \"1 min\"");
    assert_eq!(
        (code, &items[0]["severity"]),
        (Some(0), &json!("warning")),
        "{items:#?}"
    );
    assert_eq!(checked("except = [\"/static/*\"]").1, [] as [Value; 0]);
}

/// An editor shows the place, and whoever parses the output is not let down.
#[test]
fn json_stays_json_where_the_file_is_no_toml() {
    let site = Site::new("", "");
    for (from, to, key) in [
        ("[limits]", "[limits", ""),
        ("total_active_users = 1\n", "total_active_users = \n", ""),
    ] {
        let before = fs::read_to_string(site.path("config.toml")).unwrap();
        site.edit(from, to);
        let config = fs::read_to_string(site.path("config.toml")).unwrap();
        let ended = site.run(&["check", "--format", "json"]);
        let items: Vec<Value> = serde_json::from_str(&ended.out).expect(&ended.out);
        let line = 1 + config
            .lines()
            .position(|line| line == to.trim_end_matches('\n'))
            .unwrap();
        let found = items.iter().find(|item| item["line"] == line);
        let found = found.unwrap_or_else(|| panic!("{line}: {items:#?}"));
        assert_eq!(
            (&found["severity"], &found["key"]),
            (&json!("mistake"), &json!(key)),
            "{found}"
        );
        assert!(
            found["column"].is_u64() && found["message"] != "" && found["remedy"] != "",
            "{found}"
        );
        assert_eq!((ended.code, ended.err.as_str()), (Some(78), ""), "{ended:?}");
        fs::write(site.path("config.toml"), before).unwrap();
    }
    fs::write(site.path("config.toml"), b"\xFF\xFE").unwrap();
    let ended = site.run(&["check", "--format", "json"]);
    let items: Vec<Value> = serde_json::from_str(&ended.out).expect(&ended.out);
    assert_eq!((ended.code, items.len()), (Some(78), 1), "{items:#?}");
    assert!(
        items[0]["message"].as_str().unwrap().contains("cannot be read"),
        "{items:#?}"
    );
}

#[test]
fn a_broken_template_and_an_unknown_language_are_mistakes_with_their_lines() {
    let room = "[room.page]\ntemplate = \"page.html\"\nlanguages = [\"en\", \"tlh\"]";
    let site = Site::new(room, "");
    fs::write(site.path("page.html"), "<h1>{{ heading }}</h1>{% if %}").unwrap();
    let ended = site.run(&["check"]);
    assert_eq!(ended.code, Some(78), "{ended:?}");
    let config = fs::read_to_string(site.path("config.toml")).unwrap();
    let line = |key: &str| 1 + config.lines().position(|line| line.starts_with(key)).unwrap();
    for (key, wrong) in [("template", "page.html"), ("languages", "\"tlh\"")] {
        let start = format!("config.toml: line {}: room[0].page.{key}: ", line(key));
        let told = ended.out.lines().find(|told| told.starts_with(&start));
        assert!(told.is_some_and(|told| told.contains(wrong)), "{start}\n{}", ended.out);
    }
    assert!(ended.out.contains(r#"one of "en", "ko""#), "{ended:?}");
    let run = site.run(&["run"]);
    assert!(run.code == Some(78) && run.err.contains("\"tlh\""), "{run:?}");
}

#[test]
fn a_file_that_is_not_there_is_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let ended = crate::program::Program::run(folder.path(), &["check"]);
    assert_eq!(ended.code, Some(78), "{ended:?}");
    assert!(
        ended.out.contains("config.toml: the file cannot be opened"),
        "{ended:?}"
    );
}

use std::path::Path;

use ropeline::config::keys::TABLES;
use ropeline::config::{self, Config, Overrides};

use crate::certificates::Authority;

const SHOP: &str = "http://127.0.0.1:3000";

fn shipped() -> String {
    super::text("config.toml")
}

#[test]
fn the_shipped_file_is_the_default() {
    let defaults = Config::load(None, &Overrides::none().text("upstream.url", "--upstream", SHOP)).expect("good");
    let (shipped, warnings) = config::check(&shipped(), "config.toml")
        .finish()
        .expect("the shipped file is good");
    assert_eq!(warnings, [], "nothing is odd about a default");
    assert_eq!(shipped.describe(), defaults.describe());
    assert_eq!(format!("{shipped:?}"), format!("{defaults:?}"));
}

/// The text with every example in force: lines that begin with `#` and no space; an example stands over the default above.
fn with_examples(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let example = line
            .strip_prefix('#')
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '['));
        if let Some((name, _)) = example.and_then(|rest| rest.split_once(" = ")) {
            let section = lines.iter().rposition(|line| line.starts_with('[')).unwrap_or(0);
            let own = format!("{name} = ");
            let kept = lines
                .split_off(section)
                .into_iter()
                .filter(|line| !line.starts_with(&own));
            lines = lines.into_iter().chain(kept.collect::<Vec<_>>()).collect();
        }
        lines.push(example.unwrap_or(line).to_owned());
    }
    lines.join("\n")
}

/// With files of their own for the secrets that the examples take from the environment.
fn with_secrets(folder: &Path, mut text: String) -> String {
    for name in [
        "KEY",
        "SIGNATURE_KEY",
        "VERIFY_TOKEN",
        "ADMIN_TOKEN",
        "ANNAS_TOKEN",
        "STORE_PASSWORD",
        "ACME_SECRET",
    ] {
        let own = folder.join(name);
        std::fs::write(&own, format!("{name:->48}")).expect("written");
        text = text.replace(
            &format!("env = \"ROPELINE_{name}\""),
            &format!("file = \"{}\"", own.display()),
        );
    }
    text
}

#[test]
fn every_example_in_the_shipped_file_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    std::fs::write(&page, "<html></html>").expect("written");
    let text = with_examples(&shipped()).replace("/etc/ropeline/page.html", &page.display().to_string());
    let logo = super::path("tests/config/good/logo.svg");
    let text = text.replace("/etc/ropeline/logo.svg", &logo.display().to_string());
    let words = folder.path().join("words");
    std::fs::create_dir(&words).expect("made");
    let text = text.replace("/etc/ropeline/words", &words.display().to_string());
    let key = folder.path().join("accounts.pem");
    std::fs::write(&key, super::PUBLIC_KEY).expect("written");
    let text = text.replace("/etc/ropeline/accounts.pem", &key.display().to_string());
    let issued = Authority::new().issue(&["shop.example"]).write(folder.path(), "shop");
    let text = text
        .replace("/etc/ropeline/fullchain.pem", &issued.0.display().to_string())
        .replace("/etc/ropeline/privkey.pem", &issued.1.display().to_string());
    let text = text
        .replace("/etc/ropeline/redis-ca.pem", &issued.0.display().to_string())
        .replace("/etc/ropeline/shop-ca.pem", &issued.0.display().to_string())
        .replace("/etc/ropeline/acme-ca.pem", &issued.0.display().to_string())
        .replace("/etc/ropeline/gate.pem", &issued.0.display().to_string())
        .replace("/etc/ropeline/gate.key", &issued.1.display().to_string());
    // One of the two.
    let text = text.replace(&format!("url = \"{SHOP}\"\n"), "");
    let text = with_secrets(folder.path(), text);
    let report = config::check(&text, "config.toml with examples");
    assert_eq!(report.mistakes().len(), 0, "{report}");
    assert!(text.contains("[[limit]]") && text.contains("/payment/"), "{text}");
}

#[test]
fn every_key_stands_in_the_shipped_file_with_its_default() {
    let text = shipped();
    for table in &TABLES {
        let section = section(&text, table.name);
        for key in table.keys {
            let place = format!("[{}] {}", table.name, key.name);
            // Tables that there are none of by default stand as examples.
            let example = ["room.lane", "limit", "crawler"].contains(&table.name);
            let line = match key.default_value() {
                Some(value) if example => format!("#{} = {value}", key.name),
                Some(value) => format!("{} = {value}", key.name),
                None => format!("{} = ", key.name),
            };
            let is_there = |own: &&str| match key.default_value() {
                Some(_) => **own == line,
                None => own.trim_start_matches('#').starts_with(&line),
            };
            assert!(section.iter().any(is_there), "{place}: no line \"{line}\"");
        }
    }
}

/// All lines below the headers of a table, in force or as examples.
fn section<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let headers = [
        format!("[{name}]"),
        format!("[[{name}]]"),
        format!("#[[{name}]]"),
        format!("#[{name}]"),
    ];
    let mut inside = false;
    let keep = |line: &&str| {
        if line.starts_with('[') || line.starts_with("#[") {
            inside = headers.iter().any(|header| header == line);
        }
        inside
    };
    text.lines().filter(keep).collect()
}

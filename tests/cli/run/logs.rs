//! The gate's log lines: machine-readable, without secrets and without personal data.

use std::fs;

use ropeline_testkit::page;
use serde_json::Value;

use crate::gate::Site;
use crate::until;

fn parsed(log: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line:?} is no JSON: {error}"));
    log.lines().map(parse).collect()
}

#[test]
fn log_lines_are_json_and_hold_no_token_no_query_and_no_whole_address() {
    const CLIENT: &str = "203.0.113.77";
    let tables = "[logging]\naccess = \"file:access.log\"";
    let site = Site::new("", tables);
    let config = site.path("config.toml");
    let trusting = fs::read_to_string(&config)
        .unwrap()
        .replace("threads = 1", "threads = 1\ntrusted_proxies = [\"127.0.0.1/32\"]");
    fs::write(&config, trusting).unwrap();
    let gate = site.start();
    let forwarded = format!("Accept: text/html\r\nX-Forwarded-For: {CLIENT}\r\n");
    let mut inside = gate.insider();
    inside.asks("GET /seats?secret=hush", &forwarded, "");
    let traced = "X-Request-Id: edge-7\r\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
    inside.asks("GET /traced", &format!("{forwarded}{traced}"), "");
    let mut waiting = gate.visitor();
    let answer = waiting.asks("GET /deep?secret=hush", &forwarded, "");
    assert_eq!(answer.word(), "waiting");
    gate.visitor().asks("GET /../x", &forwarded, "");

    let facts = page::facts(&answer.body);
    let id = facts["text"]["request"].as_str().expect("its id");
    let line = until("the page's line in the access log", || {
        let log = fs::read_to_string(site.path("access.log")).ok()?;
        let whole = log.rsplit_once('\n')?.0;
        parsed(whole).into_iter().find(|line| line["request_id"] == id)
    });
    assert_eq!(
        (&line["url.path"], &line["http.response.status_code"], &line["room"]),
        (&"/deep".into(), &200.into(), &"shop".into()),
        "{line}"
    );
    assert_eq!(line["client.address"], "203.0.113.0", "{line}");
    assert!(line["trace_id"].is_null(), "{line}");
    let log = fs::read_to_string(site.path("access.log")).unwrap();
    let traced = log.lines().find(|line| line.contains("/traced")).map(parsed).unwrap();
    assert_eq!(
        (&traced[0]["request_id"], &traced[0]["trace_id"]),
        (&"edge-7".into(), &"4bf92f3577b34da6a3ce929d0e0e4736".into())
    );

    let tokens: Vec<String> = inside.jar.values().chain(waiting.jar.values()).cloned().collect();
    assert!(tokens.len() >= 2, "{tokens:?}");
    let err = gate.stop().err;
    assert!(parsed(&err).len() > 2, "{err}");
    let access = fs::read_to_string(site.path("access.log")).unwrap();
    assert!(parsed(&access).len() >= 5, "{access}");
    for log in [&err, &access] {
        for secret in tokens.iter().map(String::as_str).chain(["hush", CLIENT, "cookie"]) {
            assert!(
                !log.to_ascii_lowercase().contains(&secret.to_ascii_lowercase()),
                "{secret} is in\n{log}"
            );
        }
    }
}

#[test]
fn a_shop_that_is_away_is_a_page_with_an_id_that_the_log_knows() {
    let site = Site::new("", "");
    let config = site.path("config.toml");
    let away = fs::read_to_string(&config).unwrap();
    let away = away.replace(
        &site.shop.url(),
        &format!("http://{}", crate::commands::nobody_listens()),
    );
    fs::write(&config, away).unwrap();
    let gate = site.start();
    let mut visitor = gate.visitor();
    let page = visitor.goes_to("/");
    assert_eq!((page.status, page.word()), (502, "upstream_unreachable"), "{page:?}");
    let ended = gate.stop();
    let line = crate::gate::line_with(&ended.err, "not forwarded").unwrap_or_else(|| panic!("{}", ended.err));
    let id = line["request_id"].as_str().unwrap();
    assert!(page.body.contains(id), "{id} is not on {}", page.body);
}

/// The id of a plain answer is found, as that of a page is, and no client fills the log.
#[test]
fn the_id_of_a_request_that_cannot_be_read_is_in_the_log() {
    let site = Site::new("", "");
    let gate = site.start();
    let ask = || {
        let answer = gate.visitor().asks("GET /", "Host: other.test\r\n", "");
        assert_eq!((answer.status, answer.word()), (400, "malformed"));
        answer.header("x-request-id").to_owned()
    };
    let id = ask();
    let line = until("the line", || {
        let said = gate.program.err();
        said.lines().find(|line| line.contains(&id)).map(str::to_owned)
    });
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&line["request_id"], &line["level"], &line["reason"]),
        (
            &id.as_str().into(),
            &"INFO".into(),
            &"the Host header is missing, repeated or malformed".into()
        ),
        "{line}"
    );
    for _ in 0..100 {
        ask();
    }
    let ended = gate.stop();
    let lines = ended.err.matches("a request cannot be read").count();
    // A minute may end meanwhile.
    assert!((20..=60).contains(&lines), "{lines}");
}

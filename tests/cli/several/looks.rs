//! What an operator sees of several shops: the start, the commands, the logs and the doctor.

use super::{BOOKS, MUSIC, Two, inside};
use crate::commands::nobody_listens;
use crate::until;

#[test]
fn the_start_the_commands_and_the_logs_name_each_upstream() {
    let two = Two::new("", "[logging]\naccess = \"file:access.log\"");
    let gate = two.start();
    let serving = gate.logs("serving");
    let both = format!("music: {}; books: {}", two.site.shop.address, two.books.address);
    assert_eq!(serving["upstream"], both.as_str(), "{serving}");
    let _books = inside(&gate, BOOKS, "/buy");
    let _music = inside(&gate, MUSIC, "/one");
    let lines = until("both in the access log", || {
        let log = std::fs::read_to_string(two.site.path("access.log")).ok()?;
        let lines: Vec<serde_json::Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        (lines.len() == 4).then_some(lines)
    });
    for line in lines {
        let named = if line["url.path"] == "/buy" { "books" } else { "music" };
        assert_eq!(line["upstream"], named, "{line}");
    }
    let admin = gate.admin.to_string();
    let table = two.site.run(&["upstreams", "--admin", &admin]).out;
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().take(3).collect())
        .collect();
    let (first, second) = (two.site.shop.address.to_string(), two.books.address.to_string());
    assert_eq!(
        rows,
        [
            vec!["UPSTREAM", "SERVER", "STATE"],
            vec!["music", first.as_str(), "in"],
            vec!["books", second.as_str(), "in"],
        ],
        "{table}"
    );
    let rooms = gate.asks_admin("/api/v1/rooms").json();
    let of: Vec<_> = rooms["rooms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|room| (room["name"].clone(), room["upstream"].clone()))
        .collect();
    assert_eq!(
        of,
        [("books".into(), "books".into()), ("shop".into(), "music".into())],
        "{rooms}"
    );
    let told = two.site.run(&["rooms", "--admin", &admin]).out;
    assert!(
        told.contains("books: upstream books") && told.contains("shop: upstream music"),
        "{told}"
    );
}

#[test]
fn the_doctor_examines_every_upstream_and_names_the_line_of_the_one_that_is_ill() {
    let two = Two::new("", "");
    let down = nobody_listens();
    two.site.edit(
        &format!("url = \"{}\"", two.books.url()),
        &format!("url = \"http://{down}\""),
    );
    let config = std::fs::read_to_string(two.site.path("config.toml")).unwrap();
    let line = config
        .lines()
        .position(|line| line.contains(&down.to_string()))
        .unwrap()
        + 1;
    let ended = two.site.run(&["doctor", "config.toml", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let findings = told["findings"].as_array().unwrap();
    let of_shops: Vec<_> = findings.iter().filter(|finding| finding["check"] == "shop").collect();
    let [fault, fine] = &of_shops[..] else {
        panic!("{}{}", ended.out, ended.err)
    };
    assert_eq!(
        (&fault["severity"], &fault["key"], &fault["line"]),
        (&"fault".into(), &"upstream[1].url".into(), &line.into()),
        "{fault}"
    );
    assert!(
        fault["message"]
            .as_str()
            .unwrap()
            .contains(&format!("{down} (books) does not answer")),
        "{fault}"
    );
    assert!(
        fine["message"]
            .as_str()
            .unwrap()
            .contains(&format!("{} (music) answers GET /", two.site.shop.address)),
        "{fine}"
    );
}

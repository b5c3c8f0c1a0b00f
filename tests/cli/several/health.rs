//! One shop is down: its rooms stop, and the others' go on.

use super::{BOOKS, MUSIC, Two, at, inside};
use crate::commands::nobody_listens;
use crate::until;

#[test]
fn the_rooms_of_a_shop_that_is_down_stop_and_those_of_others_go_on() {
    let two = Two::new(
        "health_path = \"/health\"\nhealth_interval = \"100ms\"\nhealth_timeout = \"60s\"",
        "",
    );
    let down = format!("http://{}", nobody_listens());
    two.site.edit(
        &format!("url = \"{}\"", two.site.shop.url()),
        &format!("url = \"{down}\""),
    );
    let following = "[room.load_control]\nby = \"adaptive\"";
    two.site
        .edit("upstream = \"music\"", &format!("upstream = \"music\"\n{following}"));
    two.site.edit(
        "routes = [\"/buy\"]\ntotal_active_users = 1",
        &format!("routes = [\"/buy\"]\ntotal_active_users = 1\n{following}"),
    );
    let gate = two.start();
    let why = |room: &str| gate.asks_admin(&format!("/api/v1/rooms/{room}")).json()["admission"]["why"].clone();
    until("the room of the shop that is down stops", || {
        (why("shop") == "circuit").then_some(())
    });
    until("the other room has figures", || (why("books") == "free").then_some(()));
    assert_eq!(at(&gate, MUSIC).goes_to("/one").word(), "waiting");
    let mut visitor = at(&gate, BOOKS);
    until("the visitor is called at the shop that is well", || {
        visitor.goes_to("/buy").is_the_shops().then_some(())
    });
    assert_eq!(two.books.asked("/one"), 0);
    let shown = gate.asks_admin("/api/v1/upstreams").json();
    let servers = shown["upstreams"].as_array().unwrap();
    let stands = |at: usize| (servers[at]["upstream"].as_str(), servers[at]["healthy"].as_bool());
    assert_eq!(
        [stands(0), stands(1)],
        [(Some("music"), Some(false)), (Some("books"), Some(true))],
        "{shown}"
    );
    assert_eq!(gate.logs("counts as out")["upstream"], "music");
    let healthy = |name: &str, origin: &str| {
        gate.figure(&format!(
            "ropeline_upstream_healthy{{origin=\"{origin}\",upstream=\"{name}\"}} "
        ))
    };
    assert_eq!(healthy("music", down.trim_start_matches("http://")), 0);
    assert_eq!(healthy("books", &two.books.address.to_string()), 1);
}

#[test]
fn a_failure_is_counted_and_logged_with_its_upstream() {
    let two = Two::new("", "");
    let down = format!("http://{}", nobody_listens());
    two.site
        .edit(&format!("url = \"{}\"", two.books.url()), &format!("url = \"{down}\""));
    let gate = two.start();
    assert_eq!(at(&gate, BOOKS).goes_to("/free").status, 502);
    let _music = inside(&gate, MUSIC, "/one");
    assert_eq!(gate.logs("not forwarded")["upstream"], "books");
    let figure = |sample: &str, name: &str| gate.figure(&format!("{sample}upstream=\"{name}\"}} "));
    assert_eq!(figure("ropeline_upstream_faults_total{fault=\"connect\",", "books"), 1);
    assert_eq!(figure("ropeline_upstream_faults_total{fault=\"connect\",", "music"), 0);
    assert_eq!(figure("ropeline_upstream_duration_seconds_count{", "music"), 2);
    assert_eq!(figure("ropeline_upstream_connects_total{", "music"), 1);
}

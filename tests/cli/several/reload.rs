//! Upstreams come, go and are renamed while requests are under way.

use super::{BOOKS, MUSIC, Two, at, inside};
use crate::reload::taken;
use crate::until;

#[test]
fn an_upstream_that_is_removed_lets_its_requests_end_and_the_others_keep_their_connections() {
    let two = Two::new("", "");
    let gate = two.start();
    let mut music = inside(&gate, MUSIC, "/one");
    let mut books = inside(&gate, BOOKS, "/buy");
    let held = books.sets_out_for("/hold");
    two.books.holds(1);
    let of = |name: &str, sample: &str| format!("{sample}{{upstream=\"{name}\"}} ");
    let connects = |name: &str| gate.figure(&of(name, "ropeline_upstream_connects_total"));
    let before = connects("music");

    let config = std::fs::read_to_string(two.site.path("config.toml")).unwrap();
    let start = config.find("[[upstream]]\nname = \"books\"").unwrap();
    let upstream = config[start..config.find("[store]").unwrap()].to_owned();
    let room = config[config.find("[[room]]\nname = \"books\"").unwrap()..].to_owned();
    let without = config.replace(&upstream, "").replace(&room, "");
    std::fs::write(two.site.path("config.toml"), &without).unwrap();
    taken(&two.site, &gate);
    assert_eq!(books.goes_to("/buy").word(), "unknown_host");
    assert_eq!(books.goes_to("/.ropeline/rooms/books/status").status, 421);
    assert!(music.goes_to("/one").is_the_shops());
    assert_eq!(connects("music"), before, "its connection is kept");
    let of_books = || {
        let metrics = gate.asks_admin("/metrics").body;
        let lines = metrics.lines().filter(|line| line.contains("upstream=\"books\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of_books(), [""; 0], "an upstream that is gone has no metrics");
    two.books.let_go();
    assert!(
        held.answer().is_the_shops(),
        "it goes on with the gate that it began with"
    );
    until("the removed shop is left by every connection", || {
        (two.books.connections() == 0).then_some(())
    });

    // It comes back, and before the other.
    let back = without.replacen("[[upstream]]", &format!("{upstream}[[upstream]]"), 1) + &room;
    std::fs::write(two.site.path("config.toml"), back).unwrap();
    taken(&two.site, &gate);
    assert!(books.goes_to("/free").is_the_shops());
    assert!(music.goes_to("/one").is_the_shops());
    assert_eq!(connects("music"), before);
    let removed = format!("name = \"books\"\nhosts = [\"{BOOKS}\"]");
    two.site
        .edit(&removed, &removed.replace("name = \"books\"", "name = \"novels\""));
    two.site.edit("upstream = \"books\"", "upstream = \"novels\"");
    taken(&two.site, &gate);
    assert!(books.goes_to("/free").is_the_shops());
    assert_eq!(connects("novels"), 1, "another name is another upstream");
    assert_eq!(of_books(), [""; 0], "nor has one under its former name");
    assert_eq!(gate.asks_admin("/api/v1/rooms/books").json()["upstream"], "novels");
}

#[test]
fn a_reload_tells_which_added_room_loses_its_line() {
    let two = Two::new("", "");
    let gate = two.start();
    let admin = gate.admin.to_string();
    let rooms = |args: &[&str]| {
        let ended = two.site.run(&[&["rooms", "--admin", &admin], args].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
    };
    for name in ["vip", "early"] {
        let room = format!(
            "[[room]]\nname = \"{name}\"\nupstream = \"books\"\nroutes = [\"/{name}\"]\ntotal_active_users = 1\n"
        );
        std::fs::write(two.site.path("added.toml"), room).unwrap();
        rooms(&["add", "added.toml", "--reason", "friday"]);
        let mut first = at(&gate, BOOKS);
        until("its line", || {
            first.goes_to(&format!("/{name}")).is_the_shops().then_some(())
        });
    }
    rooms(&["remove", "early", "--confirm", "early", "--reason", "over"]);
    two.site.edit("name = \"books\"\nhosts", "name = \"novels\"\nhosts");
    two.site.edit("upstream = \"books\"", "upstream = \"novels\"");
    let told = taken(&two.site, &gate);
    assert!(
        told.contains("room vip, which was added at run time, does not fit"),
        "{told}"
    );
    assert!(!told.contains("early"), "an operator has removed it: {told}");
}

#[test]
fn one_upstream_becomes_several_and_nobody_loses_a_place() {
    let two = Two::new("", "");
    let several = std::fs::read_to_string(two.site.path("config.toml")).unwrap();
    let tables = several[several.find("[[upstream]]").unwrap()..several.find("[store]").unwrap()].to_owned();
    let single = several.replace(&tables, &format!("[upstream]\nurl = \"{}\"\n", two.site.shop.url()));
    let single = single.replace("upstream = \"music\"\n", "hosts = [\"music.test\"]\n");
    let single = single.replace("upstream = \"books\"\n", "hosts = [\"books.test\"]\n");
    std::fs::write(two.site.path("config.toml"), single).unwrap();
    let gate = two.start();
    let mut first = inside(&gate, MUSIC, "/one");
    let mut waiting = at(&gate, MUSIC);
    assert_eq!(waiting.goes_to("/one").word(), "waiting");
    let mut stream = waiting.listens();
    stream.reads("event: status");
    std::fs::write(two.site.path("config.toml"), several).unwrap();
    taken(&two.site, &gate);
    assert!(first.goes_to("/one").is_the_shops());
    assert_eq!(waiting.position(), Some(1));
    assert_eq!(at(&gate, "other.test").goes_to("/one").status, 421);
    first.leaves();
    stream.reads("called");
}

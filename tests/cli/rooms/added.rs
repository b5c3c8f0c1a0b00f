//! Rooms that come and go while gates run: over the API and from a shell, over restarts, and at every gate that shares the
//! store.

use serde_json::{Value, json};

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::program::Ended;
use crate::until;
use crate::visitor::{Answer, Visitor};

pub const VIP: &str = "[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\"]\nmode = \"closed\"\n";
const WAITING: &str = "[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\"]\ntotal_active_users = 1\n";

pub fn sends(gate: &Gate, what: &str, kind: &str, body: &str) -> Answer {
    let fields = format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
    Visitor::new(gate.admin).asks(what, &fields, body)
}

pub fn adds(gate: &Gate, text: &str) -> Answer {
    sends(gate, "POST /api/v1/rooms?reason=friday", "application/toml", text)
}

pub fn removes(gate: &Gate, room: &str, body: &Value) -> Answer {
    sends(
        gate,
        &format!("DELETE /api/v1/rooms/{room}"),
        "application/json",
        &body.to_string(),
    )
}

pub fn removal(room: &str) -> Value {
    json!({"confirm": room, "reason": "it is over"})
}

fn rooms(site: &Site, gate: &Gate, args: &[&str]) -> Ended {
    let admin = format!("http://{}", gate.admin);
    site.run(&[&["rooms", "--admin", &admin][..], args].concat())
}

/// Each room's name and where it is from.
pub fn all(gate: &Gate) -> Vec<(String, String)> {
    let rooms = gate.asks_admin("/api/v1/rooms").json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rooms = rooms["rooms"].as_array().unwrap().iter();
    rooms.map(|room| (text(&room["name"]), text(&room["from"]))).collect()
}

fn only_the_file(gate: &Gate) -> bool {
    all(gate) == [("shop".to_owned(), "file".to_owned())]
}

pub fn word(gate: &Gate, path: &str) -> String {
    gate.visitor().goes_to(path).word().to_owned()
}

fn mistakes(answer: &Answer) -> String {
    assert_eq!(answer.status, 422, "{answer:?}");
    let list = answer.json()["mistakes"].clone();
    let list = list.as_array().unwrap().iter();
    list.map(|one| one.as_str().unwrap().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_room_is_added_kept_over_a_restart_and_removed() {
    let site = Site::new("", "");
    let gate = site.start();
    let mut waiting = {
        let _inside = gate.insider();
        gate.waits(1)
    };
    assert_ne!(word(&gate, "/vip/a"), "closed");
    let answer = adds(&gate, VIP);
    assert_eq!(answer.status, 201, "{answer:?}");
    let room = &answer.json()["room"];
    assert_eq!((&room["name"], &room["from"]), (&json!("vip"), &json!("api")), "{room}");
    assert_eq!(word(&gate, "/vip/a"), "closed", "at once");
    assert_eq!(waiting.position(), Some(1), "nobody else notices");
    let shown = gate.asks_admin("/api/v1/rooms/vip").json();
    assert_eq!(shown["addition"]["text"], VIP);
    let changes = gate.asks_admin("/api/v1/rooms/vip/changes").json();
    let last = &changes["changes"][0];
    assert_eq!(
        (&last["what"], &last["who"], &last["reason"]),
        (&json!("add"), &json!("operator"), &json!("friday"))
    );

    assert_eq!(gate.stop().code, Some(0));
    let gate = site.start();
    assert_eq!(word(&gate, "/vip/a"), "closed", "before the first visitor comes in");
    gate.lives();
    assert_eq!(all(&gate)[1], ("vip".to_owned(), "api".to_owned()));
    let table = rooms(&site, &gate, &[]);
    let row = table.out.lines().find(|line| line.starts_with("vip")).unwrap();
    assert!(row.trim_end().ends_with("api"), "{table:?}");

    let gone = removes(&gate, "vip", &removal("vip"));
    assert_eq!((gone.status, &gone.json()["text"]), (200, &json!(VIP)), "{gone:?}");
    assert_ne!(word(&gate, "/vip/a"), "closed");
    assert!(only_the_file(&gate));
    let noted = gate.asks_admin("/api/v1/additions").json();
    let what = |at: usize| {
        (
            noted["changes"][at]["what"].clone(),
            noted["changes"][at]["reason"].clone(),
        )
    };
    assert_eq!(what(0), (json!("remove"), json!("it is over")));
    assert_eq!(what(1), (json!("add"), json!("friday")));
    gate.kill();
    let gate = site.start();
    gate.lives();
    assert!(only_the_file(&gate), "also after a crash");
    assert_eq!(gate.stop().code, Some(0));
}

#[test]
fn what_cannot_be_is_refused_whole_with_every_reason() {
    let site = Site::new("", "");
    let gate = site.start();
    let wrong =
        "[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\"]\ngrace = \"soon\"\ntotal_active_users = 0\ncolour = 1\n";
    let told = mistakes(&adds(&gate, wrong));
    for part in [
        "room vip, line 4: room[\"vip\"].grace: \"soon\"",
        "line 5: room[\"vip\"].total_active_users",
        "line 6: room[\"vip\"].colour",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert!(mistakes(&adds(&gate, "[[room]]\nname = \n")).contains("line 2: this is no TOML"));
    assert!(mistakes(&adds(&gate, &format!("{VIP}[server]\nh2c = true\n"))).contains("exactly one [[room]]"));
    assert!(mistakes(&adds(&gate, &"#".repeat(20_000))).contains("at most 16384"));
    let whole = "[[room]]\nname = \"vip\"\nroutes = [\"/*\"]\n";
    let told = mistakes(&adds(&gate, whole));
    assert!(
        told.contains("nobody reaches this room: \"vip\" before it takes all its routes"),
        "{told}"
    );
    let file = VIP.replace("mode", "page = { template = \"/etc/passwd\" }\nmode");
    assert!(mistakes(&adds(&gate, &file)).contains("rooms added at run time may name none"));
    let shop = VIP.replace("vip", "shop");
    let told = adds(&gate, &shop);
    assert!(
        told.status == 409 && told.body.contains("file has a room called"),
        "{told:?}"
    );
    for (kind, status) in [("text/plain", 415), ("application/x-www-form-urlencoded", 415)] {
        assert_eq!(sends(&gate, "POST /api/v1/rooms", kind, VIP).status, status);
    }
    assert!(only_the_file(&gate));

    assert_eq!(adds(&gate, VIP).status, 201);
    let twice = adds(&gate, VIP);
    assert!(
        twice.status == 409 && twice.body.contains("was added before"),
        "{twice:?}"
    );
    let hidden = "[[room]]\nname = \"wide\"\nroutes = [\"/vip/*\", \"/other/*\"]\n";
    assert!(mistakes(&adds(&gate, hidden)).contains("nobody reaches this room: \"wide\""));
    for body in [
        json!({"confirm": "vip", "reason": " "}),
        json!({"confirm": "shop", "reason": "why"}),
    ] {
        assert_eq!(removes(&gate, "vip", &body).status, 422);
    }
    assert_eq!(removes(&gate, "vip", &json!({"confirm": "vip"})).status, 400);
    let of_file = removes(&gate, "shop", &removal("shop"));
    assert!(
        of_file.status == 409 && of_file.body.contains("this gate's file"),
        "{of_file:?}"
    );
    assert_eq!(removes(&gate, "none", &removal("none")).status, 404);
    assert_eq!(word(&gate, "/vip/a"), "closed", "it is there still");
    assert_eq!(gate.stop().code, Some(0));
}

#[test]
fn the_shell_adds_and_removes_and_json_is_as_good() {
    let site = Site::new("", "");
    let gate = site.start();
    std::fs::write(site.path("vip.toml"), VIP).unwrap();
    let added = rooms(&site, &gate, &["add", "vip.toml", "--reason", "the band is here"]);
    assert!(added.code == Some(0) && added.out.contains("closed"), "{added:?}");
    let json = json!({"name": "backstage", "routes": ["/back/*"], "mode": "closed", "page": {"refresh": false}});
    let answer = sends(&gate, "POST /api/v1/rooms", "application/json", &json.to_string());
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(word(&gate, "/back/door"), "closed");
    std::fs::write(site.path("wrong.toml"), VIP.replace("\"closed\"", "\"shut\"")).unwrap();
    let wrong = rooms(&site, &gate, &["add", "wrong.toml"]);
    assert_eq!(wrong.code, Some(1));
    let gone = rooms(&site, &gate, &["remove", "vip", "--confirm", "vip", "--reason", "done"]);
    assert!(gone.code == Some(0) && gone.out.contains(VIP), "{gone:?}");
    std::fs::write(site.path("wrong.toml"), VIP.replace("\"closed\"", "\"shut\"")).unwrap();
    let wrong = rooms(&site, &gate, &["add", "wrong.toml"]);
    assert!(
        wrong.code == Some(1) && wrong.err.contains("wrong.toml: room vip, line 4: room[\"vip\"].mode"),
        "{wrong:?}"
    );
    let listed = rooms(&site, &gate, &["additions"]);
    let lines: Vec<&str> = listed.out.lines().collect();
    assert!(
        lines.len() == 3 && lines[0].ends_with("remove vip (done)"),
        "{listed:?}"
    );
    assert!(lines[2].ends_with("operator: add vip (the band is here)"), "{listed:?}");
    assert_eq!(gate.stop().code, Some(0));
}

#[test]
fn a_reload_keeps_the_rooms_that_were_added_and_the_file_rules() {
    let site = Site::new("", "");
    let gate = site.start();
    assert_eq!(adds(&gate, VIP).status, 201);
    let reload = |gate: &Gate| {
        let admin = gate.admin.to_string();
        let ended = site.run(&["reload", "--admin", &admin]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
    };
    site.edit("total_active_users = 1", "total_active_users = 2");
    reload(&gate);
    assert_eq!(word(&gate, "/vip/a"), "closed");
    // Now the file has one of that name, and then no more.
    site.edit(
        "[[room]]",
        "[[room]]\nname = \"vip\"\nroutes = [\"/vips/*\"]\nmode = \"closed\"\n[[room]]",
    );
    reload(&gate);
    assert_eq!(
        (word(&gate, "/vips/a").as_str(), word(&gate, "/vip/a").as_str()),
        ("closed", "")
    );
    assert_eq!(all(&gate)[1], ("vip".to_owned(), "file".to_owned()));
    assert_eq!(removes(&gate, "vip", &removal("vip")).status, 409);
    site.edit(
        "[[room]]\nname = \"vip\"\nroutes = [\"/vips/*\"]\nmode = \"closed\"\n",
        "",
    );
    reload(&gate);
    assert_eq!(word(&gate, "/vip/a"), "closed");
    assert_eq!(all(&gate)[1], ("vip".to_owned(), "api".to_owned()));
    assert_eq!(gate.stop().code, Some(0));
}

#[test]
fn every_gate_takes_it_and_one_that_starts_later_and_all_after_the_stores_loss() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let (one, two) = (site.start(), site.start());
    [&one, &two].into_iter().for_each(Gate::lives);
    assert_eq!(adds(&one, WAITING).status, 201);
    until("the room at the other gate", || {
        (all(&two).get(1)? == &("vip".to_owned(), "api".to_owned())).then_some(())
    });
    let mut inside = one.visitor();
    assert!(inside.goes_to("/vip/a").is_the_shops() && inside.goes_to("/vip/a").is_the_shops());
    let mut waiting = two.visitor();
    assert_eq!(waiting.goes_to("/vip/a").word(), "waiting");

    let three = site.start();
    assert_eq!(three.visitor().goes_to("/vip/a").word(), "waiting");
    waiting.at = three.address;
    assert_eq!(waiting.goes_to("/vip/a").word(), "waiting");

    store.kill();
    store.forget();
    store.restart();
    for gate in [&one, &two, &three] {
        gate.lives();
        until("the room", || (all(gate).get(1)?.1 == "api").then_some(()));
        assert_ne!(word(gate, "/vip/a"), "");
    }
    let kept = one.asks_admin("/api/v1/rooms/vip").json();
    assert_eq!(kept["addition"]["text"], WAITING, "{kept}");

    let gone = until("an answer of the log", || {
        let gone = removes(&two, "vip", &removal("vip"));
        (gone.status == 200).then_some(gone)
    });
    assert_eq!(gone.json()["room"], "vip");
    for gate in [&one, &two, &three] {
        until("the end of the room", || only_the_file(gate).then_some(()));
        until("the end of its paths", || {
            let asked = gate.visitor().asks("GET /.ropeline/rooms/vip/status", "", "");
            (asked.status == 404).then_some(())
        });
    }
}

#[test]
fn a_gate_that_cannot_take_a_room_says_so_and_goes_on_until_it_can() {
    let store = Server::start(&Options::default());
    let (first, second) = (Site::shared(&store.url(), ""), Site::shared(&store.url(), ""));
    for site in [&first, &second] {
        site.edit("threads = 1", "threads = 1\nroom_files = \"files\"");
    }
    std::fs::create_dir(first.path("files")).unwrap();
    let page = "<!doctype html><html></html>";
    std::fs::write(first.path("files/page.html"), page).unwrap();
    let (one, mut two) = (first.start(), second.start());
    [&one, &two].into_iter().for_each(Gate::lives);
    let text = format!("{VIP}[room.page]\ntemplate = \"page.html\"\n");
    let answer = adds(&one, &text);
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(word(&one, "/vip/a"), "closed");
    let untaken = |gate: &Gate| gate.asks_admin("/api/v1/gates").json()["gate"]["untaken"].clone();
    let told = until("word that it is not taken", || {
        let told = untaken(&two);
        told.is_array().then_some(told)
    });
    assert_eq!(told[0]["room"], "vip");
    assert!(
        told[0]["reasons"][0].as_str().unwrap().contains("files/page.html"),
        "{told}"
    );
    assert!(untaken(&one).is_null());
    assert_eq!(all(&two)[1], ("vip".to_owned(), "elsewhere".to_owned()));
    assert!(two.program.runs() && two.figure("ropeline_rooms_untaken") == 1);
    let line = two.logs("a room that an operator added is not taken here");
    assert_eq!(line["room"], "vip");
    let shown = second.run(&["gates", "--admin", &two.admin.to_string()]);
    assert!(shown.out.contains("The room vip, which an operator added"), "{shown:?}");
    // The file's own changes do not wait for it.
    second.edit("total_active_users = 1", "total_active_users = 2");
    assert_eq!(second.run(&["reload", "--admin", &two.admin.to_string()]).code, Some(0));

    std::fs::create_dir(second.path("files")).unwrap();
    std::fs::write(second.path("files/page.html"), page).unwrap();
    until("the room, once its file is there", || {
        (all(&two)[1].1 == "api").then_some(())
    });
    assert_eq!(word(&two, "/vip/a"), "closed");
    assert!(untaken(&two).is_null());
}

#[test]
fn without_its_store_a_gate_adds_and_removes_none() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let gate = site.start();
    gate.lives();
    assert_eq!(adds(&gate, VIP).status, 201);
    store.stop();
    gate.is_cut_off();
    assert_eq!(adds(&gate, &VIP.replace("vip", "late")).status, 503);
    assert_eq!(removes(&gate, "vip", &removal("vip")).status, 503);
    assert_eq!(word(&gate, "/vip/a"), "closed", "nothing has changed");
    assert_ne!(word(&gate, "/late/a"), "closed");
}

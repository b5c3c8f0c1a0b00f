//! Starts on an empty store: the first one of all, and one after everything was lost, which look the same to a gate.

use std::time::Duration;

use ropeline::time::uptime;
use ropeline_testkit::page;
use rustix::process::Signal;
use serde_json::Value;

use crate::commands::nobody_listens;
use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::program::Program;
use crate::until;
use crate::visitor::Visitor;

/// As many as come with one address.
fn site(store: &Server, capacity: usize, room: &str) -> Site {
    site_at(&store.url(), capacity, room)
}

fn site_at(store: &str, capacity: usize, room: &str) -> Site {
    let site = Site::shared(store, room);
    site.edit("requests = 10, window = \"1 h\"", "requests = 1000, window = \"1s\"");
    site.edit(
        "total_active_users = 1\n",
        &format!("total_active_users = {capacity}\n"),
    );
    site
}

fn room(gate: &Gate) -> Value {
    gate.asks_admin("/api/v1/rooms/shop").json()
}

/// Visitors called and inside.
fn held(room: &Value) -> usize {
    let count = |name: &str| usize::try_from(room[name].as_u64().expect(name)).unwrap();
    count("called") + count("sessions")
}

#[test]
fn the_first_start_of_all_numbers_and_calls_the_first_visitor_at_once() {
    let store = Server::start(&Options::default());
    let site = site(&store, 1, "");
    let gate = site.start();
    assert!(gate.visitor().goes_to("/").is_the_shops(), "{}", gate.program.err());
    assert_eq!(gate.asks_admin("/readyz").status, 200);
    assert!(room(&gate).get("healing_secs").is_none());
    assert_eq!(gate.waits(1).status()["why"], Value::Null);
    // The word is for one start: a store that has a log is not taken for new.
    gate.kill();
    let gate = site.start();
    gate.logs("run without --first-start");
    until("the log", || (room(&gate)["waiting"] == 1).then_some(()));
}

/// Without `token.key` the gate makes a key, and says nothing of a word that nobody has given.
#[test]
fn a_key_that_was_made_is_no_word_for_a_first_start() {
    let site = Site::new("", "");
    let gate = site.start();
    assert!(gate.visitor().goes_to("/").is_the_shops());
    gate.stop();
    std::fs::remove_file(site.path("data/token.key")).unwrap();
    let gate = Gate::serving(Program::start(&site.path(""), &["run"]));
    gate.lives();
    let said = gate.program.err();
    assert!(said.contains("made a key of this gate's own"), "{said}");
    assert!(!said.contains("--first-start"), "{said}");
}

/// The word was left in a unit file, and the store came back empty: what a gate knows that never stopped counts more.
#[test]
fn a_gate_that_starts_with_the_word_for_a_first_start_takes_nothing_from_one_that_lives() {
    let store = Server::start(&Options::default());
    let site = site(&store, 1, "");
    let (alive, other) = (site.start(), site.start());
    let mut inside = alive.visitor();
    until("the turn", || inside.goes_to("/").is_the_shops().then_some(()));
    let mut waits = other.visitor();
    assert_eq!(waits.goes_to("/").word(), "waiting");
    other.kill();
    alive.program.signal(Signal::STOP);
    let _: () = store.ask("FLUSHALL");
    let again = Program::start(&site.path(""), &["run", "--first-start"]);
    until("the new log", || again.err().contains("a log has begun").then_some(()));
    alive.program.signal(Signal::CONT);
    let again = Gate::serving(again);
    let mut newcomer = again.visitor();
    until("the newcomer's number", || {
        (newcomer.goes_to("/").word() == "waiting").then_some(())
    });
    waits.at = again.address;
    assert_eq!((waits.position(), newcomer.position()), (Some(1), Some(2)));
    for gate in [&alive, &again] {
        until("both to agree", || {
            let room = room(gate);
            (room["sessions"] == 1 && room["waiting"] == 2).then_some(())
        });
    }
}

/// The gate that knew the rooms dies before the log has them, so they come back with passes and tickets alone.
#[test]
fn the_word_for_a_first_start_is_not_for_a_log_that_tells_of_rooms() {
    let store = Server::start(&Options::default());
    let site = site(&store, 1, "");
    let (knows, other) = (site.start(), site.start());
    let mut inside = knows.visitor();
    until("the turn", || inside.goes_to("/").is_the_shops().then_some(()));
    // It waits for the other's word before it gives the new log its root.
    other.kill();
    let _: () = store.ask("FLUSHALL");
    knows.logs("a new log has begun");
    knows.kill();
    let again = site.start();
    let mut newcomer = again.visitor();
    until("the newcomer's number", || {
        (newcomer.goes_to("/").word() == "waiting").then_some(())
    });
    assert!(room(&again)["healing_secs"].is_u64(), "{}", room(&again));
    inside.at = again.address;
    assert!(inside.goes_to("/").is_the_shops());
}

/// The gate knows nothing of the log, which may be one of years.
#[test]
fn a_start_without_the_store_says_nothing_of_a_first_start() {
    let site = site_at(&format!("redis://{}", nobody_listens()), 1, "");
    let gate = site.start_again();
    gate.is_cut_off();
    let room = room(&gate);
    assert_eq!(
        (&room["opening"], &room["healing_secs"]),
        (&Value::Null, &Value::Null),
        "{room}"
    );
    let admin = gate.admin.to_string();
    let told = site.run(&["rooms", "--admin", &admin]).out;
    assert!(
        told.contains("shop") && !told.contains("opening") && !told.contains("end-healing"),
        "{told}"
    );
    for figure in ["ropeline_room_opening_seconds", "ropeline_room_healing_seconds"] {
        assert_eq!(gate.figure(&format!("{figure}{{room=\"shop\"}}")), 0, "{figure}");
    }
}

/// Everything that a start on an empty store says until it calls, on the page, to operators, in the log and in figures.
#[test]
fn a_start_that_may_follow_a_loss_says_that_it_opens_and_never_that_something_is_wrong() {
    let store = Server::start(&Options::default());
    let site = site(&store, 1, "session_duration = \"1 min\"");
    let gate = site.start_again();
    let mut visitor = gate.visitor();
    let shown = visitor.goes_to("/");
    assert_eq!(shown.word(), "joining", "at once, before there is a log: {shown:?}");
    let opens = |body: &str| page::facts(body)["why"] == "opening" && body.contains("This system is starting");
    assert!(opens(&shown.body), "{shown:?}");
    assert_eq!(visitor.status()["why"], "opening");
    let ready = gate.asks_admin("/readyz");
    assert!(ready.status == 503 && ready.body.contains("opening: "), "{ready:?}");
    let admin = gate.admin.to_string();
    let told = site.run(&["gates", "--admin", &admin]).out;
    assert!(told.contains("opening") && !told.contains("cut off"), "{told}");

    until("a number", || (visitor.goes_to("/").word() == "waiting").then_some(()));
    until("being ready", || {
        (gate.asks_admin("/readyz").status == 200).then_some(())
    });
    let shown = visitor.goes_to("/");
    assert!(opens(&shown.body), "{shown:?}");
    assert_eq!(
        (visitor.status()["why"].as_str(), visitor.position()),
        (Some("opening"), Some(1))
    );
    let shown = room(&gate);
    let left = shown["healing_secs"].as_u64().expect("it waits for passes");
    assert!(shown["opening"] == true && (1..=122).contains(&left), "{shown}");
    let told = site.run(&["rooms", "--admin", &admin]).out;
    assert!(
        told.contains("shop: opening") && !told.contains("lost log come back"),
        "{told}"
    );
    for figure in [
        "ropeline_cut_off_seconds",
        "ropeline_store_outages_total",
        "ropeline_healing_seconds",
        "ropeline_room_healing_seconds{room=\"shop\"}",
        "ropeline_condition{condition=\"healing\"}",
    ] {
        assert_eq!(gate.figure(figure), 0, "{figure}");
    }
    assert!(gate.figure("ropeline_room_opening_seconds{room=\"shop\"}") > 0);
    gate.logs("if a log was lost");
    let log = gate.program.err();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_trouble = |line: &Value| matches!(line["level"].as_str(), Some("WARN" | "ERROR"));
    let of_rooms = |line: &Value| line["target"].as_str().is_some_and(|target| target.contains("replica"));
    let trouble: Vec<Value> = lines.filter(|line| is_trouble(line) && of_rooms(line)).collect();
    assert_eq!(trouble, Vec::<Value>::new());

    let ended = site.run(&[
        "rooms",
        "--admin",
        &admin,
        "end-healing",
        "shop",
        "--reason",
        "the first start",
    ]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    until("the turn", || visitor.goes_to("/").is_the_shops().then_some(()));
}

const LINE: usize = 500;
const SLOTS: usize = 20;

/// The visitors of a shop at which every gate and the store are lost.
struct House {
    gates: [Gate; 2],
    inside: Vec<Visitor>,
    line: Vec<Visitor>,
    /// Uptime of the last request of somebody inside.
    seen: Duration,
}

impl House {
    fn fill(gates: [Gate; 2]) -> Self {
        let come = |i: usize| gates[i % 2].visitor();
        let mut inside: Vec<Visitor> = (0..SLOTS).map(come).collect();
        for visitor in &mut inside {
            assert!(visitor.goes_to("/").is_the_shops());
        }
        let mut line: Vec<Visitor> = (0..LINE).map(come).collect();
        for visitor in &mut line {
            assert_eq!(visitor.goes_to("/").word(), "waiting");
        }
        for visitor in &mut inside {
            assert!(visitor.goes_to("/").is_the_shops());
        }
        Self {
            gates,
            inside,
            line,
            seen: uptime(),
        }
    }

    /// Every gate is killed, the store forgets everything, and other gates start.
    fn lose(self, store: &Server, site: &Site) -> Self {
        self.gates.into_iter().for_each(Gate::kill);
        let _: () = store.ask("FLUSHALL");
        let gates = [site.start_again(), site.start_again()];
        let Self {
            mut inside,
            mut line,
            seen,
            ..
        } = self;
        for (i, visitor) in inside.iter_mut().chain(&mut line).enumerate() {
            visitor.at = gates[i % 2].address;
        }
        Self {
            gates,
            inside,
            line,
            seen,
        }
    }

    fn is_within_its_slots(&self) {
        let rooms = self.gates.each_ref().map(room);
        assert!(rooms.iter().all(|room| held(room) <= SLOTS), "{rooms:?}");
    }
}

#[test]
fn after_a_loss_of_everything_nobody_is_lost_nobody_passes_another_and_no_slot_is_given_twice() {
    let store = Server::start(&Options::default());
    let times = "session_duration = \"24s\"\nclaim_deadline = \"20s\"\ngrace = \"40s\"";
    let site = site(&store, SLOTS, times);
    let mut house = House::fill([site.start(), site.start()]).lose(&store, &site);

    let mut newcomer = house.gates[0].visitor();
    until("the newcomer's number", || {
        (newcomer.goes_to("/").word() == "waiting").then_some(())
    });
    house.is_within_its_slots();
    // Whoever is in line comes back in no order, and so does half of those inside.
    for i in 0..LINE {
        let visitor = &mut house.line[i * 7 % LINE];
        until("the place", || (visitor.goes_to("/").word() == "waiting").then_some(()));
    }
    let (early, late) = house.inside.split_at_mut(SLOTS / 2);
    for visitor in early.iter_mut() {
        assert!(visitor.goes_to("/").is_the_shops());
    }
    assert_eq!(
        room(&house.gates[0])["opening"],
        Value::Null,
        "tickets have shown the loss"
    );
    // The others have read a page until their passes have nearly run out.
    until("the last moment of a session", || {
        for visitor in early.iter_mut() {
            visitor.goes_to("/");
        }
        house
            .gates
            .each_ref()
            .map(room)
            .iter()
            .for_each(|room| assert!(held(room) <= SLOTS, "{room}"));
        (uptime() >= house.seen + Duration::from_secs(16)).then_some(())
    });
    for visitor in late.iter_mut() {
        assert!(visitor.goes_to("/").is_the_shops(), "the pass still holds");
    }
    let mut rounds = 0;
    until("calls", || {
        rounds += 1;
        if rounds % 50 == 0 {
            house.inside.iter_mut().for_each(|visitor| drop(visitor.goes_to("/")));
        }
        house.is_within_its_slots();
        room(&house.gates[0]).get("healing_secs").is_none().then_some(())
    });
    house.is_within_its_slots();
    for i in (0..LINE).rev() {
        let place = house.line[i].position();
        assert_eq!(
            place,
            Some(u64::try_from(i + 1).unwrap()),
            "each has the place from before"
        );
    }
    assert_eq!(newcomer.position(), Some(LINE as u64 + 1), "behind them all");

    for visitor in house.inside.drain(..5) {
        let mut visitor = visitor;
        assert_eq!(visitor.leaves().status, 200);
    }
    until("five calls", || (room(&house.gates[0])["called"] == 5).then_some(()));
    house.is_within_its_slots();
    for visitor in &mut house.line[..5] {
        until("the turn", || visitor.goes_to("/").is_the_shops().then_some(()));
    }
    house.is_within_its_slots();
    assert_eq!(house.line[5].position(), Some(1));
}

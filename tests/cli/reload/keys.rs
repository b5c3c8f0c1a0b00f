//! A change of keys as in docs/guides/runbook.md, while visitors wait and are inside; and the warning about a key that is
//! removed too early.

use std::net::SocketAddr;
use std::time::Duration;

use super::taken;
use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::until;
use crate::visitor::{Answer, Visitor};

const OLD: &str = "{ id = \"test\", secret = \"a secret of the tests, long enough for any key ring\" }";
const NEW: &str = "{ id = \"next\", secret = \"another secret of the tests, as long as the first\" }";

/// Sessions are over long before the line is.
const ROOM: &str = "session_duration = \"8s\"\nsession_max = \"8s\"\nclaim_deadline = \"8s\"\nend_grace = \"1s\"";
const SESSION_MAX: Duration = Duration::from_secs(8);
const LINE: usize = 8;

fn keys(list: &[&str]) -> String {
    format!("keys = [{}]", list.join(", "))
}

/// How a waiting visitor shows the ticket.
#[derive(Clone, Copy)]
enum Way {
    Page,
    Status,
    CheckIn,
    Stream,
    App,
}

const WAYS: [Way; 5] = [Way::Page, Way::Status, Way::CheckIn, Way::Stream, Way::App];

struct Waiting {
    visitor: Visitor,
    way: Way,
    /// An app's own, which it shows in a field.
    ticket: Option<String>,
}

impl Waiting {
    fn join(gate: &Gate, way: Way) -> Self {
        let mut visitor = gate.visitor();
        let mut ticket = None;
        match way {
            Way::App => {
                let told = visitor.joins_as_app().json();
                ticket = Some(told["ticket"].as_str().expect("a ticket").to_owned());
                visitor.jar.clear();
            }
            _ => _ = visitor.goes_to("/"),
        }
        until("a number", || {
            let told = asks(&mut visitor, ticket.as_deref(), "GET", "status").json();
            told["position"].as_u64()
        });
        Self { visitor, way, ticket }
    }

    /// Shows the ticket to a gate, and keeps the new one; returns whether it still gives the place.
    fn shows(&mut self, gate: SocketAddr) -> bool {
        self.visitor.at = gate;
        let ticket = self.ticket.clone();
        let mut ask = |method: &str, path: &str| asks(&mut self.visitor, ticket.as_deref(), method, path);
        match self.way {
            Way::Page => {
                let answer = self.visitor.goes_to("/");
                answer.word() == "waiting"
            }
            Way::Stream => {
                let answer = self.visitor.listens().head();
                self.visitor.keep(&answer);
                answer.word() == "stream"
            }
            Way::Status => ask("GET", "status").json()["state"] == "waiting",
            Way::CheckIn => ask("POST", "check-in").json()["state"] == "waiting",
            Way::App => {
                let told = ask("GET", "status").json();
                self.ticket = told["ticket"].as_str().map(str::to_owned);
                told["state"] == "waiting"
            }
        }
    }
}

fn asks(visitor: &mut Visitor, ticket: Option<&str>, method: &str, path: &str) -> Answer {
    let field = ticket.map(|ticket| format!("Ropeline-Ticket: {ticket}\r\n"));
    let fields = format!(
        "Accept: application/json\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n{}",
        field.unwrap_or_default()
    );
    visitor.asks(&format!("{method} /.ropeline/rooms/shop/{path}"), &fields, "")
}

fn config(site: &Site, from: &[&str], to: &[&str]) {
    site.edit(&keys(from), &keys(to));
}

#[test]
fn three_gates_change_their_keys_and_nobody_inside_or_in_line_is_lost() {
    let store = Server::start(&Options::default());
    let sites: Vec<_> = (0..3).map(|_| Site::shared(&store.url(), ROOM)).collect();
    for site in &sites {
        site.edit("total_active_users = 1", "total_active_users = 3");
    }
    let gates: Vec<_> = sites.iter().map(Site::start).collect();
    gates.iter().for_each(Gate::lives);
    let mut line = Vec::new();
    let began = ropeline::time::uptime();
    let may_end = || ropeline::time::uptime().saturating_sub(began) >= SESSION_MAX;
    let mut inside: Vec<_> = gates.iter().map(Gate::insider).collect();
    for (at, way) in WAYS.iter().cycle().take(LINE).enumerate() {
        line.push(Waiting::join(&gates[at % 3], *way));
    }
    let hold = |mode: &str| {
        let ended = sites[0].run(&[
            "rooms",
            "set",
            "shop",
            "--mode",
            mode,
            "--admin",
            &gates[0].admin.to_string(),
        ]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
    };
    // Everybody is seen by every gate between any two steps; of the sessions only those whose time is up are over.
    let mut thrown_out = 0;
    let mut all_go_round = |inside: &mut Vec<Visitor>, line: &mut Vec<Waiting>, ended: &dyn Fn() -> bool| {
        for gate in &gates {
            for waiting in line.iter_mut() {
                assert!(waiting.shows(gate.address), "a place is lost");
            }
            inside.retain_mut(|visitor| {
                visitor.at = gate.address;
                let served = visitor.goes_to("/").is_the_shops();
                thrown_out += usize::from(!served && !ended());
                served
            });
        }
    };
    hold("hold");
    for step in [[&[OLD][..], &[OLD, NEW]], [&[OLD, NEW], &[NEW, OLD]]] {
        for (site, gate) in sites.iter().zip(&gates) {
            config(site, step[0], step[1]);
            let told = taken(site, gate);
            assert!(!told.contains("warning: tokens: the key"), "{told}");
            all_go_round(&mut inside, &mut line, &may_end);
        }
    }
    // The line is longer than a session.
    until("the end of the sessions", || {
        all_go_round(&mut inside, &mut line, &may_end);
        inside.is_empty().then_some(())
    });
    assert!(inside.is_empty());
    // Visitors called now are inside when the old key goes.
    let began = ropeline::time::uptime();
    let may_end = || ropeline::time::uptime().saturating_sub(began) >= SESSION_MAX;
    hold("auto");
    let mut called = Vec::new();
    for _ in 0..3 {
        let mut waiting = line.remove(0);
        until("the turn", || {
            let ticket = waiting.ticket.as_deref();
            let told = asks(&mut waiting.visitor, ticket, "POST", "check-in").json();
            (told["state"] == "called" || told["state"] == "inside").then_some(())
        });
        assert!(waiting.visitor.goes_to("/").is_the_shops());
        called.push(waiting.visitor);
    }
    hold("hold");
    for (site, gate) in sites.iter().zip(&gates) {
        config(site, &[NEW, OLD], &[NEW]);
        taken(site, gate);
        all_go_round(&mut called, &mut line, &may_end);
    }
    assert_eq!(thrown_out, 0, "of those inside");
}

#[test]
fn whoever_was_seen_under_the_new_key_outlives_the_old_one_and_the_shop_can_ask_about_them() {
    let site = Site::new("", &format!("[tokens]\n{}\n", keys(&[OLD])));
    site.edit("[upstream]", "verify_token = \"token-of-the-tests\"\n[upstream]");
    let gate = site.start();
    let mut inside = gate.insider();
    let mut line: Vec<_> = WAYS.iter().map(|way| Waiting::join(&gate, *way)).collect();
    let session = |visitor: &mut Visitor| {
        let body = visitor.goes_to("/").body;
        let named = body.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .starts_with("ropeline-session:")
                .then(|| line.to_owned())
        });
        named
            .and_then(|line| Some(line.split_once(": ")?.1.trim().to_owned()))
            .expect("a session's name")
    };
    let first = session(&mut inside);
    config(&site, &[OLD], &[NEW, OLD]);
    taken(&site, &gate);
    assert!(line.iter_mut().all(|waiting| waiting.shows(gate.address)));
    assert_eq!(session(&mut inside), first, "the same session");
    config(&site, &[NEW, OLD], &[NEW]);
    let told = taken(&site, &gate);
    assert!(
        told.contains("the key \"test\" is gone and was in use until "),
        "{told}"
    );
    assert!(
        line.iter_mut().all(|waiting| waiting.shows(gate.address)),
        "5 of 5 wait"
    );
    let name = session(&mut inside);
    let ask = format!("Authorization: Bearer token-of-the-tests\r\nRopeline-Session: {name}\r\n");
    let told = Visitor::new(gate.admin).asks("GET /api/v1/verify", &ask, "").json();
    assert_eq!(told["state"], "inside", "{told}");
}

#[test]
fn a_key_that_goes_while_its_tokens_are_about_is_told_of_with_the_date_until_which_to_keep_it() {
    let store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let gate = site.start();
    gate.lives();
    let _inside = gate.insider();
    config(&site, &[OLD], &[NEW]);
    let told = taken(&site, &gate);
    for words in [
        "warning: tokens: the key \"test\" is gone and was in use until ",
        "put it back behind the others until then",
        "warning: tokens: the key \"next\" signs and was not accepted here before",
    ] {
        assert!(told.contains(words), "{told}");
    }
    gate.logs("the change may cost visitors their places");
    // Through the API as well.
    let last = gate.asks_admin("/api/v1/reload").json();
    assert!(
        last["warnings"].to_string().contains("is gone and was in use"),
        "{last}"
    );
    // No change since then.
    assert!(!taken(&site, &gate).contains("the key"), "it is told once");
}

#[test]
fn a_key_of_the_gates_own_is_renewed_as_any_other() {
    let site = Site::new("", "");
    let gate = site.start();
    let mut inside = gate.insider();
    let mut waiting = gate.waits(1);
    assert_eq!(site.run(&["keygen", "--out", "key"]).code, Some(0));
    let (new, own) = (
        "{ id = \"next\", secret = { file = \"key\" } }",
        "{ id = \"own\", secret = { file = \"data/token.key\" } }",
    );
    let all = format!("[tokens]\n{}\n[limits]", keys(&[new, own]));
    site.edit("[limits]", &all);
    taken(&site, &gate);
    assert_eq!(waiting.position(), Some(1));
    assert!(inside.goes_to("/").is_the_shops());
    config(&site, &[new, own], &[new]);
    let told = taken(&site, &gate);
    assert!(told.contains("the key \"own\" is gone and was in use until "), "{told}");
    assert_eq!(waiting.position(), Some(1));
    assert!(inside.goes_to("/").is_the_shops());
}

#[test]
fn a_stream_that_was_opened_under_the_old_key_ends_and_comes_back_to_a_new_ticket() {
    let site = Site::new("", &format!("[tokens]\n{}\n", keys(&[OLD])));
    let gate = site.start();
    let _inside = gate.insider();
    let mut waiting = gate.waits(1);
    let mut stream = waiting.listens();
    stream.reads("event:");
    let before = waiting.jar.clone();
    config(&site, &[OLD], &[NEW, OLD]);
    taken(&site, &gate);
    let rest = stream.answer();
    assert!(rest.body.contains("retry: "), "{rest:?}");
    let again = waiting.listens().head();
    waiting.keep(&again);
    assert_ne!(waiting.jar, before);
    config(&site, &[NEW, OLD], &[NEW]);
    taken(&site, &gate);
    assert_eq!(waiting.position(), Some(1));
}

#[test]
fn a_change_that_gives_cookies_other_names_says_whom_it_costs_the_place() {
    let site = Site::new("cookie_domain = \"shop.test\"\nhosts = [\"a.shop.test\"]", "");
    let gate = site.start();
    site.edit("cookie_domain = \"shop.test\"\n", "");
    let told = taken(&site, &gate);
    assert!(
        told.contains("without its cookie_domain all who came by TLS are newcomers"),
        "{told}"
    );
    site.edit("hosts = ", "cookie_domain = \"shop.test\"\nhosts = ");
    let told = taken(&site, &gate);
    assert!(!told.contains("newcomers"), "{told}");
}

#[test]
fn a_change_by_which_visitors_lose_their_line_says_so() {
    let site = Site::new("", "");
    let gate = site.start();
    site.edit("name = \"shop\"", "name = \"shop\"\nper = \"?event\"");
    let told = taken(&site, &gate);
    assert!(told.contains("with another `per` all who wait"), "{told}");
    site.edit("per = \"?event\"", "per = \"?event\"\nallow = [\"a\"]");
    let told = taken(&site, &gate);
    assert!(!told.contains("another `per`"), "{told}");
    site.edit("name = \"shop\"", "name = \"store\"");
    let told = taken(&site, &gate);
    assert!(told.contains("room shop is gone: who waits in it"), "{told}");
}

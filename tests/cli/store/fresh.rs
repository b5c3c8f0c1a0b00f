//! Gates on a store that has just been set up: when they are ready, and who leaves before there are numbers.

use crate::gate::Site;
use crate::harness::redis::{Options, Server};
use crate::until;
use crate::visitor::Visitor;

/// More may join than in other tests.
fn site(store: &Server, room: &str) -> Site {
    let site = Site::shared(&store.url(), room);
    site.edit("requests = 10, window = \"1 h\"", "requests = 1000, window = \"1s\"");
    site
}

#[test]
fn a_gate_on_a_new_store_is_ready_once_visitors_are_numbered_and_not_before() {
    let store = Server::start(&Options::default());
    let site = site(&store, "");
    let gate = site.start();
    let ready = || gate.asks_admin("/readyz").status == 200;
    let numbered = |visitor: &mut Visitor| {
        let page = visitor.goes_to("/");
        page.is_the_shops() || page.word() == "waiting"
    };
    until("being ready", || {
        let was_ready = ready();
        let all = (0..20).all(|_| numbered(&mut gate.visitor()));
        assert!(all || !was_ready, "ready, and somebody was not numbered");
        was_ready.then_some(())
    });
}

#[test]
fn who_leaves_before_there_are_numbers_holds_no_piece_of_the_stock() {
    let mut store = Server::start(&Options::default());
    let room = "routes = [\"/*\"]\nstock = 3\ncompletes_on = [{ route = \"/done\", status = 200 }]\nclaim_deadline = \"4 min\"";
    let site = site(&store, room);
    site.edit("total_active_users = 1", "total_active_users = 10");
    store.kill();
    let gate = site.start();
    for _ in 0..3 {
        let mut visitor = gate.visitor();
        assert_eq!(visitor.goes_to("/").word(), "joining");
        assert_eq!(visitor.leaves().status, 200);
    }
    let mut six = [(); 6].map(|()| gate.visitor());
    for visitor in &mut six {
        assert_eq!(visitor.goes_to("/").word(), "joining");
    }
    store.restart();
    until("three of six inside", || {
        let inside = six
            .iter_mut()
            .filter_map(|visitor| visitor.goes_to("/").is_the_shops().then_some(()));
        (inside.count() == 3).then_some(())
    });
}

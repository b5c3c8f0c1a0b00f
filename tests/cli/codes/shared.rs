//! Single-use codes at two gates that share a store.

use std::sync::Barrier;
use std::thread;

use serde_json::Value;

use crate::codes::single_use::{follows, next_second, refused, single, spent};
use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::until;

const ROOM: &str = "bypass_codes = 1\n[[room.lane]]\nname = \"everybody\"\n\
    [[room.lane]]\nname = \"press\"\nweight = 2\ncode = true";

/// Two gates of a full room, whose log has begun before the second that codes are issued in.
fn gates(store: &Server) -> (Site, [Gate; 2]) {
    let site = Site::shared(&store.url(), ROOM);
    let gates = [site.start(), site.start()];
    gates.iter().for_each(Gate::lives);
    gates[0].insider();
    until("the full room at the other gate", || {
        let room = gates[1].asks_admin("/api/v1/rooms/shop").json();
        (room["sessions"] == 1).then_some(())
    });
    next_second();
    (site, gates)
}

#[test]
fn what_is_used_at_one_gate_is_used_at_the_other() {
    let store = Server::start(&Options::default());
    let (site, gates) = gates(&store);
    let code = single(&site, "lane:press");
    let mut first = gates[0].visitor();
    assert_eq!(first.goes_to(&format!("/sale?ropeline_code={code}")).status, 303);
    let before = first.clone();
    assert_eq!(first.goes_to("/sale").word(), "waiting");
    assert_eq!(first.status()["lane"], "press");
    let mut other = gates[1].visitor();
    refused(&follows(&mut other, &code), 403, "code_spent", "has already been used");
    assert_eq!(other.goes_to("/sale").word(), "waiting");
    assert_eq!(other.status()["lane"], Value::Null, "with everybody else");
    // A visitor whose answer was lost asks at the other gate, and has the place that the code gave.
    let mut again = before;
    again.at = gates[1].address;
    assert_eq!(again.goes_to("/sale").word(), "waiting");
    assert_eq!(again.status()["reference"], first.status()["reference"]);
    assert_eq!(spent(&gates[1]), spent(&gates[0]));
    for gate in gates {
        assert_eq!(gate.stop().code, Some(0));
    }
}

#[test]
fn of_two_who_show_a_code_at_two_gates_at_once_one_has_it() {
    let store = Server::start(&Options::default());
    let (site, gates) = gates(&store);
    for round in 1..=4 {
        let code = single(&site, "lane:press");
        let start = Barrier::new(2);
        let shows = |gate: &Gate| {
            let mut visitor = gate.visitor();
            assert_eq!(visitor.goes_to(&format!("/sale?ropeline_code={code}")).status, 303);
            start.wait();
            let answer = visitor.goes_to("/sale");
            (visitor, answer)
        };
        let both = thread::scope(|scope| {
            let other = scope.spawn(|| shows(&gates[1]));
            [shows(&gates[0]), other.join().unwrap()]
        });
        let (mut has, has_not): (Vec<_>, Vec<_>) = both.into_iter().partition(|(_, answer)| answer.status == 200);
        assert_eq!((has.len(), has_not.len()), (1, 1), "round {round}");
        refused(&has_not[0].1, 403, "code_spent", "has already been used");
        assert_eq!(has[0].1.word(), "waiting");
        assert_eq!(has[0].0.status()["lane"], "press");
        until("the code at both gates", || {
            let all = gates.each_ref().map(spent);
            (all[0].len() == round && all[0] == all[1]).then_some(())
        });
    }
    for gate in gates {
        assert_eq!(gate.stop().code, Some(0));
    }
}

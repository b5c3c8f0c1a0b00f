//! Sockets that an outage of the store let past the line: they go on for as long as it lasts, and then while the room is open.

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::until;
use crate::visitor::Socket;

fn site(store: &Server) -> Site {
    Site::shared(&store.url(), "on_outage = \"open\"")
}

/// Waits until the gate has been cut off for so long: it looks at its sockets once a second.
fn is_cut_off(gate: &Gate, secs: u64) {
    until("the outage", || {
        let since = gate.asks_admin("/api/v1/gates").json()["gate"]["cut_off_secs"].as_u64();
        (since >= Some(secs)).then_some(())
    });
}

/// Waits until the outage has opened the room to visitors without place or session.
fn is_opened(gate: &Gate) {
    is_cut_off(gate, 0);
    until("the open room", || {
        let answer = gate
            .visitor()
            .asks("GET /api/stock", "Accept: application/json\r\n", "");
        answer.is_the_shops().then_some(())
    });
}

/// Uses the socket until it is closed, so that it is never closed for idleness.
fn closes(mut socket: Socket, whose: &str) {
    until(&format!("the end of the socket of {whose}"), || {
        (!socket.is_alive()).then_some(())
    });
}

#[test]
fn sockets_that_an_outage_let_past_go_when_the_line_is_back_and_one_of_a_session_stays() {
    let mut store = Server::start(&Options::default());
    let site = site(&store);
    let gate = site.start();
    gate.lives();
    let mut inside = gate.insider();
    let waiting = gate.waits(1);
    let mut of_session = inside.opens_socket();
    store.kill();
    is_opened(&gate);
    let (mut of_nobody, mut of_waiting) = (gate.visitor().opens_socket(), waiting.opens_socket());
    is_cut_off(&gate, 5);
    for socket in [&mut of_session, &mut of_nobody, &mut of_waiting] {
        assert!(socket.is_alive(), "the outage lasts");
    }

    store.restart();
    gate.lives();
    closes(of_nobody, "nobody");
    closes(of_waiting, "somebody who waits");
    assert!(of_session.is_alive() && inside.goes_to("/basket").is_the_shops());
    inside.leaves();
    closes(of_session, "who has left");
}

#[test]
fn a_socket_that_an_outage_let_past_stays_while_the_room_is_open_and_goes_when_it_is_full() {
    let store = Server::start(&Options::default());
    let site = site(&store);
    let gate = site.start();
    gate.lives();
    store.pause();
    is_opened(&gate);
    assert!(gate.visitor().goes_to("/").is_the_shops(), "let past");
    let mut of_nobody = gate.visitor().opens_socket();
    is_cut_off(&gate, 5);
    store.resume();
    gate.lives();
    until("the count", || {
        gate.program.err().contains("the line is in force again").then_some(())
    });
    assert!(of_nobody.is_alive(), "whoever came now would be called");
    gate.insider();
    closes(of_nobody, "nobody");
}

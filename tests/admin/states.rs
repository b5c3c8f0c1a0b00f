//! Gates whose states differ, on a real store: one has a machine that loses an operator's message of a certain text.

use std::process::Command;

use ropeline::admin::api;
use ropeline::replica::Condition;
use ropeline::room::{Change, Effects, Encoded, State};

use crate::harness::redis::{Options, Server};
use crate::support::{Gate, room_name};

const LOST: &str = "lost on one machine";

fn flawed(state: &mut State, entry: &Encoded) -> Effects {
    let mut entry = entry.clone().into_entry();
    let lost = |change: &Change| matches!(change, Change::Override(set) if set.message.as_deref() == Some(LOST));
    entry.batch.rooms.retain(|room| !lost(&room.change));
    state.apply(&entry.into())
}

/// Gates of one store, live, with a visitor in line so that the rooms' clock goes on.
fn start<const N: usize>(store: &Server, machines: [fn(&mut State, &Encoded) -> Effects; N]) -> [Gate; N] {
    let gates = machines.map(|apply| Gate::sharing(&store.url(), apply));
    for gate in &gates {
        gate.readiness.serving();
        gate.until("the roster", || {
            gate.replica.view().roster.len() == N && gate.replica.condition() == Condition::Live
        });
    }
    gates[0].join("main", "");
    gates[0].join("main", "");
    gates[0].until("a checkpoint", || gates[0].replica.view().confirmed.is_some());
    gates[0].patch("main", &format!(r#"{{"message": "{LOST}"}}"#)).ok();
    gates
}

fn message(gate: &Gate) -> Option<String> {
    gate.replica.view().rooms[&room_name("main")].overrides.message.clone()
}

fn table(gate: &Gate) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ropeline"));
    command.env_remove("ROPELINE_ADMIN").env_remove("ROPELINE_ADMIN_TOKEN");
    let admin = format!("http://{}", gate.address);
    let output = command.args(["gates", "--admin", &admin]).output().expect("runs");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_gate_whose_state_differs_is_outvoted_told_of_and_loads_the_rooms_anew() {
    let store = Server::start(&Options::default());
    let gates = start(&store, [State::apply, State::apply, flawed]);
    let odd = &gates[2];
    // Twice, if the snapshot that it loads is older than the message that it loses.
    odd.until("what the others know", || odd.replica.stats().outvoted > 0);
    odd.until("the message", || message(odd).as_deref() == Some(LOST));
    assert!(!odd.get("/metrics").text.contains("ropeline_state_outvoted_total 0"));
    gates[0].until("agreement again", || {
        let view = gates[0].replica.view();
        let said = view.roster.iter().filter_map(|gate| gate.vote);
        said.filter(|vote| view.confirmed == Some((vote.sequence, vote.hash)))
            .count()
            == 3
    });
    let shown: api::Gates = serde_json::from_value(gates[0].get("/api/v1/gates").ok()).expect("the API's shape");
    assert!(
        shown.gates.iter().all(|gate| gate.agrees != Some(false)) && !shown.log.alarm,
        "{shown:?}"
    );
}

#[test]
fn two_gates_that_differ_stop_the_calls_until_one_of_them_goes() {
    let store = Server::start(&Options::default());
    let [right, odd] = start(&store, [State::apply, flawed]);
    right.until("the alarm", || right.replica.view().alarm);
    let ready = right.get("/readyz");
    assert!(
        ready.status == 200 && ready.text.contains("alarm: the gates' states differ"),
        "{}",
        ready.text
    );
    assert!(right.get("/metrics").text.contains("ropeline_state_alarm 1"));
    let told = table(&right);
    assert!(told.contains("ALARM: the gates' states differ"), "{told}");
    let detail = right
        .post("/api/v1/rooms/main/call", r#"{"count": 1, "beyond_capacity": true}"#)
        .refused(409);
    assert!(detail.contains("after a fault"), "{detail}");
    drop(odd);
    right.until("calls", || !right.replica.view().alarm);
    assert!(!table(&right).contains("ALARM"));
}

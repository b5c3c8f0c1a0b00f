//! The metrics of a failing store, for each kind of failure on a real server.

use ropeline::replica::Condition;
use ropeline::room::State;
use ropeline::store::Trouble;

use serde_json::Value;

use crate::harness::redis::{Options, Server, until};
use crate::harness::toxic::{Proxy, Toxic};
use crate::support::Gate;

/// A gate whose store can be made to fail, or the way to it.
struct Patient {
    gate: Gate,
    link: Proxy,
    store: Server,
}

impl Patient {
    fn start() -> Self {
        let store = Server::start(&Options::default());
        let link = Proxy::before(([127, 0, 0, 1], store.port()).into());
        let gate = Gate::sharing(&format!("redis://{}", link.address), State::apply);
        let patient = Self { gate, link, store };
        patient.until_well();
        patient
    }

    fn until_well(&self) {
        self.gate.until("a store that answers", || {
            self.gate.replica.condition() == Condition::Live && self.gate.replica.cut_off().is_none()
        });
    }

    /// Until failures of this kind have been counted.
    fn until_failing(&self, kind: Trouble) {
        let name = format!("ropeline_store_failures_total{{kind=\"{}\"}}", kind.as_str());
        until(kind.as_str(), || figure(&self.gate, &name) > 0.0);
    }

    fn set(&self, setting: &str) {
        let _: () = self.store.ask(setting);
    }
}

fn figure(gate: &Gate, name: &str) -> f64 {
    let text = gate.get("/metrics").text;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value
        .unwrap_or_else(|| panic!("{name} in\n{text}"))
        .parse()
        .expect("a number")
}

fn failures(gate: &Gate) -> Vec<(&'static str, f64)> {
    let count = |kind: Trouble| {
        let name = kind.as_str();
        (
            name,
            figure(gate, &format!("ropeline_store_failures_total{{kind=\"{name}\"}}")),
        )
    };
    Trouble::ALL
        .into_iter()
        .map(count)
        .filter(|(_, count)| *count > 0.0)
        .collect()
}

const CONNECTS: &str = "ropeline_store_connects_total";
const EXCHANGES: &str = "ropeline_store_call_duration_seconds_count{call=\"exchange\"}";

#[test]
fn what_ails_a_store_is_counted_by_its_kind() {
    let patient = Patient::start();
    for (kind, ill, well) in [
        (Trouble::Full, "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
        (
            Trouble::Declined,
            "CONFIG SET min-replicas-to-write 1",
            "CONFIG SET min-replicas-to-write 0",
        ),
        (
            Trouble::Refused,
            "ACL SETUSER default -xadd",
            "ACL SETUSER default +xadd",
        ),
        (Trouble::Elsewhere, "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
    ] {
        let before = failures(&patient.gate);
        assert!(before.iter().all(|(name, _)| *name != kind.as_str()), "{before:?}");
        patient.set(ill);
        patient.until_failing(kind);
        patient.set(well);
        patient.until_well();
    }
}

#[test]
fn a_cut_a_silent_and_a_slow_way_to_the_store_are_told_apart() {
    let patient = Patient::start();
    let Patient { gate, link, .. } = &patient;
    assert!(figure(gate, CONNECTS) > 0.0);
    let before = figure(gate, CONNECTS);
    link.set(Toxic::Refuse);
    patient.until_failing(Trouble::Unreachable);
    link.set(Toxic::Pass);
    until("a new connection", || figure(gate, CONNECTS) > before);
    patient.until_well();

    let before = figure(gate, CONNECTS);
    link.set(Toxic::Blackhole);
    patient.until_failing(Trouble::Timeout);
    link.set(Toxic::Pass);
    until("another connection", || figure(gate, CONNECTS) > before);
    patient.until_well();

    let slower = || {
        let within = "ropeline_store_call_duration_seconds_bucket{le=\"0.25\",call=\"exchange\"}";
        figure(gate, EXCHANGES) - figure(gate, within)
    };
    let before = slower();
    link.set(Toxic::Delay(std::time::Duration::from_millis(200)));
    until("slow calls", || slower() > before + 1.0);
}

#[test]
fn a_store_in_a_folder_has_calls_and_no_connections() {
    let gate = Gate::start();
    gate.join("main", "");
    assert!(figure(&gate, EXCHANGES) > 0.0);
    assert!(figure(&gate, "ropeline_store_call_duration_seconds_count{call=\"snapshot\"}") > 0.0);
    assert!(figure(&gate, CONNECTS) < 1.0);
    assert_eq!(failures(&gate), []);
}

#[test]
fn calls_and_resets_asked_for_while_the_store_is_away_are_refused_and_never_done() {
    let patient = Patient::start();
    let Patient { gate, link, .. } = &patient;
    gate.until("calls", || gate.replica.condition() == Condition::Live);
    gate.patch("main", r#"{"rate": 0}"#).ok();
    gate.join("main", "");
    link.set(Toxic::Refuse);
    gate.until("cut off", || gate.replica.cut_off().is_some());
    for (path, body) in [
        ("call", r#"{"count": 1, "beyond_capacity": true}"#),
        ("reset", r#"{"confirm": "main", "reason": "over"}"#),
    ] {
        let detail = gate.post(&format!("/api/v1/rooms/main/{path}"), body).refused(503);
        assert!(detail.contains("nothing was changed"), "{detail}");
    }
    link.set(Toxic::Pass);
    patient.until_well();
    // Behind all items that wait for the log.
    gate.join("main", "");
    let room = gate.get("/api/v1/rooms/main").ok();
    assert_eq!((&room["calls"], &room["edition"]), (&Value::from(0), &Value::from(0)));
}

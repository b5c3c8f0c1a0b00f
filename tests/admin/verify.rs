//! Where a session stands, asked as a shop asks it.

use ropeline::room::{CallId, Edition, Standing, Visitor};
use ropeline::token::{Pass, PassId};
use serde_json::{Value, json};

use crate::support::{Gate, keyring, path_of};

const ASK: &str = "/api/v1/verify";

fn ask(gate: &Gate, session: &str) -> Value {
    gate.ask("GET", ASK, &[("host", "localhost"), ("ropeline-session", session)], "")
        .ok()
}

/// The session name that the shop gets for the visitor's passes of this call.
fn session(visitor: &Visitor, count: u8, edition: u32) -> String {
    let (room, line, edition) = (&visitor.room, &visitor.line, Edition(edition));
    let call = CallId {
        lane: visitor.lane,
        number: visitor.number,
        count,
    };
    let pass = Pass {
        room: room.clone(),
        line: line.clone(),
        lane: visitor.lane,
        edition,
        number: visitor.number,
        call: count,
        id: PassId::new(&keyring(), room, line, edition, call),
        expires_at: ropeline::time::wall(),
    };
    pass.session_header()
}

#[test]
fn a_session_is_told_from_the_call_to_its_end() {
    let gate = Gate::start();
    let visitor = gate.join("main", "");
    let name = session(&visitor, 1, 0);
    gate.until("called", || matches!(gate.standing(&visitor), Standing::Called(_)));
    let told = ask(&gate, &name);
    assert_eq!(
        (&told["state"], &told["room"], &told["line"]),
        (&json!("called"), &json!("main"), &json!(""))
    );
    assert!(
        told["expires_in_secs"].as_u64().is_some_and(|left| left <= 92),
        "the claim's deadline: {told}"
    );

    gate.enter(&visitor);
    let told = ask(&gate, &name);
    assert_eq!(told["state"], "inside");
    assert!(
        told["expires_in_secs"]
            .as_u64()
            .is_some_and(|left| (200..=332).contains(&left)),
        "{told}"
    );
    assert!(
        told["expires_at"].as_str().is_some_and(|at| at.ends_with('Z')),
        "{told}"
    );
    assert!(path_of(&visitor).ends_with(told["reference"].as_str().expect("a reference")));

    gate.delete(&path_of(&visitor)).ok();
    let told = ask(&gate, &name);
    assert_eq!((&told["state"], &told["expires_at"]), (&json!("ended"), &Value::Null));
}

#[test]
fn a_name_of_another_call_edition_or_number_is_told_for_what_it_is() {
    let gate = Gate::start();
    let visitor = gate.join("events", "one");
    gate.enter(&visitor);
    let own = ask(&gate, &session(&visitor, 1, 0));
    assert_eq!(
        (&own["state"], &own["room"], &own["line"]),
        (&json!("inside"), &json!("events"), &json!("one"))
    );
    assert_eq!(
        ask(&gate, &session(&visitor, 2, 0))["state"],
        "inside",
        "a later call, which the log has lost"
    );
    let lost = ask(&gate, &session(&visitor, 1, 9));
    assert_eq!(
        (&lost["state"], &lost["room"]),
        (&json!("none"), &json!("events")),
        "an edition that is lost"
    );
    let mut nobody = visitor.clone();
    nobody.number.n += 500;
    assert_eq!(
        ask(&gate, &session(&nobody, 1, 0))["state"],
        "none",
        "a number not issued"
    );
    assert_eq!(
        ask(&gate, &session(&visitor, 3, 0)),
        json!({"state": "none"}),
        "a call that is never made"
    );
}

#[test]
fn a_forged_name_is_nobodys_and_says_nothing() {
    let gate = Gate::start();
    let visitor = gate.join("main", "");
    gate.enter(&visitor);
    let name = session(&visitor, 1, 0);
    let mut other = visitor.clone();
    other.number.n += 1;
    let proof = &session(&other, 1, 0)[name.len() - 20..];
    let spliced = format!("{}{proof}", &name[..name.len() - 20]);
    for forged in [spliced.as_str(), &name[1..], "", "%00", &"A".repeat(4_000)] {
        assert_eq!(ask(&gate, forged), json!({"state": "none"}), "{forged}");
    }
    assert_eq!(ask(&gate, &format!(" {name} "))["state"], "inside");
}

#[test]
fn a_question_without_one_session_is_refused() {
    let gate = Gate::start();
    let host = ("host", "localhost");
    assert!(gate.get(ASK).refused(400).contains("Ropeline-Session"));
    let twice = [host, ("ropeline-session", "a"), ("ropeline-session", "b")];
    gate.ask("GET", ASK, &twice, "").refused(400);
    assert_eq!(
        gate.ask("POST", ASK, &[host, ("ropeline-session", "a")], "").status,
        405
    );
}

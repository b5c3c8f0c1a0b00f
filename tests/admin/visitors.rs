//! One visitor by the reference on their page.

use ropeline::room::Standing;
use serde_json::json;

use crate::support::{Gate, path_of};

#[test]
fn a_waiting_visitor_is_found_and_taken_out_of_the_line() {
    let gate = Gate::start();
    gate.patch("main", r#"{"mode": "hold"}"#).ok();
    let (first, second) = (gate.join("main", ""), gate.join("main", ""));
    let told = gate.get(&path_of(&second)).ok();
    assert_eq!(
        (&told["state"], &told["position"], &told["present"]),
        (&json!("waiting"), &json!(2), &json!(true))
    );
    // As typed by an operator who heard it on the telephone.
    let heard = path_of(&second).replace('-', "");
    let (before, reference) = heard.rsplit_once('/').expect("a path");
    assert_eq!(gate.get(&format!("{before}/{}", reference.to_lowercase())).ok(), told);

    assert_eq!(gate.delete(&path_of(&first)).ok()["state"], "ended");
    assert_eq!(gate.get(&path_of(&second)).ok()["position"], 1);
    assert_eq!(gate.get("/api/v1/rooms/main").ok()["waiting"], 1);
    assert_eq!(gate.standing(&first), Standing::Ended);
}

#[test]
fn an_ended_session_frees_its_slot_for_the_next() {
    let gate = Gate::start();
    let (first, second) = (gate.join("main", ""), gate.join("main", ""));
    gate.enter(&first);
    let told = gate.get(&path_of(&first)).ok();
    assert_eq!(told["state"], "inside");
    assert!(
        told["expires_in_secs"]
            .as_u64()
            .is_some_and(|left| (200..=330).contains(&left)),
        "{told}"
    );
    assert_eq!(gate.delete(&path_of(&first)).ok()["state"], "ended");
    gate.until("the next is called", || {
        matches!(gate.standing(&second), Standing::Called(_))
    });
    assert_eq!(gate.get(&path_of(&second)).ok()["state"], "called");
    let changes = gate.metrics.admin_changes.get();
    assert_eq!(
        gate.delete(&path_of(&first)).ok()["state"],
        "ended",
        "once more changes nothing"
    );
    assert_eq!(gate.metrics.admin_changes.get(), changes);
}

#[test]
fn a_visitor_of_many_lines_needs_the_line_only_when_several_fit() {
    let gate = Gate::start();
    let (one, two) = (gate.join("events", "one"), gate.join("events", "two"));
    assert_eq!(path_of(&one), path_of(&two), "each line counts for itself");
    let detail = gate.get(&path_of(&one)).refused(409);
    assert!(detail.contains("one, two"), "{detail}");
    assert_eq!(gate.get(&format!("{}?line=two", path_of(&one))).ok()["line"], "two");
    gate.delete(&format!("{}?line=two", path_of(&one))).ok();
    assert_eq!(gate.standing(&two), Standing::Ended);
    assert_ne!(gate.standing(&one), Standing::Ended);
}

#[test]
fn a_reference_of_nobody_is_refused() {
    let gate = Gate::start();
    let visitor = gate.join("main", "");
    let mut nobody = visitor.clone();
    nobody.number.n += 500;
    assert!(gate.get(&path_of(&nobody)).refused(404).contains("no visitor"));
    let misheard = path_of(&visitor);
    let flip = if misheard.ends_with('0') { "1" } else { "0" };
    assert!(
        gate.get(&format!("{}{flip}", &misheard[..misheard.len() - 1]))
            .refused(400)
            .contains("no reference")
    );
    assert!(gate.get(&format!("{}?lane=1", path_of(&visitor))).status == 400);
    assert!(
        gate.delete("/api/v1/rooms/garden/visitors/K7D")
            .refused(404)
            .contains("main")
    );
    assert_ne!(gate.standing(&visitor), Standing::Ended);
}

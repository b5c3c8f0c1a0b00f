//! The gate compared with the readings of real stacks (`scripts/stacks`), without any of them: each request of `readings.tsv`
//! is refused, or forwarded with exactly the bytes of the readings, and then the gate and every stack read the same.

#[allow(dead_code, reason = "the bench uses the rest")]
mod bodies;
#[allow(dead_code, reason = "the bench uses the rest")]
mod case;
mod gate;
#[allow(dead_code, reason = "the bench uses the rest")]
mod generate;
mod judge;
#[allow(dead_code, reason = "the bench uses the rest")]
mod kept;
mod ordinary;
#[allow(dead_code, reason = "the bench uses the rest")]
mod steer;

use std::path::Path;

use gate::{Gate, Outcome};
use kept::{Kept, fingerprint};

fn started() -> (tempfile::TempDir, Gate) {
    let folder = tempfile::tempdir().expect("a folder for the gate");
    let gate = Gate::start(Path::new(env!("CARGO_BIN_EXE_ropeline")), folder.path()).expect("the gate starts");
    (folder, gate)
}

#[test]
fn what_is_forwarded_is_read_alike_by_every_stack() {
    let kept = Kept::read(include_str!("readings.tsv")).expect("readings");
    assert_eq!(kept.rows.len(), 1_000);
    let (_folder, gate) = started();
    let mut faults = Vec::new();
    let mut forwarded = 0;
    for (number, row) in (1..).zip(&kept.rows) {
        let outcome = gate.ask(&row.case, number).expect("an answer");
        let Outcome::Forwarded { bytes, .. } = &outcome else {
            continue;
        };
        forwarded += 1;
        let request = row.case.bytes.escape_ascii();
        if fingerprint(bytes) != row.forwarded {
            faults.push(format!(
                "forwarded otherwise, so run scripts/stacks --keep: {request}\n  {}",
                bytes.escape_ascii()
            ));
        }
        for ((stack, _), answer) in kept.stacks.iter().zip(&row.answers) {
            let what = judge::disagreement(&gate, &row.case, &outcome, answer);
            faults.extend(what.map(|what| format!("{stack}: {what}: {request}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // They were forwarded when they were kept; a gate that refuses everything proves nothing.
    assert!(forwarded >= 900, "{forwarded} of 1,000 forwarded");
}

#[test]
fn ordinary_requests_of_shops_are_not_refused() {
    let cases = ordinary::cases(include_str!("ordinary.tsv")).expect("requests");
    assert!(cases.len() >= 300);
    let (_folder, gate) = started();
    let mut refused = Vec::new();
    for (number, case) in (1..).zip(&cases) {
        if let Outcome::Refused(status) = gate.ask(case, number).expect("an answer") {
            refused.push(format!("{status}: {}", case.bytes.escape_ascii()));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

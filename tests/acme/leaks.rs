//! Keys that have leaked, as docs/guides/runbook.md has it: "Keys leaked".

use crate::front::Fault;
use crate::harness::gate::Gate;
use crate::harness::redis::until;
use crate::site::{Fleet, HOST, OLD_KEY, addresses, logs, many_looks};
use crate::visitor::comes_in;

#[test]
fn after_a_leak_account_and_certificates_are_made_anew_while_gates_and_old_certificates_serve() {
    let fleet = Fleet::<2>::open();
    replace_all(&fleet.gates);
    let mut after = Vec::new();
    until("the new certificate at both gates", || {
        after = fleet
            .gates
            .each_ref()
            .map(|gate| fleet.site.serves(gate, HOST))
            .to_vec();
        after[0] == after[1] && after[0] != fleet.certificate
    });
    let front = &fleet.site.pebble.front;
    assert_eq!((front.orders(), front.accounts()), (2, 2));
    has_ended(&fleet);
    // The new key alone opens what the store has.
    let [gate, _other] = fleet.gates;
    let gate = gate.kill().start();
    assert_eq!(
        comes_in(addresses(&gate).tls, HOST, &fleet.site.client).as_ref(),
        Ok(&after[0])
    );
    many_looks(&fleet.store);
    assert_eq!(front.orders(), 2);
}

#[test]
fn a_revocation_that_fails_is_tried_again_also_by_another_gate() {
    let fleet = Fleet::<2>::open();
    let front = &fleet.site.pebble.front;
    front.of_revocations(Some(Fault::Broken));
    replace_all(&fleet.gates);
    let mut failing = None;
    until("a revocation that fails", || {
        failing = (0..2).find(|at| {
            fleet.gates[*at]
                .said()
                .contains("is not revoked yet; it is tried again")
        });
        failing.is_some()
    });
    assert_eq!((front.took("/revoke-cert"), front.took("/my-account/")), (0, 0));
    let mut gates = Vec::from(fleet.gates);
    let _killed = gates.remove(failing.unwrap()).kill();
    front.of_revocations(None);
    logs(&gates[0], "the certificate that was replaced is revoked");
    until("the end of the old account", || front.took("/my-account/") == 1);
    assert_eq!(front.took("/revoke-cert"), 1);
}

/// As by a try whose answer was lost.
#[test]
fn a_certificate_that_is_revoked_already_is_done_with() {
    let fleet = Fleet::<1>::open();
    let front = &fleet.site.pebble.front;
    front.of_revocations(Some(Fault::AlreadyRevoked));
    replace_all(&fleet.gates);
    logs(&fleet.gates[0], "the certificate that was replaced is revoked");
    until("the end of the old account", || front.took("/my-account/") == 1);
    let said = fleet.gates[0].said();
    assert!(!said.contains("not revoked"), "{said}");
}

/// Another key on all gates, and everything of before is to be made anew.
fn replace_all<const N: usize>(gates: &[Gate; N]) {
    let now = ropeline::dates::rfc3339(ropeline::time::wall());
    let anew = format!("retry = \"1s\"\nreplace_before = \"{now}\"");
    let new = "{ id = \"new\", secret = \"another secret of the tests, long enough too\" }";
    for gate in gates {
        gate.reconfigure("retry = \"1s\"", &anew);
        gate.reconfigure(OLD_KEY, new);
    }
}

/// The old certificate and the old account.
fn has_ended<const N: usize>(fleet: &Fleet<N>) {
    let front = &fleet.site.pebble.front;
    until("the end of the old certificate", || front.took("/revoke-cert") == 1);
    until("the end of the old account", || front.took("/my-account/") == 1);
}

//! Where a log begins: a first state that is forged, and an honest one of an older machine version.

use ropeline::room::{Batch, NEWEST, State, VERSION};

use super::crowd::{Crowd, settings};
use super::forged::{Anew, forge, pieces, refused, sound};
use super::hall::{EPOCH, Hall};

/// The chain does not cover the state from which a log begins. A state with an older version would leave every entry alone,
/// and one of a log that may have lost visitors would call no visitor for the first seconds.
#[test]
fn a_first_state_that_is_forged_is_not_a_first_start() {
    let folder = tempfile::tempdir().unwrap();
    let begun = State::empty(EPOCH).with_version(NEWEST);
    let (mut hall, mut crowd) = (Hall::of(begun), Crowd::new(29));
    hall.archive(1, folder.path());
    hall.configure(1, settings());
    crowd.pass(&mut hall, &[1], 4, 2);
    hall.leave(1);
    let end = hall.state.chain().to_string();
    assert!(
        hall.state.confirmed().is_none(),
        "the vote on the first state is the only one"
    );
    sound("as it was filed", &[folder.path()], &["--expect", &end]);
    let epoch = hall.state.position().epoch;
    for (what, first, says) in [
        (
            "an older version",
            State::empty(epoch),
            "and the rooms before it run version",
        ),
        (
            "another first call",
            State::after_a_loss(epoch).with_version(NEWEST),
            "no vote of a gate is for the state at",
        ),
    ] {
        let mut forged = pieces(folder.path());
        forged[0].base = Some(first.encode());
        let forged = forge(forged, Anew::Files);
        refused(what, &[forged.path()], &["--expect", &end], says);
    }
}

#[test]
fn a_log_whose_version_rises_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let first = State::empty(EPOCH);
    let (mut hall, mut crowd) = (Hall::of(first), Crowd::new(31));
    hall.archive(1, folder.path());
    hall.comes_old(2);
    hall.configure(1, settings());
    crowd.pass(&mut hall, &[1, 2], 30, 2);
    hall.leave(2);
    assert_eq!(hall.state.version(), VERSION);
    let raise = Batch {
        raise: Some(NEWEST),
        ..Batch::default()
    };
    hall.say(1, 100, raise);
    assert_eq!(hall.state.version(), NEWEST);
    crowd.pass(&mut hall, &[1], 30, 2);
    hall.leave(1);
    let end = hall.state.chain().to_string();
    sound("two versions", &[folder.path()], &["--expect", &end]);
}

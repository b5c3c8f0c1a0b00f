use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::sizes::ITEM_BYTES;
use super::*;
use crate::replica::inbox::{Arrival, JoinOutcome, Joiner, Note, Noted, Permit};
use crate::replica::publish::Shared;
use crate::room::{CallOrder, End, Epoch, LaneId, Number, Overrides, PendingId, Section, Settings, Visitor};

pub(super) fn name(name: &str) -> RoomName {
    RoomName::new(name).unwrap()
}

fn line(line: usize) -> LineName {
    LineName::new(&format!("line-{line}-{}", "x".repeat(50))).unwrap()
}

pub(super) fn number(n: u32) -> Number {
    // A new epoch for each: the worst that a list of numbers can be to write.
    Number {
        epoch: Epoch(u64::from(n) << 30),
        n: n.wrapping_mul(0x9E37_79B9),
    }
}

pub(super) fn noted(at: usize, n: u32, note: Note) -> Noted {
    let visitor = Visitor {
        room: name("main"),
        line: line(at),
        lane: LaneId(7),
        number: number(n),
        rehearsal: None,
    };
    Noted {
        visitor,
        note,
        seen: Duration::ZERO,
        recorded: None,
    }
}

fn joining(at: usize, pending: Option<PendingId>) -> (Join, oneshot::Receiver<JoinOutcome>) {
    let (answer, outcome) = oneshot::channel();
    let permit = Permit::take(&Arc::new(Shared::new(Arc::default()))).unwrap();
    let leaves = false;
    let waiter = Joiner { answer, permit, leaves };
    (
        Join {
            room: name("main"),
            line: line(at),
            lane: LaneId(0),
            arrival: pending.map_or_else(Arrival::first, Arrival::again),
            came: Duration::ZERO,
            waiter,
        },
        outcome,
    )
}

fn changing(change: Change, answer: Option<oneshot::Sender<Result<u64, Unrecorded>>>) -> Changing {
    Changing {
        answer,
        ..Changing::unasked(name("main"), change)
    }
}

#[test]
fn a_batch_keeps_under_the_limit_whatever_is_in_it_and_nothing_is_lost() {
    let mut collector = Collector::default();
    let kinds = [
        Note::Mark,
        Note::Renew,
        Note::Reopen,
        Note::Claim { carried: true },
        Note::Leave,
    ];
    for n in 0..20_000 {
        assert!(collector.note(noted(n as usize % 300, n, kinds[n as usize % kinds.len()])));
        assert!(collector.note(noted(n as usize % 300, n + 20_000, Note::End { after_ms: u64::MAX })));
        let bought = Note::Complete {
            edition: Edition(u32::MAX),
            after_ms: u64::MAX,
        };
        assert!(collector.note(noted(n as usize % 300, n + 40_000, bought)));
    }
    for n in 0..5_000_u32 {
        let mut id = [0; 12];
        id[..4].copy_from_slice(&n.to_le_bytes());
        collector.join(joining(n as usize % 300, Some(PendingId(id))).0);
    }
    for _ in 0..100 {
        let message = Some("m".repeat(1_000));
        let change = Change::Override(Overrides {
            message,
            ..Overrides::default()
        });
        collector.change(changing(change, None));
    }
    let (mut items, mut revision, mut batches) = (0, 0, 0);
    while !collector.is_empty() {
        let has_notes = collector.has_notes();
        let (batch, _) = collector.cut(|_| revision);
        assert!(batch.encoded_len() <= MAX_BATCH_BYTES, "{} bytes", batch.encoded_len());
        for change in &batch.rooms {
            assert_eq!(change.revision, revision + 1);
            revision = change.revision;
        }
        let count = |s: &Section| {
            let named = s.leaves.len() + s.reopens.len() + s.renewals.len() + s.marks.len() + s.completions.len();
            named + s.ends.len() + s.claims.len()
        };
        let notes = batch.sections.iter().map(count).sum::<usize>();
        assert!(has_notes || notes == 0, "the batch before had not all of them");
        items += notes + batch.sections.iter().map(|s| s.pending_joins.len()).sum::<usize>();
        batches += 1;
        assert!(batches < 1_000, "it never ends");
    }
    assert_eq!((items, revision), (69_000, 100));
    assert_eq!(collector.notes, 0);
}

#[test]
fn visitors_let_past_are_summed_by_line_and_told_once() {
    let mut collector = Collector::default();
    for (at, count) in [(1, 2), (2, 7), (1, 3), (3, 0)] {
        collector.bypassed((name("main"), line(at), Past::Outage, count));
    }
    assert!(!collector.is_urgent() && !collector.is_empty());
    let (batch, _) = collector.cut(|_| 0);
    let told: Vec<_> = batch.sections.iter().map(|s| (s.line.clone(), s.bypasses)).collect();
    assert_eq!(told, [(line(1), 5), (line(2), 7)]);
    assert!(collector.is_empty());
}

#[test]
fn a_session_to_be_reopened_is_renewed_too_in_case_it_lives() {
    let mut collector = Collector::default();
    assert!(collector.note(noted(1, 1, Note::Reopen)));
    let (batch, _) = collector.cut(|_| 0);
    let seat = vec![(LaneId(7), number(1))];
    assert_eq!(
        (&batch.sections[0].reopens, &batch.sections[0].renewals),
        (&seat, &seat)
    );
    assert!(collector.is_empty() && collector.notes == 0);
}

#[test]
fn lines_take_turns_when_there_is_not_room_for_all() {
    let mut collector = Collector::default();
    for at in 0..1_000 {
        for n in 0..10 {
            collector.note(noted(at, n, Note::Mark));
        }
    }
    let served = |batch: Batch| batch.sections.into_iter().map(|s| s.line).collect::<Vec<_>>();
    let first = served(collector.cut(|_| 0).0);
    // The first line has more to say at once, and must let the others go first.
    collector.note(noted(0, 99, Note::Mark));
    let second = served(collector.cut(|_| 0).0);
    assert!(first.contains(&line(0)) && !second.contains(&line(0)));
    assert!(
        second.iter().filter(|line| first.contains(line)).count() <= 1,
        "only the line that was cut through"
    );
}

/// The order holds for every line that was served last.
#[test]
fn people_stand_before_the_virtual_visitors_of_their_batch() {
    let mut collector = Collector::default();
    let of = |rehearsal, n| {
        let mut noted = noted(0, n, Note::Mark);
        noted.visitor.rehearsal = rehearsal;
        noted
    };
    let rehearsal = Some(RehearsalId([7; 8]));
    // The owner that came first, and the owners in the batch before.
    for (n, before) in [&[None][..], &[rehearsal], &[rehearsal, None], &[]]
        .into_iter()
        .enumerate()
    {
        let n = u32::try_from(n).unwrap() * 10;
        for (at, whose) in (n..).zip(before) {
            collector.note(of(*whose, at));
        }
        collector.cut(|_| 0);
        collector.note(of(rehearsal, n + 5));
        collector.note(of(None, n + 6));
        let (batch, _) = collector.cut(|_| 0);
        let whose: Vec<_> = batch.sections.iter().map(|section| section.rehearsal).collect();
        assert_eq!(whose, [None, rehearsal], "{before:?}");
    }
}

#[test]
fn an_end_waits_until_the_claim_before_it_has_gone() {
    let mut collector = Collector::default();
    collector.note(noted(0, 1, Note::End { after_ms: 500 }));
    collector.note(noted(0, 1, Note::Claim { carried: false }));
    collector.note(noted(0, 1, Note::Claim { carried: true }));
    collector.note(noted(0, 2, Note::Leave));
    collector.note(noted(0, 1, Note::End { after_ms: 900 }));
    let (first, _) = collector.cut(|_| 0);
    let section = &first.sections[0];
    assert_eq!(
        (section.claims.len(), section.claims[0].carried, section.ends.len()),
        (1, true, 0)
    );
    assert_eq!(section.leaves.len(), 1, "another visitor's leave is not held up");
    let (second, _) = collector.cut(|_| 0);
    assert_eq!(
        second.sections[0].ends,
        [End {
            lane: LaneId(7),
            number: number(1),
            after_ms: 500
        }]
    );
    assert!(collector.is_empty());
}

#[test]
fn however_many_ends_wait_for_their_claims_both_go() {
    let mut collector = Collector::default();
    // More than a batch holds.
    let many = u32::try_from(2 * MAX_BATCH_BYTES / ITEM_BYTES).unwrap();
    for n in 0..many {
        collector.note(noted(0, n, Note::Reopen));
        collector.note(noted(0, n, Note::Leave));
    }
    let mut inside = std::collections::BTreeSet::new();
    let mut left = 0;
    while !collector.is_empty() {
        let (batch, _) = collector.cut(|_| 0);
        let section = &batch.sections[0];
        left += section.leaves.len();
        for seat in &section.leaves {
            assert!(inside.remove(seat), "{seat:?} left before it was let in");
        }
        inside.extend(section.reopens.iter().copied());
    }
    assert_eq!((left, inside.len()), (many as usize, 0));
}

#[test]
fn only_marks_and_renewals_that_nobody_waits_for_are_not_urgent() {
    let mut collector = Collector::default();
    collector.note(noted(0, 1, Note::Mark));
    collector.note(noted(0, 2, Note::Renew));
    assert!(!collector.is_empty() && !collector.is_urgent());
    let (recorded, _done) = oneshot::channel();
    collector.note(Noted {
        recorded: Some(recorded),
        ..noted(0, 1, Note::Mark)
    });
    assert!(collector.is_urgent());
    collector.cut(|_| 0);
    assert!(!collector.is_urgent());
    for note in [
        Note::Leave,
        Note::Claim { carried: true },
        Note::End { after_ms: 0 },
        Note::Reopen,
    ] {
        collector.note(noted(0, 1, note));
        assert!(collector.is_urgent(), "{note:?}");
        collector.cut(|_| 0);
        collector.cut(|_| 0);
    }
}

#[test]
fn a_change_that_fits_in_no_batch_is_refused_and_holds_up_nothing() {
    let mut collector = Collector::default();
    let message = Some("m".repeat(MAX_BATCH_BYTES));
    let overrides = Overrides {
        message,
        ..Overrides::default()
    };
    let (answer, mut refused) = oneshot::channel();
    collector.change(changing(Change::Override(overrides), Some(answer)));
    assert!(collector.is_empty());
    assert_eq!(refused.try_recv(), Ok(Err(Unrecorded::Refused)));
}

#[test]
fn the_configured_rooms_go_before_what_an_operator_has_said_of_them() {
    let mut collector = Collector::default();
    let overrides = Change::Override(Overrides::default());
    let (answer, _told) = oneshot::channel();
    collector.change(changing(overrides.clone(), Some(answer)));
    let configured = Change::Configure(Settings::default());
    collector.configure(vec![(name("main"), configured.clone()), (name("old"), Change::Remove)]);
    let (batch, _) = collector.cut(|_| 0);
    let said: Vec<_> = batch
        .rooms
        .into_iter()
        .map(|said| (said.revision, said.change))
        .collect();
    assert_eq!(said, [(1, configured), (1, Change::Remove), (2, overrides)]);
}

#[test]
fn a_change_that_was_made_of_a_revision_is_of_the_next_one_whatever_has_come_since() {
    let mut collector = Collector::default();
    let overrides = Change::Override(Overrides::default());
    collector.regain(name("main"), Edition(1));
    for over in [Some(7), Some(7), None] {
        collector.change(Changing {
            over,
            ..changing(overrides.clone(), None)
        });
    }
    let (batch, _) = collector.cut(|_| 8);
    let revisions: Vec<_> = batch.rooms.iter().map(|said| said.revision).collect();
    assert_eq!(revisions, [8, 8, 9, 10], "an edition, and each behind the one before");
}

#[test]
fn an_edition_goes_once_before_its_visitors_and_leaves_the_revision_alone() {
    let mut collector = Collector::default();
    let overrides = Change::Override(Overrides::default());
    collector.change(changing(overrides.clone(), None));
    for edition in [1, 3, 2] {
        collector.regain(name("main"), Edition(edition));
    }
    assert!(collector.is_urgent());
    let (batch, _) = collector.cut(|_| 6);
    let said: Vec<_> = batch
        .rooms
        .into_iter()
        .map(|said| (said.revision, said.change))
        .collect();
    assert_eq!(said, [(6, Change::Edition(Edition(3))), (7, overrides)]);
    assert!(collector.is_empty() && !collector.is_urgent());
}

#[test]
fn joiners_who_gave_up_are_not_numbered_but_pending_ids_are() {
    let mut collector = Collector::default();
    let (gone, outcome) = joining(0, None);
    drop(outcome);
    collector.join(gone);
    let (here, _outcome) = joining(0, None);
    collector.join(here);
    let (pending, outcome) = joining(0, Some(PendingId([5; 12])));
    drop(outcome);
    collector.join(pending);
    let (batch, waiters) = collector.cut(|_| 0);
    assert_eq!(batch.sections[0].joins, [(LaneId(0), 1)]);
    assert_eq!(batch.sections[0].pending_joins, [(LaneId(0), PendingId([5; 12]))]);
    assert_eq!((waiters.joins[0].len(), waiters.pending[0].len()), (1, 1));
    assert!(collector.is_empty());
}

/// Numbers go to `joins` before `pending_joins`, so a batch in which both stand is read in that order.
#[test]
fn who_waits_with_an_id_is_numbered_before_who_comes_later() {
    const WAITING: u16 = 5_000;
    let id = |n: u16| {
        let mut id = [0; 12];
        id[..2].copy_from_slice(&n.to_le_bytes());
        PendingId(id)
    };
    let mut collector = Collector::default();
    let mut outcomes = Vec::new();
    let mut come = |collector: &mut Collector, pending| {
        let (join, outcome) = joining(0, pending);
        collector.join(join);
        outcomes.push(outcome);
    };
    come(&mut collector, None);
    for n in 0..WAITING {
        come(&mut collector, Some(id(n)));
    }
    come(&mut collector, None);
    let mut newcomers = Vec::new();
    let mut again = Vec::new();
    while !collector.is_empty() {
        let (batch, _waiters) = collector.cut(|_| 0);
        let [section] = batch.sections.as_slice() else {
            panic!("one line has one section")
        };
        newcomers.push(section.joins.len());
        again.extend(section.pending_joins.iter().map(|(_, id)| *id));
        // Visitors who now come with an id delay no other visitor.
        if newcomers.len() < 10 {
            come(&mut collector, Some(id(WAITING)));
        }
    }
    assert!(
        again
            .iter()
            .take(usize::from(WAITING))
            .copied()
            .eq((0..WAITING).map(id))
    );
    assert_eq!(newcomers[0], 1, "nobody was in front");
    let held = newcomers.iter().rposition(|count| *count == 1);
    let batches = (usize::from(WAITING) * ITEM_BYTES).div_ceil(MAX_BATCH_BYTES);
    assert_eq!(held, Some(batches), "in the batch behind the last id that came before");
}

#[test]
fn a_full_collector_takes_no_more_notes_but_still_a_repeat() {
    let mut collector = Collector::default();
    for n in 0..u32::try_from(MAX_NOTES).unwrap() {
        assert!(collector.note(noted(0, n, Note::Mark)));
    }
    assert!(!collector.note(noted(0, u32::MAX, Note::Mark)));
    assert!(!collector.note(noted(1, 0, Note::Mark)));
    assert!(collector.note(noted(0, 5, Note::Mark)));
    // Use of sessions, and notes that no later request repeats, are taken too, up to a bound of their own.
    let bought = Note::Complete {
        edition: Edition(0),
        after_ms: 0,
    };
    assert!(collector.note(noted(0, 5, bought)));
    let kinds = [
        bought,
        Note::End { after_ms: 0 },
        Note::Leave,
        Note::Claim { carried: true },
        Note::Renew,
        Note::Return,
    ];
    for n in 1..u32::try_from(MAX_NOTES).unwrap() {
        assert!(collector.note(noted(0, n, kinds[n as usize % kinds.len()])));
    }
    for kind in kinds {
        assert!(!collector.note(noted(0, u32::MAX, kind)));
    }
}

#[test]
fn who_has_bought_is_told_once_of_the_highest_edition_and_after_the_claim() {
    let mut collector = Collector::default();
    let bought = |edition, after_ms| Note::Complete {
        edition: Edition(edition),
        after_ms,
    };
    for note in [
        bought(2, 700),
        Note::Claim { carried: true },
        bought(3, 900),
        bought(1, 500),
    ] {
        assert!(collector.note(noted(0, 1, note)));
    }
    assert!(collector.note(noted(0, 2, bought(3, 0))));
    assert!(collector.is_urgent());
    let mut sold = Vec::new();
    for waits in [true, false] {
        let (batch, _) = collector.cut(|_| 0);
        let section = &batch.sections[0];
        assert_eq!(section.claims.len(), usize::from(waits));
        let told = section.completions.iter();
        sold.extend(told.map(|done| (done.number, done.edition, done.after_ms, done.at)));
    }
    assert_eq!(
        sold,
        [(number(2), Edition(3), 0, None), (number(1), Edition(3), 500, None)]
    );
    assert!(collector.is_empty() && collector.notes == 0);
}

#[test]
fn calls_and_resets_that_nobody_waits_for_any_more_are_not_said() {
    let mut collector = Collector::default();
    let order = CallOrder {
        line: LineName::ONLY,
        lane: None,
        count: 50,
        beyond: false,
    };
    let held = Change::Override(Overrides::default());
    let mut waits = Vec::new();
    for (change, is_there) in [
        (Change::Call(order.clone()), false),
        (Change::Reset, false),
        (held.clone(), false),
        (Change::Call(order.clone()), true),
    ] {
        let (answer, told) = oneshot::channel();
        waits.extend(is_there.then_some(told));
        collector.change(changing(change, Some(answer)));
    }
    let (batch, waiters) = collector.cut(|_| 7);
    let said: Vec<_> = batch
        .rooms
        .into_iter()
        .map(|room| (room.change, room.revision))
        .collect();
    assert_eq!(said, [(held, 8), (Change::Call(order), 9)]);
    assert_eq!(waiters.changes.len(), 2);
    assert!(collector.is_empty());
}

//! Notes of visitors' actions: sent once per batch, in an order that keeps their meaning, and bounded.

use ropeline::replica::Note;
use ropeline::room::Standing;
use ropeline::store::Kept;

use crate::gate::{Site, hold, visitor};

#[test]
fn a_visitor_called_claims_and_is_inside_and_ends() {
    let gate = Site::new(1).start();
    let first = gate.numbered();
    gate.record(first, Note::Claim { carried: true });
    assert!(
        matches!(gate.standing(first), Standing::Inside(inside) if inside.carried),
        "{:?}",
        gate.standing(first)
    );
    let second = gate.numbered();
    assert!(matches!(gate.standing(second), Standing::Waiting(_)));
    gate.record(first, Note::End { after_ms: 0 });
    assert_eq!(gate.standing(first), Standing::Ended);
    gate.until("the slot", |_| matches!(gate.standing(second), Standing::Called(_)));
    gate.stop();
}

#[test]
fn coming_in_and_ending_between_two_batches_is_an_end() {
    let gate = Site::new(1).start();
    for _ in 0..20 {
        let number = gate.numbered();
        gate.replica.note(visitor(number), Note::Claim { carried: true });
        gate.record(number, Note::End { after_ms: 0 });
        gate.until("the end", |_| gate.standing(number) == Standing::Ended);
    }
    let line = gate.replica.view();
    let figures = line.rooms[&crate::gate::main()].lines.values().next().unwrap().figures;
    assert_eq!(
        (figures.claims, figures.ends, figures.inside, figures.called),
        (20, 20, 0, 0)
    );
    gate.stop();
}

#[test]
fn the_same_word_goes_once_a_batch() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let number = gate.numbered();
    for _ in 0..5_000 {
        gate.replica.note(visitor(number), Note::Mark);
    }
    gate.record(number, Note::Mark);
    gate.stop();
    let kept = Kept::open(&site.path()).unwrap();
    let entries = kept.part("log.redb").unwrap().read(0).unwrap();
    let marks: Vec<_> = entries
        .iter()
        .flat_map(|entry| &entry.batch.sections)
        .map(|section| section.marks.len())
        .collect();
    assert!(marks.iter().all(|marks| *marks <= 1), "{marks:?}");
    assert!(marks.iter().sum::<usize>() >= 1);
}

#[test]
fn a_mark_that_nobody_waits_for_is_in_the_view_by_itself() {
    let mut site = Site::new(1);
    hold(&mut site);
    site.rooms[0].1.grace_ms = 100;
    let gate = site.start();
    let number = gate.numbered();
    let marked = || matches!(gate.standing(number), Standing::Waiting(waiting) if !waiting.mark_due);
    gate.until("a mark being due", |_| !marked());
    gate.replica.note(visitor(number), Note::Mark);
    gate.until("the mark", |_| marked());
    gate.stop();
}

#[test]
fn more_notes_than_a_batch_holds_go_with_the_next_ones() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let outcomes = gate.join_many(30_000);
    let numbers: Vec<_> = outcomes.into_iter().map(crate::gate::number).collect();
    // Every second one leaves: no run of neighbours that would fit in a few bytes.
    for number in numbers.iter().step_by(2) {
        gate.replica.note(visitor(*number), Note::Leave);
    }
    gate.until("15,000 leaves", |replica| {
        replica.view().rooms[&crate::gate::main()]
            .lines
            .values()
            .next()
            .unwrap()
            .figures
            .left
            == 15_000
    });
    assert_eq!(gate.replica.stats().notes_dropped, 0);
    gate.stop();
    let kept = Kept::open(&site.path()).unwrap();
    let part = kept.part("log.redb").unwrap();
    let (mut read, mut most) = (0, 0);
    while let Some(entry) = part.read(read).unwrap().first() {
        most = most.max(entry.batch.encoded_len());
        read += 1;
    }
    assert!(most <= ropeline::room::MAX_BATCH_BYTES, "{most} bytes");
}

#[test]
fn a_word_about_nobody_is_passed_over_and_counted() {
    let gate = Site::new(1).start();
    let mut number = gate.numbered();
    number.n += 1_000;
    let before = gate.replica.stats().skipped;
    gate.record(number, Note::Claim { carried: false });
    assert!(gate.replica.stats().skipped > before);
    gate.stop();
}

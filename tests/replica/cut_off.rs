//! A log that does not answer, answers late, or answers twice.

use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use ropeline::replica::{Arrival, JoinOutcome, MAX_PENDING_JOINS, Note, Unrecorded};
use ropeline::room::{Epoch, LaneId, LineName, PendingId, Standing};
use ropeline::store::Append;

use crate::gate::{Faults, Gate, Site, hold, main, number, visitor};

#[test]
fn a_batch_whose_answer_was_lost_is_sent_again_unchanged_and_counts_once() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    gate.numbered();
    gate.faults.swallow.store(true, Ordering::Relaxed);
    gate.faults.sent.lock().unwrap().clear();
    let replica = gate.replica.clone();
    let joined = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(replica.join(&main(), &LineName::ONLY, LaneId(0), Arrival::first()))
    });
    gate.until("the third try", |_| gate.faults.sent.lock().unwrap().len() >= 3);
    gate.faults.swallow.store(false, Ordering::Relaxed);
    let second = number(joined.join().unwrap());
    let figures = gate.replica.view().rooms[&main()]
        .line(&LineName::ONLY)
        .unwrap()
        .figures;
    assert_eq!(figures.joins, 2, "two visitors, whatever the log holds");
    assert!(matches!(gate.standing(second), Standing::Waiting(waiting) if waiting.ahead == 1));
    let sent = gate.faults.sent.lock().unwrap();
    assert!(sent[..3].iter().all(|append| *append == sent[0]), "{sent:?}");
    drop(sent);
    gate.stop();
    let report = ropeline::replica::replay(&site.path(), &mut |_| {}).unwrap();
    assert!(report.proved() && report.joins == 2, "{report:?}");
}

/// As if the store goes away again at once: the session is over for all other visitors, and must not be opened anew.
#[test]
fn a_batch_that_was_kept_for_as_long_as_a_session_lasts_opens_none_anew() {
    let mut site = Site::new(1);
    hold(&mut site);
    site.rooms[0].1.session_ms = 2_000;
    let gate = site.start();
    let number = gate.numbered();
    let opens = |append: &Append| append.batch.sections.iter().any(|section| !section.reopens.is_empty());
    // Another batch may be under way, with nothing in it: then once more.
    let serial = (0..20).find_map(|_| {
        gate.faults.refuse.store(false, Ordering::Relaxed);
        gate.record(number, Note::Mark);
        gate.faults.sent.lock().unwrap().clear();
        gate.faults.refuse.store(true, Ordering::Relaxed);
        gate.replica.note(visitor(number), Note::Reopen);
        gate.until("a batch", |_| !gate.faults.sent.lock().unwrap().is_empty());
        let sent = gate.faults.sent.lock().unwrap();
        sent.first().filter(|append| opens(append)).map(|append| append.serial)
    });
    let serial = serial.expect("a batch that opens a session");
    gate.until("the same batch without it", |_| {
        let sent = gate.faults.sent.lock().unwrap();
        sent.last()
            .is_some_and(|append| append.serial == serial && !opens(append))
    });
    gate.faults.refuse.store(false, Ordering::Relaxed);
    gate.until("the log", |replica| replica.cut_off().is_none());
    assert!(!matches!(gate.standing(number), Standing::Inside(_)));
    gate.stop();
}

#[test]
fn cut_off_joins_are_put_off_and_then_numbered_by_arrival() {
    let mut site = Site::new(5);
    hold(&mut site);
    let gate = site.start();
    let before = gate.numbered();
    gate.faults.refuse.store(true, Ordering::Relaxed);
    let inside = gate.replica.view();
    assert_eq!(gate.join(), JoinOutcome::Later, "it waits two seconds");
    gate.until("being cut off", |replica| replica.cut_off().is_some());
    assert_eq!(gate.join(), JoinOutcome::Later, "and then not at all");
    // Newcomers are given ids; a reload says the same id again.
    for id in [9, 3, 200, 3, 9, 1] {
        assert_eq!(gate.join_with(id), JoinOutcome::Later);
    }
    assert_eq!(
        gate.wait(gate.replica.record(visitor(before), Note::Mark)),
        Err(Unrecorded::CutOff)
    );
    assert_eq!(gate.replica.view().position, inside.position, "the view stands");
    assert!(
        matches!(gate.standing(before), Standing::Waiting(_)),
        "those waiting keep their place"
    );
    gate.faults.refuse.store(false, Ordering::Relaxed);
    gate.until("the log", |replica| replica.cut_off().is_none());
    // They ask again in the other order; what counts is when each came first.
    let numbers = [1, 200, 3, 9].map(|id| number(gate.join_with(id)));
    assert!(
        before < numbers[3] && numbers.windows(2).all(|pair| pair[0] > pair[1]),
        "{numbers:?}"
    );
    let stats = gate.replica.stats();
    assert_eq!((stats.outages, stats.pending_joins), (1, 0));
    assert!(stats.outage > Duration::ZERO && stats.failures > 1);
    gate.stop();
}

/// The first two with a batch under way, and the third behind it.
#[test]
fn who_gives_up_in_a_pause_of_the_log_is_numbered_by_arrival_and_before_who_came_in_it() {
    let mut site = Site::new(5);
    hold(&mut site);
    let gate = site.start();
    let before = gate.numbered();
    gate.faults.sent.lock().unwrap().clear();
    gate.faults.refuse.store(true, Ordering::Relaxed);
    let arrivals = [Arrival::first(), Arrival::first(), Arrival::first()];
    let joins = |arrival: &Arrival| {
        let (replica, arrival) = (gate.replica.clone(), arrival.clone());
        async move { replica.join(&main(), &LineName::ONLY, LaneId(0), arrival).await }
    };
    let mut waiting = gate.wait(async {
        let waiting: Vec<_> = arrivals[..2]
            .iter()
            .map(|arrival| tokio::spawn(joins(arrival)))
            .collect();
        tokio::task::yield_now().await;
        waiting
    });
    gate.until("a batch with joins", |_| {
        let sent = gate.faults.sent.lock().unwrap();
        sent.iter()
            .any(|append| append.batch.sections.iter().any(|section| !section.joins.is_empty()))
    });
    gate.wait(async { waiting.push(tokio::spawn(joins(&arrivals[2]))) });
    for waiting in waiting {
        assert_eq!(gate.wait(waiting).unwrap(), JoinOutcome::Later);
    }
    gate.faults.refuse.store(false, Ordering::Relaxed);
    gate.until("the log", |replica| replica.cut_off().is_none());
    // They ask again in the other order. However long the log takes here.
    let mut numbers = [2, 1, 0].map(|at: usize| {
        let again = Arrival::again(arrivals[at].id);
        let mut tries = (0..60).map(|_| gate.wait(joins(&again)));
        number(tries.find(|outcome| *outcome != JoinOutcome::Later).unwrap())
    });
    numbers.reverse();
    assert!(before < numbers[0] && numbers.is_sorted(), "{numbers:?}");
    gate.stop();
}

#[test]
fn an_outage_keeps_the_order_of_arrival_from_its_first_moment_on() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    gate.numbered();
    gate.faults.sent.lock().unwrap().clear();
    gate.faults.refuse.store(true, Ordering::Relaxed);
    let joins = |arrival| {
        let replica = gate.replica.clone();
        async move { replica.join(&main(), &LineName::ONLY, LaneId(0), arrival).await }
    };
    // With a batch under way the gate does not know yet that no answer will come.
    gate.wait(async { drop(tokio::spawn(joins(Arrival::first()))) });
    gate.until("a batch", |_| !gate.faults.sent.lock().unwrap().is_empty());
    let arrivals: Vec<_> = (0..8).map(|_| Arrival::first()).collect();
    let waiting = gate.wait(async {
        let waiting = arrivals[..4].iter().map(|arrival| tokio::spawn(joins(arrival.clone())));
        let waiting: Vec<_> = waiting.collect();
        tokio::task::yield_now().await;
        waiting
    });
    gate.until("being cut off", |replica| replica.cut_off().is_some());
    for arrival in &arrivals[4..] {
        assert_eq!(gate.wait(joins(arrival.clone())), JoinOutcome::Later);
    }
    for waiting in waiting {
        assert_eq!(gate.wait(waiting).unwrap(), JoinOutcome::Later);
    }
    gate.faults.refuse.store(false, Ordering::Relaxed);
    let newcomer = Arrival::first();
    let outcome = gate.wait(joins(newcomer.clone()));
    gate.until("the log", |replica| replica.cut_off().is_none());
    let mut numbers: Vec<_> = arrivals
        .iter()
        .map(|arrival| number(gate.wait(joins(Arrival::again(arrival.id)))))
        .collect();
    numbers.push(match outcome {
        JoinOutcome::Later => number(gate.wait(joins(Arrival::again(newcomer.id)))),
        outcome => number(outcome),
    });
    assert!(numbers.is_sorted(), "{numbers:?}");
    gate.stop();
}

#[test]
fn a_join_given_up_while_cut_off_leaves_nobody_in_line() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    gate.numbered();
    gate.faults.refuse.store(true, Ordering::Relaxed);
    gate.hangs_up();
    gate.until("being cut off", |replica| replica.cut_off().is_some());
    gate.faults.refuse.store(false, Ordering::Relaxed);
    gate.until("the log", |replica| replica.cut_off().is_none());
    let id = Arrival::again(PendingId([1; 12]));
    let next = number(gate.wait(gate.replica.join(&main(), &LineName::ONLY, LaneId(0), id)));
    let figures = gate.replica.view().rooms[&main()]
        .line(&LineName::ONLY)
        .unwrap()
        .figures;
    assert!(figures.joins <= 3, "{figures:?}");
    assert!(matches!(gate.standing(next), Standing::Waiting(_)));
    gate.stop();
}

#[test]
fn a_history_that_ends_goes_on_as_a_new_log_with_everybody_in_it() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let old: Vec<_> = gate.join_many(10).into_iter().map(number).collect();
    let epoch = gate.epoch();
    gate.faults.broken.store(true, Ordering::Relaxed);
    let new = gate.numbered();
    assert!(gate.epoch() > epoch);
    assert_eq!(new.epoch, Epoch(gate.epoch()));
    gate.check_in(&[&old[..], &[new]].concat());
    gate.stop();
    let report = ropeline::replica::replay(&site.path(), &mut |_| {}).unwrap();
    assert!(
        report.proved() && report.gaps.is_empty() && report.epochs == 2,
        "{report:?}"
    );
}

#[test]
fn an_epoch_from_elsewhere_begins_a_log_above_it() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let old = gate.numbered();
    let epoch = gate.epoch();
    gate.replica.foreign_epoch(Epoch(epoch - 1));
    gate.replica.foreign_epoch(Epoch(epoch));
    assert_eq!(
        gate.numbered().epoch,
        Epoch(epoch),
        "lower and equal epochs change nothing"
    );
    gate.replica.foreign_epoch(Epoch(u64::MAX));
    assert_eq!(gate.numbered().epoch, Epoch(epoch), "nothing can stand above that");
    gate.stop();
    let gate = site.start();
    gate.replica.foreign_epoch(Epoch(epoch + (1 << 40)));
    gate.until("the new log", |replica| {
        replica.view().position.epoch > epoch + (1 << 40)
    });
    let new = gate.numbered();
    assert!(new.epoch.0 > epoch + (1 << 40));
    assert!(matches!(gate.standing(old), Standing::Waiting(waiting) if waiting.ahead == 0));
    gate.stop();
}

#[test]
fn a_start_on_a_log_that_takes_nothing_serves_what_it_could_read_and_goes_on_when_it_can() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let early: Vec<_> = gate.join_many(10).into_iter().map(number).collect();
    gate.crash();
    let faults = Faults::default();
    faults.refuse.store(true, Ordering::Relaxed);
    let gate = site.start_with(faults);
    gate.until("being cut off", |replica| replica.cut_off().is_some());
    assert!(
        early
            .iter()
            .all(|number| matches!(gate.standing(*number), Standing::Waiting(_)))
    );
    assert_eq!(gate.join_with(4), JoinOutcome::Later);
    gate.faults.refuse.store(false, Ordering::Relaxed);
    gate.until("the log", |replica| replica.cut_off().is_none());
    let next = number(gate.join_with(4));
    assert!(early.iter().all(|number| *number < next));
    gate.stop();
}

#[test]
fn a_stop_with_a_log_that_takes_nothing_ends_and_the_next_start_begins_a_new_log() {
    let mut site = Site::new(1);
    hold(&mut site);
    site.options.goodbye_within = Duration::from_millis(300);
    let gate = site.start();
    let first = gate.numbered();
    let epoch = gate.epoch();
    gate.faults.refuse.store(true, Ordering::Relaxed);
    gate.stop();
    let gate = site.start();
    assert!(gate.epoch() > epoch);
    assert!(matches!(gate.standing(first), Standing::Waiting(_)));
    gate.stop();
}

/// The shop's answer about an order, which is not repeated.
#[test]
fn a_stop_waits_for_a_log_that_is_to_take_who_ended() {
    for patience in [Duration::ZERO, Duration::from_secs(60)] {
        let mut site = Site::new(1);
        site.options.goodbye_within = Duration::from_millis(100);
        let gate = site.start();
        let first = gate.numbered();
        gate.record(first, Note::Claim { carried: true });
        gate.faults.refuse.store(true, Ordering::Relaxed);
        gate.replica.note(visitor(first), Note::End { after_ms: 0 });
        let refuse = Arc::clone(&gate.faults.refuse);
        let (says, stopped) = mpsc::channel();
        let stop = thread::spawn(move || {
            gate.stop_within(patience);
            says.send(()).unwrap();
        });
        let early = stopped.recv_timeout(Duration::from_secs(2)).is_ok();
        refuse.store(false, Ordering::Relaxed);
        stop.join().unwrap();
        let waits = !patience.is_zero();
        assert_eq!(early, !waits);
        let gate = site.start();
        assert_eq!(
            gate.standing(first) == Standing::Ended,
            waits,
            "{:?}",
            gate.standing(first)
        );
        gate.stop();
    }
}

/// Over the bound a visitor is put off like any other, and comes in once there is room.
#[test]
fn joins_beyond_the_bound_are_put_off_and_nobody_within_it_is_forgotten() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    gate.numbered();
    gate.faults.refuse.store(true, Ordering::Relaxed);
    gate.hangs_up();
    gate.until("being cut off", |replica| replica.cut_off().is_some());
    let join = |n: usize| {
        let mut id = [0xFF; 12];
        id[..8].copy_from_slice(&n.to_be_bytes());
        let (room, id) = (main(), Arrival::again(PendingId(id)));
        gate.wait(async { gate.replica.join(&room, &LineName::ONLY, LaneId(0), id).await })
    };
    let bound = MAX_PENDING_JOINS;
    for n in 0..bound + 10 {
        assert_eq!(join(n), JoinOutcome::Later, "{n}");
    }
    gate.until("all of them", |replica| replica.stats().pending_joins == bound);
    assert_eq!(join(bound + 10), JoinOutcome::Later, "put off, and never an error");
    gate.faults.refuse.store(false, Ordering::Relaxed);
    gate.until("the log", |replica| replica.cut_off().is_none());
    gate.until("their numbers", |replica| replica.stats().pending_joins == 0);
    let figures = |gate: &Gate| {
        let view = gate.replica.view();
        view.rooms[&main()].line(&LineName::ONLY).unwrap().figures
    };
    let counted = figures(&gate).joins;
    assert!(
        counted >= bound as u64 - 1,
        "{counted}: a place in the bound may have been another's"
    );
    let beyond = number(join(bound + 10));
    assert_eq!(figures(&gate).joins, counted + 1);
    let (first, last) = (number(join(0)), number(join(bound - 2)));
    assert!(first < last && last < beyond, "{first:?}, {last:?}, {beyond:?}");
    assert_eq!(
        figures(&gate).joins,
        counted + 1,
        "asked for again, they are who they were"
    );
    gate.stop();
}

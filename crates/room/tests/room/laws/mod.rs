//! The room's laws over random histories, beside the naive model and without it.

mod history;
mod known;
mod life;
mod model;
mod run;

use proptest::prelude::*;
use ropeline_room::{Batch, Change, Mode, Overrides, Section, Standing, State, Visitor};

use crate::laws::history::{Step, Timed, history, line_name, settings};
use crate::laws::run::Run;
use ropeline_room::testing::log::room;

fn steps(history: &[Timed], mut each: impl FnMut(&mut Run)) -> Run {
    let mut run = Run::new(history.len());
    for (ms, step) in history {
        run.step(*ms, step);
        each(&mut run);
    }
    run
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_room_does_what_the_naive_model_does(history in history(120)) {
        steps(&history, Run::agrees);
    }

    #[test]
    fn the_same_history_makes_the_same_bytes_also_through_snapshots(history in history(80)) {
        let plain: Vec<Timed> = history.iter().filter(|(_, step)| !matches!(step, Step::Recode)).cloned().collect();
        let mut once = Run::new(history.len());
        for (ms, step) in &plain {
            once.step(*ms, step);
        }
        let mut again = Run::new(history.len());
        for (ms, step) in &plain {
            again.step(*ms, step);
            again.state = State::decode(&again.state.encode()).unwrap();
            let _ = again.state.view();
        }
        prop_assert_eq!(once.state.encode(), again.state.encode());
        prop_assert_eq!(once.state.hash(), again.state.hash());
    }

    #[test]
    fn everyone_present_is_called_in_the_end(history in history(60)) {
        let mut run = steps(&history, |_| {});
        if !run.state.rooted() {
            run.root();
        }
        let free = Overrides { mode: Some(Mode::Auto), capacity: Some(2), rate_per_minute: Some(Some(60)), ..Overrides::default() };
        run.step(0, &Step::Change(Change::Configure(settings())));
        run.step(0, &Step::Change(Change::Override(free)));
        for _ in 0..200 {
            let waiting = stay(&mut run);
            if waiting == 0 {
                return Ok(());
            }
        }
        prop_assert!(false, "somebody is never called");
    }
}

/// A second passes in which all present visitors check in and all called ones come in and leave. Returns how many still wait.
fn stay(run: &mut Run) -> u64 {
    let view = run.state.view();
    let mut batch = Batch {
        hello: true,
        ..Batch::default()
    };
    for line in [0, 1, 2, 3].map(line_name) {
        let mut section = Section::new(room(), line.clone());
        for (_, lane, number) in run.author.everybody().iter().filter(|(l, ..)| *l == line) {
            let visitor = Visitor {
                room: room(),
                line: line.clone(),
                lane: *lane,
                number: *number,
                rehearsal: None,
            };
            match view.standing(&visitor, view.clock) {
                Standing::Waiting(waiting) if waiting.present => section.marks.push((*lane, *number)),
                Standing::Called(_) | Standing::Inside(_) => section.leaves.push((*lane, *number)),
                _ => {}
            }
        }
        batch.sections.push(section);
    }
    let mut entry = run.author.entry(&run.state, 1_000, &Step::Goodbye(1));
    entry.batch = batch;
    run.apply(&entry);
    let view = run.state.view();
    view.rooms[&room()]
        .lines
        .values()
        .map(|line| line.figures.waiting)
        .sum()
}

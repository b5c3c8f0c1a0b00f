//! Logs that end and begin: each goes on from the one before, and what was lost in between is told.

use anteroom::room::Batch;

use super::crowd::{Crowd, settings};
use super::fair::report;
use super::hall::Hall;

/// Three lives of the log: the second goes on from the whole of the first, the third without the end of the second.
#[test]
fn a_sale_over_a_lost_store_is_whole_and_fair_and_says_what_was_lost() {
    for seed in SEEDS {
        let folder = tempfile::tempdir().unwrap();
        let (mut hall, mut crowd) = (Hall::new(), Crowd::new(seed));
        hall.archive(1, folder.path());
        hall.configure(1, settings());
        crowd.pass(&mut hall, &[1], 65, 4);
        hall.archive(2, folder.path());
        crowd.pass(&mut hall, &[1, 2], 40, 4);
        let whole = hall.state.encode();
        hall.lose_store(&whole);
        crowd.pass(&mut hall, &[1, 2], 65, 4);
        let kept = hall.state.encode();
        for _ in 0..7 {
            hall.say(2, 500, Batch::default());
        }
        hall.lose_store(&kept);
        crowd.pass(&mut hall, &[2, 1], 100, 3);
        let figures = hall.figures();
        hall.leave(1);
        hall.leave(2);
        let findings = report(&folder);
        assert_eq!(findings.verdict.first_wrong, None, "seed {seed}");
        assert_eq!(findings.covers.hash, hall.state.chain().to_string());
        let logs: Vec<_> = findings
            .covers
            .logs
            .iter()
            .map(|log| (log.goes_on_from, log.entries_lost))
            .collect();
        assert_eq!(logs, [("nothing", 0), ("whole", 0), ("lost", 7)]);
        let tally = findings.lines[0].tally;
        assert_eq!(
            (tally.joins, tally.claims),
            (figures.joins, figures.claims),
            "seed {seed}"
        );
        // A turn may have been missed in what was lost, and once more after it.
        assert!(
            (figures.no_shows..figures.no_shows + 5).contains(&tally.no_shows),
            "seed {seed}"
        );
        let kinds: Vec<_> = findings.interruptions.iter().map(|pause| pause.kind).collect();
        assert_eq!(kinds, ["no root", "no root"], "seed {seed}");
        assert_eq!(findings.covers.entries_not_replayed, 0);
    }
}

const SEEDS: std::ops::Range<u64> = 1..4;

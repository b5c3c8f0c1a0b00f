//! An account keeps the better of two places without passing another visitor.

use ropeline::report::Findings;
use ropeline::room::{Bound, Claim, Effects, Number, PendingId, Section, Tag, Tagged};

use super::fair::report;
use super::hall::section;
use super::line::{LANE, Line};

const ANN: Tag = Tag([1; 8]);

/// What this line hears of accounts.
impl Line {
    fn binds(&mut self, n: u32) -> Effects {
        let number = self.number(n);
        let bound = Bound {
            lane: LANE,
            number,
            tags: vec![ANN],
        };
        self.hears(Section {
            bound: vec![bound],
            ..section()
        })
    }

    fn report(mut self) -> Findings {
        self.hall.leave(1);
        report(&self.folder)
    }
}

fn given_up(effects: &Effects) -> Vec<Number> {
    effects.given_up.iter().map(|given_up| given_up.number).collect()
}

/// As many have left as gave up a place or did so by their own word, and as many were called.
fn assert_fair(findings: &Findings, (calls, left): (u64, u64)) {
    let tally = &findings.lines[0].tally;
    assert_eq!(
        (tally.inversions, tally.calls, tally.left),
        (0, calls, left),
        "{:#?}",
        findings.verdict
    );
    assert!(
        findings.verdict.whole && findings.verdict.fair,
        "{:#?}",
        findings.verdict
    );
}

#[test]
fn who_signs_in_to_an_account_in_line_is_not_passed_by_with_the_place_that_is_given_up() {
    for (account, signs_in) in [(2, 1), (1, 2)] {
        let mut line = Line::of(4);
        line.binds(account);
        assert_eq!(
            given_up(&line.binds(signs_in)),
            [line.number(2)],
            "the lower one is kept"
        );
        line.leaves(0);
        line.leaves(1);
        assert_fair(&line.report(), (3, 3));
    }
}

#[test]
fn nor_does_one_that_is_called_or_inside_pass_the_other_by() {
    for inside in [false, true] {
        let mut line = Line::of(4);
        line.binds(2);
        if inside {
            let number = line.number(0);
            line.hears(Section {
                claims: vec![Claim {
                    lane: LANE,
                    number,
                    carried: true,
                }],
                ..section()
            });
        }
        assert_eq!(given_up(&line.binds(0)), [line.number(2)]);
        line.leaves(0);
        line.leaves(1);
        // To leave from inside is an end.
        assert_fair(&line.report(), (3, 3 - u64::from(inside)));
    }
}

#[test]
fn a_number_of_before_the_account_was_known_is_given_up_too() {
    let mut line = Line::of(2);
    line.binds(1);
    let id = PendingId([7; 12]);
    line.hears(Section {
        pending_joins: vec![(LANE, id)],
        ..section()
    });
    line.hears(Section {
        joins: vec![(LANE, 1)],
        ..section()
    });
    let tagged = Tagged {
        lane: LANE,
        tags: vec![ANN],
        id: Some(id),
    };
    let effects = line.hears(Section {
        tagged: vec![tagged],
        ..section()
    });
    assert_eq!(given_up(&effects), [line.number(2)]);
    line.leaves(0);
    line.leaves(1);
    assert_fair(&line.report(), (3, 3));
}

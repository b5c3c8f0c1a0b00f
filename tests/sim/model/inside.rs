//! Every visitor who was served is inside: the room and the gates' reports about requests, compared with a shop's count of
//! visitors.

use std::collections::BTreeMap;

use proptest::prelude::*;
use ropeline::gate::reader::used;
use ropeline::replica::Note;
use ropeline::room::testing::log::{LANE, Log, only, settings};
use ropeline::room::{Claim, Number, Section, Settings, Standing};

const CAPACITY: u32 = 3;
const VISITORS: usize = 12;

/// Some of these come often and some once in a long while.
fn whose() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0..3_usize, 1 => 3..VISITORS]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_shop_never_counts_more_visitors_than_slots(
        requests in proptest::collection::vec((1..1_000_u64, whose()), 50..500)
    ) {
        let mut shop = Shop::new(Settings { session_max_ms: 3_600_000, ..settings(CAPACITY) });
        for (ms, id) in requests {
            shop.pass(ms);
            shop.request(id);
            shop.check()?;
        }
    }
}

/// A line before a shop, and the gate between them.
struct Shop {
    log: Log,
    settings: Settings,
    numbers: [Option<Number>; VISITORS],
    /// When the shop had the last request of a number.
    last: BTreeMap<Number, u64>,
    /// The content of the next entry.
    said: Section,
}

impl Shop {
    fn new(settings: Settings) -> Self {
        Self {
            log: Log::new(settings.clone()),
            settings,
            numbers: [None; VISITORS],
            last: BTreeMap::new(),
            said: only(),
        }
    }

    fn pass(&mut self, ms: u64) {
        self.log.pass(ms);
        let said = std::mem::replace(&mut self.said, only());
        self.log.say(said);
    }

    /// A request as the gate takes it: a called visitor is inside before it is forwarded.
    fn request(&mut self, id: usize) {
        let number = match self.numbers[id] {
            Some(number) if !matches!(self.log.standing(number), Standing::Ended | Standing::Late) => number,
            _ => self.log.join(1)[0],
        };
        self.numbers[id] = Some(number);
        let standing = self.log.standing(number);
        match used(standing, false, Some(self.log.now())) {
            Some(Note::Claim { carried }) => {
                let claim = Claim {
                    lane: LANE,
                    number,
                    carried,
                };
                self.log.say(Section {
                    claims: vec![claim],
                    ..only()
                });
            }
            Some(Note::Renew) => self.said.renewals.push((LANE, number)),
            _ => {}
        }
        match self.log.standing(number) {
            Standing::Inside(_) => _ = self.last.insert(number, self.log.time),
            _ => self.said.marks.push((LANE, number)),
        }
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let (now, session_ms) = (self.log.time, self.settings.session_ms);
        self.last.retain(|_, last| now < *last + session_ms);
        prop_assert!(
            self.last.len() <= CAPACITY as usize,
            "{} sessions at the shop",
            self.last.len()
        );
        for (number, last) in &self.last {
            let standing = self.log.standing(*number);
            prop_assert!(
                matches!(standing, Standing::Inside(_)),
                "{number:?} had a page {} ms ago and is {standing:?}",
                now - last
            );
        }
        Ok(())
    }
}

#[test]
fn who_reads_one_page_is_no_no_show_and_keeps_the_slot_for_a_session_after_it() {
    let mut log = Log::new(settings(1));
    let [reader, next] = log.join(2)[..] else { panic!("two") };
    assert!(
        log.claim(reader, false),
        "called while joining, and forwarded with that request"
    );
    let stands = |log: &mut Log, ms: u64| {
        for _ in 0..ms / 1_000 {
            log.pass(1_000);
            log.mark(next);
        }
        [reader, next].map(|number| log.standing(number))
    };
    assert!(matches!(
        stands(&mut log, 21_000),
        [Standing::Inside(_), Standing::Waiting(_)]
    ));
    assert_eq!(log.figures().no_shows, 0);
    // A tenth of the session, and two seconds.
    assert!(matches!(
        stands(&mut log, 4_000),
        [Standing::Ended, Standing::Called(_)]
    ));
}

#[test]
fn a_second_request_that_is_not_recorded_costs_no_part_of_the_session() {
    let mut log = Log::new(settings(1));
    let number = log.join(1)[0];
    log.claim(number, false);
    log.pass(1_900);
    let Standing::Inside(inside) = log.standing(number) else {
        panic!("inside")
    };
    assert!(!inside.renewal_due(log.now()), "within a tenth of the claim");
    log.pass(20_000);
    assert!(
        matches!(log.standing(number), Standing::Inside(_)),
        "a session after that request"
    );
}

#[test]
fn the_first_request_with_the_pass_renews_the_session() {
    let mut log = Log::new(settings(1));
    let number = log.join(1)[0];
    log.claim(number, false);
    log.pass(15_000);
    assert!(log.claim(number, true));
    log.pass(20_000);
    assert!(matches!(log.standing(number), Standing::Inside(inside) if inside.carried));
}

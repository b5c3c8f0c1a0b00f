//! A crowd before a hall: they come, wait, check in, miss their turn, buy, and go; the same for the same seed.

use std::collections::BTreeMap;

use ropeline::room::{Bound, Claim, End, LaneId, LineName, Number, Section, Settings, Standing, Tag, Visitor};

use super::hall::{Hall, room, section};

/// The behaviour of one visitor.
struct Guest {
    who: (LaneId, Number),
    joined: u64,
    /// Checks in every so often; does not come when called the first time.
    patience: u64,
    absent: bool,
    /// Stays inside for so long.
    stay: u64,
    inside_since: Option<u64>,
    gone: bool,
}

/// The results, as the crowd saw them.
#[derive(Default, Debug)]
pub struct Story {
    /// Waits from the number to the first call, in milliseconds.
    pub waits: Vec<u64>,
    pub joins: u64,
    pub left: u64,
    pub bypasses: u64,
}

pub struct Crowd {
    seed: u64,
    guests: Vec<Guest>,
    called: BTreeMap<(LaneId, Number), u64>,
    /// Some sign in, while they wait or are inside, to one of so many accounts; several to the same.
    accounts: u8,
    pub story: Story,
}

/// Capacity 20 in two lanes, three turns to one.
pub fn settings() -> Settings {
    Settings {
        capacity: 20,
        session_ms: 20_000,
        session_max_ms: 120_000,
        claim_deadline_ms: 10_000,
        grace_ms: 40_000,
        firm_within_ms: 5_000,
        late_window_ms: 120_000,
        lane_weights: vec![3, 1],
        ..Settings::default()
    }
}

impl Crowd {
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            guests: Vec::new(),
            called: BTreeMap::new(),
            accounts: 0,
            story: Story::default(),
        }
    }

    pub fn with_accounts(seed: u64, accounts: u8) -> Self {
        Self {
            accounts,
            ..Self::new(seed)
        }
    }

    /// `secs` seconds go by, with up to `most` newcomers in each; the gates speak in turn, twice a second.
    pub fn pass(&mut self, hall: &mut Hall, gates: &[u64], secs: u64, most: u64) {
        for turn in 0..secs * 2 {
            let gate = gates[usize::try_from(turn).unwrap() % gates.len()];
            let mut said = self.behave(hall);
            let newcomers = if turn % 2 == 0 { self.random(most + 1) } else { 0 };
            for lane in [LaneId(0), LaneId(1)] {
                let count = u32::try_from(newcomers.midpoint(u64::from(lane.0))).unwrap();
                if count > 0 && newcomers > 0 {
                    said.joins.push((lane, count));
                }
            }
            said.bypasses = u32::try_from(self.random(2)).unwrap();
            self.story.bypasses += u64::from(said.bypasses);
            self.sign_in(hall, &mut said);
            let effects = hall.hear(gate, 500, said);
            for joined in &effects.joined {
                for i in 0..joined.count {
                    let first = joined.first.unwrap();
                    let number = Number {
                        n: first.n + i,
                        ..first
                    };
                    self.come((joined.lane, number), hall.time);
                }
            }
            self.look(hall);
        }
    }

    fn come(&mut self, who: (LaneId, Number), time: u64) {
        self.story.joins += 1;
        let guest = Guest {
            who,
            joined: time,
            patience: 3_000 + self.random(12_000),
            absent: self.random(8) == 0,
            stay: 2_000 + self.random(30_000),
            inside_since: None,
            gone: self.random(20) == 0,
        };
        self.guests.push(guest);
    }

    /// A recent visitor signs in, if there is one with a place.
    fn sign_in(&mut self, hall: &mut Hall, said: &mut Section) {
        if self.accounts == 0 || self.guests.is_empty() {
            return;
        }
        let lately = self.random(40).min(self.guests.len() as u64 - 1);
        let at = self.guests.len() - 1 - usize::try_from(lately).unwrap();
        let (lane, number) = self.guests[at].who;
        let account = u8::try_from(self.random(u64::from(self.accounts))).unwrap();
        if matches!(stands(hall, (lane, number)), Standing::Ended | Standing::Late) {
            return;
        }
        said.bound.push(Bound {
            lane,
            number,
            tags: vec![Tag([account; 8])],
        });
    }

    /// Notes the visitors who are called for the first time now.
    fn look(&mut self, hall: &mut Hall) {
        for at in 0..self.guests.len() {
            let (who, joined) = (self.guests[at].who, self.guests[at].joined);
            if let Standing::Called(called) = stands(hall, who)
                && called.call.count == 1
                && !self.called.contains_key(&who)
            {
                self.called.insert(who, hall.time);
                self.story.waits.push(hall.time - joined);
            }
        }
    }

    /// The actions of all of them in this half second.
    fn behave(&mut self, hall: &mut Hall) -> Section {
        let mut said = section();
        let time = hall.time;
        for at in 0..self.guests.len() {
            let chance = self.random(1_000);
            let guest = &mut self.guests[at];
            let (lane, number) = guest.who;
            if guest.gone {
                continue;
            }
            match stands(hall, guest.who) {
                Standing::Waiting(_) if chance == 0 => {
                    said.leaves.push(guest.who);
                    guest.gone = true;
                    self.story.left += 1;
                }
                Standing::Waiting(_) if (time - guest.joined) % guest.patience < 500 => said.marks.push(guest.who),
                Standing::Called(called) if !guest.absent || called.call.count > 1 => {
                    guest.inside_since = Some(time);
                    said.claims.push(Claim {
                        lane,
                        number,
                        carried: true,
                    });
                }
                Standing::Inside(_) => {
                    let since = time - guest.inside_since.unwrap_or(time);
                    match since {
                        _ if since < guest.stay && since % 4_000 < 500 => said.renewals.push(guest.who),
                        _ if since < guest.stay => {}
                        _ if number.n % 3 == 0 => said.leaves.push(guest.who),
                        _ if number.n % 3 == 1 => said.ends.push(End {
                            lane,
                            number,
                            after_ms: 1_000,
                        }),
                        _ => guest.gone = true,
                    }
                }
                _ => {}
            }
        }
        said.marks.sort_unstable();
        said
    }

    /// Below `below`, from the seed (xorshift64*).
    fn random(&mut self, below: u64) -> u64 {
        self.seed ^= self.seed >> 12;
        self.seed ^= self.seed << 25;
        self.seed ^= self.seed >> 27;
        (self.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % below
    }
}

pub fn stands(hall: &mut Hall, (lane, number): (LaneId, Number)) -> Standing {
    let view = hall.state.view();
    let visitor = Visitor {
        room: room(),
        line: LineName::ONLY,
        lane,
        number,
        rehearsal: None,
    };
    view.standing(&visitor, view.clock)
}

//! The visitors: their kinds, their tokens, and the time of their next request.

use ropeline::room::Number;

use super::judge::{Pass, Ticket};
use super::world::{SECOND, Time};
use crate::chance::Chance;

/// One visitor's life.
pub struct Person {
    pub kind: Kind,
    pub ticket: Option<Ticket>,
    pub pass: Option<Pass>,
    /// Numbers of before: what the visitor may still show.
    pub relics: Vec<Number>,
    pub is: Is,
    /// The slot of the gate that it spoke to last.
    pub gate: usize,
    /// Distinguishes it from earlier events.
    pub visit: u64,
    /// When any gate last took word of the visitor's presence, and the longest that none did since the last join.
    pub seen: Time,
    pub longest_absence: Time,
    /// When the visitor goes home, once inside.
    pub stays: Time,
    pub inside_until: Option<Time>,
    /// The request under way: its pass, and whether it carries it.
    pub claiming: Option<(Pass, bool)>,
    /// How long the request under way waits for a slot at most.
    pub waits_until: Time,
    /// When the shop had the last request, and of which number; `None` for a visitor whom the shop does not count.
    pub asked: Option<(Time, Number)>,
    /// The log has that the slot of this number is held until then.
    pub held: Option<(Time, Number)>,
    /// When the shop first had a request of this number.
    pub began: Option<(Time, Number)>,
    pub first_inside: bool,
    pub turns_missed: u32,
    pub tries: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Is {
    Outside,
    /// A join is under way at a gate.
    Joining,
    /// The turn has come, and the gate has the log know before it forwards the request.
    Claiming,
    Waiting,
    /// Asks for a slot for the session, and the request waits at the gate.
    Returning,
    Inside,
    Gone,
}

/// The kind of a visitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Asks as often as the page does, comes in when called, leaves when done.
    Patient,
    /// Asks all the time, at any gate.
    Restless,
    /// Goes to sleep for a while, now and then for too long.
    Sleepy,
    /// Does not come when called the first time.
    Late,
    /// Never comes back after a while.
    Lost,
    /// Leaves the line.
    Leaver,
    /// Comes again with old tokens when all is over.
    Returner,
}

impl Person {
    pub fn new(chance: &mut Chance) -> Self {
        let kind = match chance.within(0, 20) {
            0..=8 => Kind::Patient,
            9..=10 => Kind::Restless,
            11..=13 => Kind::Sleepy,
            14..=15 => Kind::Late,
            16 => Kind::Lost,
            17 => Kind::Leaver,
            _ => Kind::Returner,
        };
        Self {
            kind,
            ticket: None,
            pass: None,
            relics: Vec::new(),
            is: Is::Outside,
            gate: usize::try_from(chance.within(0, 64)).unwrap_or(0),
            visit: 0,
            seen: 0,
            longest_absence: 0,
            stays: chance.within(2, 40) * SECOND,
            inside_until: None,
            claiming: None,
            waits_until: 0,
            asked: None,
            held: None,
            began: None,
            first_inside: false,
            turns_missed: 0,
            tries: 0,
        }
    }

    pub fn number(&self) -> Option<Number> {
        match self.ticket {
            Some(Ticket::Numbered(number)) => Some(number),
            _ => None,
        }
    }

    /// The tokens are put away.
    pub fn forget(&mut self) {
        self.relics.extend(self.number());
        (self.ticket, self.pass, self.inside_until) = (None, None, None);
    }
}

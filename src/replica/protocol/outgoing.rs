//! The entries that this gate appends: one batch at a time, sent again unchanged until it is read back.

use std::time::Duration;

use super::adoption::Adoption;
use super::identity::Identity;
use crate::replica::collector::Collector;
use crate::replica::inbox::{Note, Noted};
use crate::replica::waiters::Waiters;
use crate::room::{Batch, Effects, Entry, OLDEST, RoomName, Section, Spoke, State, View};
use crate::store::Append;

pub(super) struct Outgoing {
    /// Items since the last batch was cut.
    pub collector: Collector,
    adoption: Adoption,
    under_way: Option<UnderWay>,
    /// Of the last batch.
    serial: u64,
    /// The next batch puts the gate on the roster.
    hello: bool,
    /// The operator wants this machine version to be in force.
    raise: Option<u16>,
    /// The first batch of this life was read back.
    joined: bool,
    /// When a batch of this gate was last read back, and how long that took.
    spoke: Duration,
    lag: Duration,
}

/// A batch that was cut, and is not read back.
struct UnderWay {
    append: Append,
    waiters: Waiters,
    /// The log that it was cut for: in another log it says hello again, with a new serial.
    epoch: u64,
    since: Duration,
    /// The log has it; it is only to be read.
    acknowledged: bool,
    /// Times that the room passed it over because the gate was not on its roster.
    ignored: u8,
}

/// The result of the batch under way when it was read.
pub(super) enum Settled {
    /// The gate was off the roster: the batch goes again, with a hello.
    Again,
    /// The rooms pass it over however often it says hello.
    Unknown,
    /// The rooms took it.
    Taken(Box<Batch>),
}

impl Default for Outgoing {
    fn default() -> Self {
        Self {
            collector: Collector::default(),
            adoption: Adoption::default(),
            under_way: None,
            serial: 0,
            hello: true,
            raise: None,
            joined: false,
            spoke: Duration::ZERO,
            lag: Duration::ZERO,
        }
    }
}

impl Outgoing {
    /// The first batch of this life was read back.
    pub fn has_joined(&self) -> bool {
        self.joined
    }

    /// When a batch of this gate was last read back.
    pub fn spoke(&self) -> Duration {
        self.spoke
    }

    pub fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// The batch under way has a vote on a checkpoint.
    pub fn is_voting(&self) -> bool {
        self.under_way
            .as_ref()
            .is_some_and(|sent| sent.append.batch.vote.is_some())
    }

    /// Changes of the configured rooms are still to be sent, or read back.
    pub fn says_of_rooms(&self) -> bool {
        let says = |sent: &UnderWay| !sent.append.batch.rooms.is_empty();
        self.collector.says_of_file() || self.under_way.as_ref().is_some_and(says)
    }

    /// Nothing waits to be appended.
    pub fn is_empty(&self) -> bool {
        self.collector.is_empty() && self.adoption.is_empty()
    }

    /// There is something that does not wait for company.
    pub fn is_urgent(&self) -> bool {
        self.under_way.is_some()
            || self.hello
            || self.raise.is_some()
            || !self.adoption.is_empty()
            || self.collector.is_urgent()
    }

    /// Purchases, ends and leaves that the log has not taken: no later request repeats them.
    pub fn final_notes(&self) -> usize {
        let of_section = |section: &Section| match section.rehearsal {
            None => section.completions.len() + section.ends.len() + section.leaves.len(),
            Some(_) => 0,
        };
        let of_batch = |batch: &Batch| batch.sections.iter().map(of_section).sum::<usize>();
        let sent = self.under_way.iter().map(|sent| of_batch(&sent.append.batch));
        let brought = self.adoption.batches().map(of_batch);
        self.collector.final_notes() + sent.chain(brought).sum::<usize>()
    }

    /// The rooms are to run this machine version.
    pub fn raise(&mut self, version: u16) {
        self.raise = Some(version);
    }

    /// Another life begins on the log, with a hello.
    pub fn begin_anew(&mut self) {
        (self.hello, self.joined) = (true, false);
    }

    /// Drops the waiting items. Dropping a message answers it: visitors come again.
    pub fn drop_all(&mut self) {
        self.under_way = None;
        self.drop_collected();
    }

    pub fn drop_collected(&mut self) {
        self.collector = Collector::default();
    }

    /// A batch without items of visitors, with the next serial.
    pub fn append(&mut self, identity: &mut Identity, batch: Batch) -> Append {
        self.append_under(OLDEST, identity, batch)
    }

    fn append_under(&mut self, version: u16, identity: &mut Identity, batch: Batch) -> Append {
        self.serial += 1;
        Append {
            gate: identity.gate(),
            serial: self.serial,
            nonce: identity.random().to_le_bytes(),
            version,
            batch: Batch {
                knows: identity.knows(),
                ..batch.under(version)
            },
        }
    }

    /// How far this gate has read, as an entry of a log without a root.
    pub fn append_reading(&mut self, identity: &mut Identity, state: Option<&State>) -> Append {
        let mut spoke = state.map_or_else(Spoke::default, |state| Spoke {
            position: state.position(),
            nonce: state.nonce(),
            roster: state.roster().map(|gate| gate.id).collect(),
        });
        if !spoke.roster.contains(&identity.gate()) {
            spoke.roster.push(identity.gate());
        }
        let spoke = Some(spoke);
        self.append(
            identity,
            Batch {
                spoke,
                ..Batch::default()
            },
        )
    }

    /// Cuts the next batch and adds the content of `beside`. Returns the number of items with a waiting request.
    pub fn cut(&mut self, identity: &mut Identity, view: &View, state: &State, beside: &Batch, now: Duration) -> usize {
        let revision = |room: &_| view.rooms.get(room).map_or(0, |room| room.revision);
        let (batch, waiters) = if let Some(brought) = self.adoption.next() {
            brought
        } else {
            self.collector.forget_uses(|room, seen| lapsed(view, room, seen, now));
            self.collector.cut(revision)
        };
        let waiting = waiters.number();
        let at = state.position();
        let batch = Batch {
            hello: self.hello,
            goodbye: beside.goodbye && self.is_empty(),
            root: beside.root,
            vote: beside.vote,
            saved: beside.saved,
            raise: self.raise.take().or(beside.raise),
            applied: at.sequence,
            notes_until: self.has_no_notes_left().then(|| state.clock()),
            lag_us: u32::try_from(self.lag.as_micros()).unwrap_or(u32::MAX),
            ..batch
        };
        self.under_way = Some(UnderWay {
            append: self.append_under(state.version(), identity, batch),
            waiters,
            epoch: at.epoch,
            since: now,
            acknowledged: false,
            ignored: 0,
        });
        waiting
    }

    /// Nothing that visitors did waits behind the batch that is cut now.
    fn has_no_notes_left(&self) -> bool {
        !self.collector.has_notes() && self.adoption.is_empty()
    }

    /// The batch under way, unless the log is known to have it.
    pub fn unacknowledged(&self) -> Option<Append> {
        let sent = self.under_way.as_ref().filter(|sent| !sent.acknowledged);
        sent.map(|sent| sent.append.clone())
    }

    /// The log has the batch under way.
    pub fn acknowledge(&mut self) {
        if let Some(sent) = &mut self.under_way {
            sent.acknowledged = true;
        }
    }

    /// Removes uses of sessions that have expired from a batch under way that the log has not taken: visitors whose session
    /// has been over since would open a new one. If the log has taken the batch after all, it counts as first sent.
    pub fn forget_uses(&mut self, view: &View, now: Duration) {
        let Some(sent) = &mut self.under_way else { return };
        // Places brought back from a lost log stay as they were.
        if sent.acknowledged || sent.append.batch.adopt.is_some() {
            return;
        }
        for section in &mut sent.append.batch.sections {
            if lapsed(view, &section.room, sent.since, now) {
                section.reopens.clear();
                section.renewals.clear();
                section.returns.clear();
                section.holds.clear();
            }
        }
    }

    /// The log was read to its end and has this state; `old` is the gate's former state.
    pub fn arrive(&mut self, identity: &Identity, old: Option<State>, state: &State) {
        self.adoption.bring_back(old, state);
        self.hello |= state.answered(identity.gate()).is_none();
    }

    /// Drops the parts that another gate has brought back to `state` meanwhile.
    pub fn spare_adoption(&mut self, state: &State) {
        self.adoption.drop_known(state);
        if self.adoption.is_empty() && self.under_way.is_none() {
            self.adoption.is_over();
        }
    }

    /// Whether the entry is the batch under way.
    pub fn is_own(&self, identity: &Identity, entry: &Entry) -> bool {
        entry.gate == identity.gate() && self.serial_under_way() == Some(entry.serial)
    }

    pub fn serial_under_way(&self) -> Option<u64> {
        self.under_way.as_ref().map(|sent| sent.append.serial)
    }

    /// The batch under way was read back: how long that took.
    pub fn read_back(&mut self, now: Duration) -> Option<Duration> {
        self.lag = now.saturating_sub(self.under_way.as_ref()?.since);
        Some(self.lag)
    }

    /// The batch under way was applied: answers its waiting requests. `None` if there is none.
    pub fn settle(&mut self, effects: &Effects, now: Duration) -> Option<Settled> {
        let mut sent = self.under_way.take()?;
        if effects.ignored && sent.ignored < IGNORED_MAX {
            self.serial += 1;
            sent.append.serial = self.serial;
            sent.append.batch.hello = true;
            sent.acknowledged = false;
            sent.ignored += 1;
            self.under_way = Some(sent);
            return Some(Settled::Again);
        }
        self.hello = effects.ignored;
        if effects.ignored {
            // Dropped waiters are asked to come again.
            return Some(Settled::Unknown);
        }
        self.joined = true;
        self.spoke = now;
        self.collector.take_back(&mut sent.waiters.joins, &effects.joined);
        let left = sent.waiters.resolve(effects);
        self.collector.change_again(left.beaten);
        for visitor in left.gone {
            // Where there is no room for it, the place is gone after `firm_within` all the same.
            let _ = self.collector.note(Noted {
                visitor,
                note: Note::Leave,
                seen: now,
                recorded: None,
            });
        }
        Some(Settled::Taken(Box::new(sent.append.batch)))
    }

    /// The log of this epoch was read to its end without the batch under way: it is sent again. If it was cut for another
    /// log, it goes behind the entries of that log that this one has lost.
    pub fn send_again(&mut self, version: u16, epoch: u64) {
        match &mut self.under_way {
            Some(sent) if sent.epoch == epoch => sent.acknowledged = false,
            Some(_) => {
                self.renew(version, epoch);
                if !self.adoption.is_empty()
                    && let Some(sent) = self.under_way.take()
                {
                    self.adoption.push(sent.append.batch, sent.waiters);
                }
            }
            None => {}
        }
    }

    /// Prepares a batch that another log did not take, or may not have taken: it says hello again and keeps the visitors'
    /// actions. Its items about the other log are removed.
    pub fn renew(&mut self, version: u16, epoch: u64) {
        self.hello = true;
        if let Some(sent) = &mut self.under_way {
            self.serial += 1;
            sent.append.version = version;
            sent.append.serial = self.serial;
            sent.acknowledged = false;
            sent.epoch = epoch;
            let batch = &mut sent.append.batch;
            batch.hello = true;
            (batch.vote, batch.saved, batch.raise, batch.root, batch.adopt) = (None, None, None, None, None);
            (batch.applied, batch.notes_until) = (0, None);
        }
    }
}

/// Whether a session of the room that was last used at uptime `seen` has expired at `now`.
fn lapsed(view: &View, room: &RoomName, seen: Duration, now: Duration) -> bool {
    let lasts = view.rooms.get(room).map(|room| room.settings.hold_ms());
    lasts.is_some_and(|lasts| now.saturating_sub(seen) >= Duration::from_millis(lasts))
}

/// Times that a batch goes again because the gate was off the roster.
const IGNORED_MAX: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_that_wait_behind_restored_places_are_notes_that_are_left() {
        let mut outgoing = Outgoing::default();
        assert!(outgoing.has_no_notes_left());
        outgoing.adoption.push(Batch::default(), Waiters::default());
        assert!(!outgoing.has_no_notes_left());
        outgoing.adoption.next();
        assert!(outgoing.has_no_notes_left());
    }
}

//! Life on a log that has its root: one batch's way (cut, sent, read back, applied, published, answered), and time passing.

use std::time::Duration;

use super::pace::{IDLE, REST_MOST};
use super::{Ask, Asked, Phase, Protocol, Step, UnderWay};
use crate::replica::inbox::{Note, Noted};
use crate::replica::recover::{Applied, apply_next};
use crate::room::{Adopt, Batch, Effects, Entry, Joined, OLDEST, RoomName, State, View};
use crate::store::{Append, Exchanged};

impl Protocol {
    /// Speaks to the log if it is time to.
    pub(super) fn live(&mut self, now: Duration) -> Step {
        self.shared.attention.look(now);
        if let Some(step) = self.keep_snapshot(now) {
            return step;
        }
        if self.company_since.is_none() && self.collector.keeps_company() {
            self.company_since = Some(now);
        }
        let (soonest, due) = (self.soonest(), self.due(now));
        if due > now {
            if soonest > now {
                return Step::Rest(soonest.min(now + REST_MOST));
            }
            let asked = self.is_left_alone(now) && !self.shared.attention.sleep(now);
            return Step::Wait(if asked { now } else { due.min(now + IDLE) });
        }
        if let Some(era) = self.foreign_era(now) {
            self.foreign_at = Some(now);
            let Phase::Live(state) = self.take_phase() else {
                return Step::Wait(now);
            };
            tracing::warn!(
                era,
                "a genuine token is of an era above the rooms' own: a new log begins above it"
            );
            let seen = state.position().incarnation;
            self.prepare(seen, era, super::begin::From::Rooms(*state), now);
            return self.next(now);
        }
        self.spare_adoption();
        self.forget_uses(now);
        self.keep_rooms_up(now);
        if self.under_way.is_none() && self.has_something_to_say(now) {
            self.under_way = Some(self.next_batch(now));
        }
        let Phase::Live(state) = &self.phase else {
            return Step::Wait(now);
        };
        let at = state.position();
        let append = self.under_way.as_ref().filter(|sent| !sent.acknowledged);
        let append = append.map(|sent| sent.append.clone());
        self.exchanged = now;
        self.shared.sent(now);
        self.ask(
            Asked::Exchange {
                appended: append.is_some(),
            },
            Ask::Exchange { at, append },
        )
    }

    /// A batch under way that the log has not taken says no more of sessions which nobody has used for as long as they last:
    /// who was cut off since would open them anew. If the log has it after all, it counts as it was first sent.
    fn forget_uses(&mut self, now: Duration) {
        let Some(sent) = &mut self.under_way else { return };
        // What was lost with another log is brought back as it was.
        if sent.acknowledged || sent.append.batch.adopt.is_some() {
            return;
        }
        let view = self.shared.load();
        for section in &mut sent.append.batch.sections {
            if lapsed(&view, &section.room, sent.since, now) {
                section.reopens.clear();
                section.renewals.clear();
            }
        }
    }

    /// The next batch, for the log to take as often as it must be sent.
    fn next_batch(&mut self, now: Duration) -> UnderWay {
        let view = self.shared.load().share();
        let revision = |room: &_| view.rooms.get(room).map_or(0, |room| room.revision);
        let (batch, waiters) = if let Some(brought) = self.outbox.pop_front() {
            brought
        } else {
            self.collector.forget_uses(|room, seen| lapsed(&view, room, seen, now));
            self.collector.cut(revision)
        };
        self.company_since = None;
        self.crowded = waiters.number() > 1;
        let goodbye = self.wants_goodbye() && self.collector.is_empty() && self.outbox.is_empty();
        let (vote, saved, root) = self.checkpoint.say();
        let raise = self.raise.take().or_else(|| self.agreed()).or_else(|| self.needed());
        let at = self.live_state().map(State::position).unwrap_or_default();
        let incarnation = at.incarnation;
        let batch = Batch {
            hello: self.hello,
            goodbye,
            root,
            vote,
            saved,
            raise,
            applied: at.sequence,
            lag_us: u32::try_from(self.lag.as_micros()).unwrap_or(u32::MAX),
            ..batch.under(self.version())
        };
        UnderWay {
            append: self.append(batch),
            waiters,
            incarnation,
            since: now,
            acknowledged: false,
            ignored: 0,
        }
    }

    /// The machine version that this gate's entries are of.
    pub(super) fn version(&self) -> u16 {
        self.live_state().map_or(OLDEST, State::version)
    }

    pub(super) fn live_read(&mut self, appended: bool, exchanged: Exchanged, now: Duration) {
        let Phase::Live(state) = self.take_phase() else {
            return;
        };
        let own = state.position().incarnation;
        match exchanged {
            Exchanged::Entries {
                entries,
                log_bytes,
                more,
                newer,
            } => {
                self.shared.counts.log_holds(log_bytes);
                if let Some(sent) = self.under_way.as_mut().filter(|_| appended) {
                    sent.acknowledged = true;
                }
                self.take_entries(state, entries, more, newer, now);
            }
            Exchanged::Broken { incarnation } if incarnation <= own => {
                tracing::error!("the log is not what it was: a new one begins with the rooms as the gates have them");
                self.prepare(incarnation, 0, super::begin::From::Rooms(*state), now);
            }
            Exchanged::Moved if self.alone => self.restart(Some(*state), now),
            Exchanged::Moved => {
                tracing::warn!("this gate was away for longer than the log keeps: loading the snapshot");
                self.restart(Some(*state), now);
            }
            Exchanged::Broken { .. } if self.alone => self.restart(None, now),
            Exchanged::Broken { incarnation } => {
                tracing::warn!(incarnation, "the log has begun anew");
                self.follow(incarnation, Some(*state), now);
            }
        }
    }

    fn take_entries(
        &mut self,
        mut state: Box<State>,
        entries: Vec<Entry>,
        more: bool,
        newer: Option<u16>,
        now: Duration,
    ) {
        let changed = !entries.is_empty();
        let version = state.version();
        let mut mine = None;
        for entry in entries {
            match apply_next(self.apply, &mut state, &entry, &self.skips, self.options.knows) {
                Applied::Done(effects) => {
                    let met = mine.is_none() && self.met(&entry);
                    self.note_entry(&entry, &state, now);
                    self.shared.counts.applied(&effects);
                    mine = mine.or(met.then_some(effects));
                }
                Applied::AnotherHistory => {
                    tracing::error!(position = ?entry.position, "the log tells another history");
                    return self.another_history(state, now);
                }
                // Half applied it is good for nothing: read anew, the rooms stand before the entry.
                Applied::Panicked => return self.restart(None, now),
                Applied::Newer(version) => return self.fall_behind(version, now),
            }
        }
        if changed {
            self.publish(&mut state, now);
        }
        if state.version() > version {
            self.configure_since(version, &state);
        }
        self.phase = Phase::Live(state);
        self.show_condition();
        if let Some(version) = newer {
            return self.fall_behind(version, now);
        }
        if let Some(effects) = mine {
            self.settle(&effects, now);
        }
        if self.under_way.is_none() && !more {
            self.shared.read_back(now);
        }
        self.more = more;
        self.open_up(now);
        if !more {
            self.agree_on_checkpoints(now);
            self.compare_rooms();
        }
    }

    /// The entry after mine names another nonce: this history ends with what was read, and a new one begins.
    fn another_history(&mut self, state: Box<State>, now: Duration) {
        if self.alone {
            return self.restart(None, now);
        }
        let seen = state.position().incarnation;
        self.prepare(seen, 0, super::begin::From::Rooms(*state), now);
    }

    /// Whether the entry is the batch under way, and the room took it now.
    pub(super) fn met(&self, entry: &Entry) -> bool {
        let serial = self.under_way.as_ref().map(|sent| sent.append.serial);
        entry.gate == self.gate && serial == Some(entry.serial)
    }

    /// What every entry leaves: its time, its share of the log, and a checkpoint if one falls here.
    pub(super) fn note_entry(&mut self, entry: &Entry, state: &State, now: Duration) {
        self.time = entry.time;
        self.heard = now;
        self.shared.counts.read();
        if let Some(archiver) = &mut self.archiver {
            if self.skips.contains(&entry.position) {
                archiver.passed_over(entry, state);
            } else {
                archiver.applied(entry, state);
            }
        }
        self.checkpoint.entry(entry, state, self.alone);
    }

    /// The batch under way is in the log: answer who waited for it. One that the room passed over, because the gate had
    /// been silent for so long that it was off the roster, goes again with a hello.
    fn settle(&mut self, effects: &Effects, now: Duration) {
        let Some(mut sent) = self.under_way.take() else { return };
        self.lag = now.saturating_sub(sent.since);
        self.shared.read_back(now);
        self.shared.counts.appended(self.lag);
        if effects.ignored && sent.ignored < IGNORED_MAX {
            self.serial += 1;
            sent.append.serial = self.serial;
            sent.append.batch.hello = true;
            sent.acknowledged = false;
            sent.ignored += 1;
            self.under_way = Some(sent);
            return;
        }
        self.hello = effects.ignored;
        if effects.ignored {
            // Dropped waiters are told to come again.
            return self.odd("the rooms do not know this gate", now);
        }
        self.joined = true;
        self.spoke = now;
        self.said(&sent.append);
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
    }

    /// After catching up: the batch under way may have been met on the way, or be in the state that this came from.
    pub(super) fn settle_met(
        &mut self,
        mine: Option<Effects>,
        answered: Option<(u64, Vec<Joined>)>,
        incarnation: u64,
        now: Duration,
    ) {
        let serial = self.under_way.as_ref().map(|sent| sent.append.serial);
        let known = answered.filter(|(last, _)| serial.is_some_and(|serial| serial <= *last));
        match (mine, known) {
            (Some(effects), _) if !effects.ignored => self.settle(&effects, now),
            (_, Some((_, joined))) => {
                let effects = Effects {
                    joined,
                    ..Effects::default()
                };
                self.settle(&effects, now);
            }
            _ => match &mut self.under_way {
                Some(sent) if sent.incarnation == incarnation => sent.acknowledged = false,
                Some(_) => self.renew_behind_adoption(incarnation),
                None => {}
            },
        }
    }

    /// What visitors did since goes behind what the log has lost: the rooms must know them first.
    fn renew_behind_adoption(&mut self, incarnation: u64) {
        self.renew_under_way(incarnation);
        if self.outbox.is_empty() {
            return;
        }
        if let Some(sent) = self.under_way.take() {
            self.outbox.push_back((sent.append.batch, sent.waiters));
        }
    }

    /// Drops what another gate has brought back meanwhile.
    fn spare_adoption(&mut self) {
        while self.is_brought() {
            self.outbox.pop_front();
        }
        if self.outbox.is_empty() && self.under_way.is_none() {
            self.lost = None;
        }
    }

    /// The next to be brought back is known, and so is the adoption's last, whose log changed the eras before it too.
    fn is_brought(&self) -> bool {
        let Phase::Live(state) = &self.phase else { return false };
        let known = |adopt: &Adopt| state.ended_at(adopt.era) >= Some(adopt.sequence);
        let mut adopts = self.outbox.iter().map_while(|(batch, _)| batch.adopt).peekable();
        adopts.peek().is_some_and(known) && adopts.find(|adopt| adopt.done).is_none_or(|last| known(&last))
    }

    /// What a batch said that is not to be said again.
    fn said(&mut self, append: &Append) {
        if append.batch.goodbye {
            self.said_goodbye();
        }
        self.checkpoint.said(&append.batch);
    }

    /// The archive goes on from this state.
    pub(super) fn archive_from(&mut self, state: &State) {
        if let Some(archiver) = &mut self.archiver {
            archiver.begin(state);
        }
    }
}

/// Whether a session of the room that was last used at uptime `seen` is over by `now`.
fn lapsed(view: &View, room: &RoomName, seen: Duration, now: Duration) -> bool {
    let lasts = view.rooms.get(room).map(|room| room.settings.hold_ms());
    lasts.is_some_and(|lasts| now.saturating_sub(seen) >= Duration::from_millis(lasts))
}

/// Times that a batch goes again because the gate was off the roster.
const IGNORED_MAX: u8 = 3;

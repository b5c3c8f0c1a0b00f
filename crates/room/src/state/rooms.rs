//! All rooms of a log, and the effects of a batch on them, beginning with changes of the rooms themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::codec::codec;
use crate::entry::commands::{Audited, Deed};
use crate::entry::effects::{Changed, Effects, Redeemed};
use crate::entry::{Batch, Change, Entry, RoomChange};
use crate::recovery::codes_cutoff::CodesCutoff;
use crate::room::Room;
use crate::settings::Settings;
use crate::state::additions::Additions;
use crate::state::context::Context;
use crate::view::RoomView;
use ropeline_ids::{Clock, Edition, RoomName};

/// Most rooms of one log.
pub const MAX_ROOMS: usize = 1_000;

/// The rooms of a log, and which of them operators added.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    rooms: BTreeMap<RoomName, Room>,
    /// The rooms that are in no file, and recent additions and removals.
    additions: Arc<Additions>,
}

codec! {
    struct Rooms { rooms, additions } where is_sound;
}

impl Rooms {
    fn is_sound(&self) -> bool {
        self.rooms.len() <= MAX_ROOMS
    }

    pub fn get(&self, name: &RoomName) -> Option<&Room> {
        self.rooms.get(name)
    }

    /// By name.
    pub fn iter(&self) -> impl Iterator<Item = (&RoomName, &Room)> {
        self.rooms.iter()
    }

    pub fn len(&self) -> usize {
        self.rooms.len()
    }

    pub fn all(&self) -> impl Iterator<Item = &Room> {
        self.rooms.values()
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Room> {
        self.rooms.values_mut()
    }

    pub fn additions(&self) -> &Arc<Additions> {
        &self.additions
    }

    pub fn views(&mut self, m: &Context) -> BTreeMap<RoomName, Arc<RoomView>> {
        let rooms = self.rooms.iter_mut();
        rooms.map(|(name, room)| (name.clone(), room.view(m))).collect()
    }

    /// Takes the gate's figures of the rooms' upstreams.
    pub fn measure(&mut self, entry: &Entry, now: Clock) {
        for (room, report) in &entry.batch.load {
            if let Some(room) = self.rooms.get_mut(room) {
                room.take_report(entry.gate, report, now);
            }
        }
        if entry.batch.goodbye {
            self.rooms.values_mut().for_each(|room| room.forget_reports(entry.gate));
        }
    }

    /// Applies a batch in its order: changes, events of lines, joins by codes; then expiry, calls, horizons.
    pub fn apply(&mut self, batch: &Batch, codes: &mut CodesCutoff, m: &mut Context, effects: &mut Effects) {
        for room in self.rooms.values_mut() {
            room.follow(m);
        }
        for change in &batch.rooms {
            let changed = self.change(change, m);
            if changed == Changed::Taken && matches!(change.change, Change::Remove) {
                codes.remove(&change.room, m.time);
            }
            effects.change(changed);
        }
        for section in &batch.sections {
            if let Some(room) = self.rooms.get_mut(&section.room) {
                room.name(&section.line);
            }
        }
        for redeem in &batch.redeems {
            if let Some(room) = self.rooms.get_mut(&redeem.room) {
                room.name(&redeem.line);
            }
        }
        self.rooms.values_mut().for_each(|room| room.advance(m));
        self.bring_codes(batch, m, effects);
        for section in &batch.sections {
            match self.rooms.get_mut(&section.room) {
                Some(room) if room.hears(section) => room.apply(section, m, effects),
                _ => effects.refuse(section),
            }
        }
        self.redeem(batch, codes, m, effects);
        self.rooms.values_mut().for_each(|room| room.finish(m));
    }

    /// Takes the codes of a lost log that a gate brings back, before its numbers.
    fn bring_codes(&mut self, batch: &Batch, m: &mut Context, effects: &mut Effects) {
        for brought in &batch.spent_codes {
            match self.rooms.get_mut(&brought.room).filter(|_| m.adopts.is_some()) {
                Some(room) => room.bring_codes(brought, m),
                None => effects.skip(1),
            }
        }
    }

    /// Joins by a code, after all other joins.
    fn redeem(&mut self, batch: &Batch, codes: &CodesCutoff, m: &mut Context, effects: &mut Effects) {
        for redeem in &batch.redeems {
            let doubt = codes.of(&redeem.room);
            effects.redeemed.push(match self.rooms.get_mut(&redeem.room) {
                Some(room) => room.redeem(redeem, doubt, m),
                None => Redeemed::refused(redeem),
            });
            let given_up = std::mem::take(&mut m.given_up);
            effects.give_up(&redeem.room, &redeem.line, given_up);
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each change")]
    fn change(&mut self, change: &RoomChange, m: &mut Context) -> Changed {
        let before = self.before(change);
        let full = self.rooms.len() >= MAX_ROOMS;
        let (begins, revised) = self.additions.begins();
        // A room that another history brings keeps its state of there.
        let new = m.adopts.is_none() && !self.rooms.contains_key(&change.room);
        let revision = change.revision.max(if new { revised } else { 0 });
        match (self.rooms.get_mut(&change.room), &change.change) {
            (None, Change::Configure(settings)) if !full => {
                let edition = if new { begins } else { Edition(0) };
                let room = room(edition, revision, settings, m);
                self.rooms.insert(change.room.clone(), room);
            }
            (None, Change::Add(addition)) if !full => {
                let fits = self.additions.takes(addition);
                // A room that another history brings has visitors: if there is no place for its text, it becomes a room of a
                // file.
                if !fits && m.adopts.is_none() {
                    return Changed::Refused;
                }
                let room = room(begins, revision, &addition.settings, m);
                self.rooms.insert(change.room.clone(), room);
                let said = (change.who.as_ref(), m.time);
                if fits {
                    Arc::make_mut(&mut self.additions).add(&change.room, addition, said);
                }
            }
            (None, _) => return Changed::Refused,
            (Some(room), Change::Edition(edition)) => {
                return taken(room.regain(*edition, m));
            }
            (Some(room), Change::Renew(id)) => return taken(room.renew_rehearsal(*id, m.clock)),
            (Some(room), Change::Load(figures)) => {
                let who = change.who.as_ref();
                return taken(room.give_load(*figures, who, m.clock));
            }
            (Some(room), _) if change.revision <= room.revision() => return Changed::Stale,
            (Some(room), Change::Rehearse(order)) if room.is_rehearsing(order.id) => return Changed::Taken,
            (Some(_), Change::Override(overrides)) if !overrides.fits() => return Changed::Refused,
            (Some(room), Change::Configure(settings)) => room.configure(settings.bounded(), m),
            (Some(room), Change::Override(overrides)) => {
                if !room.override_with(&overrides.bounded(), change.revision, m) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::Windows { rule, windows }) => {
                if !room.extend(rule, windows, m) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::Commit { .. } | Change::Draw { .. }) => {
                if !room.decide(&change.room, &change.change, m) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::Sale { edition, sale, lanes }) => {
                if !room.bring_sale(&change.room, *edition, (sale, lanes), m) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::Call(order)) => {
                if !room.order_calls(order, change.revision) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::Evict(eviction)) => {
                if !room.order_eviction(eviction) {
                    return Changed::Refused;
                }
            }
            (Some(_), Change::Add(addition)) => {
                // The change is based on another history's revision: an operator who adds a room means a room of that name
                // and no other.
                let lacks = self.additions.get(&change.room).is_none() && self.additions.takes(addition);
                if m.adopts.is_none() || !lacks {
                    return Changed::Refused;
                }
                let said = (change.who.as_ref(), m.time);
                Arc::make_mut(&mut self.additions).add(&change.room, addition, said);
            }
            (Some(room), Change::Rehearse(order)) => {
                if !room.rehearse(order, m) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::EndRehearsal(id)) => {
                if !room.is_rehearsing(*id) {
                    return Changed::Refused;
                }
                room.end_rehearsal();
            }
            (Some(room), Change::EndHealing) => {
                if !room.heals(m) {
                    return Changed::Refused;
                }
                room.forbid_healing(m);
            }
            (Some(room), Change::Reset) => room.reset(m),
            (Some(_), Change::Remove) => self.remove(change, m),
        }
        if let Some(room) = self.rooms.get_mut(&change.room) {
            room.set_revision(revision);
            let made = matches!(&change.change, Change::Add(said) if said.at.is_none()).then_some(Deed::Added);
            if let Some(deed) = made.or_else(|| before.and_then(|before| deed(change, &before, room))) {
                room.note_order(revision, (change.who.clone(), deed), m.time);
            }
        }
        self.look_over(m);
        Changed::Taken
    }

    fn remove(&mut self, change: &RoomChange, m: &mut Context) {
        let Some(mut room) = self.rooms.remove(&change.room) else {
            return;
        };
        room.close(m);
        let gone = (room.edition(), change.revision);
        let said = (change.who.as_ref(), m.time);
        Arc::make_mut(&mut self.additions).remove(&change.room, gone, said);
    }

    /// The room before a change that is to be noted: an operator's, or a file's.
    fn before(&self, change: &RoomChange) -> Option<Before> {
        let noted = change.who.is_some() || matches!(change.change, Change::Configure(_));
        let room = self.rooms.get(&change.room)?;
        noted.then(|| Before {
            audited: room.audited(),
            edition: room.edition(),
            rehearsed: room.rehearsal().map_or(0, |rehearsal| rehearsal.order.size),
        })
    }

    /// Computes the values that follow from the settings of all rooms together.
    pub fn look_over(&self, m: &mut Context) {
        let longest = |of: fn(&Room) -> u64| self.rooms.values().map(of).max().unwrap_or(0);
        let session_max_ms = longest(|room| room.settings().session_max_ms);
        Arc::make_mut(&mut m.past).trust(session_max_ms);
    }
}

struct Before {
    audited: Audited,
    edition: Edition,
    /// Virtual visitors of the rehearsal that was under way.
    rehearsed: u32,
}

/// The result of an accepted change; `None` for a file that changes nothing.
fn deed(change: &RoomChange, before: &Before, room: &Room) -> Option<Deed> {
    match &change.change {
        Change::Configure(_) => {
            let changes = before.audited.changes(&room.audited());
            (!changes.is_empty()).then_some(Deed::Set(changes))
        }
        Change::Override(_) => Some(Deed::Set(before.audited.changes(&room.audited()))),
        Change::Call(order) => Some(Deed::Call {
            asked: order.count,
            called: 0,
            beyond: order.beyond,
        }),
        Change::Reset => Some(Deed::Reset {
            before: before.edition,
            after: room.edition(),
        }),
        Change::Evict(_) => Some(Deed::Evicted),
        Change::Draw { .. } => Some(Deed::Drawn),
        Change::EndHealing => Some(Deed::HealingEnded),
        Change::Rehearse(order) => Some(Deed::Rehearsal {
            size: order.size,
            began: true,
        }),
        Change::EndRehearsal(_) => Some(Deed::Rehearsal {
            size: before.rehearsed,
            began: false,
        }),
        _ => None,
    }
}

fn room(edition: Edition, revision: u64, settings: &Settings, m: &mut Context) -> Room {
    let mut room = Room::of(edition, revision);
    room.configure(settings.bounded(), m);
    if m.unproven {
        room.suspect(m);
    }
    room
}

fn taken(is: bool) -> Changed {
    if is { Changed::Taken } else { Changed::Refused }
}

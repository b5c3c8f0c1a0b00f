//! Words about rooms, applied before everything else of an entry.

use std::sync::Arc;

use crate::entry::commands::{Audited, Deed};
use crate::entry::effects::Changed;
use crate::entry::{Change, RoomChange};
use crate::recovery::adopting::SINCE_VERSION;
use crate::room::Room;
use crate::state::{MAX_ROOMS, State};
use crate::version::WITH_SCHEDULES;
use ropeline_ids::Edition;

impl State {
    #[expect(clippy::too_many_lines, reason = "one arm for each change")]
    pub(crate) fn change(&mut self, change: &RoomChange) -> Changed {
        let version = self.versions.current();
        let before = self.before(change);
        let m = &mut self.context;
        let full = self.rooms.len() >= MAX_ROOMS;
        let (begins, revised) = self.additions.begins();
        // What another history brings is the room of there, as it was.
        let new = m.adopts.is_none() && !self.rooms.contains_key(&change.room);
        let revision = change.revision.max(if new { revised } else { 0 });
        match (self.rooms.get_mut(&change.room), &change.change) {
            (None, Change::Configure(settings)) if !full => {
                let edition = if new { begins } else { Edition(0) };
                let mut room = Room::of(edition, revision);
                room.configure(settings.under(version).bounded(), m);
                self.rooms.insert(change.room.clone(), room);
            }
            (None, Change::Add(addition)) if version >= WITH_SCHEDULES && !full => {
                let fits = self.additions.takes(addition);
                // What another history brings is a room with people in it: where its text has no place, it is as a file's.
                if !fits && m.adopts.is_none() {
                    return Changed::Refused;
                }
                let mut room = Room::of(begins, revision);
                room.configure(addition.settings.under(version).bounded(), m);
                self.rooms.insert(change.room.clone(), room);
                let said = (change.who.as_ref(), m.time);
                if fits {
                    Arc::make_mut(&mut self.additions).add(&change.room, addition, said);
                }
            }
            (None, _) => return Changed::Refused,
            (Some(room), Change::Edition(edition)) => {
                return taken(version >= SINCE_VERSION && room.regain(*edition, m));
            }
            (Some(room), Change::Renew { id, lease_ms }) => {
                return taken(version >= WITH_SCHEDULES && room.renew_rehearsal(*id, *lease_ms, m.clock));
            }
            (Some(room), Change::Load(figures)) => {
                let who = change.who.as_ref();
                return taken(version >= WITH_SCHEDULES && room.give_load(*figures, who, m.clock));
            }
            (Some(room), _) if change.revision <= room.revision() => return Changed::Stale,
            (Some(room), Change::Rehearse(order)) if room.is_rehearsing(Some(order.id)) => return Changed::Taken,
            (Some(_), Change::Override(overrides)) if !overrides.fits() => return Changed::Refused,
            (Some(room), Change::Configure(settings)) => room.configure(settings.under(version).bounded(), m),
            (Some(room), Change::Override(overrides)) => {
                if !room.override_with(&overrides.under(version).bounded(), change.revision, m) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::Windows { rule, windows }) => {
                if version < WITH_SCHEDULES || !room.extend(rule, windows, m) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::Commit { .. } | Change::Draw { .. }) => {
                if version < WITH_SCHEDULES || !room.decide(&change.room, &change.change, m) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::Sale { edition, sale, lanes }) => {
                if version < WITH_SCHEDULES || !room.bring_sale(&change.room, *edition, (sale, lanes), m) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::Call(order)) => {
                if version < WITH_SCHEDULES || !room.order_calls(order, change.revision) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::Evict(eviction)) => {
                if version < WITH_SCHEDULES || !room.order_eviction(eviction) {
                    return Changed::Refused;
                }
            }
            (Some(_), Change::Add(addition)) => {
                // Only what another history knew of it: whoever adds a room wants one of that name and no other.
                let lacks = self.additions.get(&change.room).is_none() && self.additions.takes(addition);
                if version < WITH_SCHEDULES || m.adopts.is_none() || !lacks {
                    return Changed::Refused;
                }
                let said = (change.who.as_ref(), m.time);
                Arc::make_mut(&mut self.additions).add(&change.room, addition, said);
            }
            (Some(room), Change::Rehearse(order)) => {
                if version < WITH_SCHEDULES || !room.rehearse(order, m) {
                    return Changed::Refused;
                }
            }
            (Some(room), Change::EndRehearsal(id)) => {
                if version < WITH_SCHEDULES || !room.is_rehearsing(*id) {
                    return Changed::Refused;
                }
                room.end_rehearsal();
            }
            (Some(room), Change::EndHealing) => {
                if version < WITH_SCHEDULES || !room.heals(m) {
                    return Changed::Refused;
                }
                room.forbid_healing(m);
            }
            (Some(room), Change::Reset) => room.reset(m),
            (Some(_), Change::Remove) => self.remove(change),
        }
        if let Some(room) = self.rooms.get_mut(&change.room) {
            room.set_revision(revision);
            let made = matches!(&change.change, Change::Add(said) if said.at.is_none()).then_some(Deed::Added);
            if let Some(deed) = made.or_else(|| before.and_then(|before| deed(change, &before, room))) {
                room.note_order(revision, (change.who.clone(), deed), self.context.time);
            }
        }
        self.look_over_rooms();
        Changed::Taken
    }

    fn remove(&mut self, change: &RoomChange) {
        let Some(mut room) = self.rooms.remove(&change.room) else {
            return;
        };
        room.close(&mut self.context);
        if self.versions.current() >= WITH_SCHEDULES {
            let (gone, now) = ((room.edition(), change.revision), self.context.time);
            let said = (change.who.as_ref(), now);
            Arc::make_mut(&mut self.additions).remove(&change.room, gone, said);
            self.codes_cutoff.remove(&change.room, now);
        }
    }

    /// The room before a change that is to be noted: an operator's, or a file's.
    fn before(&self, change: &RoomChange) -> Option<Before> {
        let noted = change.who.is_some() || matches!(change.change, Change::Configure(_));
        let room = self.rooms.get(&change.room)?;
        (noted && self.versions.current() >= WITH_SCHEDULES).then(|| Before {
            audited: room.audited(),
            edition: room.edition(),
            rehearsed: room.rehearsal().map_or(0, |rehearsal| rehearsal.size),
        })
    }

    /// What follows from the settings of all rooms together.
    pub(crate) fn look_over_rooms(&mut self) {
        let longest = |of: fn(&Room) -> u64| self.rooms.values().map(of).max().unwrap_or(0);
        let session_max_ms = longest(|room| room.settings().session_max_ms);
        Arc::make_mut(&mut self.context.past).trust(session_max_ms);
    }
}

struct Before {
    audited: Audited,
    edition: Edition,
    /// Virtual visitors of the rehearsal that was under way.
    rehearsed: u32,
}

/// What a change that was taken came to; `None` for a file that says the same of what is noted.
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

fn taken(is: bool) -> Changed {
    if is { Changed::Taken } else { Changed::Refused }
}

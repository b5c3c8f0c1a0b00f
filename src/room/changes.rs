//! Words about rooms, applied before everything else of an entry.

use std::sync::Arc;

use super::adopted::SINCE_VERSION;
use super::entry::{Change, Changed, RoomChange};
use super::rooms::Room;
use super::settings::{MAX_MESSAGE, Settings, WITH_SCHEDULES};
use super::state::{MAX_ROOMS, State};

impl State {
    pub(super) fn change(&mut self, change: &RoomChange) -> Changed {
        let version = self.versions.current();
        let m = &mut self.moment;
        let full = self.rooms.len() >= MAX_ROOMS;
        match (self.rooms.get_mut(&change.room), &change.change) {
            (None, Change::Configure(settings)) if !full => {
                let mut room = Room::new(Settings::default(), change.revision);
                room.configure(settings.under(version).bounded(), m);
                self.rooms.insert(change.room.clone(), room);
            }
            (None, _) => return Changed::Refused,
            (Some(room), Change::Edition(edition)) => {
                let regained = version >= SINCE_VERSION && room.regain(*edition, m);
                return if regained { Changed::Taken } else { Changed::Refused };
            }
            (Some(room), _) if change.revision <= room.revision => return Changed::Stale,
            (Some(_), Change::Override(overrides)) if too_long(overrides.message.as_deref()) => {
                return Changed::Refused;
            }
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
            (Some(room), Change::Reset) => room.reset(m),
            (Some(room), Change::Remove) => {
                room.close(m);
                self.rooms.remove(&change.room);
            }
        }
        if let Some(room) = self.rooms.get_mut(&change.room) {
            room.revision = change.revision;
        }
        self.look_over_rooms();
        Changed::Taken
    }

    /// What follows from the settings of all rooms together.
    pub(super) fn look_over_rooms(&mut self) {
        let longest = |of: fn(&Room) -> u64| self.rooms.values().map(of).max().unwrap_or(0);
        let session_max_ms = longest(|room| room.settings.session_max_ms);
        self.moment.cold_ms = longest(|room| {
            let settings = &room.settings;
            (settings.grace_ms / 2)
                .max(settings.session_ms)
                .max(settings.claim_deadline_ms)
        });
        Arc::make_mut(&mut self.moment.past).trust(session_max_ms);
    }
}

fn too_long(message: Option<&str>) -> bool {
    message.is_some_and(|message| message.len() > MAX_MESSAGE)
}

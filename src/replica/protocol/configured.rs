//! This gate's configuration, above all its rooms, and the changes that make the log's rooms equal to them.
//!
//! The changes are computed at the start of a life, when the configuration changes, and when this gate takes over from its
//! predecessor.

use super::identity::Identity;
use crate::replica::options::Charge;
use crate::replica::rooms;
use crate::room::{BreaksDraw, Change, OLDEST, RoomName, Settings, State};
use crate::token::Keyring;

pub(super) struct Configured {
    rooms: Vec<(RoomName, Settings)>,
    /// The keys for the secrets of draws.
    keyring: Option<Keyring>,
    charge: Charge,
    /// Once the log is read to its end, the rooms are to be compared with it.
    compare: bool,
    /// The log's machine version when it was last read to its end: a later one may hold more of the configuration.
    version: Option<u16>,
}

type Changes = Vec<(RoomName, Change)>;

impl Configured {
    pub fn new(rooms: Vec<(RoomName, Settings)>, keyring: Option<Keyring>, charge: Charge) -> Self {
        Self {
            rooms,
            keyring,
            charge,
            compare: false,
            version: None,
        }
    }

    pub fn keyring(&self) -> Option<&Keyring> {
        self.keyring.as_ref()
    }

    pub fn set_keyring(&mut self, keyring: Keyring) {
        self.keyring = Some(keyring);
    }

    /// A comparison with the log is still to be made.
    pub fn wants_comparison(&self) -> bool {
        self.compare
    }

    /// The log was read to its end, and runs this machine version.
    pub fn runs(&mut self, version: u16) {
        self.compare |= self.version.is_some_and(|known| known < version);
        self.version = Some(version);
    }

    /// Whether `state` lacks a room.
    pub fn is_lacking(&self, state: &State) -> bool {
        self.rooms.iter().any(|(room, _)| state.configured(room).is_none())
    }

    /// The differences on a log on which this gate goes live: at the start of a life all of them; once the gate `has_joined`
    /// one, or before it has taken over, only the rooms that the log lacks.
    pub fn at_start(&self, identity: &Identity, state: &State, has_joined: bool) -> Changes {
        if !has_joined {
            self.warn_of_draws(state);
        }
        self.differences(identity, state, has_joined || self.charge == Charge::Before)
    }

    /// The differences on the log of `state`, once it is read to its end.
    pub fn compare(&mut self, identity: &Identity, state: &State) -> Changes {
        self.compare = false;
        self.differences(identity, state, self.charge == Charge::Before)
    }

    fn differences(&self, identity: &Identity, state: &State, only_lacking: bool) -> Changes {
        let mut changes = rooms::changes(state, &self.rooms, |_| identity.alone());
        changes.retain(|(room, _)| !only_lacking || state.configured(room).is_none());
        self.allowed(identity, changes, Some(state))
    }

    /// Replaces the configured rooms. Changes for the former ones may still be on their way, so differences from those are
    /// sent too, not only differences from the log.
    pub fn reconfigure(
        &mut self,
        identity: &Identity,
        state: Option<&State>,
        rooms: Vec<(RoomName, Settings)>,
    ) -> Changes {
        let before = std::mem::replace(&mut self.rooms, rooms);
        let gives_up = |room: &RoomName| identity.alone() || before.iter().any(|(name, _)| name == room);
        let mut changes = state
            .map(|state| rooms::changes(state, &self.rooms, gives_up))
            .unwrap_or_default();
        let is_added = |room: &RoomName| state.is_some_and(|state| state.additions().get(room).is_some());
        let version = state.map_or(OLDEST, State::version);
        for change in rooms::differences(&before, &self.rooms, version) {
            let stays = change.1 == Change::Remove && is_added(&change.0);
            if !changes.contains(&change) && !stays {
                changes.push(change);
            }
        }
        self.allowed(identity, changes, state)
    }

    /// Puts this gate in charge of its rooms to this degree from now on. The rooms in the log, whichever gate set them last,
    /// are changed to this gate's configuration.
    pub fn takes_charge(&mut self, charge: Charge) {
        self.charge = self.charge.max(charge);
        self.compare = true;
    }

    /// Rooms that are gone stay while the gate before has visitors in them, and where other gates have them too.
    fn allowed(&self, identity: &Identity, mut changes: Changes, state: Option<&State>) -> Changes {
        let others = |state: &State| state.roster().any(|gate| gate.id != identity.gate());
        let shared = !identity.alone() && state.is_none_or(others);
        changes.retain(|(room, change)| {
            let stays = *change == Change::Remove && (shared || self.charge < Charge::Own);
            if stays && self.charge == Charge::Own {
                tracing::warn!(%room, "a room that is not configured here stays: other gates share the rooms");
            }
            !stays
        });
        changes
    }

    /// Rooms keep a draw whose line is closed, and the opening for which a draw is promised, whatever this gate's
    /// configuration says.
    fn warn_of_draws(&self, state: &State) {
        for (room, settings) in &self.rooms {
            match state.breaks_draw(room, settings) {
                None => {}
                Some(BreaksDraw::Due) => tracing::warn!(
                    %room,
                    "the room's opening is over and its draw is not made yet: how it calls and by which beacon stay until it is \
                     made; what is configured here counts with the first reload after that"
                ),
                Some(BreaksDraw::Opening) => tracing::warn!(
                    %room,
                    "the room's draw is promised for another opening than the configured one, and that opening stays: it can be moved \
                     to at least 5 s from now (ropeline rooms set --opens-at, or a reload)"
                ),
            }
        }
    }
}

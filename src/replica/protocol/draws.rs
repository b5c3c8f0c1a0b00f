//! What a gate does for rooms that draw: it promises a secret while the line forms, and tells it once the line is closed.
//!
//! Where a beacon was named the secret waits for an operator's word on its value (`admin`), which any gate takes.

use std::time::Duration;

use super::Protocol;
use crate::draw::{Beacon, Draw};
use crate::room::{Change, Commitment, Drawing, Edition, Forms, Owed, RoomName};
use crate::token::{Keyring, draw_secrets};

impl Protocol {
    /// Other keys than at the start.
    pub fn set_keys(&mut self, keyring: Keyring) {
        self.options.keyring = Some(keyring);
    }

    /// Says what the draws wait for and this gate can say, when it is its turn.
    pub(super) fn draw_on(&mut self, now: Duration) {
        let recently = self.drew.is_some_and(|last| now < last + DRAW_AGAIN);
        let Some(state) = self.live_state().filter(|_| !recently) else {
            return;
        };
        let on_turn = self.is_on_turn(state, now);
        let Some(keyring) = self.options.keyring.clone().filter(|_| on_turn) else {
            return;
        };
        let owed = state.owed().map(|(room, owed)| (room.clone(), owned(owed)));
        let owed: Vec<_> = owed.take(DRAWN_AT_ONCE).collect();
        let words: Vec<_> = owed
            .into_iter()
            .filter_map(|(room, owed)| Some((room.clone(), self.word_on_draw(&keyring, &room, owed)?)))
            .collect();
        if words.is_empty() {
            return;
        }
        self.drew = Some(now);
        self.say_of_rooms(words);
    }

    fn word_on_draw(&mut self, keyring: &Keyring, room: &RoomName, owed: Awaited) -> Option<Change> {
        match owed {
            Awaited::Promise(edition, drawing, forms) => {
                let mut salt = [0; 16];
                for half in salt.chunks_mut(8) {
                    half.copy_from_slice(&(self.random)().to_le_bytes());
                }
                promise(keyring, room, edition, (drawing, forms), salt)
            }
            Awaited::Secret(_, commitment) if commitment.beacon.is_some() => None,
            Awaited::Secret(edition, commitment) => match reveal(keyring, room, edition, &commitment, None) {
                None => {
                    tracing::warn!(%room, "the draw waits for a gate with the key that its secret was made from");
                    self.drew = None;
                    None
                }
                made => made,
            },
        }
    }
}

/// As [`Owed`], to keep.
enum Awaited {
    Promise(Edition, Drawing, Forms),
    Secret(Edition, Commitment),
}

fn owned(owed: Owed<'_>) -> Awaited {
    match owed {
        Owed::Promise(edition, drawing, forms) => Awaited::Promise(edition, drawing.clone(), forms),
        Owed::Secret(edition, commitment) => Awaited::Secret(edition, commitment.clone()),
    }
}

fn promise(
    keyring: &Keyring,
    room: &RoomName,
    edition: Edition,
    (Drawing { order, beacon }, forms): (Drawing, Forms),
    salt: [u8; 16],
) -> Option<Change> {
    let secret = draw_secrets(keyring, room, edition, &salt).into_iter().next()?;
    let draw = Draw {
        order,
        room: room.as_str(),
        line: "",
        edition: edition.0,
        lane: 0,
        begins_ms: forms.begins.0,
        opens_ms: forms.opens.0,
        closed_ms: 0,
        count: 0,
        secret,
        beacon: beacon.as_deref().map(|name| Beacon { name, value: "" }),
    };
    let commitment = draw.commitment();
    Some(Change::Commit {
        edition,
        order,
        beacon,
        forms,
        salt,
        commitment,
    })
}

/// The word that makes a draw: the secret that was promised, if one of the keys gives it, and the value of its beacon.
#[must_use]
pub fn reveal(
    keyring: &Keyring,
    room: &RoomName,
    edition: Edition,
    commitment: &Commitment,
    value: Option<&str>,
) -> Option<Change> {
    let secrets = draw_secrets(keyring, room, edition, &commitment.salt);
    let secret = secrets
        .into_iter()
        .find(|secret| commitment.fits((room.as_str(), edition.0), *secret, value))?;
    Some(Change::Draw {
        edition,
        secret,
        value: value.map(str::to_owned),
    })
}

/// Rooms that one look speaks of, and the shortest time to the next word.
const DRAWN_AT_ONCE: usize = 30;
const DRAW_AGAIN: Duration = Duration::from_millis(500);

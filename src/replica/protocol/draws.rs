//! Rooms that draw: a gate promises a secret while the line forms, and reveals it once the line is closed.
//!
//! Where a beacon was named the secret waits for an operator's word on its value (`admin`), which any gate takes.

use super::identity::Identity;
use crate::draw::{Beacon, Draw};
use crate::room::{Change, Commitment, Drawing, Edition, Forms, Owed, RoomName, State};
use crate::token::{Keyring, draw_secrets};

/// The next steps of the draws of `state` that a gate with these keys can take.
pub(super) fn next_changes(state: &State, keyring: &Keyring, identity: &mut Identity) -> Vec<(RoomName, Change)> {
    let owed = state.owed().take(DRAWN_AT_ONCE);
    owed.filter_map(|(room, owed)| Some((room.clone(), change(keyring, room, owed, identity)?)))
        .collect()
}

fn change(keyring: &Keyring, room: &RoomName, owed: Owed<'_>, identity: &mut Identity) -> Option<Change> {
    match owed {
        Owed::Promise(edition, drawing, forms) => {
            let mut salt = [0; 16];
            for half in salt.chunks_mut(8) {
                half.copy_from_slice(&identity.random().to_le_bytes());
            }
            promise(keyring, room, edition, (drawing, forms), salt)
        }
        Owed::Secret(_, commitment) if commitment.beacon.is_some() => None,
        Owed::Secret(edition, commitment) => {
            let change = reveal(keyring, room, edition, commitment, None);
            if change.is_none() {
                tracing::warn!(%room, "the draw waits for a gate with the key that its secret was made from");
            }
            change
        }
    }
}

fn promise(
    keyring: &Keyring,
    room: &RoomName,
    edition: Edition,
    (drawing, forms): (&Drawing, Forms),
    salt: [u8; 16],
) -> Option<Change> {
    let secret = draw_secrets(keyring, room, edition, &salt).into_iter().next()?;
    let draw = Draw {
        order: drawing.order,
        room: room.as_str(),
        line: "",
        edition: edition.0,
        lane: 0,
        begins_ms: forms.begins.0,
        opens_ms: forms.opens.0,
        closed_ms: 0,
        count: 0,
        secret,
        beacon: drawing.beacon.as_deref().map(|name| Beacon { name, value: "" }),
    };
    let commitment = draw.commitment();
    Some(Change::Commit {
        edition,
        order: drawing.order,
        beacon: drawing.beacon.clone(),
        forms,
        salt,
        commitment,
    })
}

/// The change that makes a draw: the promised secret, if one of the keys gives it, and the value of its beacon.
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

/// Rooms that one look speaks of.
const DRAWN_AT_ONCE: usize = 30;

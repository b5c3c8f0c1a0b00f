//! The pass: signed admission to a line, and the id that all passes of a session share.

use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::key::{Keyring, SignedBy, Signer};
use super::seal::{Fields, MAX_PAYLOAD, Scope, unproved};
use super::{MAX_TRIES, name};
use ropeline_ids::{CallId, Edition, Epoch, LaneId, LineName, Number, RehearsalId, RoomName, Wall};

/// A MAC over a call, from which the session's name for the upstream is made. Any gate with the key can thus check whether a
/// gate gave a name. Admission does not depend on it: the pass has its own signature.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PassId(pub [u8; 8]);

/// Admission to one line of a room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pass {
    pub room: RoomName,
    pub line: LineName,
    pub lane: LaneId,
    pub edition: Edition,
    pub number: Number,
    /// The position of this call among the calls of its number, from 1.
    pub call: u8,
    pub id: PassId,
    /// Never later than the slot's end. Readers of a pass ask the room first. This date decides only if the room does not know
    /// the session.
    pub expires_at: Wall,
}

impl Pass {
    /// The pass as text for a cookie or a header.
    #[must_use]
    pub fn sign(&self, keys: &Keyring) -> String {
        self.sign_for(keys, None)
    }

    /// Decodes `token` if it is a genuine pass of this room and line. Its date is not checked.
    #[must_use]
    pub fn read(keys: &Keyring, room: &RoomName, line: &LineName, token: &str) -> Option<Self> {
        Self::open(keys, room, line, token).map(|(pass, _)| pass)
    }

    /// As [`Pass::read`], with the signer of the pass.
    #[must_use]
    pub fn open(keys: &Keyring, room: &RoomName, line: &LineName, token: &str) -> Option<(Self, SignedBy)> {
        let opened = keys.unseal(scope(room, line, None), token)?;
        Some((decode(room, line, opened.payload())?, opened.by))
    }

    /// As [`Pass::sign`]; with a rehearsal, the pass of its virtual visitor, which is not valid anywhere else.
    #[must_use]
    pub fn sign_for(&self, keys: &Keyring, rehearsal: Option<RehearsalId>) -> String {
        keys.seal(scope(&self.room, &self.line, rehearsal), &encode(self))
    }

    /// Decodes `token` if it is a genuine pass of this rehearsal, room and line.
    #[must_use]
    pub fn read_virtual(
        keys: &Keyring,
        id: RehearsalId,
        (room, line): (&RoomName, &LineName),
        token: &str,
    ) -> Option<Self> {
        decode(room, line, keys.unseal(scope(room, line, Some(id)), token)?.payload())
    }

    /// The genuine pass that lasts longest among the values of one cookie name, of which the first [`MAX_TRIES`] are
    /// tried; see [`Ticket::newest`](super::Ticket::newest).
    #[must_use]
    pub fn newest<'a>(
        keys: &Keyring,
        room: &RoomName,
        line: &LineName,
        values: impl Iterator<Item = &'a str>,
    ) -> Option<(Self, SignedBy)> {
        let passes = values
            .take(MAX_TRIES)
            .filter_map(|value| Self::open(keys, room, line, value));
        passes.max_by_key(|(pass, _)| (pass.edition, pass.expires_at))
    }

    /// The call that the pass belongs to.
    #[must_use]
    pub fn call(&self) -> CallId {
        CallId {
            lane: self.lane,
            number: self.number,
            count: self.call,
        }
    }

    /// Whether a key of the ring gives the id of this pass. A renewed pass may outlive the key that gave its id; then no gate
    /// could check the name of its session.
    #[must_use]
    pub fn has_known_id(&self, keys: &Keyring) -> bool {
        keys.iter().any(|signer| {
            call_mac(signer, &self.room, &self.line, self.edition, self.call())
                .verify_truncated_left(&self.id.0)
                .is_ok()
        })
    }
}

impl PassId {
    /// The id for the passes of `call`, made with the key that signs.
    #[must_use]
    pub fn new(keys: &Keyring, room: &RoomName, line: &LineName, edition: Edition, call: CallId) -> Self {
        let tag = call_mac(keys.first(), room, line, edition, call).finalize();
        Self::from_tag(&tag.into_bytes())
    }

    /// The first bytes of a call's MAC.
    pub(super) fn from_tag(tag: &[u8]) -> Self {
        let mut id = [0; 8];
        id.copy_from_slice(&tag[..8]);
        Self(id)
    }
}

/// The expiry date that a pass claims, without checking its signature. SECURITY: use it only to choose which cookies the same
/// browser keeps.
#[must_use]
pub fn unproved_expiry(token: &str) -> Option<Wall> {
    let payload = unproved(token)?;
    let (_, date) = payload.split_last_chunk()?;
    Some(Wall(u64::from_le_bytes(*date)))
}

fn scope<'a>(room: &'a RoomName, line: &'a LineName, rehearsal: Option<RehearsalId>) -> Scope<'a> {
    let kind = if rehearsal.is_some() {
        name::VIRTUAL_PASS
    } else {
        name::PASS
    };
    Scope {
        rehearsal,
        ..Scope::new(kind, room, line)
    }
}

pub(super) fn call_mac(
    signer: &Signer,
    room: &RoomName,
    line: &LineName,
    edition: Edition,
    call: CallId,
) -> Hmac<Sha256> {
    let mut mac = signer.mac_of(&context(room, line, edition).parts(CALL));
    mac.update(&[call.lane.0, call.count]);
    mac.update(&call.number.epoch.0.to_le_bytes());
    mac.update(&call.number.n.to_le_bytes());
    mac
}

/// Room, line and edition as bytes that no other three share.
pub(super) struct Context<'a> {
    room: &'a [u8],
    line: &'a [u8],
    lengths: [u8; 2],
    edition: [u8; 4],
}

pub(super) fn context<'a>(room: &'a RoomName, line: &'a LineName, edition: Edition) -> Context<'a> {
    let (room, line) = (room.as_str().as_bytes(), line.as_str().as_bytes());
    let lengths = [room.len(), line.len()].map(|length| u8::try_from(length).expect("names have at most 64 bytes"));
    Context {
        room,
        line,
        lengths,
        edition: edition.0.to_le_bytes(),
    }
}

impl Context<'_> {
    pub(super) fn parts(&self, label: &'static str) -> [&[u8]; 5] {
        [label.as_bytes(), &self.lengths, self.room, self.line, &self.edition]
    }
}

/// lane (1), edition (4), epoch (8), n (4), call (1), pass id (8), expires at (8); little-endian.
fn encode(pass: &Pass) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAX_PAYLOAD);
    bytes.push(pass.lane.0);
    bytes.extend(pass.edition.0.to_le_bytes());
    bytes.extend(pass.number.epoch.0.to_le_bytes());
    bytes.extend(pass.number.n.to_le_bytes());
    bytes.push(pass.call);
    bytes.extend(pass.id.0);
    bytes.extend(pass.expires_at.0.to_le_bytes());
    bytes
}

fn decode(room: &RoomName, line: &LineName, payload: &[u8]) -> Option<Pass> {
    let mut fields = Fields(payload);
    let pass = Pass {
        room: room.clone(),
        line: line.clone(),
        lane: LaneId(fields.u8()?),
        edition: Edition(fields.u32()?),
        number: Number {
            epoch: Epoch(fields.u64()?),
            n: fields.u32()?,
        },
        call: fields.u8()?,
        id: PassId(fields.take()?),
        expires_at: Wall(fields.u64()?),
    };
    fields.end().map(|()| pass)
}

/// The label of MACs over calls. No kind of token begins with it, so no MAC is valid for both.
const CALL: &str = "ropeline call ";

//! The ticket: signed proof of a place in line.

use super::key::{Keyring, SignedBy};
use super::seal::{Fields, MAX_PAYLOAD, Scope, unproved};
use super::{MAX_TRIES, name};
use ropeline_ids::{Edition, Epoch, LaneId, LineName, Number, PendingId, RehearsalId, RoomName, Tag, Wall};

/// The place that a ticket proves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TicketPlace {
    Numbered(Number),
    /// The gate could not reach the log when the visitor arrived. The join will carry this id, so that it is numbered once.
    Pending(PendingId),
}

/// A place in one line of a room. It has no expiry date: the room's horizon and edition decide how long it counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ticket {
    pub room: RoomName,
    pub line: LineName,
    pub lane: LaneId,
    pub edition: Edition,
    pub place: TicketPlace,
    /// When the visitor arrived, by the gate's wall clock.
    pub joined_at: Wall,
    /// The account that the place is bound to, in rooms that bind places.
    pub identity: Option<Tag>,
}

impl Ticket {
    /// The ticket as text for a cookie or a header.
    #[must_use]
    pub fn sign(&self, keys: &Keyring) -> String {
        self.sign_for(keys, None)
    }

    /// Decodes `token` if it is a genuine ticket of this room and line.
    #[must_use]
    pub fn read(keys: &Keyring, room: &RoomName, line: &LineName, token: &str) -> Option<Self> {
        Self::open(keys, room, line, token).map(|(ticket, _)| ticket)
    }

    /// As [`Ticket::read`], with the signer of the ticket.
    #[must_use]
    pub fn open(keys: &Keyring, room: &RoomName, line: &LineName, token: &str) -> Option<(Self, SignedBy)> {
        let opened = keys.unseal(scope(room, line, None), token)?;
        Some((decode(room, line, opened.payload())?, opened.by))
    }

    /// As [`Ticket::sign`]; with a rehearsal, the ticket of its virtual visitor, which is not valid anywhere else.
    #[must_use]
    pub fn sign_for(&self, keys: &Keyring, rehearsal: Option<RehearsalId>) -> String {
        keys.seal(scope(&self.room, &self.line, rehearsal), &encode(self))
    }

    /// Decodes `token` if it is a genuine ticket of this rehearsal, room and line.
    #[must_use]
    pub fn read_virtual(
        keys: &Keyring,
        id: RehearsalId,
        (room, line): (&RoomName, &LineName),
        token: &str,
    ) -> Option<Self> {
        decode(room, line, keys.unseal(scope(room, line, Some(id)), token)?.payload())
    }

    /// The newest genuine ticket among the values of one cookie name, of which the first [`MAX_TRIES`] are tried.
    ///
    /// A browser sends a name twice if one cookie was set for the host and another for its domain. An old cookie, which is no
    /// longer overwritten, must not hide the new one: the visitor would join again with every request.
    #[must_use]
    pub fn newest<'a>(
        keys: &Keyring,
        room: &RoomName,
        line: &LineName,
        values: impl Iterator<Item = &'a str>,
    ) -> Option<(Self, SignedBy)> {
        let tickets = values
            .take(MAX_TRIES)
            .filter_map(|value| Self::open(keys, room, line, value));
        tickets.max_by_key(|(ticket, _)| (ticket.edition, ticket.joined_at))
    }
}

/// The time of joining that a ticket claims, without checking its signature. SECURITY: use it only to choose which cookies the
/// same browser keeps.
#[must_use]
pub fn unproved_joining(token: &str) -> Option<Wall> {
    let payload = unproved(token)?;
    let mut fields = Fields(&payload);
    let (_flags, _lane, _edition) = (fields.u8()?, fields.u8()?, fields.u32()?);
    fields.u64().map(Wall)
}

fn scope<'a>(room: &'a RoomName, line: &'a LineName, rehearsal: Option<RehearsalId>) -> Scope<'a> {
    let kind = if rehearsal.is_some() {
        name::VIRTUAL_TICKET
    } else {
        name::TICKET
    };
    Scope {
        rehearsal,
        ..Scope::new(kind, room, line)
    }
}

/// flags (1), lane (1), edition (4), joined at (8), then epoch (8) and n (4) or the pending id (12), then the identity (8)
/// if there is one; little-endian.
fn encode(ticket: &Ticket) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAX_PAYLOAD);
    let pending = matches!(ticket.place, TicketPlace::Pending(_));
    bytes.push((u8::from(pending) * PENDING) | (u8::from(ticket.identity.is_some()) * IDENTITY));
    bytes.push(ticket.lane.0);
    bytes.extend(ticket.edition.0.to_le_bytes());
    bytes.extend(ticket.joined_at.0.to_le_bytes());
    match ticket.place {
        TicketPlace::Numbered(number) => {
            bytes.extend(number.epoch.0.to_le_bytes());
            bytes.extend(number.n.to_le_bytes());
        }
        TicketPlace::Pending(id) => bytes.extend(id.0),
    }
    bytes.extend(ticket.identity.iter().flat_map(|tag| tag.0));
    bytes
}

fn decode(room: &RoomName, line: &LineName, payload: &[u8]) -> Option<Ticket> {
    let mut fields = Fields(payload);
    let flags = fields.u8()?;
    if flags & !(PENDING | IDENTITY) != 0 {
        return None;
    }
    let ticket = Ticket {
        room: room.clone(),
        line: line.clone(),
        lane: LaneId(fields.u8()?),
        edition: Edition(fields.u32()?),
        joined_at: Wall(fields.u64()?),
        place: decode_place(flags & PENDING != 0, &mut fields)?,
        identity: if flags & IDENTITY == 0 {
            None
        } else {
            Some(Tag(fields.take()?))
        },
    };
    fields.end().map(|()| ticket)
}

fn decode_place(pending: bool, fields: &mut Fields<'_>) -> Option<TicketPlace> {
    if pending {
        return Some(TicketPlace::Pending(PendingId(fields.take()?)));
    }
    Some(TicketPlace::Numbered(Number {
        epoch: Epoch(fields.u64()?),
        n: fields.u32()?,
    }))
}

const PENDING: u8 = 1;
const IDENTITY: u8 = 2;

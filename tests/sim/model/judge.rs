//! A gate's judgement of a visitor's tokens, from its own view alone: the gate's own reader, for tickets and passes that need
//! no signature.

use std::sync::LazyLock;

use ropeline::gate::decide::{PassState, TicketState, Void};
use ropeline::gate::reader::{PassWorth, Reader, used};
use ropeline::replica::Note;
use ropeline::room::{CallId, Clock, Edition, LineName, Number, PendingId, RoomName, Standing, Tag, View, Wall};
use ropeline::token::{self, Key, KeyId, Keyring, PassId, Secret, TicketPlace};

use super::rooms;

/// A ticket as the visitor carries it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ticket {
    Numbered(Number),
    Pending(PendingId),
}

/// A pass; its date is the wall's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass {
    pub number: Number,
    pub call: CallId,
    pub expires_at: u64,
}

/// A gate's eyes at one moment.
pub struct Eyes<'a> {
    pub view: &'a View,
    /// The view's clock plus the time since.
    pub now: Clock,
    /// Wall time in milliseconds.
    pub wall: u64,
    pub cut_off: bool,
}

/// The validity of a ticket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Worth {
    Waiting,
    Called,
    Late,
    Ended,
    Unknown,
}

impl Eyes<'_> {
    /// Whether the pass lets its visitor in, with what the log should learn.
    pub fn pass(&self, pass: &Pass) -> (bool, Option<Note>) {
        let worth = self.worth(pass);
        (worth.state == PassState::Valid, worth.note)
    }

    /// Whether the session of a pass that is valid has to ask for a slot.
    pub fn must_ask(&self, pass: &Pass) -> bool {
        self.worth(pass).must_ask
    }

    /// Whether the session that asks has a slot, or is over (false); `None` while it waits.
    pub fn has_slot(&self, number: Number) -> Option<bool> {
        let now = if self.cut_off { self.view.clock } else { self.now };
        self.standing(number).has_slot(now)
    }

    fn worth(&self, pass: &Pass) -> PassWorth {
        let reader = self.reader();
        let id = PassId::new(reader.keyring, reader.room, reader.line, reader.edition, pass.call);
        reader.pass(token::Pass {
            room: reader.room.clone(),
            line: reader.line.clone(),
            lane: rooms::LANE,
            edition: reader.edition,
            number: pass.number,
            call: pass.call.count,
            id,
            expires_at: Wall(pass.expires_at),
        })
    }

    pub fn ticket(&self, number: Number) -> (Worth, Option<Note>) {
        let reader = self.reader();
        let worth = reader.ticket(token::Ticket {
            room: reader.room.clone(),
            line: reader.line.clone(),
            lane: rooms::LANE,
            edition: reader.edition,
            place: TicketPlace::Numbered(number),
            joined_at: reader.wall,
            identity: None,
        });
        let state = match worth.state {
            TicketState::Waiting => Worth::Waiting,
            TicketState::Called | TicketState::Inside => Worth::Called,
            TicketState::Unknown => Worth::Unknown,
            TicketState::Void(Void::Late) => Worth::Late,
            TicketState::Void(_) => Worth::Ended,
            TicketState::None | TicketState::Pending(_) => unreachable!("it has a number"),
        };
        (state, worth.note)
    }

    /// The gate's own reader of tokens; who carries one here is not asked to prove it.
    fn reader(&self) -> Reader<'_> {
        let room = self.view.rooms.get(&*ROOM);
        Reader {
            keyring: &KEYRING,
            known: None,
            room: &ROOM,
            line: &LINE,
            view: self.view,
            edition: room.map_or(Edition::default(), |room| room.edition),
            voided: room.map_or(Edition::default(), |room| room.voided),
            spared: room.and_then(|room| room.spared),
            now: self.now,
            wall: Wall(self.wall),
            extension_ms: self.cut_off.then_some(rooms::OUTAGE_EXTENSION_MS),
        }
    }

    /// The note for the log on a request that is forwarded for a number without its pass.
    pub fn used(&self, number: Number) -> Option<Note> {
        used(self.standing(number), false, (!self.cut_off).then_some(self.now))
    }

    /// The pass that a number's standing entitles its ticket to.
    pub fn pass_for(&self, number: Number) -> Option<Pass> {
        let (call, until) = match self.standing(number) {
            Standing::Called(called) => (called.call, called.deadline),
            Standing::Inside(inside) if !inside.carried => (inside.call, dated(inside.expires)),
            _ => return None,
        };
        Some(Pass {
            number,
            call,
            expires_at: self.wall + until.since(self.now),
        })
    }

    /// The pass of the session that a number has, for another browser of its account.
    pub fn pass_inside(&self, number: Number) -> Option<Pass> {
        let Standing::Inside(inside) = self.standing(number) else {
            return self.pass_for(number);
        };
        Some(Pass {
            number,
            call: inside.call,
            expires_at: self.wall + dated(inside.expires).since(self.now),
        })
    }

    /// The account of a number.
    pub fn account(&self, number: Number) -> Option<Tag> {
        let line = self.view.rooms.get(&*ROOM)?.line(&LINE)?;
        line.account(rooms::LANE, number)
    }

    /// The pass with its session's present date.
    pub fn renewed(&self, pass: &Pass) -> Pass {
        match self.standing(pass.number) {
            Standing::Inside(inside) => Pass {
                expires_at: self.wall + dated(inside.expires).since(self.now),
                ..*pass
            },
            _ => *pass,
        }
    }

    /// Present visitors ahead of a waiting one.
    pub fn ahead(&self, number: Number) -> Option<u64> {
        match self.standing(number) {
            Standing::Waiting(waiting) => Some(waiting.ahead),
            _ => None,
        }
    }

    pub fn standing(&self, number: Number) -> Standing {
        self.view.standing(&rooms::visitor(number), self.view.clock)
    }
}

static ROOM: LazyLock<RoomName> = LazyLock::new(rooms::room);
pub static KEYRING: LazyLock<Keyring> = LazyLock::new(|| {
    let id = KeyId::new("sim").expect("a key's id");
    let secret = Secret::new([7; 32]);
    Keyring::new(vec![Key { id, secret }]).expect("one key")
});
static LINE: LineName = LineName::ONLY;

/// When the passes of a session run out: the slot is held for a tenth longer.
fn dated(expires: Clock) -> Clock {
    Clock(expires.0.saturating_sub(rooms::settings().renewal_ms()))
}

//! A room's healing: no visitor is called while visitors of a lost log come back.
//!
//! A ticket or a pass of an unknown epoch proves that the log before was lost with every gate. Tickets last long and any
//! visitor may keep one. So each kind of token stops its own room once in a log, for a bounded time, and an operator can end
//! it.
//!
//! A visitor inside may show the pass late: a page is read for minutes. So a log begun from nothing stops its rooms as a pass
//! would, before any was shown, unless it is certain that no log was lost. How long it stops them follows from the settings that
//! they begin with. Passes of a lost log with longer sessions come later, and the first of these stops its room again.

use crate::codec::codec;
use crate::lane::record::SLACK_MS;
use crate::settings::Settings;
use crate::state::context::Context;
use crate::view::{RoomView, View};
use ropeline_ids::{Clock, Epoch};

/// The kind of token that proves a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Proof {
    /// A ticket: every waiting visitor has checked in within a generation.
    Ticket,
    /// A pass that has not expired: every other lost session is over, or known again, within its length.
    Pass,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Healing {
    until: Clock,
    /// The proofs that have stopped the room in this log.
    here: Proofs,
    /// The proofs that stopped it in the logs before, and the last of these: older epochs prove no more than they did there.
    before: Proofs,
    last: Epoch,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Proofs {
    ticket: bool,
    pass: bool,
}

codec! {
    struct Healing { until, here, before, last };
    struct Proofs { ticket, pass };
}

impl Healing {
    /// No visitor is called before.
    pub fn until(&self) -> Clock {
        self.until
    }

    /// No proof can stop the room any more in this log.
    pub fn is_spent(&self) -> bool {
        self.here == Proofs::ALL && self.before == Proofs::ALL
    }

    /// A token of a lost epoch was shown. Returns whether the room stops for longer because of it.
    pub fn prove(&mut self, proof: Proof, epoch: Epoch, settings: &Settings, m: &Context) -> bool {
        if proof == Proof::Pass && self.expects_passes(m) {
            return false;
        }
        let proofs = if epoch < self.last {
            &mut self.before
        } else {
            &mut self.here
        };
        if !proofs.take(proof) {
            return false;
        }
        let until = m.clock.plus(match proof {
            Proof::Ticket => generation_ms(settings),
            Proof::Pass => pass_ms(settings),
        });
        let longer = until > self.until;
        self.until = self.until.max(until);
        longer
    }

    /// The room is new in a log that may have taken the place of a lost one, whose clock began with the log: it waits for the
    /// passes of that one.
    pub fn suspect(&mut self, settings: &Settings, now: Clock) {
        let until = Clock(pass_ms(settings).max(generation_ms(settings)) + SLACK_MS);
        if now < until {
            self.until = until;
        }
    }

    /// The room waits for passes, since its log began from nothing: one that is shown is what it waits for.
    fn expects_passes(&self, m: &Context) -> bool {
        m.unproven && self.last == Epoch::default() && m.clock < self.until
    }

    /// Gates have brought back all that was lost. Says whether the room was stopped.
    pub fn end(&mut self) -> bool {
        std::mem::take(&mut self.until) > Clock(0)
    }

    /// An operator ends the wait for visitors: the room is not stopped again in this log.
    pub fn forbid(&mut self) {
        (self.until, self.here, self.before) = (Clock(0), Proofs::ALL, Proofs::ALL);
    }

    /// A new log begins with the rooms; `last` is the epoch of the one before.
    pub fn begin(&mut self, last: Epoch) {
        let (here, before) = (self.here, self.before);
        self.before = Proofs {
            ticket: here.ticket || before.ticket,
            pass: here.pass || before.pass,
        };
        (self.here, self.last) = (Proofs::default(), last);
    }
}

/// Present visitors check in within a generation.
fn generation_ms(settings: &Settings) -> u64 {
    settings.grace_ms / 2
}

/// The longest time for which a pass is good that no request renews: a session's, or a call's.
fn pass_ms(settings: &Settings) -> u64 {
    settings.session_ms.max(settings.claim_deadline_ms)
}

impl View {
    /// Set while no visitor is called in a room because of a loss: the clock at which that ends at the latest.
    #[must_use]
    pub fn healing_of(&self, room: &RoomView) -> Option<Clock> {
        self.adopting.max(room.healing_until(self.clock))
    }

    /// Milliseconds for which visitors of a lost log come back to the room at most. `None` where none do, and before anything of
    /// the log was read: its rooms may not heal at all.
    #[must_use]
    pub fn heals_for(&self, room: &RoomView, now: Clock) -> Option<u64> {
        let until = room.healing_until(now).filter(|_| self.position.epoch != 0);
        until.map(|until| until.since(now))
    }

    /// The room waits for the visitors of a lost log, and no token has proven yet that there was one: most likely the log is
    /// the first.
    #[must_use]
    pub fn is_opening(&self, room: &RoomView) -> bool {
        self.adopting.is_none() && self.heals_for(room, self.clock).is_some() && !self.past.lacks_an_epoch()
    }
}

impl RoomView {
    /// Set while visitors of a lost log come back to this room: the clock at which that ends at the latest.
    #[must_use]
    pub fn healing_until(&self, now: Clock) -> Option<Clock> {
        Some(self.heals_until).filter(|until| now < *until)
    }
}

impl Proofs {
    const ALL: Self = Self {
        ticket: true,
        pass: true,
    };

    /// True the first time.
    fn take(&mut self, proof: Proof) -> bool {
        let used = match proof {
            Proof::Ticket => &mut self.ticket,
            Proof::Pass => &mut self.pass,
        };
        !std::mem::replace(used, true)
    }
}

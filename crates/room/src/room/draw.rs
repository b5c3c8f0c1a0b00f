//! A room's draw: the promise before the opening, the closing at it, and the order once the secret is told.

use std::sync::Arc;

use super::Room;
use crate::draw::{Draw, FORM, Hash, Published};
use crate::entry::Change;
use crate::entry::sale::{BreaksDraw, Commitment, Forms, Late, Made, Owed, Sale};
use crate::lane::era::Eras;
use crate::settings::Settings;
use crate::settings::schedule::Phase;
use crate::state::State;
use crate::state::context::Context;
use crate::view::RoomView;
use ropeline_ids::{LaneId, LineName, Place, RoomName, Wall};

/// How long gates have after an outage to say who came meanwhile: each writes all that it holds as soon as the store is back.
const LATE_JOINS_MS: u64 = 5_000;

/// A store that takes longer for an answer keeps those waiting who come in that time.
const SLOW_MS: u64 = 500;

/// When the closing is looked at again while visitors of a lost log may come back.
const LATE_AGAIN_MS: u64 = 1_000;

/// How often a silence puts the closing off, so that a store that flickers keeps nobody waiting for ever.
const LATE_MOST: u8 = 12;

/// When a late line is closed. A gate's joins reach the log with its next entry, which a slow store delays by a few of its answers.
fn late_until(m: &Context) -> Wall {
    m.time.plus(LATE_JOINS_MS + 4 * m.lag_ms.min(2_000))
}

impl Room {
    /// A promise, or the secret that was promised; false if it is not for this room as it is now.
    pub fn decide(&mut self, name: &RoomName, change: &Change, m: &Context) -> bool {
        match change {
            Change::Commit {
                edition,
                beacon,
                forms,
                salt,
                commitment,
            } if *edition == self.edition => self.commit(Commitment {
                beacon: beacon.clone(),
                forms: *forms,
                salt: *salt,
                hash: *commitment,
                at: m.time,
            }),
            Change::Draw { edition, secret, value } if *edition == self.edition => {
                self.draw(name, *secret, value.as_deref(), m)
            }
            _ => false,
        }
    }

    /// The first promise for a beacon and an opening stands; another takes another promise, until the line is closed. Where it was
    /// closed without one, one is still taken, and its time tells.
    fn commit(&mut self, commitment: Commitment) -> bool {
        let promised = (commitment.beacon.as_deref(), commitment.forms);
        let wanted = self.owed() == Some(Owed::Promise(self.edition, promised.0, promised.1));
        if wanted {
            Arc::make_mut(&mut self.sale).commitment = Some(commitment);
            self.picture = None;
        }
        wanted
    }

    /// What the draw of this edition waits for; `None` before its prequeue, before its opening, and when it is made.
    pub fn owed(&self) -> Option<Owed<'_>> {
        let beacon = self.configured.draw.as_ref()?.beacon.as_deref();
        let sale = &self.sale;
        let stage = self.stage();
        let begun = stage.is_some_and(|stage| stage.phase == Phase::Prequeue);
        // Where there is no window any more the line was closed when that went.
        let now = sale.closed.map(|at| Forms { begins: at, opens: at });
        let forms = stage.map(|stage| Forms::of(&stage.window)).or(now)?;
        match &sale.commitment {
            _ if sale.made.is_some() => None,
            Some(commitment) if sale.closed.is_some() => Some(Owed::Secret(self.edition, commitment)),
            Some(commitment) if commitment.beacon.as_deref() == beacon && commitment.forms == forms => None,
            _ if sale.closes_later() || sale.closed.is_some() || begun => {
                Some(Owed::Promise(self.edition, beacon, forms))
            }
            _ => None,
        }
    }

    /// The opening, at `opens`: closes the line for its draw. After an outage of the store over the opening, or where it is slow, gates hold
    /// visitors who came before and have no number yet. Then the line is closed later, when these have theirs.
    pub(super) fn open_draw(&mut self, opens: Wall, m: &Context) {
        let waits = self.configured.draw.is_some() && self.sale.closed.is_none();
        let is_slow = || m.lag_ms > SLOW_MS && self.counts.waiting > 0;
        if waits && (m.time.since(opens) > m.patience_ms() || self.was_silent(m) || is_slow()) {
            let at = late_until(m);
            Arc::make_mut(&mut self.sale).late = Some(Late { at, again: 0 });
        } else {
            self.close_draw(m);
        }
    }

    /// Closes a line whose opening the log was silent over, when it is time.
    pub(super) fn close_late_draw(&mut self, m: &Context) {
        let Some(Late { at, again }) = self.sale.late else {
            return;
        };
        let later = if again < LATE_MOST && self.was_silent(m) {
            // Some gates may not have said anything between.
            let at = late_until(m);
            Some(Late { at, again: again + 1 })
        } else if at > m.time {
            return;
        } else {
            let at = m.time.plus(LATE_AGAIN_MS);
            self.waits_for_lost(m).then_some(Late { at, again })
        };
        Arc::make_mut(&mut self.sale).late = later;
        if later.is_none() {
            self.close_draw(m);
        }
        self.settle(m);
    }

    fn was_silent(&self, m: &Context) -> bool {
        m.silent_ms > m.patience_ms() && self.counts.waiting > 0
    }

    /// Dates that were moved to an opening that is to come close the line then.
    pub(super) fn put_off_late_draw(&mut self) {
        let forms = self.stage().is_some_and(|stage| stage.phase == Phase::Prequeue);
        if forms && self.sale.late.is_some() {
            Arc::make_mut(&mut self.sale).late = None;
        }
    }

    /// Closes the line for the draw: its visitors are drawn, and later ones stand behind.
    pub(super) fn close_draw(&mut self, m: &Context) {
        if self.configured.draw.is_none() || self.sale.closed.is_some() {
            return;
        }
        let sale = Arc::make_mut(&mut self.sale);
        (sale.lost, sale.late, sale.closed) = (false, None, Some(m.time));
        self.close_lines(Eras::close);
    }

    /// A token proves a log that was lost with its draw, after the opening: that draw is made anew.
    pub(super) fn lose_draw(&mut self, m: &Context) {
        let opened = self.stage().is_some_and(|stage| stage.phase == Phase::Open);
        if opened && self.configured.draw.is_some() && self.sale.closed.is_none() && !self.sale.closes_later() {
            Arc::make_mut(&mut self.sale).lost = true;
            self.settle(m);
        }
    }

    /// Closes the line for a draw that was lost, once the time for its visitors to come back is over. Numbers of the present log were
    /// given after the opening: they stand behind.
    pub(super) fn close_lost_draw(&mut self, m: &Context) {
        if !self.sale.lost || self.waits_for_lost(m) {
            return;
        }
        // Dates that were moved to an opening that is to come close it then.
        let forms = self.stage().is_some_and(|stage| stage.phase == Phase::Prequeue);
        let sale = Arc::make_mut(&mut self.sale);
        sale.lost = false;
        if !forms {
            sale.closed = Some(m.time);
            self.close_lines(Eras::close_lost);
        }
        self.settle(m);
    }

    fn close_lines(&mut self, close: fn(&mut Eras, Place)) {
        self.lines.values_mut().for_each(|line| line.close_draw(close));
    }

    fn draw(&mut self, name: &RoomName, secret: Hash, value: Option<&str>, m: &Context) -> bool {
        let sale = Arc::clone(&self.sale);
        let (true, Some(commitment)) = (sale.is_awaited(), &sale.commitment) else {
            return false;
        };
        if !commitment.fits((name.as_str(), self.edition.0), secret, value) {
            return false;
        }
        Arc::make_mut(&mut self.sale).made = Some(Made {
            secret,
            value: value.map(str::to_owned),
            at: m.time,
        });
        self.order_lines(name, m);
        self.settle(m);
        true
    }

    /// A room that does not draw any more calls in order of arrival, unless the line is closed for the draw ([`Self::configure`])
    /// or the order is there already.
    pub(super) fn give_up_draw(&mut self) {
        if self.configured.draw.is_none() && self.sale.made.is_none() {
            self.forget_sale();
        }
    }

    /// The next edition has a draw of its own; what was drawn stays as it is.
    pub(super) fn forget_sale(&mut self) {
        if self.sale.is_nothing() {
            return;
        }
        self.sale = Arc::new(Sale::default());
        for line in self.lines.values_mut() {
            line.lanes.iter_mut().for_each(|lane| lane.eras.draws.give_up());
        }
        self.picture = None;
    }
}

impl State {
    /// Why the room's draw keeps it as it is, whatever it is configured with.
    #[must_use]
    pub fn breaks_draw(&self, room: &RoomName, settings: &Settings) -> Option<BreaksDraw> {
        self.rooms.get(room)?.breaks_draw(settings, self.context.time)
    }
}

impl RoomView {
    /// The figures of one lane's draw, as far as they are known: what anybody checks it by. `None` before the promise.
    #[must_use]
    pub fn figures(&self, room: &RoomName, line: &LineName, lane: LaneId) -> Option<Published> {
        let commitment = self.sale.commitment.as_ref()?;
        let made = self.sale.made.as_ref();
        let drawn = self.line(line).map_or(0, |line| line.drawn(lane));
        let count = self.sale.closed.map(|_| drawn);
        let secret = made.map(|made| made.secret);
        let draw = Draw {
            room: room.as_str(),
            line: line.as_str(),
            edition: self.edition.0,
            lane: lane.0,
            begins_ms: commitment.forms.begins.0,
            opens_ms: commitment.forms.opens.0,
            closed_ms: self.sale.closed.unwrap_or_default().0,
            count: drawn,
            // Neither fingerprint goes over it: the commitment stands for it.
            secret: secret.unwrap_or(commitment.hash),
            beacon: commitment.beacon(made.and_then(|made| made.value.as_deref())),
        };
        let closing = count.map(|_| draw.closing(commitment.hash));
        Some(Published {
            draw: FORM,
            room: room.as_str().to_owned(),
            line: line.as_str().to_owned(),
            lane: lane.0,
            edition: self.edition.0,
            begins_ms: commitment.forms.begins.0,
            opens_ms: commitment.forms.opens.0,
            beacon: commitment.beacon.clone(),
            commitment: commitment.hash,
            count,
            closed_ms: self.sale.closed.map(|at| at.0),
            closing,
            beacon_value: made.and_then(|made| made.value.clone()),
            secret,
            seal: closing.filter(|_| made.is_some()).map(|closing| draw.seal(closing)),
        })
    }
}

//! The facts on which a decision rests, from a request's credentials and their validity.

use super::decide::{Account, Facts, Open, Purpose, Slot};
use crate::gate::request::kind::Kind;
use crate::gate::request::visit::Visit;
use crate::gate::seat::worth::Worth;
use crate::gate::seat::{Seat, ownership, redeem};

/// The facts, with nothing to be fetched.
#[must_use]
pub fn facts(worth: &Worth, visit: &Visit, seat: &Seat<'_>, purpose: Purpose) -> Facts {
    Facts {
        kind: visit.kind,
        purpose,
        mode: worth.mode,
        sold_out: worth.sold_out,
        door: worth.door,
        held_back: match visit.kind {
            Kind::CrossSitePost => worth.is_empty_handed(),
            Kind::Navigation => seat.shown.may_be_held_back() && worth.is_empty_handed(),
            Kind::CrossSiteFrame => !seat.cookies.reach_frames(),
            _ => false,
        },
        account: match ownership::is_foreign(seat, worth) {
            true => Account::Other,
            false if ownership::must_sign_in(seat, worth) => Account::Missing,
            false if ownership::is_nameless(seat) => Account::Nobody,
            false => Account::Fits,
        },
        pass: worth.pass(),
        ticket: worth.ticket(),
        slot: match worth.must_ask() {
            false => Slot::Held,
            true if visit.counts => Slot::Missing,
            true => Slot::Denied,
        },
        uses_code: redeem::uses_code(seat, worth, visit),
        leave_only: visit.aim.is_for_leave_only(),
        open: Open::default(),
    }
}

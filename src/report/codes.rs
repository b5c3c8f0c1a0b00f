//! Effects of codes on a line: moves to a better lane, and visitors called past the line.

use super::line::ledger::{Happened, Ledger};
use serde_json::{Value, json};

use crate::room::{Batch, LaneId, Number, Redeem, Redeemed};

impl Ledger {
    /// A visitor who moved to another lane is no longer in line where they stood.
    pub(super) fn codes(&mut self, happened: &Happened<'_>) {
        for (redeem, redeemed) in happened.redeemed.iter().filter(|(_, redeemed)| redeemed.new) {
            self.tally.bypasses += u64::from(redeemed.past);
            if let Some(left) = redeem.leaves.filter(|left| Some(*left) != seat(redeemed)) {
                self.leave(left, happened);
            }
        }
    }
}

impl Happened<'_> {
    /// Called by a code, and not by the order of the line.
    pub(super) fn is_past(&self, who: (LaneId, Number)) -> bool {
        let mut past = self
            .redeemed
            .iter()
            .filter(|(_, redeemed)| redeemed.past && redeemed.new);
        past.any(|(_, redeemed)| seat(redeemed) == Some(who))
    }
}

fn seat(redeemed: &Redeemed) -> Option<(LaneId, Number)> {
    Some((redeemed.joined.lane, redeemed.joined.first?))
}

/// Joins by codes, for programs.
pub(super) fn structured(batch: &Batch, only: Option<&str>) -> Vec<Value> {
    let redeems = batch.redeems.iter();
    let redeems = redeems.filter(|redeem| only.is_none_or(|only| only == redeem.room.as_str()));
    let shown = |redeem: &Redeem| {
        json!({
            "room": redeem.room.as_str(), "line": redeem.line.as_str(), "lane": redeem.lane.0, "code": redeem.code.to_string(),
            "single_use": redeem.single, "bypass": redeem.bypass,
        })
    };
    redeems.map(shown).collect()
}

/// A join by a code, in words.
pub(super) fn said(redeem: &Redeem) -> String {
    let uses = if redeem.single { ", for one visitor" } else { "" };
    let what = if redeem.bypass { "past the line" } else { "a lane" };
    format!("code {} for {what}{uses}", redeem.code)
}

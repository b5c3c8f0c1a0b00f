//! Upper bounds of encoded sizes, by which a batch is kept under the log's limit.

use crate::draw::MAX_BEACON_NAME;
use crate::room::{Change, MAX_BATCH_BYTES, RoomName, STEPS, Schedule, Settings};

pub(super) fn change_bytes(change: &Change) -> usize {
    CHANGE_BYTES
        + match change {
            Change::Override(overrides) => {
                overrides.message.as_ref().map_or(0, String::len)
                    + overrides.messages.iter().map(message_bytes).sum::<usize>()
                    + overrides.schedule.as_ref().map_or(0, Schedule::bytes)
            }
            Change::Configure(settings) => settings_bytes(settings),
            Change::Add(addition) => addition.text.len() + settings_bytes(&addition.settings),
            Change::Windows { rule, windows } => rule.len() + windows.len() * WINDOW_BYTES,
            Change::Commit { beacon: text, .. } | Change::Draw { value: text, .. } => {
                text.as_ref().map_or(0, String::len)
            }
            // Only sent with an adopted epoch, in batches of its own.
            Change::Sale { .. } => MAX_BATCH_BYTES,
            Change::Call(order) => order.line.as_str().len(),
            Change::Evict(eviction) => eviction.line.as_str().len(),
            Change::Rehearse(order) => order.bytes(),
            Change::Renew(_) | Change::EndRehearsal(_) => REHEARSAL_BYTES,
            Change::Reset | Change::Remove | Change::Edition(_) | Change::EndHealing | Change::Load(_) => 0,
        }
}

fn settings_bytes(settings: &Settings) -> usize {
    2 * settings.lane_weights.len() + settings.schedule.as_ref().map_or(0, Schedule::bytes) + MAX_BEACON_NAME
}

fn message_bytes((tag, text): (&String, &String)) -> usize {
    tag.len() + text.len() + 4
}

/// Upper bounds of encoded sizes: a batch's head, a section without items (names, lengths), an item (lane, number, and a
/// pending id, or an edition and a time), an account's tag, a join by a code, a change without its message and windows, a window.
pub(super) const HEAD_BYTES: usize = 64;
pub(super) const SECTION_BYTES: usize = 192;
pub(super) const ITEM_BYTES: usize = 28;
pub(super) const TAG_BYTES: usize = 8;
pub(super) const CHANGE_BYTES: usize = 256;
pub(super) const REDEEM_BYTES: usize = 176;
pub(super) const WINDOW_BYTES: usize = 34;
pub(super) const REHEARSAL_BYTES: usize = 16;

/// Upper bound of a report: its room, seven counts, the circuit, how many times there are, and a step and a count for each.
pub(super) const REPORT_BYTES: usize = RoomName::MAX_LEN + 1 + 7 * 5 + 2 + STEPS * 6;

/// Bytes left in a batch.
pub(super) struct Space(pub usize);

impl Space {
    pub fn takes(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

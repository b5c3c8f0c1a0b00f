//! Recent commands of operators on a room: who, when, and the values before and after.
//!
//! The log has all of them; a room keeps the latest ones for the admin API. Long texts are cut to their beginning.

use std::collections::{BTreeMap, VecDeque};

use crate::codec::codec;
use crate::settings::{Mode, Overrides, Settings};
use ropeline_ids::{Edition, LaneId, LineName, Wall};

/// The operator who made a change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Who {
    /// The name of the operator's token.
    pub name: String,
    /// The operator's reason; may be empty.
    pub reason: String,
}

/// A change of a room that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    pub at: Wall,
    /// The revision that the room had from it on.
    pub revision: u64,
    /// `None`: a configuration file.
    pub who: Option<Who>,
    pub deed: Deed,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// Settings, as they were in force and as they are now.
    Set(Vec<Setting>),
    Call {
        /// How many calls were ordered, and how many were made, given the visitors and slots there were.
        asked: u32,
        called: u32,
        /// Above the capacity too.
        beyond: bool,
    },
    Reset {
        before: Edition,
        after: Edition,
    },
    /// A visitor was taken out.
    Evicted,
    /// The value of a draw's beacon.
    Drawn,
    /// The room was added.
    Added,
    /// It called again, though visitors of a lost log could still come back.
    HealingEnded,
    /// A rehearsal with this many virtual visitors began, or was ended.
    Rehearsal {
        size: u32,
        began: bool,
    },
}

/// One key with both its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Setting {
    Mode(Mode, Mode),
    Capacity(u32, u32),
    Rate(Option<u32>, Option<u32>),
    /// By the language's tag, empty for all; `None` is the configured text.
    Message(String, Option<String>, Option<String>),
    /// The words of the schedule.
    Schedule(Option<String>, Option<String>),
}

/// "Let n in now": called at the end of the entry, as other calls are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallOrder {
    pub line: LineName,
    /// Only this lane; `None`: by their turns.
    pub lane: Option<LaneId>,
    pub count: u32,
    /// Above the capacity too: as many as wait.
    pub beyond: bool,
}

/// The last orders of a room, oldest first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Orders(VecDeque<Order>);

codec! {
    struct Who { name, reason };
    struct Order { at, revision, who, deed };
    enum Deed {
        0 => Set(settings),
        1 => Call { asked, called, beyond },
        2 => Reset { before, after },
        3 => Evicted,
        4 => Drawn,
        5 => Added,
        6 => HealingEnded,
        7 => Rehearsal { size, began },
    };
    enum Setting {
        0 => Mode(before, after),
        1 => Capacity(before, after),
        2 => Rate(before, after),
        3 => Message(language, before, after),
        4 => Schedule(before, after),
    };
    struct CallOrder { line, lane, count, beyond };
    struct Orders(orders);
}

/// The settings that commands report before and after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Audited {
    mode: Mode,
    capacity: u32,
    rate: Option<u32>,
    messages: BTreeMap<String, String>,
    schedule: Option<String>,
}

impl Who {
    /// Within the bounds that the log keeps.
    #[must_use]
    pub fn bounded(&self) -> Self {
        Self {
            name: beginning(&self.name, MAX_WHO).to_owned(),
            reason: beginning(&self.reason, MAX_REASON).to_owned(),
        }
    }

    /// Upper bound of the encoded size.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.name.len() + self.reason.len() + 8
    }
}

impl Orders {
    /// Newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Order> {
        self.0.iter().rev()
    }

    /// The order that gave the room this revision, if it is not too old.
    #[must_use]
    pub fn of(&self, revision: u64) -> Option<&Order> {
        self.iter().find(|order| order.revision == revision)
    }

    pub(crate) fn note(&mut self, order: Order) {
        if self.0.len() >= MAX_ORDERS {
            self.0.pop_front();
        }
        self.0.push_back(order);
    }

    /// Sets how many visitors a call has called.
    pub(crate) fn called(&mut self, revision: u64, count: u32) {
        let order = self.0.iter_mut().rev().find(|order| order.revision == revision);
        if let Some(Deed::Call { called, .. }) = order.map(|order| &mut order.deed) {
            *called = count;
        }
    }
}

impl Audited {
    pub fn of(settings: &Settings, mode: Mode, overrides: &Overrides, rule: Option<&str>) -> Self {
        let all = overrides.message.iter().map(|text| (String::new(), text));
        let each = overrides.messages.iter().map(|(tag, text)| (tag.clone(), text));
        Self {
            mode,
            capacity: settings.capacity,
            rate: settings.rate_per_minute,
            messages: all.chain(each).map(|(tag, text)| (tag, text.clone())).collect(),
            schedule: rule.map(str::to_owned),
        }
    }

    /// Every key that is another now; of long texts the beginning.
    pub fn changes(&self, now: &Self) -> Vec<Setting> {
        let mode = (self.mode != now.mode).then_some(Setting::Mode(self.mode, now.mode));
        let capacity = (self.capacity != now.capacity).then_some(Setting::Capacity(self.capacity, now.capacity));
        let rate = (self.rate != now.rate).then_some(Setting::Rate(self.rate, now.rate));
        let schedule = (self.schedule != now.schedule)
            .then(|| Setting::Schedule(clipped(self.schedule.as_ref()), clipped(now.schedule.as_ref())));
        let mut tags: Vec<&String> = self.messages.keys().chain(now.messages.keys()).collect();
        tags.sort_unstable();
        tags.dedup();
        let messages = tags.into_iter().filter_map(|tag| {
            let (before, after) = (self.messages.get(tag), now.messages.get(tag));
            (before != after).then(|| Setting::Message(tag.clone(), clipped(before), clipped(after)))
        });
        let plain = [mode, capacity, rate, schedule];
        plain.into_iter().flatten().chain(messages).collect()
    }
}

/// The part of a text that is kept.
fn clipped(text: Option<&String>) -> Option<String> {
    Some(beginning(text?, MAX_TEXT).to_owned())
}

/// The beginning of a text, at most this many bytes.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// Most orders that a room keeps.
pub const MAX_ORDERS: usize = 50;

/// Most visitors of one call: more takes another.
pub const MAX_CALL: u32 = 10_000;

/// Longest name of an operator, and longest reason, in bytes.
pub const MAX_WHO: usize = 32;
pub const MAX_REASON: usize = 200;

/// Bytes of a message or a schedule that orders keep.
const MAX_TEXT: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_orders_are_kept() {
        let mut orders = Orders::default();
        for revision in 1..=60 {
            orders.note(Order {
                at: Wall(revision),
                revision,
                who: None,
                deed: Deed::Drawn,
            });
        }
        assert_eq!(orders.iter().count(), MAX_ORDERS);
        assert_eq!(orders.iter().next().map(|order| order.revision), Some(60));
        assert_eq!((orders.of(10).is_some(), orders.of(11).is_some()), (false, true));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(beginning("줄줄줄", 7), "줄줄");
        assert_eq!(beginning("ab", 7), "ab");
        let long = Who {
            name: "n".repeat(100),
            reason: "é".repeat(200),
        };
        let bounded = long.bounded();
        assert_eq!((bounded.name.len(), bounded.reason.len()), (MAX_WHO, MAX_REASON));
    }
}

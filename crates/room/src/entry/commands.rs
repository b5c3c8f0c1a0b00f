//! What operators did to a room of late: who, when, and before and after.
//!
//! The log has all of it; a room keeps the last ones, for whoever looks at it now. Long texts are kept by their beginning.

use std::collections::{BTreeMap, VecDeque};

use crate::codec::{Read, Reader, Writer};
use crate::settings::codec::{mode_byte, mode_of};
use crate::settings::{Mode, Overrides, Settings};
use ropeline_ids::{Edition, LaneId, LineName, Wall};

/// Whose word a change is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Who {
    /// The name of the operator's token.
    pub name: String,
    /// What the operator said to it; may be empty.
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
    /// Settings, as they were in force and as they are.
    Set(Vec<Setting>),
    Call {
        /// How many were to be called, and how many there was somebody and a slot for.
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
    /// The room is there from then on.
    Added,
    /// It called again, though visitors of a lost log could still come back.
    HealingEnded,
    /// A rehearsal of so many virtual visitors began, or was ended.
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
    /// By the language's tag, empty for all; `None` is what the configuration has.
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

/// What orders are told of: before and after are of these.
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

    pub(crate) fn write(&self, w: &mut Writer) {
        w.text(&self.name);
        w.text(&self.reason);
    }

    pub(crate) fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            name: r.text()?.to_owned(),
            reason: r.text()?.to_owned(),
        })
    }
}

impl CallOrder {
    pub(crate) fn write(&self, w: &mut Writer) {
        w.text(self.line.as_str());
        w.option(self.lane, |w, lane| w.u8(lane.0));
        w.u32(self.count);
        w.flag(self.beyond);
    }

    pub(crate) fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            line: r.line_name()?,
            lane: r.option(Reader::lane)?,
            count: r.u32()?,
            beyond: r.flag()?,
        })
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

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn note(&mut self, order: Order) {
        if self.0.len() >= MAX_ORDERS {
            self.0.pop_front();
        }
        self.0.push_back(order);
    }

    /// How many a call came to.
    pub(crate) fn called(&mut self, revision: u64, count: u32) {
        let order = self.0.iter_mut().rev().find(|order| order.revision == revision);
        if let Some(Deed::Call { called, .. }) = order.map(|order| &mut order.deed) {
            *called = count;
        }
    }

    pub(crate) fn write(&self, w: &mut Writer) {
        w.count(self.0.len());
        for order in &self.0 {
            w.wall(order.at);
            w.u64(order.revision);
            w.option(order.who.as_ref(), |w, who| who.write(w));
            order.deed.write(w);
        }
    }

    pub(crate) fn read(r: &mut Reader) -> Read<Self> {
        let orders = r.list(18, |r| {
            Ok(Order {
                at: r.wall()?,
                revision: r.u64()?,
                who: r.option(Who::read)?,
                deed: Deed::read(r)?,
            })
        })?;
        Ok(Self(orders.into()))
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

impl Deed {
    fn write(&self, w: &mut Writer) {
        match self {
            Self::Set(settings) => {
                w.u8(0);
                w.list(settings, |w, setting| setting.write(w));
            }
            Self::Call { asked, called, beyond } => {
                w.u8(1);
                w.u32(*asked);
                w.u32(*called);
                w.flag(*beyond);
            }
            Self::Reset { before, after } => {
                w.u8(2);
                w.u32(before.0);
                w.u32(after.0);
            }
            Self::Drawn => w.u8(3),
            Self::Added => w.u8(4),
            Self::HealingEnded => w.u8(40),
            Self::Evicted => w.u8(5),
            Self::Rehearsal { size, began } => {
                w.u8(25);
                w.u32(*size);
                w.flag(*began);
            }
        }
    }

    fn read(r: &mut Reader) -> Read<Self> {
        match r.u8()? {
            0 => Ok(Self::Set(r.list(3, Setting::read)?)),
            1 => Ok(Self::Call {
                asked: r.u32()?,
                called: r.u32()?,
                beyond: r.flag()?,
            }),
            2 => Ok(Self::Reset {
                before: r.edition()?,
                after: r.edition()?,
            }),
            3 => Ok(Self::Drawn),
            4 => Ok(Self::Added),
            40 => Ok(Self::HealingEnded),
            5 => Ok(Self::Evicted),
            25 => Ok(Self::Rehearsal {
                size: r.u32()?,
                began: r.flag()?,
            }),
            _ => r.wrong(),
        }
    }
}

impl Setting {
    fn write(&self, w: &mut Writer) {
        let texts = |w: &mut Writer, before: &Option<String>, after: &Option<String>| {
            w.option(before.as_deref(), Writer::text);
            w.option(after.as_deref(), Writer::text);
        };
        match self {
            Self::Mode(before, after) => {
                w.u8(0);
                w.u8(mode_byte(*before));
                w.u8(mode_byte(*after));
            }
            Self::Capacity(before, after) => {
                w.u8(1);
                w.u32(*before);
                w.u32(*after);
            }
            Self::Rate(before, after) => {
                w.u8(2);
                w.option(*before, Writer::u32);
                w.option(*after, Writer::u32);
            }
            Self::Message(tag, before, after) => {
                w.u8(3);
                w.text(tag);
                texts(w, before, after);
            }
            Self::Schedule(before, after) => {
                w.u8(4);
                texts(w, before, after);
            }
        }
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let text = |r: &mut Reader| r.option(|r| r.text().map(str::to_owned));
        match r.u8()? {
            0 => {
                let (before, after) = (r.u8()?, r.u8()?);
                Ok(Self::Mode(mode_of(before, r)?, mode_of(after, r)?))
            }
            1 => Ok(Self::Capacity(r.u32()?, r.u32()?)),
            2 => Ok(Self::Rate(r.option(Reader::u32)?, r.option(Reader::u32)?)),
            3 => Ok(Self::Message(r.text()?.to_owned(), text(r)?, text(r)?)),
            4 => Ok(Self::Schedule(text(r)?, text(r)?)),
            _ => r.wrong(),
        }
    }
}

/// What is kept of a text.
fn clipped(text: Option<&String>) -> Option<String> {
    Some(beginning(text?, MAX_TEXT).to_owned())
}

/// What of a text fits in so many bytes.
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

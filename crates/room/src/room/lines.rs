//! The lines of a room: which there are, how many they hold together, which of them the entry under way touches, and when
//! something of one is due.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::{Codec, Read, Reader, Writer};
use crate::line::Line;
use crate::line::counts::Counts;
use crate::line::rules::Rules;
use crate::load::Allowance;
use crate::settings::Settings;
use crate::state::context::Context;
use ropeline_ids::{Clock, LineName};

#[derive(Debug, Default)]
pub(super) struct LineSet {
    lines: BTreeMap<LineName, Kept>,
    /// When lines are due; a line may be due later than it stands here, never earlier.
    dues: BTreeSet<(Clock, LineName)>,
    /// When their first sessions are to be parked, likewise: but as far as all gates have been heard.
    parkings: BTreeSet<(Clock, LineName)>,
    /// Lines that the entry under way touches.
    active: BTreeSet<LineName>,
    counts: Counts,
}

/// A line, and the room's data about it that can be read without it.
#[derive(Debug)]
struct Kept {
    line: Line,
    /// Its entry in the room's schedule of due times.
    scheduled: Option<Clock>,
    /// Likewise, of parkings.
    parks: Option<Clock>,
    /// Its part of the room's counts.
    counted: Counts,
    /// Called visitors who came, and no-shows, when it was last finished.
    noted: (u64, u64),
}

impl LineSet {
    pub fn get(&self, name: &LineName) -> Option<&Line> {
        self.lines.get(name).map(|kept| &kept.line)
    }

    pub fn get_mut(&mut self, name: &LineName) -> Option<&mut Line> {
        self.lines.get_mut(name).map(|kept| &mut kept.line)
    }

    pub fn has(&self, name: &LineName) -> bool {
        self.lines.contains_key(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&LineName, &Line)> {
        self.lines.iter().map(|(name, kept)| (name, &kept.line))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&LineName, &mut Line)> {
        self.lines.iter_mut().map(|(name, kept)| (name, &mut kept.line))
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Line> {
        self.lines.values_mut().map(|kept| &mut kept.line)
    }

    pub fn names(&self) -> Vec<LineName> {
        self.lines.keys().cloned().collect()
    }

    /// How many lines there are.
    pub fn count_all(&self) -> u64 {
        u64::try_from(self.lines.len()).unwrap_or(u64::MAX)
    }

    /// How many wait and hold slots, over all lines.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether one more line may be created. Lines that are kept for the count of their sales do not count, up to a bound of
    /// their own.
    pub fn has_room(&self, settings: &Settings) -> bool {
        let lines = self.count_all();
        let most = u64::from(settings.max_lines);
        lines.saturating_sub(self.counts.sold) < most && lines < most.saturating_mul(SOLD_LINES)
    }

    /// As a snapshot has it.
    fn restore(&mut self, name: LineName, line: Line) {
        let noted = line.outcomes();
        let kept = Kept {
            line,
            scheduled: None,
            parks: None,
            counted: Counts::default(),
            noted,
        };
        self.lines.insert(name, kept);
    }

    /// A line that is made now.
    pub fn insert(&mut self, name: &LineName, line: Line) {
        self.restore(name.clone(), line);
        self.active.insert(name.clone());
    }

    pub fn remove(&mut self, name: &LineName) -> Option<Line> {
        let kept = self.lines.remove(name)?;
        self.counts = self.counts.less(kept.counted);
        if let Some(at) = kept.scheduled {
            self.dues.remove(&(at, name.clone()));
        }
        if let Some(at) = kept.parks {
            self.parkings.remove(&(at, name.clone()));
        }
        self.active.remove(name);
        Some(kept.line)
    }

    /// The entry under way touches a line.
    pub fn touch(&mut self, name: &LineName) {
        if self.lines.contains_key(name) {
            self.active.insert(name.clone());
        }
    }

    pub fn touch_all(&mut self) {
        self.active.extend(self.lines.keys().cloned());
    }

    pub fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// Lines that the entry touches go with its clock.
    pub fn advance(&mut self, settings: &Settings, m: &Context) {
        for name in &self.active {
            if let Some(kept) = self.lines.get_mut(name) {
                kept.line.advance(settings, m);
            }
        }
    }

    /// Takes the lines that the entry touches. Where they share a controller's allowance, those behind the `last` one that
    /// called come first.
    pub fn take_active(&mut self, last: Option<&LineName>) -> Vec<LineName> {
        let mut active = std::mem::take(&mut self.active);
        let Some(last) = last else {
            return active.into_iter().collect();
        };
        let mut behind = active.split_off(last);
        let last = behind.take(last);
        behind.into_iter().chain(active).chain(last).collect()
    }

    /// Called visitors of a line who came, and no-shows, since the last call of this function.
    pub fn take_outcomes(&mut self, name: &LineName) -> (u64, u64) {
        let Some(kept) = self.lines.get_mut(name) else {
            return (0, 0);
        };
        let (now, before) = (kept.line.outcomes(), kept.noted);
        kept.noted = now;
        (now.0.saturating_sub(before.0), now.1.saturating_sub(before.1))
    }

    /// Updates the totals over all lines with those of one line.
    pub fn count(&mut self, name: &LineName) {
        let Some(kept) = self.lines.get_mut(name) else { return };
        self.counts = self.counts.less(kept.counted);
        kept.counted = kept.line.counts();
        self.counts = self.counts.plus(kept.counted);
    }

    /// Computes when the next change of a line is due.
    pub fn plan(&mut self, name: &LineName, (rules, allowance): (&Rules, Option<Allowance>), m: &Context) {
        let Some(kept) = self.lines.get_mut(name) else { return };
        let parks = kept.line.parks_first(m.parks_until(rules.settings));
        if parks != kept.parks {
            if let Some(before) = std::mem::replace(&mut kept.parks, parks) {
                self.parkings.remove(&(before, name.clone()));
            }
            self.parkings.extend(parks.map(|at| (at, name.clone())));
        }
        let due = kept.line.next_due(rules, allowance, m, name.is_only());
        if due == kept.scheduled {
            return;
        }
        if let Some(before) = std::mem::replace(&mut kept.scheduled, due) {
            self.dues.remove(&(before, name.clone()));
        }
        self.dues.extend(due.map(|due| (due, name.clone())));
    }

    pub fn plan_all(&mut self, by: (&Rules, Option<Allowance>), m: &Context) {
        for name in self.names() {
            self.plan(&name, by, m);
        }
    }

    /// Finds the lines of which something is due now.
    pub fn wake(&mut self, by: (&Rules, Option<Allowance>), m: &Context) {
        while let Some((_, name)) = self.dues.first().filter(|(due, _)| *due <= m.clock).cloned() {
            self.plan(&name, by, m);
            let Some(kept) = self.lines.get_mut(&name) else { return };
            // Planned anew, it may be due later after all: then it is left alone, as on a replica that never had the
            // earlier date.
            if let Some(due) = kept.scheduled.take_if(|due| *due <= m.clock) {
                self.dues.remove(&(due, name.clone()));
                self.active.insert(name);
            }
        }
        self.wake_to_park(by, m);
    }
}

impl LineSet {
    /// Finds the lines with a session that can be parked now.
    fn wake_to_park(&mut self, by: (&Rules, Option<Allowance>), m: &Context) {
        let until = m.parks_until(by.0.settings);
        while let Some((_, name)) = self.parkings.first().filter(|(at, _)| *at <= until).cloned() {
            self.plan(&name, by, m);
            let Some(kept) = self.lines.get_mut(&name) else { return };
            if let Some(at) = kept.parks.take_if(|at| *at <= until) {
                self.parkings.remove(&(at, name.clone()));
                self.active.insert(name);
            }
        }
    }
}

/// Sorted by name. [`LineSet::plan_all`] computes when lines are due.
impl Codec for LineSet {
    fn write(&self, w: &mut Writer) {
        w.list(self.lines.iter(), |w, (name, kept)| {
            w.put(name);
            w.put(&kept.line);
        });
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let mut lines = Self::default();
        for (name, line) in r.get::<BTreeMap<LineName, Line>>()? {
            lines.restore(name.clone(), line);
            lines.count(&name);
        }
        Ok(lines)
    }
}

/// A room keeps at most this many times `max_lines` lines, for any reason.
const SOLD_LINES: u64 = 16;

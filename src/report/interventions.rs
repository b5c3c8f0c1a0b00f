//! Interventions that change which visitors are called when, by an operator or by a gate's configuration file.
//!
//! They follow the room's rules and do not make a history unfair, but a reader of the verdict must know them. Of draws it
//! reports the unfair ones: a line closed without a commitment or too early (`closings`), and one closed and not drawn.

mod moved;
mod shortened;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::moved::InForce;
use self::shortened::shortened;
use super::closings::Closings;
use super::describe;
use super::findings::{Intervention, Stamp};
use super::trail::Was;
use crate::dates::rfc3339;
use crate::room::{
    Change, Changed, Deed, Effects, Entry, Eviction, GateId, Mode, Rehearsal, RehearsalId, RoomChange, RoomName,
    RoomView, Standing, View,
};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Interventions {
    /// Only this room's, if one is named.
    only: Option<RoomName>,
    listed: Vec<Intervention>,
    /// Visitors let past, by room, by reason, and by gate.
    past: BTreeMap<(RoomName, Past, GateId), (Stamp, u64)>,
    /// Count of interventions beyond the bound.
    pub more: u64,
    closings: Closings,
    /// The last rehearsal of each room.
    rehearsals: BTreeMap<RoomName, RehearsalId>,
    /// Unfair acts about draws.
    unfair: Vec<String>,
    seen: Option<Arc<View>>,
}

/// The reason for which visitors passed a line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Past {
    Code(String),
    Network,
    Outage,
}

/// Where and when an entry is.
struct Here<'a> {
    entry: &'a Entry,
    stamp: Stamp,
}

impl Interventions {
    pub fn new(only: Option<RoomName>) -> Self {
        Self {
            only,
            ..Self::default()
        }
    }

    /// Goes on from a state that does not follow from the available entries.
    pub fn resume(&mut self, view: &Arc<View>) {
        self.seen = Some(Arc::clone(view));
    }

    /// An operator had the entry passed over.
    pub fn passed_over(&mut self, entry: &Entry) {
        let act = Intervention {
            kind: "entry passed over",
            by: "an operator whom the log does not name".to_owned(),
            what: format!(
                "entry {} of gate {} was passed over",
                entry.position,
                describe::gate(entry.gate)
            ),
            ..Here::of(entry).act()
        };
        self.list(act);
    }

    /// An entry was applied and produced `view`; `was` are the former settings of the rooms that it changes.
    pub fn entry(&mut self, entry: &Entry, effects: &Effects, view: &Arc<View>, was: &Was) {
        let here = Here::of(entry);
        let before = self.seen.replace(Arc::clone(view));
        for (at, change) in entry.batch.rooms.iter().enumerate() {
            let taken = effects.changed.get(at) == Some(&Changed::Taken);
            if taken && self.follows(&change.room) {
                self.change(&here, change, before.as_deref(), (view, was));
            }
        }
        if !effects.ignored {
            self.let_past(&here, effects);
        }
        let Some(before) = before else { return };
        self.moved(&here, effects, &before);
        for (name, room) in &before.rooms {
            let after = view.rooms.get(name);
            if !after.is_some_and(|after| Arc::ptr_eq(room, after)) && self.follows(name) {
                self.room(&here, name, (room, after.map(|after| &**after)));
            }
        }
    }

    fn change(&mut self, here: &Here<'_>, change: &RoomChange, before: Option<&View>, (view, was): (&View, &Was)) {
        let room = before.and_then(|before| before.rooms.get(&change.room));
        let (kind, what, count) = match &change.change {
            Change::Evict(eviction) => ("eviction", evicted(eviction, before, room.map(|room| &**room)), 1),
            Change::Call(order) if order.beyond => {
                let called = called(view, change).unwrap_or(0);
                let what = format!("{called} of {} called beyond the capacity", order.count);
                ("call beyond the capacity", what, u64::from(called))
            }
            Change::Call(order) if order.lane.is_some() && room.is_some_and(|room| room.settings.lanes.len() > 1) => {
                let called = called(view, change).unwrap_or(0);
                let what = format!("{called} of {} called, all of one lane", order.count);
                ("call of one lane", what, u64::from(called))
            }
            Change::Reset => ("reset", "reset: a new edition, every session ends".to_owned(), 1),
            Change::Remove => ("room removed", "the room was taken out".to_owned(), 1),
            Change::EndHealing => ("healing ended", describe::change(&change.change, None), 1),
            Change::Configure(settings) => {
                let was = was.get(&change.room).zip(room);
                let told = was.map(|(was, room)| shortened(was, settings, room));
                for told in told.unwrap_or_default() {
                    self.list(here.act_of(change, told));
                }
                return;
            }
            _ => return,
        };
        self.list(here.act_of(change, (kind, what, count)));
    }

    /// The places moved under the lines that there were before the entry.
    fn moved(&mut self, here: &Here<'_>, effects: &Effects, before: &View) {
        let mut rooms: BTreeMap<&RoomName, Option<InForce<'_>>> = BTreeMap::new();
        for (change, changed) in here.entry.batch.rooms.iter().zip(&effects.changed) {
            if *changed != Changed::Taken || !self.follows(&change.room) {
                continue;
            }
            let in_force = rooms.entry(&change.room).or_insert_with(|| {
                let room = before.rooms.get(&change.room)?;
                Some(InForce::of(room, here.entry.time))
            });
            // The line is gone, and later entries concern another.
            if matches!(change.change, Change::Reset | Change::Remove) {
                *in_force = None;
            }
            let moved = in_force.as_mut().map(|in_force| in_force.take(&change.change));
            for moved in moved.unwrap_or_default() {
                self.list(here.act_of(change, (moved.kind, moved.what, moved.count)));
            }
        }
    }

    /// The effect of the entry on a room: no line any more, or no draw.
    fn room(&mut self, here: &Here<'_>, name: &RoomName, (before, after): (&RoomView, Option<&RoomView>)) {
        let is_off = |room: &RoomView| room.settings.mode == Mode::Off;
        let of_room = |change: &&RoomChange| change.room == *name;
        let cause = here.entry.batch.rooms.iter().find(of_room);
        if after.is_some_and(is_off) && !is_off(before) {
            self.list(Intervention {
                kind: "mode off",
                room: name.to_string(),
                by: cause.map_or_else(|| "the schedule".to_owned(), by),
                what: "mode off: everybody is let past the line".to_owned(),
                count: 1,
                ..here.act()
            });
        }
        let goes_on = |after: &RoomView| {
            let kept = after.sale.closed.is_some() || before.sale.closed.is_none();
            after.edition == before.edition && kept
        };
        if before.sale.is_due() && !after.is_some_and(goes_on) {
            let cause = cause.map_or_else(
                || "the next sale began".to_owned(),
                |change| format!("by {}: {}", by(change), describe::change(&change.change, None)),
            );
            self.undrawn(name, before, &format!("{} ({cause})", here.stamp.time));
        }
        self.rehearsed(here, name, after);
        let acted = (cause.map(by), here.entry.gate, &here.stamp);
        if let Some(unfair) = self.closings.follow(name, (before, after), acted) {
            self.unfair(unfair);
        }
    }

    /// A rehearsal whose virtual visitors stand among visitors, or in a draw: reported once, when both are there.
    fn rehearsed(&mut self, here: &Here<'_>, name: &RoomName, after: Option<&RoomView>) {
        let rehearsal = after.and_then(|after| after.rehearsal.as_deref().zip(Some(after)));
        let Some((Rehearsal { order, .. }, room)) = rehearsal else {
            return;
        };
        if self.rehearsals.get(name) == Some(&order.id) {
            return;
        }
        let here_now: u64 = people(room).iter().sum();
        if here_now == 0 {
            return;
        }
        self.rehearsals.insert(name.clone(), order.id);
        let (size, who) = (order.size, &order.by);
        self.list(Intervention {
            kind: "rehearsal",
            room: name.to_string(),
            by: who.name.clone(),
            reason: Some(who.reason.clone()).filter(|reason| !reason.is_empty()),
            what: match here_now {
                1 => format!("rehearsal of {size} virtual visitors, while one person was there"),
                _ => format!("rehearsal of {size} virtual visitors, while {here_now} people were there"),
            },
            count: size.into(),
            ..here.act()
        });
    }

    /// Visitors who were let past the line.
    fn let_past(&mut self, here: &Here<'_>, effects: &Effects) {
        for section in &here.entry.batch.sections {
            self.past(here, &section.room, Past::Outage, section.bypasses.into());
            self.past(here, &section.room, Past::Network, section.networks.into());
        }
        for (redeem, redeemed) in here.entry.batch.redeems.iter().zip(&effects.redeemed) {
            let count = u64::from(redeemed.past && redeemed.new);
            self.past(here, &redeem.room, Past::Code(redeem.code.to_string()), count);
        }
    }

    fn past(&mut self, here: &Here<'_>, room: &RoomName, past: Past, count: u64) {
        if count == 0 || !self.follows(room) {
            return;
        }
        let key = (room.clone(), past, here.entry.gate);
        if self.past.len() >= MOST && !self.past.contains_key(&key) {
            self.more += 1;
            return;
        }
        let (_, counted) = self.past.entry(key).or_insert_with(|| (here.stamp.clone(), 0));
        *counted += count;
    }

    /// No visitor is wronged where there was none to draw.
    fn undrawn(&mut self, name: &RoomName, room: &RoomView, why: &str) {
        if !self.closings.draws_somebody(name, room) {
            return;
        }
        let closed = room.sale.closed.map(rfc3339);
        let closed = closed.map_or_else(
            || "was due for its draw".to_owned(),
            |at| format!("was closed for its draw at {at}"),
        );
        let edition = room.edition.0;
        self.unfair(format!(
            "{name}: the line of edition {edition} {closed}, and the draw was not made: {why}"
        ));
    }

    fn unfair(&mut self, what: String) {
        if self.unfair.len() < MOST {
            self.unfair.push(what);
        } else {
            self.more += 1;
        }
    }

    /// The unfairness of draws, each with its author where known; at the end of the history.
    pub fn unfair_draws(&mut self) -> Vec<String> {
        let seen = self.seen.take();
        let awaited = seen.iter().flat_map(|view| &view.rooms);
        for (name, room) in awaited.filter(|(_, room)| room.sale.is_due()) {
            if self.follows(name) {
                self.undrawn(name, room, "the history ends before it");
            }
        }
        std::mem::take(&mut self.unfair)
    }

    /// All of them: single acts in their order, then visitors who were let past.
    pub fn all(&self) -> Vec<Intervention> {
        let past = self.past.iter().map(|((room, past, gate), (since, count))| {
            let (kind, by) = match past {
                Past::Code(code) => ("bypass code", format!("code {code}")),
                Past::Network => ("bypass network", "bypass_networks of the configuration file".to_owned()),
                Past::Outage => ("open in an outage", "on_outage of the configuration file".to_owned()),
            };
            Intervention {
                kind,
                at: since.clone(),
                room: room.to_string(),
                gate: describe::gate(*gate),
                by,
                reason: None,
                what: format!("{count} let past the line"),
                count: *count,
            }
        });
        self.listed.iter().cloned().chain(past).collect()
    }

    fn follows(&self, room: &RoomName) -> bool {
        self.only.as_ref().is_none_or(|only| only == room)
    }

    fn list(&mut self, act: Intervention) {
        if self.listed.len() < MOST {
            self.listed.push(act);
        } else {
            self.more += 1;
        }
    }
}

impl<'a> Here<'a> {
    fn of(entry: &'a Entry) -> Self {
        Self {
            entry,
            stamp: Stamp::new(entry.position, entry.time),
        }
    }

    /// One of this entry, to be filled.
    fn act(&self) -> Intervention {
        Intervention {
            kind: "",
            at: self.stamp.clone(),
            room: String::new(),
            gate: describe::gate(self.entry.gate),
            by: String::new(),
            reason: None,
            what: String::new(),
            count: 1,
        }
    }

    /// An act for the change: its kind, its description, and its count.
    fn act_of(&self, change: &RoomChange, (kind, what, count): (&'static str, String, u64)) -> Intervention {
        let reason = change.who.as_ref().map(|who| who.reason.clone());
        Intervention {
            kind,
            room: change.room.to_string(),
            by: by(change),
            reason: reason.filter(|reason| !reason.is_empty()),
            what,
            count,
            ..self.act()
        }
    }
}

/// The operator by the name of their token, or the file.
fn by(change: &RoomChange) -> String {
    let who = change.who.as_ref().map(|who| who.name.clone());
    who.unwrap_or_else(|| "the configuration file".to_owned())
}

fn evicted(eviction: &Eviction, view: Option<&View>, room: Option<&RoomView>) -> String {
    let (lane, number) = (eviction.lane, eviction.number);
    let line = room.and_then(|room| room.line(&eviction.line));
    let stood = line
        .zip(view)
        .map(|(line, view)| line.standing(lane, number, view.clock));
    let stood = match stood {
        Some(Standing::Waiting(_)) => "waiting",
        Some(Standing::Called(_)) => "called",
        Some(Standing::Inside(_)) => "inside",
        _ => "not in line",
    };
    format!(
        "number {}/{} of lane {} taken out, who was {stood}",
        number.epoch.0, number.n, lane.0
    )
}

/// How many visitors a call has called.
fn called(view: &View, change: &RoomChange) -> Option<u32> {
    let room = view.rooms.get(&change.room)?;
    match room.orders.of(change.revision)?.deed {
        Deed::Call { called, .. } => Some(called),
        _ => None,
    }
}

/// How many people wait, are called and are inside in a room, all lines; virtual visitors are not among them.
fn people(room: &RoomView) -> [u64; 3] {
    let mut people = [0; 3];
    for line in room.lines.values() {
        let (all, virtually) = (&line.figures, line.rehearsed());
        people[0] += all.waiting.saturating_sub(virtually.waiting);
        people[1] += u64::from(all.called).saturating_sub(virtually.called);
        people[2] += u64::from(all.inside).saturating_sub(virtually.inside);
    }
    people
}

/// Most of them that are listed one by one.
const MOST: usize = 10_000;

//! Rooms that operators add and remove while the gate runs. Together with the file they make one configuration, which is
//! applied as every other is: all of it or nothing.
//!
//! The log says which there are. One that this gate's file or machine does not let it take is left out and reported, and tried
//! again with the next reload and every minute; the file's own rooms never wait for it.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use super::{Outcome, Reloader, few, unless_it_fails};
use crate::admin::{Refused, Reloads, RoomDone, RoomOrder, RoomWish, Table, api};
use crate::app::parts;
use crate::config::{AddedRoom, Config, Document, Mistake, Overrides, Report};
use crate::replica::{Replica, Unrecorded};
use crate::room::{Added, Addition, Additions, Change, MAX_ADDED, RoomName, View, Who};
use crate::time;

/// A file with the rooms of the log that go with it.
pub(super) struct Composed {
    pub report: Report,
    /// The added rooms that it has, in this gate's form.
    pub rooms: Vec<AddedRoom>,
    /// The others, but for those that the file has too.
    pub untaken: Vec<api::Untaken>,
}

/// Reads the file with every room that was added, or with as many as it goes with. It has to be good by itself: rooms that hold
/// it up may be removed.
pub(super) fn compose(document: &Document, overrides: &Overrides, additions: &Additions) -> Composed {
    let (mut rooms, mut untaken) = newest_first(additions);
    let read = |rooms: &[AddedRoom]| document.read(overrides, rooms);
    let alone = read(&[]);
    let composed = |report, rooms, untaken| Composed { report, rooms, untaken };
    let Some(file) = alone.config() else {
        return composed(alone, Vec::new(), untaken);
    };
    // The file rules.
    rooms.retain(|room| file.rooms.iter().all(|own| own.name != room.name));
    if rooms.is_empty() {
        return composed(alone, rooms, untaken);
    }
    let all = read(&rooms);
    if all.mistakes().is_empty() {
        return composed(all, rooms, untaken);
    }
    let mut kept: Vec<AddedRoom> = Vec::new();
    for room in rooms.into_iter().rev() {
        kept.insert(0, room);
        let tried = read(&kept);
        if !tried.mistakes().is_empty() {
            untaken.push(left_out(&kept.remove(0).name, tried.mistakes()));
        }
    }
    let mut report = read(&kept);
    report.names_too(all.files());
    composed(report, kept, untaken)
}

/// The rooms are the same, and are asked in the same order, which is no key.
fn same(before: (&Config, &[AddedRoom]), after: (&Config, &[AddedRoom])) -> bool {
    before.1 == after.1 && before.0.differences(after.0).is_empty()
}

fn left_out(room: &RoomName, mistakes: &[Mistake]) -> api::Untaken {
    api::Untaken {
        room: room.to_string(),
        reasons: few(mistakes.iter().map(ToString::to_string).collect()),
    }
}

/// What a reload tells of it.
pub fn without_line(left_out: &api::Untaken) -> String {
    format!(
        "room {}, which was added at run time, does not fit the file, and its paths have no line here: {}",
        left_out.room,
        left_out.reasons.join("; ")
    )
}

/// In the order in which they are tried: the room added last first, so that it is not hidden behind an earlier one. Beside them those
/// that this version cannot read.
fn newest_first(additions: &Additions) -> (Vec<AddedRoom>, Vec<api::Untaken>) {
    let mut all: Vec<(&RoomName, &Added)> = additions.iter().collect();
    all.sort_by_key(|(name, added)| (Reverse(added.at), (*name).clone()));
    let (mut rooms, mut strange) = (Vec::new(), Vec::new());
    for (name, added) in all {
        match AddedRoom::new(&added.text) {
            Ok(room) if room.name == *name => rooms.push(room),
            Ok(_) => strange.push(left_out(name, &[])),
            Err(mistakes) => strange.push(left_out(name, &mistakes)),
        }
    }
    (rooms, strange)
}

/// Wakes the thread of reloads whenever operators have added or removed rooms. Never ends.
pub async fn look_at_rooms(replica: Replica, reloads: Reloads) {
    let mut additions = replica.additions();
    reloads.look_at_rooms();
    while additions.changed().await.is_ok() {
        reloads.look_at_rooms();
    }
    std::future::pending::<()>().await;
}

impl Reloader {
    /// Takes the rooms that were added or removed elsewhere, and those again that could not be taken.
    pub(super) fn look_at_rooms(&mut self, now: Duration) {
        let additions = Arc::clone(&self.live.replica.view().additions);
        if !self.source.followed.is_due(&additions, now) {
            return;
        }
        match unless_it_fails(|| self.take_rooms(&additions, now)) {
            Ok(changed) => {
                for what in changed {
                    tracing::info!(what, "rooms that operators added or removed are taken");
                }
            }
            Err(reasons) => {
                tracing::error!(?reasons, "rooms that operators added or removed are not taken yet");
                self.source.followed.refused(&additions, now);
            }
        }
    }

    fn take_rooms(&mut self, additions: &Arc<Additions>, now: Duration) -> Outcome {
        let Composed { report, rooms, untaken } = self.source.compose(additions);
        let whole = untaken.is_empty();
        tell_untaken(&self.reloads, untaken);
        let before = (&self.config, self.source.followed.rooms());
        let same = report.config().is_some_and(|config| same(before, (config, &rooms)));
        let changed = if same {
            Vec::new()
        } else {
            self.attempt(report, |_, _| Ok(()))?
        };
        self.keep_own()?;
        self.source.followed.taken(additions, rooms, whole, now);
        Ok(changed)
    }

    /// Has the rooms of the file again that were added ones too, and that the operator of a gate without them in its file removed.
    fn keep_own(&self) -> Result<(), Vec<String>> {
        let view = self.live.replica.view();
        let own = parts::rooms(&self.config);
        let is_lost = |name: &RoomName| !view.rooms.contains_key(name) && self.source.followed.knew(name);
        if !own.iter().any(|(name, _)| is_lost(name)) {
            return Ok(());
        }
        let made = self.runtime.block_on(self.live.make_rooms(own.clone(), own));
        made.map_err(|reason| vec![reason.to_string()])
    }

    pub(super) fn order_room(&mut self, order: RoomOrder) {
        // The caller already has the answer that it failed.
        if order.answer.is_closed() {
            return;
        }
        let now = time::uptime();
        self.look_at_rooms(now);
        let done = match order.wish {
            RoomWish::Add { table, who } => self.add(&table, &who),
            RoomWish::Remove { room, who } => self.remove(room, &who),
        };
        let _ = order.answer.send(done);
    }

    fn add(&mut self, table: &Table, who: &Who) -> Result<RoomDone, Refused> {
        let read = match table {
            Table::Toml(text) => AddedRoom::new(text),
            Table::Json(keys) => AddedRoom::from_json(keys),
        };
        let told = |mistakes: Vec<Mistake>| mistakes.iter().map(ToString::to_string).collect();
        let room = read.map_err(|mistakes| Refused::Mistakes(told(mistakes)))?;
        self.may_add(&room.name)?;
        let mut rooms = self.source.followed.rooms().to_vec();
        rooms.insert(0, room.clone());
        let report = self.source.read_with(&rooms);
        let warnings = report.warnings().iter().filter(|odd| odd.is_of(&room.name));
        let warnings = few(warnings.map(ToString::to_string).collect());
        let say = |reloader: &Self, config: &Config| {
            let own = config.rooms.iter().find(|own| own.name == room.name);
            let settings = own.map(|own| own.settings.clone()).unwrap_or_default();
            let schedule = settings.schedule.as_ref();
            if schedule.is_some_and(|schedule| schedule.is_over(time::wall())) {
                return Err(Refused::Mistakes(vec![format!("room {}: {OVER}", room.name)]));
            }
            let addition = Addition {
                text: room.text.clone(),
                settings,
                at: None,
            };
            reloader.say(&room.name, Change::Add(Box::new(addition)), who)
        };
        self.change_rooms(report, rooms, say)?;
        Ok(RoomDone {
            room: room.name,
            text: room.text,
            warnings,
        })
    }

    fn may_add(&self, room: &RoomName) -> Result<(), Refused> {
        let view = self.live.replica.view();
        let conflict = |why: String| Err(Refused::Conflict(why));
        if self.config.rooms.iter().any(|own| own.name == *room && !own.added) {
            return conflict(format!(
                "this gate's file has a room called \"{room}\": change it there, and reload"
            ));
        }
        if view.additions.get(room).is_some() {
            return conflict(format!("a room called \"{room}\" was added before: remove it first"));
        }
        if view.rooms.contains_key(room) {
            return conflict(format!("another gate's file has a room called \"{room}\""));
        }
        if view.additions.iter().count() >= MAX_ADDED {
            return conflict(format!(
                "{MAX_ADDED} rooms were added already, and more are not kept: use the file"
            ));
        }
        Ok(())
    }

    fn remove(&mut self, room: RoomName, who: &Who) -> Result<RoomDone, Refused> {
        let view = self.live.replica.view();
        if self.config.rooms.iter().any(|own| own.name == room && !own.added) {
            let why = "the room is in this gate's file: take it out there, and reload";
            return Err(Refused::Conflict(why.to_owned()));
        }
        let Some(added) = view.additions.get(&room) else {
            let why = "the room is in another gate's file: take it out there, and reload";
            return Err(Refused::Conflict(why.to_owned()));
        };
        let mut rooms = self.source.followed.rooms().to_vec();
        rooms.retain(|own| own.name != room);
        let report = self.source.read_with(&rooms);
        self.change_rooms(report, rooms, |reloader, _| reloader.say_removed(&room, added, who))?;
        Ok(RoomDone {
            text: added.text.clone(),
            room,
            warnings: Vec::new(),
        })
    }

    /// Removes the room also after other changes to it. One that was added in its place stays: no check was made of that.
    fn say_removed(&self, room: &RoomName, added: &Added, who: &Who) -> Result<(), Refused> {
        for _ in 0..TRIES {
            let over = revision_of(&self.live.replica.view(), room, added)?;
            match self.say_over(room, Change::Remove, Some(over), who) {
                Err(Refused::Unrecorded(Unrecorded::Stale)) => {}
                done => return done,
            }
        }
        Err(Refused::Unrecorded(Unrecorded::Stale))
    }

    fn say(&self, room: &RoomName, change: Change, who: &Who) -> Result<(), Refused> {
        self.say_over(room, change, None, who)
    }

    fn say_over(&self, room: &RoomName, change: Change, over: Option<u64>, who: &Who) -> Result<(), Refused> {
        let replica = &self.live.replica;
        if replica.cut_off().is_some() {
            return Err(Refused::Away);
        }
        let said = replica.order(room.clone(), change, over, Some(who.clone()));
        self.runtime.block_on(said).map(drop).map_err(Refused::Unrecorded)
    }

    /// Takes the file with other rooms, once the log has the change that `say` makes.
    fn change_rooms(
        &mut self,
        report: Report,
        rooms: Vec<AddedRoom>,
        say: impl FnOnce(&Self, &Config) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let mut refused = None;
        let outcome = unless_it_fails(|| {
            self.attempt(report, |reloader, config| {
                say(reloader, config).map_err(|why| {
                    refused = Some(why);
                    Vec::new()
                })
            })
        });
        match outcome {
            Ok(_) => {
                self.source.followed.ordered(rooms);
                Ok(())
            }
            Err(mistakes) => Err(refused.unwrap_or_else(|| Refused::Mistakes(few(mistakes)))),
        }
    }
}

/// The revision of an added room, while it is the one that was meant.
fn revision_of(view: &View, room: &RoomName, meant: &Added) -> Result<u64, Refused> {
    let why = match (view.rooms.get(room), view.additions.get(room)) {
        (Some(there), Some(added)) if added == meant => return Ok(there.revision),
        (Some(_), Some(_)) => "it was removed, and another of its name was added meanwhile: look at that first",
        _ => "it was removed meanwhile",
    };
    Err(Refused::Conflict(why.to_owned()))
}

/// `check` refuses this too, but a gate that starts has to accept it.
const OVER: &str = "closes_at: the sale would be over already; right: a later date, or mode = \"closed\"";

/// How often a removal is sent again because another change of the room came first.
const TRIES: u32 = 8;

/// Says once which rooms are left out.
pub(super) fn tell_untaken(reloads: &Reloads, untaken: Vec<api::Untaken>) {
    let known = reloads.untaken();
    for one in untaken.iter().filter(|one| !known.contains(one)) {
        let reasons = one.reasons.join("; ");
        tracing::error!(
            room = one.room,
            reasons,
            "a room that an operator added is not taken here: its visitors meet what else has their paths"
        );
    }
    reloads.tell_untaken(untaken);
}

#[cfg(test)]
mod tests;

//! What has to hold in every state that is reached.

use std::sync::Arc;

use ropeline_room::testing::log::room;
use ropeline_room::{Figures, LineName, Number, Standing, View};

use crate::steps::{Act, Came, Fate, Step};
use crate::world::{Broken, Faults, Person, Ticket, World, place, stands};

/// What was before a step.
pub struct Before {
    view: Arc<View>,
    queue: Vec<Number>,
    numbers: Vec<Number>,
}

impl Before {
    pub fn of(world: &mut World) -> Self {
        Self {
            view: world.state.view(),
            queue: world.queue.clone(),
            numbers: numbers(world),
        }
    }
}

/// The law that the step broke, in plain words.
pub fn broken_by(step: Step, came: Came, before: &Before, world: &mut World) -> Option<String> {
    let view = world.state.view();
    capacity(step, before, world, &view)
        .or_else(|| uniqueness(came, before, world, &view))
        .or_else(|| order(step, before, world, &view))
        .or_else(|| lost(came, world, &view))
        .or_else(|| slot(world, &view))
        .or_else(|| rights(world, &view))
        .or_else(|| parked(world, &view))
        .or_else(|| returns(before, world, &view))
}

/// Called, active and parked are never more than the rights.
fn rights(world: &World, view: &View) -> Option<String> {
    let most = world.size.rights? - u32::from(world.broken == Broken::Rights);
    let is = figures(view)?;
    let held = is.called + is.inside + is.parked;
    (held > most).then(|| format!("rights: {held} are called, active or parked, with {most} rights"))
}

/// Nobody is parked of whom the shop had a request within `idle_after`. What it had in an entry that was lost with its end is
/// known to no log.
fn parked(world: &World, view: &View) -> Option<String> {
    let late = if world.broken == Broken::Parked { 5_000 } else { 0 };
    let people = world.people.iter().filter(|_| !world.lost);
    for (person, idle_at) in people.filter_map(|person| Some((person, person.idle_at()? + late))) {
        let stand = person.pass.map(|pass| stands(view, pass.number));
        if world.wall < idle_at && matches!(stand, Some(Standing::Inside(inside)) if inside.parked) {
            let ago = idle_at - world.wall;
            return Some(format!(
                "parked: {} is parked {ago} ms before they are idle",
                person.name
            ));
        }
    }
    None
}

/// Slots go to those who asked in the order in which they did.
fn returns(before: &Before, world: &mut World, view: &View) -> Option<String> {
    world.size.rights?;
    let is = |view: &View, number: Number, parked: bool| matches!(stands(view, number), Standing::Inside(inside) if inside.parked == parked);
    let mut queue = Vec::new();
    if world.broken == Broken::Returns {
        queue.extend(before.numbers.iter().filter(|number| is(&before.view, **number, true)));
        queue.sort_unstable();
    }
    queue.extend(&before.queue);
    let mut waits = None;
    let mut law = None;
    for number in queue {
        if is(view, number, true) {
            waits = waits.or(Some(number));
        } else if let (Some(first), true) = (waits, is(view, number, false) && is(&before.view, number, true)) {
            law = Some(format!(
                "returns: number {} comes back before {}, who asked before",
                number.n, first.n
            ));
        }
    }
    world.queue.retain(|number| is(view, *number, true));
    law
}

/// Called and inside are never more than the slots, but for sessions that were lost or cut off and came back; and no call is
/// made while they are.
fn capacity(step: Step, before: &Before, world: &World, view: &View) -> Option<String> {
    let (was, is) = (figures(&before.view)?, figures(view)?);
    let held = is.called + is.inside;
    let Faults { cut, replay, .. } = world.left;
    let all = world.size.faults;
    let may_exceed = world.lost || cut < all.cut || replay < all.replay;
    if held > world.size.slots + if may_exceed { is.excess } else { 0 } {
        return Some(format!(
            "capacity: {held} are called or inside, with {} slots",
            world.size.slots
        ));
    }
    let same_log = before.view.position.epoch == view.position.epoch;
    if same_log && is.calls > was.calls && held > world.size.slots && !matches!(step.act, Act::Time(_)) {
        return Some(format!("capacity: a call was made while {held} are called or inside"));
    }
    None
}

/// No number is given twice, no two visitors have one, and each that is called or inside holds a slot of its own.
fn uniqueness(came: Came, before: &Before, world: &World, view: &View) -> Option<String> {
    if let Some(number) = came.numbered.filter(|number| before.numbers.contains(number)) {
        return Some(format!("uniqueness: number {} is given a second time", number.n));
    }
    let mut own: Vec<Number> = world.people.iter().filter_map(Person::number).collect();
    let olds = world.people.iter().filter_map(|person| Some(person.old?.0));
    let all = own.len();
    own.sort_unstable();
    own.dedup();
    if own.len() < all || olds.into_iter().any(|old| own.contains(&old)) {
        return Some("uniqueness: two visitors have one number".to_owned());
    }
    let held = own.iter().filter(|number| {
        let standing = stands(view, **number);
        matches!(standing, Standing::Called(_) | Standing::Inside(_))
    });
    let rights = |is: Figures| is.called + is.inside + is.parked;
    let (held, counted) = (held.count(), figures(view).map_or(0, rights));
    (held > usize::try_from(counted).unwrap())
        .then(|| format!("uniqueness: {held} are called or inside, and {counted} slots are counted for them"))
}

/// Nobody is called before a present visitor who stands ahead.
fn order(step: Step, before: &Before, world: &World, view: &View) -> Option<String> {
    if step.fate == Fate::Lost || step.act == Act::LoseEverything {
        return None;
    }
    let all = numbers(world);
    let is_called = |view: &View, number: Number| matches!(stands(view, number), Standing::Called(_));
    let new = all
        .iter()
        .filter(|number| is_called(view, **number) && !is_called(&before.view, **number));
    for called in new {
        let present = |number: &&Number| matches!(stands(view, **number), Standing::Waiting(waits) if waits.present);
        let ahead = |number: &Number| match world.broken {
            Broken::Order => place(view, *number) > place(view, *called),
            _ => place(view, *number) < place(view, *called),
        };
        if let Some(passed) = all.iter().filter(present).find(|number| ahead(number)) {
            return Some(format!(
                "order: number {} is called before {}, who is present",
                called.n, passed.n
            ));
        }
    }
    None
}

/// Who has joined, and is never away for half of `grace`, is in line, called or inside; present, if they have asked since.
fn lost(came: Came, world: &World, view: &View) -> Option<String> {
    if let Some(name) = came.thrown_out {
        return Some(format!(
            "nobody lost: {name} was never away, and is told that the place is lost"
        ));
    }
    for person in world.people.iter().filter(|person| person.steady) {
        let Some(Ticket::Numbered(number)) = person.ticket else {
            continue;
        };
        match stands(view, number) {
            // Present from the first time that they ask; before that, for `firm_within`.
            Standing::Waiting(waits) if waits.present || !person.asked => {}
            Standing::Called(_) | Standing::Inside(_) => {}
            // Nobody has told the new log of them yet.
            Standing::Unknown if world.lost => {}
            other => return Some(format!("nobody lost: {} was never away, and is {other:?}", person.name)),
        }
    }
    None
}

/// A pass that has not run out lets its visitor in, who holds a slot unless a log was lost.
fn slot(world: &World, view: &View) -> Option<String> {
    let inside = world.people.iter().filter_map(|person| Some((person, person.pass?)));
    for (person, pass) in inside.filter(|(_, pass)| pass.until > world.wall) {
        let name = person.name;
        let standing = stands(view, pass.number);
        let holds = matches!(standing, Standing::Inside(_));
        let honoured = world.honours(&pass, view).is_some();
        // The room ends the session as of the request before, which it has heard of.
        let unheard = pass.unheard && standing == Standing::Ended;
        // With active slots a session is longer than `late_window`, which steps of the grid bound: a call that is known again
        // only by its pass may be late by then.
        let late = world.lost && world.size.rights.is_some() && standing == Standing::Late;
        // Nothing tells a gate that is cut off without `outage_extension` of a claim that the log has lost. The pass counts again
        // once the store can be reached.
        let off = world.lost && world.cut.is_some() && matches!(standing, Standing::Called(_));
        // The log has lost the claim and called the visitor again. The pass is of the call before, and the ticket comes in.
        let is_later = matches!(standing, Standing::Called(called) if called.call.count > 1);
        let again = world.lost && is_later && person.ticket.is_some();
        if !(holds || unheard || late || off || again || world.lost && honoured) {
            return Some(format!("nobody lost: {name} has a good pass, and is {standing:?}"));
        }
    }
    None
}

fn figures(view: &View) -> Option<Figures> {
    Some(view.rooms.get(&room())?.line(&LineName::ONLY)?.figures)
}

/// All numbers that any visitor has, or had.
fn numbers(world: &World) -> Vec<Number> {
    let own = world.people.iter().filter_map(Person::number);
    let olds = world.people.iter().filter_map(|person| Some(person.old?.0));
    own.chain(olds).collect()
}

//! Keeps sessions alive while something of theirs is under way, and closes the sockets of those that are over.

use std::sync::Weak;
use std::time::Duration;

use crate::pages::LOOKS_WITHIN;
use crate::replica::Note;
use crate::room::{Reported, Standing, Visitor};

use super::gate::Gate;
use super::in_flight::{Held, Right};
use super::sessions;
use super::shared::Shared;
use crate::gate::meter::Seen;
use crate::gate::seat::proof;
use crate::gate::verdict::outage;
use crate::gate::{Core, meter};
use crate::time;

/// How often a core looks; far below a tenth of the shortest session.
const EVERY: Duration = Duration::from_secs(1);

/// Looks after one core's sessions until the core is gone.
pub async fn keep_alive(core: Weak<Core>, index: usize) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(gate) = core.upgrade().map(|core| core.gate()) else {
            return;
        };
        let shared = &gate.shared;
        gate.in_flight.held().iter().for_each(|held| look_after(shared, held));
        if index == 0 {
            // The limits are shared by all cores.
            shared.limits.forget_idle();
            outage::settle(shared);
            proof::show_prices(shared);
            if let Some(meter) = &shared.meter {
                meter::log_changes(meter, &shared.replica.load());
                if let Some(span_ms) = meter.due(time::uptime()).filter(|_| !gate.upstreams.is_empty()) {
                    let reports = reports(&gate, span_ms);
                    if !reports.is_empty() {
                        shared.replica.report(reports);
                    }
                }
            }
        }
    }
}

/// The figures of every room with load control, each with those of its upstream.
fn reports(gate: &Gate, span_ms: u32) -> Vec<Reported> {
    let both = gate.upstreams.iter().zip(&gate.shared.upstreams);
    let seen = both.map(|(way, state)| Seen {
        requests: state.take_sent(),
        outlook: way.outlook(),
    });
    let seen: Vec<Seen> = seen.collect();
    let metered = gate.shared.rules.iter().filter_map(|rules| {
        let (room, meter) = (&rules.room, rules.meter.as_deref()?);
        let report = meter::report(meter, span_ms, *seen.get(room.upstream)?);
        Some((room.name.clone(), report))
    });
    metered.collect()
}

/// Looks for the event streams of visitors far back in line, of all cores, until the core is gone.
pub async fn look_out(core: Weak<Core>) {
    let mut ticks = tokio::time::interval(LOOKS_WITHIN);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(gate) = core.upgrade().map(|core| core.gate()) else {
            return;
        };
        let views = gate.shared.replica.subscribe();
        gate.shared.feeds.look_out(&views, || gate.shared.outage()).await;
    }
}

fn look_after(shared: &Shared, held: &Held) {
    let view = shared.replica.load();
    match &held.by {
        Right::Session(visitor) => match view.standing(visitor, view.clock) {
            standing if sessions::ends(shared, visitor, standing) => held.cancel.cancel(),
            standing if !held.counts && lacks_slot(shared, visitor, standing) => held.cancel.cancel(),
            // It is no use of its session.
            _ if !held.counts => {}
            // The log was lost, and its use brings the session back.
            Standing::Unknown if has_active_slots(shared, visitor) => {
                shared.replica.note((**visitor).clone(), Note::Return);
            }
            Standing::Inside(_) if shared.replica.cut_off().is_some() => {
                shared.replica.note((**visitor).clone(), Note::Reopen);
            }
            Standing::Inside(inside) if inside.renewal_due(view.now()) => {
                shared.replica.note((**visitor).clone(), Note::Renew);
            }
            _ => {}
        },
        Right::Open(room, line) if sessions::is_shut(shared, room, line) => held.cancel.cancel(),
        Right::LetPast(room, line) if shared.replica.cut_off().is_none() && sessions::is_shut(shared, room, line) => {
            held.cancel.cancel();
        }
        Right::Open(..) | Right::LetPast(..) => {}
    }
}

/// The session is parked, so what keeps no slot is not to go on. A room that is off parks nobody.
fn lacks_slot(shared: &Shared, visitor: &Visitor, standing: Standing) -> bool {
    let view = shared.replica.load();
    let is_cut_off = shared.replica.cut_off().is_some();
    let is_parked = match standing {
        Standing::Inside(inside) => inside.must_ask(if is_cut_off { view.clock } else { view.now() }),
        Standing::Unknown => has_active_slots(shared, visitor),
        _ => false,
    };
    is_parked && !shared.is_off(&visitor.room)
}

fn has_active_slots(shared: &Shared, visitor: &Visitor) -> bool {
    let at = shared.room_named(visitor.room.as_str());
    at.is_some_and(|at| shared.rules[at].room.active.is_some())
}

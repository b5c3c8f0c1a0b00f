//! Entries in words.

use super::codes;
use crate::charts::whole_in_words;
use crate::dates::rfc3339;
use crate::draw::ARRIVAL;
use crate::room::{
    Batch, CallOrder, Chain, Change, Controller, Drawing, GateId, LaneId, LoadControl, Mode, Number, Outside,
    Overrides, Section, Settings, Who,
};

/// A gate's id, as everywhere.
#[must_use]
pub fn gate(gate: GateId) -> String {
    format!("{:016x}", gate.0)
}

/// The effect of an operator's change; `was` are the configured settings before.
#[must_use]
pub fn change(change: &Change, was: Option<&Settings>) -> String {
    match change {
        Change::Configure(settings) => configured(settings, was),
        Change::Override(overrides) => overridden(overrides),
        Change::Reset => "reset: a new edition, every session ends".to_owned(),
        Change::Edition(edition) => format!("edition {}, which the log had lost, proved by a token", edition.0),
        Change::Windows { windows, .. } => {
            let each = windows.iter().map(|window| format!("opens {}", rfc3339(window.opens)));
            format!("the next of its schedule: {}", each.collect::<Vec<_>>().join(", "))
        }
        Change::Commit {
            beacon,
            forms,
            commitment,
            ..
        } => {
            let beacon = beacon
                .as_ref()
                .map_or_else(|| "no beacon".to_owned(), |name| format!("beacon {name:?}"));
            let opens = rfc3339(forms.opens);
            format!("promises a draw at the opening of {opens}: commitment {commitment}, {beacon}")
        }
        Change::Draw { secret, value, .. } => match value {
            Some(value) => format!("draws: secret {secret}, the beacon's value {value:?}"),
            None => format!("draws: secret {secret}"),
        },
        Change::Sale { sale, .. } => match (&sale.commitment, &sale.made) {
            (Some(commitment), Some(_)) => {
                format!("goes on with the draw of commitment {}, made before", commitment.hash)
            }
            (Some(commitment), None) => format!("goes on with the draw of commitment {}", commitment.hash),
            (None, _) => "goes on with a draw".to_owned(),
        },
        Change::Call(order) => called(order),
        Change::Evict(eviction) => format!(
            "takes out number {}/{} of lane {}",
            eviction.number.epoch.0, eviction.number.n, eviction.lane.0
        ),
        Change::Add(addition) => format!("adds the room: {}", configured(&addition.settings, None)),
        Change::Rehearse(order) => {
            let forward = if order.forward { ", forwarded to the shop" } else { "" };
            let (size, by) = (order.size, &order.by.name);
            format!(
                "begins a rehearsal {} of {size} virtual visitors by {by:?}{forward}",
                order.id
            )
        }
        Change::Renew(id) => format!("the rehearsal {id} goes on"),
        Change::EndRehearsal(_) => "ends the rehearsal: every virtual visitor is gone".to_owned(),
        Change::EndHealing => "ends the wait for visitors of a lost log: the room calls again".to_owned(),
        Change::Load(figures) => load(figures.as_ref()),
        Change::Remove => "the room is no longer configured".to_owned(),
    }
}

fn load_control(load_control: Option<&LoadControl>) -> String {
    let Some(load_control) = load_control else {
        return "none".to_owned();
    };
    let by = match load_control.by {
        Controller::Linear(linear) => format!(
            "linear, {} down to {} at {} to {} requests a second",
            linear.most, linear.least, linear.from, linear.until
        ),
        Controller::Adaptive(bounds) => format!(
            "adaptive, 95 of 100 within {} ms, {} of 1000 may fail",
            bounds.p95_ms, bounds.errors_permille
        ),
    };
    format!("{by}, figures hold for {}", whole_in_words(load_control.ttl_ms / 1_000))
}

fn load(figures: Option<&Outside>) -> String {
    let Some(figures) = figures else {
        return "gives no figures of the shop any more".to_owned();
    };
    let p95 = figures.p95_ms.map(|ms| format!(", 95 of 100 within {ms} ms"));
    let errors = figures.errors_permille.map(|errors| format!(", {errors} of 1000 fail"));
    let (p95, errors) = (p95.unwrap_or_default(), errors.unwrap_or_default());
    format!(
        "says of the shop: {} requests a second{p95}{errors}; for {}",
        figures.requests_per_second,
        whole_in_words(u64::from(figures.ttl_ms) / 1_000)
    )
}

fn called(order: &CallOrder) -> String {
    let line = if order.line.is_only() {
        String::new()
    } else {
        format!(" of line {:?}", order.line.as_str())
    };
    let lane = order
        .lane
        .map_or_else(String::new, |lane| format!(" of lane {}", lane.0));
    let beyond = if order.beyond { ", beyond the capacity" } else { "" };
    format!("calls {} now{line}{lane}{beyond}", order.count)
}

fn configured(settings: &Settings, was: Option<&Settings>) -> String {
    let now = values(settings);
    let before = was.map(values);
    let changed = |(i, (name, value)): (usize, &(&str, String))| match &before {
        Some(before) if before[i].1 == *value => None,
        Some(before) => Some(format!("{name} {value} (was {})", before[i].1)),
        None => Some(format!("{name} {value}")),
    };
    let parts: Vec<String> = now.iter().enumerate().filter_map(changed).collect();
    match (parts.is_empty(), was.is_some()) {
        (true, _) => "configured as before".to_owned(),
        (false, true) => format!("configured: {}", parts.join(", ")),
        (false, false) => format!("configured for the first time: {}", parts.join(", ")),
    }
}

/// By the names of the configuration.
fn values(settings: &Settings) -> Vec<(&'static str, String)> {
    let duration = |ms: u64| {
        if ms.is_multiple_of(1_000) {
            whole_in_words(ms / 1_000)
        } else {
            format!("{ms} ms")
        }
    };
    let named = |(at, weight): (usize, &u16)| match settings.lanes.get(at) {
        Some(lane) if lane.out => format!("{} {weight} (taken out)", lane.name),
        Some(lane) => format!("{} {weight}", lane.name),
        None => weight.to_string(),
    };
    let weights: Vec<String> = settings.lane_weights.iter().enumerate().map(named).collect();
    vec![
        ("mode", mode(settings.mode).to_owned()),
        ("total_active_users", settings.capacity.to_string()),
        ("new_users_per_minute", rate(settings.rate_per_minute)),
        ("call_every", duration(settings.call_every_ms)),
        ("session_duration", duration(settings.session_ms)),
        ("session_max", duration(settings.session_max_ms)),
        ("claim_deadline", duration(settings.claim_deadline_ms)),
        ("grace", duration(settings.grace_ms)),
        ("firm_within", duration(settings.firm_within_ms)),
        ("late_window", duration(settings.late_window_ms)),
        ("max_lines", settings.max_lines.to_string()),
        ("lane weights", weights.join(":")),
        ("load_control", load_control(settings.load_control.as_ref())),
        (
            "schedule",
            settings
                .schedule
                .as_ref()
                .map_or_else(|| "none".to_owned(), |schedule| schedule.rule.clone()),
        ),
        (
            "queueing_method",
            match &settings.draw {
                None => ARRIVAL.to_owned(),
                Some(Drawing { order, beacon: None }) => format!("{}, no beacon", order.name()),
                Some(Drawing {
                    order,
                    beacon: Some(beacon),
                }) => format!("{}, beacon {beacon:?}", order.name()),
            },
        ),
        (
            "stock",
            settings
                .stock
                .map_or_else(|| "none".to_owned(), |stock| stock.to_string()),
        ),
    ]
}

/// The operator and the reason.
fn by(who: &Who) -> String {
    match who.reason.as_str() {
        "" => format!(", by {}", who.name),
        reason => format!(", by {}: {reason:?}", who.name),
    }
}

fn overridden(overrides: &Overrides) -> String {
    let parts: Vec<String> = [
        overrides.mode.map(|value| format!("mode {}", mode(value))),
        overrides.capacity.map(|value| format!("total_active_users {value}")),
        overrides
            .rate_per_minute
            .map(|value| format!("new_users_per_minute {}", rate(value))),
        overrides.message.as_ref().map(|message| format!("message {message:?}")),
        (!overrides.messages.is_empty()).then(|| format!("message {:?}", overrides.messages)),
        overrides
            .schedule
            .as_ref()
            .map(|schedule| format!("schedule {}", schedule.rule)),
        overrides.stock.map(|stock| format!("stock {stock}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() {
        "as configured, nothing overridden".to_owned()
    } else {
        format!("overridden: {}", parts.join(", "))
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Auto => "auto",
        Mode::Hold => "hold",
        Mode::Closed => "closed",
        Mode::Off => "off",
    }
}

fn rate(rate: Option<u32>) -> String {
    rate.map_or_else(|| "unlimited".to_owned(), |rate| rate.to_string())
}

/// All that a batch says, in the order in which it is applied; `only` leaves out other rooms. Empty for a tick.
#[must_use]
pub fn batch(batch: &Batch, only: Option<&str>) -> Vec<String> {
    let mut said = among_gates(batch);
    let mine = |room: &str| only.is_none_or(|only| only == room);
    for changed in batch.rooms.iter().filter(|changed| mine(changed.room.as_str())) {
        let what = change(&changed.change, None);
        let by = changed.who.as_ref().map_or_else(String::new, by);
        said.push(format!("{} (revision {}{by}): {what}", changed.room, changed.revision));
    }
    for section in batch.sections.iter().filter(|section| mine(section.room.as_str())) {
        let place = if section.line.is_only() {
            section.room.to_string()
        } else {
            format!("{}/{}", section.room, section.line)
        };
        said.push(format!("{place}: {}", items(section).join(", ")));
    }
    for redeem in batch.redeems.iter().filter(|redeem| mine(redeem.room.as_str())) {
        said.push(format!("{}: {}", redeem.room, codes::said(redeem)));
    }
    for brought in batch.spent_codes.iter().filter(|brought| mine(brought.room.as_str())) {
        said.push(format!("{}: {} codes were spent", brought.room, brought.spent.len()));
    }
    said
}

fn among_gates(batch: &Batch) -> Vec<String> {
    let flag = |on: bool, word: &str| on.then(|| word.to_owned());
    let parts = [
        flag(batch.hello, "hello"),
        batch.spoke.as_ref().map(|spoke| {
            let gates = spoke.roster.len();
            format!("has read up to {}, with {gates} on the roster", spoke.position)
        }),
        batch
            .root
            .map(|hash| format!("the log starts from state {}", short(&hash))),
        batch.vote.map(|vote| {
            let again = if vote.again { ", worked out anew" } else { "" };
            format!("state {} at {}{again}", short(&vote.hash), vote.sequence)
        }),
        batch.saved.map(|sequence| format!("has saved the state at {sequence}")),
        batch
            .raise
            .map(|version| format!("raises the rooms to version {version}")),
        batch.adopt.map(|adopt| {
            let whole = if adopt.whole { ", all of it" } else { "" };
            let done = if adopt.done { ", the last that is brought" } else { "" };
            format!(
                "brings back epoch {} up to {}{whole}{done}",
                adopt.epoch.0, adopt.sequence
            )
        }),
        flag(batch.goodbye, "goodbye"),
    ];
    parts.into_iter().flatten().collect()
}

fn items(section: &Section) -> Vec<String> {
    let claims = section.claims.iter().map(|claim| (claim.lane, claim.number));
    let ends = section.ends.iter().map(|end| (end.lane, end.number));
    let completions = section.completions.iter().map(|done| (done.lane, done.number));
    let holds = section.holds.iter().map(|hold| (hold.lane, hold.number));
    let named = [
        ("leave", section.leaves.clone()),
        ("end", ends.collect()),
        ("complete", completions.collect()),
        ("claim", claims.collect()),
        ("let in again", section.reopens.clone()),
        ("renew", section.renewals.clone()),
        ("keep the slot", holds.collect()),
        ("ask to return", section.returns.clone()),
        ("check in", section.marks.clone()),
        ("used up", section.taken.clone()),
        ("called in vain", section.spent.clone()),
        ("passed by below", section.voids.clone()),
    ];
    let mut said: Vec<String> = named
        .iter()
        .filter(|(_, who)| !who.is_empty())
        .map(|(what, who)| format!("{what} {}", numbers(who)))
        .collect();
    for (count, why) in [
        (section.bypasses, "in an outage"),
        (section.networks, "by their network"),
    ] {
        if count > 0 {
            said.push(format!("{count} let past {why}"));
        }
    }
    for (lane, count) in &section.joins {
        said.push(format!("{count} join{}", of_lane(*lane)));
    }
    if !section.pending_joins.is_empty() {
        said.push(format!("{} join after an outage", section.pending_joins.len()));
    }
    if !section.tagged.is_empty() {
        said.push(format!("{} join by account", section.tagged.len()));
    }
    if !section.bound.is_empty() {
        said.push(format!("{} belong to accounts", section.bound.len()));
    }
    said
}

/// The first few, and how many more.
fn numbers(who: &[(LaneId, Number)]) -> String {
    let first: Vec<String> = who
        .iter()
        .take(SHOWN)
        .map(|(lane, number)| format!("{}{}", number.n, of_lane(*lane)))
        .collect();
    let more = who.len().saturating_sub(SHOWN);
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{rest}", first.join(" "))
}

fn of_lane(lane: LaneId) -> String {
    if lane.0 == 0 {
        String::new()
    } else {
        format!(" (lane {})", lane.0)
    }
}

fn short(hash: &[u8; 32]) -> String {
    Chain(*hash).to_string()[..8].to_owned()
}

/// Numbers shown of each kind.
const SHOWN: usize = 5;

#[cfg(test)]
mod tests;

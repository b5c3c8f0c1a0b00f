//! Rooms, lines and visitors as API types.

use crate::admin::api;
use crate::admin::patch::keys::{mode_name, overridden};
use crate::dates::rfc3339;
use crate::room::{
    Called, Clock, Controller, EstimatesHeld, Figures, Inside, LaneId, LineView, LoadView, Phase, QUARTERS, RoomName,
    RoomView, Stage, Standing, Visitor, Waiting, Wall,
};
use crate::token::Reference;

/// One room with the sums over its lines; `configured_message` is shown where no operator has set another.
#[must_use]
pub fn room(name: &RoomName, view: &RoomView, configured_message: Option<&str>, now: Clock) -> api::Room {
    let message = view.overrides.message.as_deref().or(configured_message);
    let only = view.lines.values().next().filter(|_| view.lines.len() == 1);
    api::Room {
        name: name.to_string(),
        from: String::new(),
        upstream: None,
        addition: None,
        mode: mode_name(view.mode).to_owned(),
        schedule: view.stage.as_ref().map(schedule),
        total_active_users: view.settings.capacity,
        new_users_per_minute: view.settings.rate_per_minute,
        load_control: view.load.as_ref().map(|load| load_control(view, load, now)),
        message: message.filter(|text| !text.is_empty()).map(ToOwned::to_owned),
        messages: view.overrides.messages.clone(),
        overridden: overridden(&view.overrides),
        revision: view.revision,
        edition: view.edition.0,
        let_past: false,
        opening: false,
        healing_secs: None,
        lines: view.lines.len() as u64,
        figures: total(view),
        rehearsal: rehearsal(view),
        lanes: lanes_of(view),
        estimate: only
            .and_then(|line| line.estimate(LaneId::default(), line.waiting(LaneId::default()), now))
            .map(|estimate| api::Estimate {
                low: estimate.low_secs,
                high: estimate.high_secs,
            }),
        estimates_held: told(view).map(EstimatesHeld::lately_percent),
        last_call: view
            .lines
            .values()
            .filter_map(|line| line.last_call())
            .max()
            .map(rfc3339),
    }
}

/// What came of the told intervals of all lines, by quarter of the line from the front.
#[must_use]
pub fn told(view: &RoomView) -> [EstimatesHeld; QUARTERS] {
    let lines = view.lines.values().map(|line| line.told());
    lines.fold(Default::default(), |mut sums, told| {
        for (sum, quarter) in sums.iter_mut().zip(told) {
            *sum = sum.plus(quarter);
        }
        sums
    })
}

fn load_control(view: &RoomView, load: &LoadView, now: Clock) -> api::LoadControl {
    let (until, who) = load.outside.clone().unzip();
    api::LoadControl {
        by: match view.settings.load_control.map(|load_control| load_control.by) {
            Some(Controller::Linear(_)) => "linear".to_owned(),
            _ => "adaptive".to_owned(),
        },
        why: load.why.as_str().to_owned(),
        since: rfc3339(load.since),
        calls_milli: load.step_milli,
        arrivals_permille: load.share_permille,
        gates: load.gates as u64,
        shop: load.seen.map(|seen| api::Shop {
            requests_per_second: seen.requests_milli / 1_000,
            p95_ms: seen.p95_us.map(|us| us / 1_000),
            errors_permille: seen.errors_permille,
            in_flight: seen.in_flight,
            hanging: seen.hanging,
        }),
        given_secs: until.map(|until| until.since(now) / 1_000),
        given_by: who.flatten().map(|who| who.name),
    }
}

fn schedule(stage: &Stage) -> api::Schedule {
    let window = &stage.window;
    // A sale that only closes has been open ever since.
    let date = |at: Wall| (at > Wall(0)).then(|| rfc3339(at));
    api::Schedule {
        phase: phase_name(stage.phase).to_owned(),
        next_change: stage.next.map(rfc3339),
        prequeue_from: (window.begins < window.opens).then(|| rfc3339(window.begins)),
        opens_at: date(window.opens),
        closes_at: window.closes.map(rfc3339),
        results_at: window.results.map(rfc3339),
    }
}

/// The phase's name, in the API, in metrics and in a terminal.
#[must_use]
pub fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Early => "early",
        Phase::Prequeue => "prequeue",
        Phase::Open => "open",
        Phase::Closed => "closed",
    }
}

/// The sums over a room's lines. A room without a line yet has the capacity that its first will have.
#[must_use]
pub fn total(view: &RoomView) -> api::Figures {
    let mut total = api::Figures::default();
    for line in view.lines.values() {
        add(&mut total, &line.figures);
    }
    if view.lines.is_empty() {
        total.capacity = view.settings.capacity.into();
        total.max_sessions = view.settings.most_rights().map(u64::from);
        total.stock = view.settings.stock.map(u64::from);
    }
    total
}

/// The rehearsal of a room, with its visitors' counts in all lines.
#[must_use]
pub fn rehearsal(view: &RoomView) -> Option<api::Rehearsal> {
    let under_way = view.rehearsal.as_ref()?;
    let order = &under_way.order;
    let mut told = api::Rehearsal {
        id: order.id.to_string(),
        by: order.by.name.clone(),
        reason: Some(order.by.reason.clone()).filter(|reason| !reason.is_empty()),
        since: rfc3339(under_way.since),
        until: rfc3339(under_way.ends_at()),
        visitors: order.size,
        joined: under_way.joined,
        forward: order.forward,
        ..api::Rehearsal::default()
    };
    for line in view.lines.values() {
        let virtuals = line.rehearsed();
        told.waiting += virtuals.waiting;
        told.called += virtuals.called;
        told.sessions += virtuals.inside;
        told.no_shows += virtuals.no_shows;
    }
    Some(told)
}

/// One line of a room.
#[must_use]
pub fn line(name: &str, view: &LineView) -> api::Line {
    api::Line {
        line: name.to_owned(),
        figures: figures(&view.figures),
        lanes: lanes(view),
        last_call: view.last_call().map(rfc3339),
    }
}

/// The sums over a room's lines, lane by lane; none where it has but one. Counting costs a look at every called visitor and
/// session.
#[must_use]
pub fn lanes_of(view: &RoomView) -> Vec<api::Lane> {
    let named = view.settings.lanes.iter().zip(&view.settings.lane_weights);
    let mut sums: Vec<api::Lane> = named
        .map(|(lane, weight)| api::Lane {
            name: lane.name.clone(),
            weight: *weight,
            out: lane.out,
            ..api::Lane::default()
        })
        .collect();
    if sums.len() < 2 {
        return Vec::new();
    }
    for line in view.lines.values() {
        for (sum, lane) in sums.iter_mut().zip(line.lane_figures()) {
            sum.waiting = sum.waiting.saturating_add(lane.waiting);
            sum.called = sum.called.saturating_add(lane.called);
            sum.sessions = sum.sessions.saturating_add(lane.inside);
            sum.calls = sum.calls.saturating_add(lane.calls);
        }
    }
    // A removed lane is shown until it is empty.
    sums.retain(|lane| !lane.out || lane.waiting + lane.called + lane.sessions > 0);
    sums
}

fn lanes(line: &LineView) -> Vec<api::Lane> {
    let lanes: Vec<api::Lane> = line
        .lane_figures()
        .map(|lane| api::Lane {
            name: lane.name.to_owned(),
            weight: lane.weight,
            out: lane.out,
            waiting: lane.waiting,
            called: lane.called,
            sessions: lane.inside,
            calls: lane.calls,
        })
        .collect();
    if lanes.len() < 2 { Vec::new() } else { lanes }
}

fn figures(figures: &Figures) -> api::Figures {
    let mut sum = api::Figures::default();
    add(&mut sum, figures);
    sum
}

fn add(sum: &mut api::Figures, line: &Figures) {
    // The room itself counts sessions that it opened again; a lowered capacity shows in the difference.
    let above = (line.called.saturating_add(line.inside)).saturating_sub(line.capacity);
    let stock = line.stock.map(u64::from);
    let most = line.max_sessions.map(u64::from);
    sum.max_sessions = sum
        .max_sessions
        .or(most)
        .map(|_| sum.max_sessions.unwrap_or(0) + most.unwrap_or(0));
    let rights = u64::from(line.called) + u64::from(line.inside) + u64::from(line.parked);
    sum.stock = sum.stock.or(stock).map(|_| sum.stock.unwrap_or(0) + stock.unwrap_or(0));
    for (sum, count) in [
        (&mut sum.waiting, line.waiting),
        (&mut sum.called, line.called.into()),
        (&mut sum.sessions, line.inside.into()),
        (&mut sum.parked, line.parked.into()),
        (&mut sum.rights, rights),
        (&mut sum.capacity, line.capacity.into()),
        (&mut sum.excess, line.excess.max(above).into()),
        (&mut sum.joins, line.joins),
        (&mut sum.calls, line.calls),
        (&mut sum.claims, line.claims),
        (&mut sum.no_shows, line.no_shows),
        (&mut sum.ends, line.ends),
        (&mut sum.left, line.left),
        (&mut sum.bypasses, line.bypasses),
        (&mut sum.completed, line.completed.into()),
        (&mut sum.unfinished, line.unfinished.into()),
    ] {
        *sum = sum.saturating_add(count);
    }
}

/// One visitor where they stand at `now`.
#[must_use]
pub fn visitor(visitor: &Visitor, standing: Standing, now: Clock) -> api::Visitor {
    let told = api::Visitor {
        reference: Reference::of(visitor).to_string(),
        room: visitor.room.to_string(),
        line: visitor.line.to_string(),
        lane: visitor.lane.0,
        state: state(standing).to_owned(),
        ..api::Visitor::default()
    };
    match standing {
        Standing::Waiting(place) => waiting(told, place),
        Standing::Called(call) => called(told, call, now),
        Standing::Inside(session) => inside(told, session, now),
        Standing::Late | Standing::Ended | Standing::Unknown => told,
    }
}

/// Its word in the API.
pub fn state(standing: Standing) -> &'static str {
    match standing {
        Standing::Waiting(_) => "waiting",
        Standing::Called(_) => "called",
        Standing::Inside(_) => "inside",
        Standing::Late => "late",
        Standing::Ended => "ended",
        Standing::Unknown => "none",
    }
}

fn waiting(told: api::Visitor, place: Waiting) -> api::Visitor {
    api::Visitor {
        position: Some(place.ahead.saturating_add(1)),
        present: Some(place.present),
        missed_at: place.missed_at.map(rfc3339),
        ..told
    }
}

fn called(told: api::Visitor, call: Called, now: Clock) -> api::Visitor {
    api::Visitor {
        called_at: Some(rfc3339(call.called_at)),
        claim_within_secs: Some(call.deadline.since(now) / 1_000),
        ..told
    }
}

fn inside(told: api::Visitor, session: Inside, now: Clock) -> api::Visitor {
    api::Visitor {
        inside_since: Some(rfc3339(session.since)),
        expires_in_secs: Some(session.expires.since(now) / 1_000),
        ends_within_secs: Some(session.ends_by.since(now) / 1_000),
        parked: session.parked,
        ..told
    }
}

//! Rooms, lines and visitors as text for a terminal.

use std::fmt::Write as _;

use crate::admin::api;
use crate::cli::output::{Gives, columns, duration, fitted, plain, range, time, time_of, wrapped};
use crate::cli::remote::gates;

/// All rooms in one table, and under it all that is unusual.
pub fn rooms(rooms: &api::Rooms) -> String {
    rooms_in(rooms, columns())
}

/// As [`rooms`], for a terminal of so many columns.
pub fn rooms_in(rooms: &api::Rooms, columns: usize) -> String {
    let mut text = rooms_table(&rooms.rooms, columns);
    let notes: String = rooms.rooms.iter().map(notes).collect();
    if !notes.is_empty() {
        let _ = write!(text, "\n{}", wrapped(&notes, columns));
    }
    let troubles = gates::troubles(&rooms.gate);
    if !troubles.is_empty() {
        let _ = write!(text, "\n{}", wrapped(&troubles, columns));
    }
    text
}

/// One room.
pub fn room(room: &api::Room) -> String {
    rooms_table(std::slice::from_ref(room), columns()) + &wrapped(&notes(room), columns())
}

fn rooms_table(rooms: &[api::Room], columns: usize) -> String {
    let head = [
        "ROOM",
        "MODE",
        "WAITING",
        "CALLED",
        "INSIDE",
        "CAPACITY",
        "RATE",
        "WAIT",
        "NO-SHOWS",
        "LINES",
        "LAST CALL",
        "FROM",
    ];
    let row = |room: &api::Room| {
        vec![
            plain(&room.name),
            plain(&mode(room)),
            room.figures.waiting.to_string(),
            room.figures.called.to_string(),
            room.figures.sessions.to_string(),
            room.figures.capacity.to_string(),
            room.new_users_per_minute
                .map_or_else(|| "none".to_owned(), |rate| format!("{rate}/min")),
            room.estimate.map_or_else(|| "-".to_owned(), wait),
            room.figures.no_shows.to_string(),
            room.lines.to_string(),
            time_of(room.last_call.as_deref()),
            plain(&room.from),
        ]
    };
    // docs/guides/operations.md says this order.
    let gives = Gives {
        drops: &["FROM", "LINES", "NO-SHOWS", "RATE", "LAST CALL"],
        cuts: &["ROOM", "MODE"],
    };
    fitted(&head, &rooms.iter().map(row).collect::<Vec<_>>(), columns, &gives)
}

/// The mode, and the stricter one by the schedule.
fn mode(room: &api::Room) -> String {
    let phase = room.schedule.as_ref().map(|schedule| &*schedule.phase);
    match phase {
        Some(phase) if phase != "open" => format!("{}, {phase}", room.mode),
        _ => room.mode.clone(),
    }
}

/// The state of load control, and the reason that limits calls.
fn admitted(load_control: &api::LoadControl) -> String {
    let why = match &*load_control.why {
        "free" => "nothing slows the calls",
        "requests" => "fewer are called, as the shop has requests",
        "latency" => "fewer are called, as the shop takes long",
        "errors" => "fewer are called, as the shop fails requests",
        "circuit" if load_control.calls_milli > 0 => "one at a time is called, to see whether the shop is back",
        "circuit" => "no server of the shop answers",
        _ => "there are no figures of the shop that hold",
    };
    let most = match load_control.calls_milli {
        0 => "NOBODY IS CALLED".to_owned(),
        milli => format!("at most {}.{:03} called a step", milli / 1_000, milli % 1_000),
    };
    let shop = load_control.shop.map_or_else(String::new, |shop| {
        let p95 = shop
            .p95_ms
            .map_or_else(String::new, |ms| format!(", 95 of 100 within {ms} ms"));
        let hang = match shop.hanging {
            0 => String::new(),
            1 => ", requests of a visitor hang".to_owned(),
            more => format!(", requests of {more} visitors hang"),
        };
        format!(
            "; {} requests a second{p95}, {} of 1000 fail{hang}",
            shop.requests_per_second, shop.errors_permille
        )
    });
    let given = load_control
        .given_secs
        .map_or_else(String::new, |secs| format!(", given for another {secs} s"));
    format!(
        "{}: {most}: {why}, since {}{shop}{given}",
        load_control.by,
        time(&load_control.since)
    )
}

fn notes(room: &api::Room) -> String {
    let mut text = String::new();
    let name = plain(&room.name);
    if let Some(upstream) = &room.upstream {
        let _ = writeln!(text, "{name}: upstream {}", plain(upstream));
    }
    for lane in &room.lanes {
        let out = if lane.out { ", taken out" } else { "" };
        let _ = writeln!(
            text,
            "{name}: lane {} (weight {}{out}): {} waiting, {} called, {} inside, {} calls",
            plain(&lane.name),
            lane.weight,
            lane.waiting,
            lane.called,
            lane.sessions,
            lane.calls
        );
    }
    if let Some(schedule) = &room.schedule {
        let next = schedule
            .next_change
            .as_deref()
            .map(|at| format!(", changes at {}", plain(at)));
        let opens = schedule
            .opens_at
            .as_deref()
            .map(|at| format!(", opens at {}", plain(at)));
        let opens = opens.filter(|_| matches!(&*schedule.phase, "early" | "prequeue"));
        let (opens, next) = (opens.unwrap_or_default(), next.unwrap_or_default());
        let _ = writeln!(text, "{name}: by its schedule {}{opens}{next}", plain(&schedule.phase));
    }
    if let Some(load_control) = &room.load_control {
        let _ = writeln!(text, "{name}: {}", plain(&admitted(load_control)));
    }
    if !room.overridden.is_empty() {
        let _ = writeln!(
            text,
            "{name}: set by an operator: {}",
            plain(&room.overridden.join(", "))
        );
    }
    if let Some(message) = &room.message {
        let _ = writeln!(text, "{name}: message: {}", plain(message));
    }
    if let Some(stock) = room.figures.stock {
        let (sold, held) = (room.figures.completed, room.figures.unfinished);
        let _ = writeln!(
            text,
            "{name}: {sold} of {stock} sold, {held} held for visitors called or inside"
        );
    }
    if let Some(rehearsal) = &room.rehearsal {
        let (by, until) = (plain(&rehearsal.by), time(&rehearsal.until));
        let (waiting, called, inside) = (rehearsal.waiting, rehearsal.called, rehearsal.sessions);
        let _ = writeln!(
            text,
            "{name}: a rehearsal by {by}, until {until} at most: {waiting} waiting, {called} called and {inside} inside are \
             virtual; end it with ropeline rehearse --room {name} --end"
        );
    }
    if let Some(secs) = room.healing_secs.filter(|_| room.opening) {
        let _ = writeln!(
            text,
            "{name}: opening, calls in {secs} s: visitors inside would come back by then, if a log was lost; if none was: ropeline \
             rooms end-healing {name}"
        );
    } else if let Some(secs) = room.healing_secs {
        let _ = writeln!(
            text,
            "{name}: healing for {secs} s more: visitors of a lost log come back, nobody is called; end it with ropeline rooms \
             end-healing {name}"
        );
    }
    if room.let_past {
        let _ = writeln!(
            text,
            "{name}: everybody is let past the line until the store is back (on_outage)"
        );
    }
    if room.figures.excess > 0 {
        let _ = writeln!(
            text,
            "{name}: {} in excess, since capacity was lowered or after an outage",
            room.figures.excess
        );
    }
    if let Some(most) = room.figures.max_sessions {
        let api::Figures { parked, rights, .. } = room.figures;
        let _ = writeln!(text, "{name}: {parked} parked; {rights} of {most} rights taken");
    }
    text
}

/// A page of a room's lines.
pub fn lines(page: &api::Lines) -> String {
    lines_in(page, columns())
}

/// As [`lines`], for a terminal of so many columns.
pub fn lines_in(page: &api::Lines, columns: usize) -> String {
    let head = [
        "LINE",
        "WAITING",
        "CALLED",
        "INSIDE",
        "CAPACITY",
        "NO-SHOWS",
        "LAST CALL",
    ];
    let row = |line: &api::Line| {
        vec![
            if line.line.is_empty() {
                "-".to_owned()
            } else {
                plain(&line.line)
            },
            line.figures.waiting.to_string(),
            line.figures.called.to_string(),
            line.figures.sessions.to_string(),
            line.figures.capacity.to_string(),
            line.figures.no_shows.to_string(),
            time_of(line.last_call.as_deref()),
        ]
    };
    let gives = Gives {
        drops: &["NO-SHOWS", "LAST CALL"],
        cuts: &["LINE"],
    };
    fitted(&head, &page.lines.iter().map(row).collect::<Vec<_>>(), columns, &gives)
}

/// One visitor, a fact a line.
pub fn visitor(visitor: &api::Visitor) -> String {
    let secs = |secs: u64| duration(u32::try_from(secs).unwrap_or(u32::MAX));
    let line = (!visitor.line.is_empty()).then(|| plain(&visitor.line));
    let present = visitor.present.map(|present| {
        if present {
            "yes"
        } else {
            "no: keeps the place, is not called"
        }
    });
    let facts = [
        ("reference", Some(plain(&visitor.reference))),
        ("room", Some(plain(&visitor.room))),
        ("line", line),
        (
            "lane",
            visitor
                .lane_name
                .as_deref()
                .map(plain)
                .or_else(|| (visitor.lane > 0).then(|| visitor.lane.to_string())),
        ),
        ("state", Some(plain(&visitor.state))),
        ("position", visitor.position.map(|position| position.to_string())),
        ("present", present.map(str::to_owned)),
        ("missed a turn at", visitor.missed_at.as_deref().map(time)),
        ("called at", visitor.called_at.as_deref().map(time)),
        ("must come within", visitor.claim_within_secs.map(secs)),
        ("inside since", visitor.inside_since.as_deref().map(time)),
        (
            "session ends in",
            visitor
                .expires_in_secs
                .map(|left| format!("{} unless it is used", secs(left))),
        ),
        ("at the latest in", visitor.ends_within_secs.map(secs)),
    ];
    let shown = facts
        .into_iter()
        .filter_map(|(name, fact)| Some(format!("{name:<17} {}\n", fact?)));
    shown.collect()
}

fn wait(estimate: api::Estimate) -> String {
    range(estimate.low, estimate.high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> api::Room {
        api::Room {
            name: "main".to_owned(),
            from: "file".to_owned(),
            upstream: None,
            addition: None,
            mode: "hold".to_owned(),
            total_active_users: 50,
            new_users_per_minute: Some(600),
            message: Some("Back\nat \u{1b}[2J14:00".to_owned()),
            messages: std::collections::BTreeMap::new(),
            overridden: vec!["mode".to_owned()],
            revision: 3,
            edition: 1,
            schedule: None,
            load_control: None,
            let_past: false,
            healing_secs: None,
            opening: false,
            rehearsal: None,
            lines: 1,
            figures: api::Figures {
                waiting: 12_345,
                sessions: 51,
                capacity: 50,
                excess: 1,
                ..api::Figures::default()
            },
            lanes: Vec::new(),
            estimate: Some(api::Estimate { low: 90, high: 400 }),
            estimates_held: [None; 4],
            last_call: Some("2026-11-20T13:04:05.678Z".to_owned()),
        }
    }

    #[test]
    fn a_room_is_a_row_under_its_head() {
        let text = room(&sample());
        let mut lines = text.lines();
        let head = lines.next().expect("a head");
        let row = lines.next().expect("a row");
        assert_eq!(row.find("hold"), head.find("MODE"));
        assert_eq!(
            row.find("12345").map(|at| at + 5),
            head.find("WAITING").map(|at| at + 7)
        );
        assert_eq!(row.find("13:04:05"), head.find("LAST CALL"));
        assert!(row.contains("90 s-7 min") && row.ends_with("13:04:05   file"), "{row}");
        assert!(text.contains("main: set by an operator: mode\n"), "{text}");
        assert!(
            text.contains("main: 1 in excess, since capacity was lowered or after an outage\n"),
            "{text}"
        );
        assert!(!text.contains("parked"), "its slots are not active: {text}");
        let mut active = sample();
        (
            active.figures.parked,
            active.figures.rights,
            active.figures.max_sessions,
        ) = (7, 58, Some(150));
        let text = room(&active);
        assert!(text.contains("main: 7 parked; 58 of 150 rights taken\n"), "{text}");
    }

    #[test]
    fn a_room_that_follows_its_shop_says_what_slows_it_since_when_and_by_which_figures() {
        let load_control = api::LoadControl {
            by: "adaptive".to_owned(),
            why: "latency".to_owned(),
            since: "2026-11-20T13:04:05.678Z".to_owned(),
            calls_milli: 1_250,
            shop: Some(api::Shop {
                requests_per_second: 80,
                p95_ms: Some(350),
                errors_permille: 10,
                in_flight: 3,
                hanging: 0,
            }),
            ..api::LoadControl::default()
        };
        assert_eq!(
            admitted(&load_control),
            "adaptive: at most 1.250 called a step: fewer are called, as the shop takes long, since 13:04:05 UTC; \
             80 requests a second, 95 of 100 within 350 ms, 10 of 1000 fail"
        );
    }

    #[test]
    fn nothing_from_the_gate_can_command_the_terminal() {
        let all = api::Rooms {
            gate: api::Gate::default(),
            rooms: vec![sample()],
        };
        assert!(!rooms(&all).contains('\u{1b}'));
        assert!(rooms(&all).contains("Back at  [2J14:00"));
    }

    #[test]
    fn a_gate_that_calls_nobody_says_so() {
        let gate = api::Gate {
            cut_off_secs: Some(7),
            ..api::Gate::default()
        };
        assert!(
            rooms(&api::Rooms {
                gate,
                rooms: Vec::new()
            })
            .contains("cut off from its store for 7 s")
        );
    }

    #[test]
    fn a_visitor_shows_only_what_is_known() {
        let told = api::Visitor {
            reference: "K7D".to_owned(),
            state: "waiting".to_owned(),
            position: Some(4),
            ..api::Visitor::default()
        };
        let text = visitor(&told);
        assert!(
            text.contains("position          4\n") && !text.contains("called"),
            "{text}"
        );
    }
}

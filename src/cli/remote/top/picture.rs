//! The picture of `ropeline top`, as lines of text: pure, so that a test can read it.

use crate::admin::api;
use crate::cli::output::{plain, time, wrapped};
use crate::cli::remote::rooms::{done, table};
use crate::cli::{gates, upstreams};

/// All that was heard of the gate.
#[derive(Debug)]
pub(super) struct Picture {
    pub rooms: api::Rooms,
    pub upstreams: api::Upstreams,
    pub gates: api::Gates,
    /// The room that more is shown of.
    pub at: usize,
    pub lines: api::Lines,
    pub changes: api::Changes,
    pub history: api::History,
    /// Why nothing newer is shown.
    pub trouble: Option<String>,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            rooms: api::Rooms {
                gate: api::Gate::default(),
                rooms: Vec::new(),
            },
            upstreams: api::Upstreams::default(),
            gates: api::Gates::default(),
            at: 0,
            lines: api::Lines {
                lines: Vec::new(),
                next: None,
            },
            changes: api::Changes::default(),
            history: api::History::default(),
            trouble: None,
        }
    }
}

impl Picture {
    pub fn selected(&self) -> Option<&api::Room> {
        self.rooms.rooms.get(self.at)
    }

    /// Selects another room, this far down.
    pub fn go(&mut self, by: isize) {
        let last = self.rooms.rooms.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
    }

    /// The answers of the admin API that it is drawn from, each by the last part of its path.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "rooms": self.rooms.rooms,
            "upstreams": self.upstreams.upstreams,
            "gates": self.gates,
            "room": self.selected().map(|room| &room.name),
            "changes": self.changes.changes,
            "history": self.history,
            "lines": self.lines.lines,
        })
    }

    /// As text, every line ended.
    pub fn whole(&self, columns: usize) -> String {
        self.lines(columns).into_iter().map(|line| line + "\n").collect()
    }

    /// Line by line, the most important first, for a terminal of so many columns.
    pub fn lines(&self, columns: usize) -> Vec<String> {
        let within = columns.saturating_sub(2);
        let mut lines = vec![self.head()];
        let trouble = self.trouble.iter().map(|trouble| wrapped(&plain(trouble), columns));
        lines.extend(trouble.flat_map(|text| own_lines(&text)));
        lines.push(String::new());
        let rooms = table::rooms_in(&self.rooms, within);
        lines.extend(rooms.lines().enumerate().map(|(row, line)| {
            let mark = if row == self.at + 1 { '>' } else { ' ' };
            format!("{mark} {line}")
        }));
        if let Some(room) = self.selected() {
            lines.push(String::new());
            lines.extend(self.of_room(room, within));
        }
        lines.push(String::new());
        let servers = upstreams::table_in(&self.upstreams, columns);
        lines.extend(own_lines(&servers));
        lines.push(String::new());
        lines.extend(own_lines(&gates::table_in(&self.gates, columns)));
        lines
    }

    fn head(&self) -> String {
        let waiting: u64 = self.rooms.rooms.iter().map(|room| room.figures.waiting).sum();
        let inside: u64 = self.rooms.rooms.iter().map(|room| room.figures.sessions).sum();
        let condition = plain(&self.rooms.gate.condition);
        format!("ropeline: gate {condition}, {waiting} waiting, {inside} inside")
    }

    /// The plots end with the figures of the table, not with the last sample.
    fn of_room(&self, room: &api::Room, within: usize) -> Vec<String> {
        let (history, now) = (&self.history, &room.figures);
        let until = |samples: &[u32], now: u64| samples.iter().map(|count| u64::from(*count)).chain([now]).collect();
        let calls: Vec<u64> = history.calls.iter().copied().chain([now.calls]).collect();
        let mut lines = vec![format!("{}:", plain(&room.name))];
        for (name, values) in [
            ("waiting", until(&history.waiting, now.waiting)),
            ("inside", until(&history.inside, now.sessions)),
            ("calls", differences(&calls)),
        ] {
            lines.push(format!("  {name:<8}{}", spark(&values)));
        }
        if room.lines > 1 {
            let of_lines = table::lines_in(&self.lines, within);
            lines.extend(of_lines.lines().map(|line| format!("  {line}")));
        }
        let changes: String = self.changes.changes.iter().take(CHANGES).map(change).collect();
        lines.extend(own_lines(&wrapped(&changes, within + 2)));
        lines
    }
}

fn change(change: &api::Change) -> String {
    let who = change.who.as_deref().unwrap_or("(configuration)");
    let reason = change
        .reason
        .as_ref()
        .map_or_else(String::new, |reason| format!(" ({reason})"));
    plain(&format!("  {}  {who}: {}{reason}", time(&change.at), done(change))) + "\n"
}

fn own_lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn differences(totals: &[u64]) -> Vec<u64> {
    totals.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
}

/// The values as bars from left to right, the most of each stretch, with the highest behind them.
fn spark(values: &[u64]) -> String {
    let most = values.iter().copied().max().unwrap_or(0);
    let stretch = values.len().div_ceil(BARS).max(1);
    let bar = |part: &[u64]| {
        let value = part.iter().copied().max().unwrap_or(0);
        let steps = u64::try_from(STEPS.len() - 1).unwrap_or(0);
        let step = (value * steps).checked_div(most).unwrap_or(0);
        STEPS[usize::try_from(step).unwrap_or(0)]
    };
    let bars: String = values.chunks(stretch).map(bar).collect();
    format!("{bars}  {} now, {most} at most", values.last().copied().unwrap_or(0))
}

const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Bars of a plot, and changes shown.
const BARS: usize = 40;
const CHANGES: usize = 5;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The longest values that an operator meets, in every table.
    fn longest() -> Picture {
        let figures = json!({
            "waiting": 1_000_000, "called": 1_000_000, "sessions": 1_000_000, "capacity": 10_000_000, "excess": 1_000_000,
            "joins": 9_000_000, "calls": 9_000_000, "claims": 9_000_000, "no_shows": 1_000_000, "ends": 0, "left": 0,
        });
        let with = |more: Value| {
            let mut all = figures.clone();
            let (all_of, more) = (
                all.as_object_mut().expect("an object"),
                more.as_object().expect("an object").clone(),
            );
            all_of.extend(more);
            all
        };
        let room = with(json!({
            "name": "a".repeat(32), "from": "elsewhere", "mode": "closed", "total_active_users": 10_000_000,
            "new_users_per_minute": 10_000_000, "message": "word ".repeat(100), "overridden": ["mode"], "revision": 1, "edition": 1,
            "lines": 10_000, "estimate": { "low": 100_000, "high": 900_000 }, "last_call": "2026-11-20T13:04:05.678Z",
            "schedule": { "phase": "prequeue", "next_change": null, "prequeue_from": null, "opens_at": null, "closes_at": null, "results_at": null },
        }));
        let line = with(json!({ "line": "b".repeat(64), "last_call": "2026-11-20T13:04:05.678Z" }));
        let gate = json!({
            "id": "0fe2b820dd2042e7", "this": true, "heard_ms_ago": 14_900, "sequence": 4_000_000_000_u64, "behind": 100_000,
            "lag_us": 9_999_999, "knows": 65_535, "vote": null, "agrees": false,
        });
        let server = json!({
            "origin": format!("https://{}:65535 (2001:db8::ffff:ffff:ffff)", "c".repeat(40)), "weight": 100, "healthy": false, "protocol": null,
            "in_flight": 100_000, "waiting": 100_000, "failures": 9_000_000, "reason": "connection refused ".repeat(10),
        });
        let log = json!({
            "position": "30238513152000000-4000000000", "hash": "9c41".repeat(16), "rooted": true, "machine_version": 1, "knows": 1,
            "checkpoint": { "sequence": 4_000_000_000_u64, "hash": "5f3a".repeat(16) }, "alarm": true,
        });
        let gates = json!({ "gate": { "condition": "frozen", "frozen_at": "30238513152000000-4000000000" }, "log": log, "gates": [gate] });
        Picture {
            rooms: serde_json::from_value(json!({ "gate": gates["gate"], "rooms": [room] })).expect("rooms"),
            upstreams: serde_json::from_value(json!({ "upstreams": [server] })).expect("servers"),
            gates: serde_json::from_value(gates).expect("gates"),
            lines: serde_json::from_value(json!({ "lines": [line], "next": null })).expect("lines"),
            changes: serde_json::from_value(json!({ "changes": [{
                "at": "2026-11-20T13:04:05.678Z", "who": "anna", "what": "set", "revision": 1, "reason": "why ".repeat(50), "keys": [],
            }] }))
            .expect("changes"),
            ..Picture::default()
        }
    }

    #[test]
    fn every_table_fits_80_columns_with_the_longest_values() {
        let picture = longest();
        for line in picture.lines(80) {
            let long = line.chars().count();
            assert!(long <= 80, "{long}: {line:?}\nin\n{}", picture.whole(80));
        }
        let all = picture.whole(usize::MAX);
        for column in ["NO-SHOWS", "LAST CALL", "LINES", "FROM", "FAILURES", "VERSION"] {
            assert!(all.contains(column), "{column} has room there:\n{all}");
        }
        let narrow = picture.whole(80);
        for wanted in [
            "\n> aaaaaaa",
            "1000000",
            "10000000",
            "BEHIND",
            "DIFFERS",
            "this gate",
            "IN FLIGHT",
            "\n  bbbbbbb",
        ] {
            assert!(narrow.contains(wanted), "{wanted} is not left out:\n{narrow}");
        }
    }

    #[test]
    fn bars_stand_for_the_most_of_their_stretch() {
        assert_eq!(spark(&[0, 7, 14]), "▁▄█  14 now, 14 at most");
        assert_eq!(spark(&[]), "  0 now, 0 at most");
        let long: Vec<u64> = (0..2_160).collect();
        assert_eq!(spark(&long).chars().filter(|bar| STEPS.contains(bar)).count(), 40);
        assert_eq!(differences(&[5, 9, 3]), [4, 0]);
    }

    #[test]
    fn a_plot_ends_with_the_figure_of_the_table() {
        let mut picture = longest();
        picture.history.waiting = vec![3, 5];
        picture.history.calls = vec![100, 104];
        let room = &mut picture.rooms.rooms[0];
        (room.figures.waiting, room.figures.sessions, room.figures.calls) = (7, 2, 105);
        let text = picture.whole(usize::MAX);
        for wanted in [
            "waiting ▄▆█  7 now, 7 at most",
            "inside  █  2 now, 2 at most",
            "calls   █▂  1 now, 4 at most",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
    }

    #[test]
    fn the_choice_stays_within_the_rooms() {
        let mut picture = Picture::default();
        picture.go(-1);
        picture.go(5);
        assert_eq!((picture.at, picture.selected().is_none()), (0, true));
        assert!(picture.whole(80).starts_with("ropeline: gate "));
    }
}

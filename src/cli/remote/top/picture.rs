//! The picture of `ropeline top`, as lines of text: pure, so that a test can read it.

use crate::admin::api;
use crate::cli::output::{plain, time};
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

    /// As text, every line ended.
    pub fn whole(&self) -> String {
        self.lines().into_iter().map(|line| line + "\n").collect()
    }

    /// Line by line, the most important first.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.head()];
        lines.extend(self.trouble.iter().map(|trouble| plain(trouble)));
        lines.push(String::new());
        let rooms = table::rooms(&self.rooms);
        lines.extend(rooms.lines().enumerate().map(|(row, line)| {
            let mark = if row == self.at + 1 { '>' } else { ' ' };
            format!("{mark} {line}")
        }));
        if let Some(room) = self.selected() {
            lines.push(String::new());
            lines.extend(self.of_room(room));
        }
        lines.push(String::new());
        lines.extend(upstreams::table(&self.upstreams).lines().map(str::to_owned));
        lines.push(String::new());
        lines.extend(gates::table(&self.gates).lines().map(str::to_owned));
        lines
    }

    fn head(&self) -> String {
        let waiting: u64 = self.rooms.rooms.iter().map(|room| room.figures.waiting).sum();
        let inside: u64 = self.rooms.rooms.iter().map(|room| room.figures.sessions).sum();
        let condition = plain(&self.rooms.gate.condition);
        format!("ropeline: gate {condition}, {waiting} waiting, {inside} inside")
    }

    fn of_room(&self, room: &api::Room) -> Vec<String> {
        let history = &self.history;
        let mut lines = vec![format!("{}:", plain(&room.name))];
        for (name, values) in [
            (
                "waiting",
                history.waiting.iter().map(|count| u64::from(*count)).collect(),
            ),
            ("inside", history.inside.iter().map(|count| u64::from(*count)).collect()),
            ("calls", differences(&history.calls)),
        ] {
            lines.push(format!("  {name:<8}{}", spark(&values)));
        }
        if room.lines > 1 {
            let of_lines = table::lines(&self.lines);
            lines.extend(of_lines.lines().map(|line| format!("  {line}")));
        }
        lines.extend(self.changes.changes.iter().take(CHANGES).map(change));
        lines
    }
}

fn change(change: &api::Change) -> String {
    let who = change.who.as_deref().unwrap_or("(configuration)");
    let reason = change
        .reason
        .as_ref()
        .map_or_else(String::new, |reason| format!(" ({reason})"));
    plain(&format!("  {}  {who}: {}{reason}", time(&change.at), done(change)))
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
    use super::*;

    #[test]
    fn bars_stand_for_the_most_of_their_stretch() {
        assert_eq!(spark(&[0, 7, 14]), "▁▄█  14 now, 14 at most");
        assert_eq!(spark(&[]), "  0 now, 0 at most");
        let long: Vec<u64> = (0..2_160).collect();
        assert_eq!(spark(&long).chars().filter(|bar| STEPS.contains(bar)).count(), 40);
        assert_eq!(differences(&[5, 9, 3]), [4, 0]);
    }

    #[test]
    fn the_choice_stays_within_the_rooms() {
        let mut picture = Picture::default();
        picture.go(-1);
        picture.go(5);
        assert_eq!((picture.at, picture.selected().is_none()), (0, true));
        assert!(picture.whole().starts_with("ropeline: gate "));
    }
}

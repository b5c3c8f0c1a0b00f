//! What became of one visitor: every change of the standing, by the rooms' own word.

use std::fmt::Write as _;

use super::findings::{Life, Stage, Stamp};
use crate::room::{Entry, Epoch, LineName, Number, RoomName, Standing, View};
use crate::terminal::plain;
use crate::token::Reference;

/// A visitor of a line, by the reference on the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sought {
    pub room: RoomName,
    pub line: LineName,
    pub reference: Reference,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Follower {
    sought: Sought,
    number: Option<Number>,
    stages: Vec<Stage>,
}

impl Follower {
    pub fn new(sought: Sought) -> Self {
        Self {
            sought,
            number: None,
            stages: Vec::new(),
        }
    }

    /// An entry was applied, which made `view`.
    pub fn entry(&mut self, entry: &Entry, view: &View) {
        let number = self.number.unwrap_or(Number {
            epoch: Epoch(entry.position.epoch),
            n: self.sought.reference.n,
        });
        if !self.sought.reference.matches(number.epoch) {
            return;
        }
        let standing = self.standing(number, view);
        // A line that nobody is in is forgotten, with those who were.
        let is_over = self.stages.last().is_some_and(|last| last.standing == OVER);
        if standing == Standing::Unknown && (self.number.is_none() || is_over) {
            return;
        }
        self.number = Some(number);
        let standing = word(&standing);
        let is_new = self.stages.last().is_none_or(|last| last.standing != standing);
        if is_new && self.stages.len() < MOST_STAGES {
            let at = Stamp::new(entry.position, entry.time);
            self.stages.push(Stage { at, standing });
        }
    }

    fn standing(&self, number: Number, view: &View) -> Standing {
        let lines = view.rooms.get(&self.sought.room).map(|room| &room.lines);
        let line = lines.and_then(|lines| lines.get(&self.sought.line));
        line.map_or(Standing::Unknown, |line| {
            line.standing(self.sought.reference.lane, number, view.clock)
        })
    }

    pub fn life(self) -> Life {
        Life {
            room: self.sought.room.to_string(),
            reference: self.sought.reference.to_string(),
            number: self.number.map(|number| format!("{}/{}", number.epoch.0, number.n)),
            stages: self.stages,
        }
    }
}

fn word(standing: &Standing) -> &'static str {
    match standing {
        Standing::Waiting(waiting) if waiting.present => "in line",
        Standing::Waiting(_) => "in line, and away",
        Standing::Called(_) => "called",
        Standing::Inside(_) => "inside",
        Standing::Late => "the place is lost: came back too late, or missed two turns",
        Standing::Ended => OVER,
        Standing::Unknown => "unknown: the room began anew, or the log was lost",
    }
}

/// A row for each stage.
pub(super) fn text(life: &Life) -> String {
    let mut text = format!("visitor {} of {}", life.reference, plain(&life.room));
    let _ = match &life.number {
        Some(number) => writeln!(text, ", number {number}"),
        None => writeln!(text, ": no entry of this history gives the number"),
    };
    for stage in &life.stages {
        let _ = writeln!(text, "  {}  {}  {}", stage.at.time, stage.at.position, stage.standing);
    }
    text
}

const OVER: &str = "over: the session ended, or the visitor left or was taken out";
const MOST_STAGES: usize = 1_000;

//! A line of a room for one, with its archive.

use ropeline::room::{Effects, LaneId, Number, Section, Settings};
use tempfile::TempDir;

use super::hall::{Hall, section};

pub const LANE: LaneId = LaneId(0);

pub struct Line {
    pub folder: TempDir,
    pub hall: Hall,
    first: Number,
}

impl Line {
    /// This many have joined, and the first is called.
    pub fn of(count: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut hall = Hall::new();
        hall.archive(1, folder.path());
        let settings = Settings {
            capacity: 1,
            ..Settings::default()
        };
        hall.configure(1, settings);
        let newcomers = Section {
            joins: vec![(LANE, count)],
            ..section()
        };
        let first = hall.hear(1, 100, newcomers).joined[0].first.unwrap();
        Self { folder, hall, first }
    }

    /// Of the visitor who joined after this many.
    pub fn number(&self, n: u32) -> Number {
        Number {
            n: self.first.n + n,
            ..self.first
        }
    }

    pub fn hears(&mut self, section: Section) -> Effects {
        self.hall.hear(1, 100, section)
    }

    /// A visitor leaves: the next one's turn.
    pub fn leaves(&mut self, n: u32) {
        let number = self.number(n);
        self.hears(Section {
            leaves: vec![(LANE, number)],
            ..section()
        });
    }
}

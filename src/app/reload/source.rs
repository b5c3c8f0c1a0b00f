//! The sources of a configuration: the file, the command line, and the rooms that operators added to the log.

use std::path::PathBuf;
use std::sync::Arc;

use super::added::Followed;
use super::rooms::{Composed, compose, tell_untaken};
use super::watch::Watch;
use crate::admin::Reloads;
use crate::config::{AddedRoom, Config, Document, Mistake, Origin, Overrides, Report};
use crate::room::Additions;
use crate::time;

/// Where the configuration comes from.
pub struct Source {
    overrides: Overrides,
    pub(super) watch: Option<Watch>,
    pub(super) file: Option<PathBuf>,
    /// The document as last read, and the one in force.
    latest: Document,
    taken: Document,
    /// The rooms of the log that are in force with it.
    pub(super) followed: Followed,
}

impl Source {
    /// A change of the file counts from here on. Without a file there are the defaults; options of the command line stay in
    /// force.
    #[must_use]
    pub fn new(file: Option<PathBuf>, overrides: Overrides) -> Self {
        Self {
            watch: file.clone().map(Watch::new),
            latest: Document::none(),
            taken: Document::none(),
            file,
            overrides,
            followed: Followed::default(),
        }
    }

    /// Reads and checks the whole file. Later writes are a change.
    #[must_use]
    pub fn read(&mut self) -> Report {
        let report = self.read_with_rooms(&Additions::default()).report;
        self.taken = self.latest.clone();
        report
    }

    /// The file that was read, with the rooms that the log has beside it; `None` where it has none.
    pub fn with_rooms(&mut self, additions: &Arc<Additions>, reloads: &Reloads) -> Option<Config> {
        additions.iter().next()?;
        let Composed { report, rooms, untaken } = self.compose(additions);
        let whole = untaken.is_empty();
        tell_untaken(reloads, untaken);
        let (config, _) = report.finish().ok()?;
        self.followed.taken(additions, rooms, whole, time::uptime());
        Some(config)
    }

    /// Reads the file with the rooms that the log has.
    pub(super) fn read_with_rooms(&mut self, additions: &Additions) -> Composed {
        let mut read = self.read_once(additions);
        for _ in 0..READS_MORE {
            if !self.looks_at(&read.report) {
                break;
            }
            read = self.read_once(additions);
        }
        read
    }

    fn read_once(&mut self, additions: &Additions) -> Composed {
        if let Some(watch) = &mut self.watch {
            watch.are_tried();
        }
        self.latest = Document::open(self.file.as_deref());
        compose(&self.latest, &self.overrides, additions)
    }

    /// The file in force, with these rooms of the log.
    pub(super) fn compose(&mut self, additions: &Additions) -> Composed {
        self.latest = self.taken.clone();
        let read = compose(&self.taken, &self.overrides, additions);
        self.looks_at(&read.report);
        read
    }

    /// The file in force, with these rooms. The list of watched files is updated when the log's rooms are.
    pub(super) fn read_with(&mut self, rooms: &[AddedRoom]) -> Report {
        self.latest = self.taken.clone();
        self.taken.read(&self.overrides, rooms)
    }

    /// A mistake with the name of the file that contains it.
    pub(super) fn placed(&self, mistake: &Mistake) -> String {
        match (&self.file, &mistake.origin) {
            (Some(file), Origin::File(_) | Origin::Defaults | Origin::Option(_)) => {
                format!("{}: {mistake}", file.display())
            }
            (_, Origin::Added(..)) | (None, _) => mistake.to_string(),
        }
    }

    /// True where one of its files was not looked at before.
    fn looks_at(&mut self, report: &Report) -> bool {
        let watch = self.watch.as_mut();
        watch.is_some_and(|watch| watch.name(report.files()))
    }

    /// The text that was read last is in force.
    pub(super) fn is_taken(&mut self) {
        self.taken = self.latest.clone();
    }
}

/// A file that is named for the first time is read once more, now that it is looked at; it may name others.
const READS_MORE: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_while_the_gate_starts_is_news() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, "[server]\nh2c = false\n").unwrap();
        let mut source = Source::new(Some(file.clone()), Overrides::none());
        let _read = source.read();
        std::fs::write(&file, "[server]\nh2c = true\n").unwrap();
        let watch = source.watch.as_mut().unwrap();
        assert!((0..2).any(|_| watch.has_news(false)));
    }
}

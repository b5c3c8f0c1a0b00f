//! The result of reading a configuration, as `ropeline check` prints it.

use std::fmt;

use super::configuration::Config;
use super::document::files::NamedFile;
use super::document::{Mistake, Mistakes, count};

/// The result of reading a configuration: all mistakes, all warnings, and the configuration if there are no mistakes.
#[derive(Debug)]
pub struct Report {
    pub(super) path: String,
    pub(super) files: Vec<NamedFile>,
    pub(super) config: Option<Config>,
    pub(super) mistakes: Vec<Mistake>,
    pub(super) warnings: Vec<Mistake>,
}

impl Report {
    #[must_use]
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    #[must_use]
    pub fn warnings(&self) -> &[Mistake] {
        &self.warnings
    }

    /// The files that it names, right or wrong.
    #[must_use]
    pub fn files(&self) -> &[NamedFile] {
        &self.files
    }

    /// These are to be looked at too.
    pub fn names_too(&mut self, files: &[NamedFile]) {
        let new = files.iter().filter(|file| !self.files.contains(file));
        let new: Vec<NamedFile> = new.cloned().collect();
        self.files.extend(new);
    }

    /// The configuration, where nothing is wrong with it.
    #[must_use]
    pub fn config(&self) -> Option<&Config> {
        self.config.as_ref()
    }

    /// The configuration with its warnings, or all mistakes.
    pub fn finish(self) -> Result<(Config, Vec<Mistake>), Mistakes> {
        match self.config {
            Some(config) if self.mistakes.is_empty() => Ok((config, self.warnings)),
            _ => Err(Mistakes::new(self.path, self.mistakes)),
        }
    }
}

/// A line for each mistake and warning, then one with their number: the output of `ropeline check`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mistake in &self.mistakes {
            writeln!(f, "{}: {mistake}", self.path)?;
        }
        for warning in &self.warnings {
            writeln!(f, "{}: warning: {warning}", self.path)?;
        }
        let (mistakes, warnings) = (self.mistakes.len(), self.warnings.len());
        match (mistakes, warnings) {
            (0, 0) => writeln!(f, "{}: good", self.path),
            (0, _) => writeln!(f, "{}: good, with {}", self.path, count(warnings, "warning")),
            (_, 0) => writeln!(f, "{}: {}", self.path, count(mistakes, "mistake")),
            _ => writeln!(
                f,
                "{}: {}, {}",
                self.path,
                count(mistakes, "mistake"),
                count(warnings, "warning")
            ),
        }
    }
}

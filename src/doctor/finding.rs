//! A finding: how bad it is, the fact, and what to write where.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{Mistake, Origin, Places};

/// How bad it is; the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It costs visitors something, now or in the sale.
    Fault,
    /// It may be meant, or may become a fault.
    Warning,
    Fine,
}

/// What a check has found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The check's name.
    pub check: String,
    pub severity: Severity,
    /// The fact, in a sentence.
    pub message: String,
    /// The file to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line, from 1; that of the table where the key is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The key to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The command to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What to write there, or what to look for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Finding {
    pub fn fault(message: impl Into<String>) -> Self {
        Self::of(Severity::Fault, message.into())
    }

    pub fn warning(message: impl Into<String>) -> Self {
        Self::of(Severity::Warning, message.into())
    }

    pub fn fine(message: impl Into<String>) -> Self {
        Self::of(Severity::Fine, message.into())
    }

    /// The program itself has failed, and left these out.
    #[must_use]
    pub fn of_fault(what: &str) -> Self {
        Self::fault(format!("A fault of the program: {what} were not examined.")).by(
            "ropeline doctor",
            "once more; if it stays, report it with what it prints",
        )
    }

    fn of(severity: Severity, message: String) -> Self {
        Self {
            check: String::new(),
            severity,
            message,
            file: None,
            line: None,
            key: None,
            command: None,
            remedy: None,
        }
    }

    /// What to write for a key of the file.
    #[must_use]
    pub fn at(self, places: &Places, key: &str, remedy: impl Into<String>) -> Self {
        Self {
            file: Some(places.file().to_owned()),
            line: places.line(key),
            key: Some(key.to_owned()),
            remedy: Some(remedy.into()),
            ..self
        }
    }

    /// What to run, and what it is for.
    #[must_use]
    pub fn by(self, command: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            command: Some(command.into()),
            remedy: Some(remedy.into()),
            ..self
        }
    }

    /// A mistake of the file at this path.
    #[must_use]
    pub fn of_mistake(path: &str, mistake: &Mistake) -> Self {
        Self {
            check: "file".to_owned(),
            file: Some(path.to_owned()),
            line: match mistake.origin {
                Origin::File(place) => Some(place.line),
                _ => None,
            },
            key: Some(mistake.key.clone()).filter(|key| !key.is_empty()),
            remedy: Some(mistake.right.clone()),
            ..Self::fault(format!("The file has a mistake: {}.", mistake.wrong))
        }
    }

    /// Two lines for a terminal: the fact, and what to do.
    #[must_use]
    pub fn lines(&self) -> String {
        let word = match self.severity {
            Severity::Fault => "FAULT",
            Severity::Warning => "warning",
            Severity::Fine => "fine",
        };
        let mut text = format!("{word:<8} {}: {}\n", self.check, self.message);
        let Some(remedy) = &self.remedy else { return text };
        let place = [
            self.file.clone(),
            self.line.map(|line| line.to_string()),
            self.key.as_ref().map(|key| format!(" {key}")),
            self.command.clone(),
        ];
        let place: Vec<String> = place.into_iter().flatten().collect();
        let _ = writeln!(text, "         {}: {remedy}", place.join(":"));
        text
    }
}

/// A text that begins a sentence.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|first| first.to_uppercase().to_string())
        .unwrap_or_default();
    first + letters.as_str()
}

/// The worst first; those of one check stay together.
#[must_use]
pub fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| finding.severity);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_the_line_and_what_to_write() {
        let text = "[upstream]\nurl = \"http://127.0.0.1:1\"\n";
        let (config, _) = crate::config::check(text, "a.toml").finish().unwrap();
        let mut finding = Finding::fault("It is down.").at(&config.places, "upstream.url", "the shop's address");
        finding.check = "shop".to_owned();
        assert_eq!(
            finding.lines(),
            "FAULT    shop: It is down.\n         a.toml:2: upstream.url: the shop's address\n"
        );
        let unset = Finding::fault("x").at(&config.places, "store.url", "y");
        assert_eq!(unset.lines().lines().last(), Some("         a.toml: store.url: y"));
        let run = Finding::warning("x").by("ropeline gates", "who is away");
        assert_eq!(run.lines().lines().last(), Some("         ropeline gates: who is away"));
    }
}

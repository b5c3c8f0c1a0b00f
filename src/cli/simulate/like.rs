//! The crowd of an earlier rehearsal, made from the same seed, so that measurement and simulation are comparable.

use std::path::Path;

use serde::Deserialize;

use crate::cli::rehearse::profile::{Profile, crowd};
use crate::room::{MAX_REHEARSED, Settings};
use crate::simulate::Scripted;

/// What makes the crowd again, of the report that `ropeline rehearse --format json` writes.
#[derive(Debug, Deserialize)]
struct Report {
    visitors: u32,
    seed: u64,
    profile: Profile,
}

/// The crowd of a rehearsal's report.
///
/// # Errors
/// When the file is no such report.
pub(super) fn read(file: &Path, settings: &Settings) -> Result<Vec<Scripted>, String> {
    let wrong = |what: &str| format!("{}: {what}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| wrong(&error.to_string()))?;
    of(&text, settings).ok_or_else(|| wrong("that is no report of ropeline rehearse --format json"))
}

fn of(report: &str, settings: &Settings) -> Option<Vec<Scripted>> {
    let report: Report = serde_json::from_str(report).ok()?;
    let visitors = report.visitors.min(MAX_REHEARSED);
    Some(crowd(visitors, &report.profile, report.seed, settings))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::rehearse::profile::Name;

    #[test]
    fn the_crowd_is_the_rehearsals_own_and_what_is_no_report_is_none() {
        let profile = Profile::of(Name::Spike);
        let report = json!({ "room": "sale", "visitors": 200, "seed": 7, "profile": profile }).to_string();
        let settings = Settings::default();
        assert_eq!(of(&report, &settings), Some(crowd(200, &profile, 7, &settings)));
        for wrong in ["", "{}", "[]", r#"{ "visitors": 1, "seed": 1, "profile": {} }"#] {
            assert_eq!(of(wrong, &settings), None);
        }
    }
}

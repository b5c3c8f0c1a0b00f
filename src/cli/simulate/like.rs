//! The crowd of an earlier rehearsal, made from the same seed, so that measurement and simulation are comparable.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::cli::rehearse::persona::{Does, Persona, crowd};
use crate::cli::rehearse::profile::Profile;
use crate::room::{MAX_REHEARSED, Settings};
use crate::simulate::{Doing, Scripted};

/// Reads the visitors of a rehearsal's report, as `ropeline rehearse --format json` writes it.
///
/// # Errors
/// When the file is no such report.
pub(super) fn read(file: &Path, settings: &Settings) -> Result<Vec<Scripted>, String> {
    let wrong = |what: &str| format!("{}: {what}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| wrong(&error.to_string()))?;
    let report: Option<Value> = serde_json::from_str(&text).ok();
    let people = report.and_then(|report| of(&report, settings));
    people.ok_or_else(|| wrong("that is no report of ropeline rehearse --format json"))
}

fn of(report: &Value, settings: &Settings) -> Option<Vec<Scripted>> {
    let visitors = u32::try_from(report["visitors"].as_u64()?).ok()?;
    let profile = profile(&report["profile"])?;
    let deadline = Duration::from_millis(settings.claim_deadline_ms);
    let people = crowd(
        visitors.min(MAX_REHEARSED),
        &profile,
        report["seed"].as_u64()?,
        deadline,
    );
    Some(people.iter().map(|persona| scripted(persona, settings)).collect())
}

fn profile(json: &Value) -> Option<Profile> {
    let secs = |key: &str| json[key].as_u64();
    let share = |key: &str| json[key].as_f64();
    Some(Profile {
        arrive_secs: secs("arrive_secs")?,
        inside_secs: secs("inside_secs")?,
        pages: u32::try_from(secs("pages")?).ok()?,
        leave: share("leave")?,
        sleep: share("sleep")?,
        sleep_secs: secs("sleep_secs")?,
        late: share("late")?,
        no_show: share("no_show")?,
        reload: share("reload")?,
        ..Profile::named(json["name"].as_str()?)?
    })
}

fn scripted(persona: &Persona, settings: &Settings) -> Scripted {
    let stay_ms = ms(persona.inside);
    // Often enough to keep their session.
    let fewest = stay_ms.div_ceil((settings.session_ms / 2).max(500));
    Scripted {
        arrives_ms: ms(persona.arrives),
        stay_ms,
        pages: persona.pages.max(u32::try_from(fewest).unwrap_or(u32::MAX)),
        does: match persona.does {
            Does::Nothing => Doing::Nothing,
            Does::Leaves(after) => Doing::Leaves(ms(after)),
            Does::Sleeps(after, length) => Doing::Sleeps(ms(after), ms(length)),
            Does::ComesLate(after) => Doing::ComesLate(ms(after)),
            Does::StaysAway => Doing::StaysAway,
        },
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_crowd_is_the_rehearsals_own_and_what_is_no_report_is_none() {
        let profile = Profile::named("spike").unwrap();
        let report = json!({ "visitors": 200, "seed": 7, "profile": profile });
        let settings = Settings::default();
        let told = of(&report, &settings).unwrap();
        let own = crowd(200, &profile, 7, Duration::from_secs(90));
        assert_eq!(told.len(), 200);
        assert!(
            told.iter()
                .zip(&own)
                .all(|(told, own)| told.arrives_ms == ms(own.arrives))
        );
        assert!(told.iter().any(|person| matches!(person.does, Doing::Leaves(_))));
        for wrong in [json!({}), json!([]), json!({ "visitors": 1, "seed": 1, "profile": {} })] {
            assert_eq!(of(&wrong, &settings), None);
        }
    }
}

//! The output of a rehearsal: a line while it goes on, and the report at its end.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::options::{Format, RehearseArgs};
use super::profile::Profile;
use super::stage::Stage;
use super::tally::{Seen, Visit};
use crate::charts::{in_words, secs, whole_in_words};
use crate::cli::output::aligned;
use crate::dates::rfc3339;
use ropeline_ids::Wall;

/// The figures of the moment.
pub fn progress(stage: &Stage) -> String {
    let seen = stage.tally.seen();
    format!(
        "{}: {}; {} requests, {} errors{}",
        whole_in_words(stage.since().as_secs()),
        fates(&seen),
        seen.requests,
        seen.errors.values().sum::<u64>(),
        slow(stage).unwrap_or_default()
    )
}

/// How many visitors are what.
fn fates(seen: &Seen) -> String {
    let fates: Vec<String> = seen
        .fates()
        .into_iter()
        .map(|(fate, count)| format!("{} {count}", word(fate).replace('_', " ")))
        .collect();
    fates.join(", ")
}

/// Said where this command had too few connections.
fn slow(stage: &Stage) -> Option<String> {
    let longest = stage.pool.longest();
    (longest >= SLOW).then(|| {
        format!(
            "; requests waited up to {} for a connection of this command's, which is in the waits: raise --connections",
            in_words(longest.as_secs_f64())
        )
    })
}

/// What the report is about.
pub struct Report<'a> {
    pub args: &'a RehearseArgs,
    pub profile: &'a Profile,
    pub seed: u64,
    pub began: Wall,
    pub stage: &'a Stage,
}

impl Report<'_> {
    /// In the format that was asked for; `whole` where nothing of this command failed.
    pub fn write(&self, whole: bool) -> String {
        let seen = self.stage.tally.seen();
        match self.args.format {
            Format::Text => self.text(&seen),
            Format::Json => format!("{:#}\n", self.json(&seen, whole)),
        }
    }

    fn text(&self, seen: &Seen) -> String {
        let mut text = format!(
            "\n{} virtual visitors in {}, profile {}, seed {}, {}\n\n",
            self.args.visitors,
            self.args.room,
            word(self.profile.name),
            self.seed,
            whole_in_words(self.stage.since().as_secs()),
        );
        let row = |name: &str, until| {
            let waits = seen.waits(until);
            let times = [
                waits.mean_secs,
                waits.p50_secs,
                waits.p90_secs,
                waits.p95_secs,
                waits.p99_secs,
                waits.max_secs,
            ];
            let first = [name.to_owned(), waits.count.to_string()];
            first.into_iter().chain(times.map(in_words)).collect()
        };
        let rows = [row("until called", called), row("until inside", inside)];
        let head = ["WAIT", "COUNT", "MEAN", "P50", "P90", "P95", "P99", "MAX"];
        text.push_str(&aligned(&head, &rows));
        let count = |of: fn(&Visit) -> Option<u64>| seen.visits.iter().filter(|visit| of(visit).is_some()).count();
        let _ = writeln!(
            text,
            "\njoined {}, called {}, inside {}, began again {}\nat the end: {}",
            count(|visit| visit.joined),
            count(called),
            count(inside),
            seen.visits.iter().map(|visit| u64::from(visit.again)).sum::<u64>(),
            fates(seen),
        );
        let errors: Vec<String> = seen
            .errors
            .iter()
            .map(|(kind, count)| format!("{kind} {count}"))
            .collect();
        let errors = if errors.is_empty() {
            "none".to_owned()
        } else {
            errors.join(", ")
        };
        let _ = writeln!(
            text,
            "requests {}, errors: {errors}{}",
            seen.requests,
            slow(self.stage).unwrap_or_default()
        );
        text
    }

    /// For scripts: all that a simulation of the same crowd is to be compared with.
    fn json(&self, seen: &Seen, whole: bool) -> Value {
        let fates: serde_json::Map<_, _> = seen
            .fates()
            .into_iter()
            .map(|(fate, count)| (word(fate), json!(count)))
            .collect();
        json!({
            "room": self.args.room,
            "rehearsal": self.stage.id,
            "began": rfc3339(self.began),
            "seconds": self.stage.since().as_secs_f64(),
            "completed": whole && self.stage.why().is_none(),
            "why": self.stage.why(),
            "seed": self.seed,
            "visitors": self.args.visitors,
            "profile": self.profile,
            "waits": { "until_called": seen.waits(called), "until_inside": seen.waits(inside) },
            "fates": fates,
            "requests": seen.requests,
            // How long one waited for a connection of this command's, at most.
            "connection_wait_secs": self.stage.pool.longest().as_secs_f64(),
            "errors": seen.errors,
            "active": self.active(seen),
            // In milliseconds since it began, in order of arrival.
            "visits": seen.visits,
        })
    }
}

impl Report<'_> {
    /// In a room with active slots: how many visitors the shop would have seen in the last `idle_after`, and how those fared who came
    /// back.
    fn active(&self, seen: &Seen) -> Option<Value> {
        let settings = self.stage.settings();
        let idle_after_ms = settings.active?.idle_after_ms;
        Some(json!({
            "idle_after_secs": secs(idle_after_ms),
            "slots": settings.capacity,
            "most": seen.most_active(idle_after_ms),
            "parked": seen.parked,
            "longest_secs": seen.longest.as_secs_f64(),
        }))
    }
}

/// A name as JSON has it.
fn word(name: impl serde::Serialize) -> String {
    let name = serde_json::to_value(name).ok();
    name.and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn called(visit: &Visit) -> Option<u64> {
    visit.called
}

fn inside(visit: &Visit) -> Option<u64> {
    visit.inside
}

/// From so long a wait for a connection on, it is said.
const SLOW: Duration = Duration::from_secs(1);

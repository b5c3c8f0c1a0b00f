//! The output of a rehearsal: a line while it goes on, and the report at its end.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::Duration;

use serde_json::{Value, json};

use super::options::{Format, RehearseArgs};
use super::profile::Profile;
use super::stage::Stage;
use super::tally::{Fate, Look, Visit, Waits};
use crate::cli::output::duration;
use crate::dates::rfc3339;
use ropeline_ids::Wall;

/// The line of figures: drawn over itself in a terminal, else one every ten seconds.
pub struct Progress {
    terminal: bool,
    drawn: u32,
    called: u64,
    at: Duration,
}

impl Progress {
    pub fn new(terminal: bool) -> Self {
        Self {
            terminal,
            drawn: 0,
            called: 0,
            at: Duration::ZERO,
        }
    }

    pub fn draw(&mut self, stage: &Stage) {
        self.drawn += 1;
        if !self.terminal && !(self.drawn - 1).is_multiple_of(PLAIN_EVERY) {
            return;
        }
        let (look, since) = (stage.tally.look(), stage.since());
        let passed = since.saturating_sub(self.at).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate for the eye")]
        let rate = if passed > 0.0 {
            (look.called - self.called) as f64 * 60.0 / passed
        } else {
            0.0
        };
        (self.called, self.at) = (look.called, since);
        let line = line(&look, since, rate, stage.pool.waiting());
        let mut err = io::stderr().lock();
        let _ = if self.terminal {
            write!(err, "\r{line}\x1b[K").and_then(|()| err.flush())
        } else {
            writeln!(err, "{line}")
        };
    }

    pub fn end(&self) {
        if self.terminal {
            eprintln!();
        }
    }
}

fn line(look: &Look, since: Duration, rate: f64, waiting: usize) -> String {
    let since = duration(u32::try_from(since.as_secs()).unwrap_or(u32::MAX));
    let over = [Fate::Ended, Fate::NoShow, Fate::Lost, Fate::Refused];
    let queue = match waiting {
        0 => String::new(),
        count => format!(", {count} waiting for a connection"),
    };
    format!(
        "{since}: to come {}, waiting {}, called {}, inside {}, left {}, done {}; {rate:.0} called a minute, {} requests, {} errors{queue}",
        look.of(Fate::Ahead) + look.of(Fate::Trying),
        look.of(Fate::Waiting),
        look.of(Fate::Called),
        look.of(Fate::Inside),
        look.of(Fate::Left),
        over.into_iter().map(|fate| look.of(fate)).sum::<u64>(),
        look.requests,
        look.errors(),
    )
}

/// All that the report tells of.
pub struct Told<'a> {
    pub args: &'a RehearseArgs,
    pub profile: &'a Profile,
    pub seed: u64,
    pub began: Wall,
    pub stage: &'a Stage,
}

impl Told<'_> {
    /// The report in the format that was asked for.
    pub fn report(&self, whole: bool) -> String {
        let visits = self.stage.tally.visits();
        match self.args.format {
            Format::Text => self.text(&visits),
            Format::Json => format!("{:#}\n", self.json(&visits, whole)),
        }
    }

    fn text(&self, visits: &[Visit]) -> String {
        let look = self.stage.tally.look();
        let mut text = format!(
            "\n{} virtual visitors in {}, profile {}, seed {}, {}\n\n",
            self.args.visitors,
            self.args.room,
            self.profile.name,
            self.seed,
            duration(u32::try_from(self.stage.since().as_secs()).unwrap_or(u32::MAX)),
        );
        let _ = writeln!(
            text,
            "             count    mean     p50     p90     p95     p99     max"
        );
        for (name, waits) in [
            ("until called", waits(visits, called)),
            ("until inside", waits(visits, inside)),
        ] {
            let Waits {
                count,
                mean,
                p50,
                p90,
                p95,
                p99,
                max,
            } = waits;
            let _ = writeln!(
                text,
                "{name}  {count:>5}  {mean:>5.1} s {p50:>5.1} s {p90:>5.1} s {p95:>5.1} s {p99:>5.1} s {max:>5.1} s"
            );
        }
        let count = |of: fn(&Visit) -> bool| visits.iter().filter(|visit| of(visit)).count();
        let _ = writeln!(
            text,
            "\njoined {}, called {}, inside {}, ended {}, left {}, no-shows {}, lost {}, refused {}, never came {}, began again {}",
            count(|visit| visit.joined.is_some()),
            count(|visit| visit.called.is_some()),
            count(|visit| visit.inside.is_some()),
            look.of(Fate::Ended),
            look.of(Fate::Left),
            look.of(Fate::NoShow),
            look.of(Fate::Lost),
            look.of(Fate::Refused),
            look.of(Fate::Ahead),
            visits.iter().map(|visit| u64::from(visit.again)).sum::<u64>(),
        );
        let kinds: Vec<String> = look
            .errors
            .iter()
            .map(|(word, count)| format!("{word} {count}"))
            .collect();
        let kinds = if kinds.is_empty() {
            "none".to_owned()
        } else {
            kinds.join(", ")
        };
        let _ = writeln!(text, "requests {}, errors: {kinds}", look.requests);
        let longest = Duration::from_millis(self.stage.pool.longest_ms());
        if longest >= SLOW {
            let _ = writeln!(
                text,
                "requests waited up to {:.1} s for a connection of this command's: that is in the waits above; raise --connections",
                longest.as_secs_f64()
            );
        }
        text
    }

    /// For scripts: all that a simulation of the same crowd is to be compared with.
    fn json(&self, visits: &[Visit], whole: bool) -> Value {
        let look = self.stage.tally.look();
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
            "waits": { "until_called": waits(visits, called), "until_inside": waits(visits, inside) },
            "fates": look.fates.iter().map(|(fate, count)| (word(*fate), json!(count))).collect::<serde_json::Map<_, _>>(),
            "requests": look.requests,
            // How long one waited for a connection of this command's, at most.
            "connection_wait_ms": self.stage.pool.longest_ms(),
            "errors": look.errors,
            // In milliseconds since it began, in order of arrival.
            "visits": visits,
        })
    }
}

fn word(fate: Fate) -> String {
    serde_json::to_value(fate)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn called(visit: &Visit) -> Option<u64> {
    visit.called
}

fn inside(visit: &Visit) -> Option<u64> {
    visit.inside
}

fn waits(visits: &[Visit], until: fn(&Visit) -> Option<u64>) -> Waits {
    let wait = |visit: &Visit| Some(until(visit)?.saturating_sub(visit.joined?));
    Waits::of(visits.iter().filter_map(wait).collect())
}

/// From so long a wait for a connection on, the report says so.
const SLOW: Duration = Duration::from_secs(1);

/// Lines that are not drawn over one another come every so many seconds.
const PLAIN_EVERY: u32 = 10;

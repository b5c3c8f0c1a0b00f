//! One virtual visitor, from arrival to end: asks at the pace that the gate's answers say, and loads the page again where the
//! page's script would.

use std::sync::Arc;
use std::time::Duration;

use http::header;
use serde_json::Value;
use tokio::time::sleep;

use super::pool::Answer;
use super::stage::{Asks, Jar, Stage, has_pass, has_place, word};
use super::tally::{Fate, Use};
use crate::simulate::{Doing, Pauses, Scripted};
use crate::time;

/// Lives one visit through, or until everybody stops.
pub async fn live(stage: Arc<Stage>, at: usize, part: Scripted) {
    let visit = async {
        sleep(Duration::from_millis(part.arrives_ms).saturating_sub(stage.since())).await;
        let fate = Visitor::new(&stage, at, part).visit().await;
        stage.tally.is(at, fate, stage.since());
    };
    tokio::select! {
        () = visit => {}
        () = stage.over() => {}
    }
}

struct Visitor<'a> {
    stage: &'a Stage,
    at: usize,
    part: Scripted,
    jar: Jar,
    /// Since when there is a place.
    joined: Option<Duration>,
    /// When the page was last loaded for the sake of it, and how often in a row.
    loaded: (Duration, u32),
    slept: bool,
    came_late: bool,
}

/// What the gate said.
enum Told {
    Wait(Duration),
    Called,
    /// Only the page itself says what comes next.
    Load,
    Over(Fate),
}

impl<'a> Visitor<'a> {
    fn new(stage: &'a Stage, at: usize, part: Scripted) -> Self {
        Self {
            stage,
            at,
            part,
            jar: Jar::new(),
            joined: None,
            loaded: (Duration::ZERO, 0),
            slept: false,
            came_late: false,
        }
    }

    async fn visit(mut self) -> Fate {
        self.is(Fate::Trying);
        let mut told = self.load().await;
        loop {
            if has_pass(&self.jar) {
                return self.inside().await;
            }
            told = match told {
                Told::Over(fate) => return fate,
                Told::Wait(pause) => match self.wait(pause).await {
                    Some(told) => told,
                    None => return Fate::Left,
                },
                Told::Called => match self.come().await {
                    Some(told) => told,
                    None => return Fate::NoShow,
                },
                Told::Load => {
                    sleep(self.before_loading(time::uptime())).await;
                    self.load().await
                }
            };
        }
    }

    /// In line until it is time to ask again, and the answer; `None` for one who gives up.
    async fn wait(&mut self, pause: Duration) -> Option<Told> {
        let since = self.joined.unwrap_or_else(time::uptime);
        let waited = time::uptime().saturating_sub(since);
        let left = |after_ms| Duration::from_millis(after_ms).saturating_sub(waited);
        match self.part.does {
            Doing::Leaves(after) if left(after) <= pause => {
                sleep(left(after)).await;
                self.stage.ask(Asks::Leave, &mut self.jar).await;
                return None;
            }
            Doing::Sleeps(after, length) if !self.slept && left(after) <= pause => {
                self.slept = true;
                sleep(left(after) + Duration::from_millis(length)).await;
            }
            _ => sleep(pause).await,
        }
        Some(self.ask().await)
    }

    /// Called: comes in now, or late, or not at all (`None`).
    async fn come(&mut self) -> Option<Told> {
        self.is(Fate::Called);
        match self.part.does {
            Doing::StaysAway => return None,
            Doing::ComesLate(after) if !self.came_late => {
                self.came_late = true;
                sleep(Duration::from_millis(after)).await;
            }
            _ => {}
        }
        Some(self.load().await)
    }

    /// Looks around, and goes.
    async fn inside(&mut self) -> Fate {
        self.is(Fate::Inside);
        let began = time::uptime();
        // A visitor who was called while joining has shown no cookie yet: only this claims the slot.
        self.stage.ask(Asks::Asset, &mut self.jar).await;
        self.stage.tally.uses(self.at, Use::Asks, self.stage.since());
        let mut pauses = self.part.pauses.map(Pauses::of);
        let (pages, whole) = (self.part.pages.max(1), Duration::from_millis(self.part.stay_ms));
        for page in 1..=pages {
            let pause = if let Some(pauses) = &mut pauses {
                Duration::from_millis(pauses.next_ms())
            } else {
                let due = whole.mul_f64(f64::from(page) / f64::from(pages));
                due.saturating_sub(time::uptime().saturating_sub(began))
            };
            sleep(pause).await;
            if self.page_inside().await {
                // The session is over: a visitor who gets a new place gives it up.
                self.stage.ask(Asks::Leave, &mut self.jar).await;
                return Fate::Lost;
            }
        }
        self.stage.tally.uses(self.at, Use::Ends, self.stage.since());
        self.stage.ask(Asks::Leave, &mut self.jar).await;
        Fate::Ended
    }

    /// Asks for a page of the shop; true where the session is over. A visitor who has no slot any more asks until there is one: the
    /// gate lets the request wait, and then sends a page that asks again by itself.
    async fn page_inside(&mut self) -> bool {
        let asked = time::uptime();
        let mut had_none = false;
        loop {
            let answer = self.stage.ask(Asks::Page, &mut self.jar).await;
            match answer.as_ref().map_or("", word) {
                "waiting" | "joined" => return true,
                "parked" => {
                    had_none = true;
                    sleep(answer.as_ref().and_then(retry_after).unwrap_or(AGAIN)).await;
                }
                _ => {
                    let waited = time::uptime().saturating_sub(asked);
                    self.stage.tally.uses(self.at, Use::Asks, self.stage.since());
                    self.stage.tally.returned(waited, had_none);
                    return false;
                }
            }
        }
    }

    /// Loads the page: joins, waits on, or comes in.
    async fn load(&mut self) -> Told {
        let answer = self.stage.ask(Asks::Page, &mut self.jar).await;
        self.look_at_the_jar();
        let Some(answer) = answer else {
            return if has_pass(&self.jar) { Told::Called } else { Told::Load };
        };
        match word(&answer) {
            "closed" | "over" | "sold_out" | "too_many_lines" => Told::Over(Fate::Refused),
            "early" => Told::Wait(FIRST),
            _ if has_pass(&self.jar) => Told::Called,
            _ if has_place(&self.jar) => {
                // Also a visitor who came too late, and is in line again.
                self.is(Fate::Waiting);
                Told::Wait(FIRST)
            }
            _ => {
                // Neither in nor in line, as where the log is slow: the page comes again by itself.
                self.count(&answer);
                Told::Load
            }
        }
    }

    fn look_at_the_jar(&mut self) {
        if self.joined.is_none() && has_place(&self.jar) {
            self.joined = Some(time::uptime());
            self.is(Fate::Waiting);
        }
    }

    fn count(&self, answer: &Answer) {
        if answer.status.is_server_error() {
            self.stage.tally.error(word(answer));
        }
    }

    /// Asks where it stands.
    async fn ask(&mut self) -> Told {
        let Some(answer) = self.stage.ask(Asks::Status, &mut self.jar).await else {
            return Told::Wait(AGAIN);
        };
        let status: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let refresh = status["refresh"].as_f64().unwrap_or(0.0).clamp(0.2, 600.0);
        match status["state"].as_str().unwrap_or_default() {
            "waiting" | "joining" | "early" => Told::Wait(Duration::from_secs_f64(refresh)),
            "called" | "inside" => Told::Called,
            "closed" | "over" | "sold_out" => Told::Over(Fate::Refused),
            // None, late, ended: the old place is void, and the page takes a new one.
            state => {
                if matches!(state, "late" | "ended") {
                    self.stage.tally.again(self.at);
                }
                Told::Load
            }
        }
    }

    /// At once, and if that changes nothing more and more slowly, as the page's script does it.
    fn before_loading(&mut self, now: Duration) -> Duration {
        let (last, row) = self.loaded;
        let again = last > Duration::ZERO && now.saturating_sub(last) < IN_A_ROW;
        let row = if again { (row + 1).min(5) } else { 0 };
        self.loaded = (now, row);
        if row == 0 {
            return Duration::ZERO;
        }
        Duration::from_secs(1 << row).mul_f64(f64::midpoint(1.0, fastrand::f64()))
    }

    fn is(&self, fate: Fate) {
        self.stage.tally.is(self.at, fate, self.stage.since());
    }
}

/// When the page of a visitor without a slot asks again.
fn retry_after(answer: &Answer) -> Option<Duration> {
    let field = answer.headers.get(header::RETRY_AFTER)?;
    field.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

/// When the page's script asks for the first time, and when a visitor tries again who had no answer.
const FIRST: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_secs(3);

/// Loads within so long of one another are in a row.
const IN_A_ROW: Duration = Duration::from_secs(60);

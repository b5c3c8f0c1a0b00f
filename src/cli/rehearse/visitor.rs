//! One virtual visitor, from arrival to end: asks at the pace that the gate's answers say, as the page's script does.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use super::persona::{Does, Persona};
use super::stage::{Asks, Jar, Stage, has_pass, word};
use super::tally::Fate;
use crate::time;

/// Lives one visit through, or until everybody stops.
pub async fn live(stage: Arc<Stage>, at: usize, persona: Persona) {
    let visit = async {
        sleep(persona.arrives.saturating_sub(stage.since())).await;
        let fate = Visitor::new(&stage, at, &persona).visit().await;
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
    persona: &'a Persona,
    jar: Jar,
    /// Questions asked in line.
    asked: u32,
    slept: bool,
    came_late: bool,
}

/// What the gate said.
enum Told {
    Wait(Duration),
    Called,
    Over(Fate),
}

impl<'a> Visitor<'a> {
    fn new(stage: &'a Stage, at: usize, persona: &'a Persona) -> Self {
        Self {
            stage,
            at,
            persona,
            jar: Jar::new(),
            asked: 0,
            slept: false,
            came_late: false,
        }
    }

    async fn visit(mut self) -> Fate {
        let mut told = loop {
            if let Some(told) = self.load().await {
                break told;
            }
            sleep(AGAIN).await;
        };
        if !has_pass(&self.jar) && !matches!(told, Told::Over(_)) {
            self.is(Fate::Waiting);
        }
        let joined = time::uptime();
        loop {
            if has_pass(&self.jar) {
                return self.inside().await;
            }
            told = match told {
                Told::Over(fate) => return fate,
                Told::Wait(pause) => match self.wait(pause, joined).await {
                    Some(told) => told,
                    None => return Fate::Left,
                },
                Told::Called => match self.come().await {
                    Some(told) => told,
                    None => return Fate::NoShow,
                },
            };
        }
    }

    /// In line until it is time to ask again, and the answer; `None` for one who gives up.
    async fn wait(&mut self, pause: Duration, joined: Duration) -> Option<Told> {
        let waited = time::uptime().saturating_sub(joined);
        match self.persona.does {
            Does::Leaves(after) if waited + pause >= after => {
                sleep(after.saturating_sub(waited)).await;
                self.stage.ask(Asks::Leave, &mut self.jar).await;
                return None;
            }
            Does::Sleeps(after, length) if !self.slept && waited + pause >= after => {
                self.slept = true;
                sleep(after.saturating_sub(waited) + length).await;
            }
            _ => sleep(pause).await,
        }
        self.asked += 1;
        let reloads = self.persona.reloads > 0 && self.asked.is_multiple_of(self.persona.reloads);
        let told = if reloads { self.load().await } else { self.ask().await };
        Some(told.unwrap_or(Told::Wait(AGAIN)))
    }

    /// Called: comes in now, or late, or not at all (`None`).
    async fn come(&mut self) -> Option<Told> {
        self.is(Fate::Called);
        match self.persona.does {
            Does::StaysAway => return None,
            Does::ComesLate(after) if !self.came_late => {
                self.came_late = true;
                sleep(after).await;
            }
            _ => {}
        }
        let Some(told) = self.load().await else {
            sleep(AGAIN).await;
            return Some(Told::Called);
        };
        if !has_pass(&self.jar) && matches!(told, Told::Wait(_)) {
            // Too late, and in line again.
            self.is(Fate::Waiting);
        }
        Some(told)
    }

    /// Looks around, and goes.
    async fn inside(&mut self) -> Fate {
        self.is(Fate::Inside);
        let began = time::uptime();
        let (pages, whole) = (self.persona.pages.max(1), self.persona.inside);
        for page in 1..=pages {
            let due = whole.mul_f64(f64::from(page) / f64::from(pages));
            sleep(due.saturating_sub(time::uptime().saturating_sub(began))).await;
            let answer = self.stage.ask(Asks::Page, &mut self.jar).await;
            let line = answer.is_some_and(|answer| matches!(word(&answer), "waiting" | "joined"));
            if line {
                // The session is over: whoever is given a new place gives it up.
                self.stage.ask(Asks::Leave, &mut self.jar).await;
                return Fate::Lost;
            }
        }
        self.stage.ask(Asks::Leave, &mut self.jar).await;
        Fate::Ended
    }

    /// Loads the page: joins, waits on, or comes in.
    async fn load(&mut self) -> Option<Told> {
        let answer = self.stage.ask(Asks::Page, &mut self.jar).await?;
        Some(match word(&answer) {
            "closed" | "early" | "sold_out" | "too_many_lines" => Told::Over(Fate::Refused),
            _ if has_pass(&self.jar) => Told::Called,
            _ => Told::Wait(FIRST),
        })
    }

    /// Asks where it stands.
    async fn ask(&mut self) -> Option<Told> {
        let answer = self.stage.ask(Asks::Status, &mut self.jar).await?;
        let status: Value = serde_json::from_slice(&answer.body).ok()?;
        let refresh = status["refresh"].as_f64().unwrap_or(0.0).clamp(0.2, 600.0);
        Some(match status["state"].as_str().unwrap_or_default() {
            "waiting" | "joining" => Told::Wait(Duration::from_secs_f64(refresh)),
            "called" | "inside" => Told::Called,
            "late" => Told::Over(Fate::Late),
            "closed" | "early" | "sold_out" => Told::Over(Fate::Refused),
            _ => Told::Over(Fate::Lost),
        })
    }

    fn is(&self, fate: Fate) {
        self.stage.tally.is(self.at, fate, self.stage.since());
    }
}

/// When the page's script asks for the first time, and when anybody tries again who had no answer.
const FIRST: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_secs(3);

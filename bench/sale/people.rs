//! The crowd: each join at its time, independent of earlier ones, and visitors who wait, are called, come in and buy.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval, sleep, sleep_until};

use crate::house::{Gate, ROOM};
use crate::plan::{Fate, Join, Kind, Plan, one_of};
use crate::tally::{self, Answered, Tally};
use crate::wire::Answer;

pub struct Crowd {
    pub plan: Plan,
    pub gates: Vec<Gate>,
    pub tally: Mutex<Tally>,
    /// The browsers that bought, for when the results are asked for.
    pub buyers: Mutex<Vec<Browser>>,
    /// Some that came in and did not buy, and some that waited in vain.
    pub others: Mutex<Vec<(Browser, Ended)>>,
}

/// How somebody's visit ended who did not buy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    Idle,
    InVain,
}

/// A browser with its jar.
#[derive(Clone, Debug, Default)]
pub struct Browser {
    pub account: u64,
    number: u64,
    app: bool,
    ticket: Option<String>,
    pass: Option<String>,
}

impl Browser {
    fn of(join: &Join) -> Self {
        Self {
            account: join.account,
            number: join.browser,
            app: join.app,
            ..Self::default()
        }
    }

    /// A request of this browser, as the proxy before the gates forwards it.
    fn request(&self, line: &str, fields: &str) -> String {
        let mut cookies = String::new();
        for (kind, token) in [("ticket", &self.ticket), ("pass", &self.pass)] {
            if let Some(token) = token {
                let lead = if cookies.is_empty() { "Cookie: " } else { "; " };
                cookies.extend([lead, "ropeline-", kind, "-", ROOM, "=", token.as_str()]);
            }
        }
        if !cookies.is_empty() {
            cookies += "\r\n";
        }
        let [a, b, c, _] = u32::try_from((self.account * 256) & 0xffff_ffff)
            .unwrap_or(0)
            .to_be_bytes();
        let d = self.number % 250 + 1;
        format!(
            "{line} HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: {}.{b}.{c}.{d}\r\nX-User: {}\r\n{fields}{cookies}\r\n",
            11 + a % 100,
            account(self.account)
        )
    }

    fn join(&self) -> String {
        if self.app {
            let line = format!("POST /.ropeline/rooms/{ROOM}/join");
            return self.request(&line, "Content-Length: 0\r\n");
        }
        self.request("GET /drop/", PAGE)
    }

    fn keep(&mut self, answer: &Answer) {
        if self.app {
            self.keep_told(answer);
        }
        for (kind, token) in [("ticket", &mut self.ticket), ("pass", &mut self.pass)] {
            if let Some(value) = answer.cookie(&format!("ropeline-{kind}-")) {
                *token = Some(value.to_owned());
            }
        }
    }

    /// An app keeps its tokens itself.
    fn keep_told(&mut self, answer: &Answer) {
        let told = answer.json();
        for (kind, token) in [("ticket", &mut self.ticket), ("pass", &mut self.pass)] {
            if let Some(value) = told[kind].as_str() {
                *token = Some(value.to_owned());
            }
        }
    }
}

/// The name of an account.
pub fn account(index: u64) -> String {
    format!("visitor-{index}")
}

/// Sends every join at its time. Visitors who stay go on by themselves.
pub async fn come(crowd: &Arc<Crowd>, began: Instant) {
    let mut beat = interval(Duration::from_millis(1));
    beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut next = 0;
    while next < crowd.plan.joins() {
        beat.tick().await;
        let now = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        while next < crowd.plan.joins() && crowd.plan.due_us(next) <= now {
            let due = Duration::from_micros(crowd.plan.due_us(next));
            tokio::spawn(visit(Arc::clone(crowd), next, began, due));
            next += 1;
        }
    }
}

/// One join, and what follows from it. What it takes counts from when it was due.
async fn visit(crowd: Arc<Crowd>, index: u64, began: Instant, due: Duration) {
    let join = crowd.plan.join(index);
    let mut browser = Browser::of(&join);
    let answer = crowd.gates[join.gate].visitors.ask(&browser.join()).await;
    let took = began.elapsed().saturating_sub(due);
    let answered = crowd.judge(&join, &answer);
    crowd.tally.lock().expect("nobody panics").joins.push(tally::Join {
        due,
        took,
        answered,
        kind: join.kind,
    });
    let Ok(answer) = answer else { return };
    browser.keep(&answer);
    let fate = crowd.plan.fate(join.account);
    let placed = matches!(answered, Answered::Numbered | Answered::Held);
    if placed && fate != Fate::Goes && join.kind != Kind::Retry {
        crowd.wait(browser, index, fate, join.kind).await;
    }
}

impl Crowd {
    fn judge(&self, join: &Join, answer: &io::Result<Answer>) -> Answered {
        let word = match answer {
            Ok(answer) if answer.status == 200 => {
                if answer.word() == "joining" {
                    return Answered::Held;
                }
                // Also an account's second browser, whose first is called or inside.
                if matches!(answer.word(), "waiting" | "called" | "inside" | "") || answer.has("x-shop") {
                    return Answered::Numbered;
                }
                format!("200 {}", answer.word())
            }
            Ok(answer) if answer.status == 503 && answer.word() == "sold_out" => return Answered::SoldOut,
            Ok(answer) => format!("{} {}", answer.status, answer.word()),
            Err(error) => error.to_string(),
        };
        self.fault(format!(
            "a join was answered: {word}{}",
            if join.app { ", to an app" } else { "" }
        ));
        Answered::Failed
    }

    fn fault(&self, what: String) {
        self.tally.lock().expect("nobody panics").fault(what);
    }

    /// Waits as the page's script does, at any of the gates: asks again at the given time.
    async fn wait(&self, mut browser: Browser, index: u64, fate: Fate, kind: Kind) {
        let mut again = 0;
        for count in 0_u64.. {
            let chance = self.plan.chance(5, index ^ (count << 32));
            let gate = one_of(chance, self.gates.len());
            let Some(told) = self.told(&mut browser, gate).await else {
                return;
            };
            let state = told["state"].as_str().unwrap_or_default();
            match state {
                "joining" | "waiting" | "late" | "ended" | "none" | "called" | "inside" | "sold_out" => {}
                other => self.fault(format!("the status of somebody waiting was {other}")),
            }
            match (state, fate) {
                ("called", Fate::Misses) => return,
                ("called", _) if kind == Kind::First => return self.come_in(browser, fate, chance).await,
                // The first browser has gone in: this one shares its session.
                ("inside", Fate::Buys) if kind == Kind::Browser => return self.buy(browser, chance).await,
                ("sold_out", _) => {
                    let mut others = self.others.lock().expect("nobody panics");
                    if others.len() < MOST_OTHERS {
                        others.push((browser, Ended::InVain));
                    }
                    return;
                }
                // A page that was held reloads, and an app joins, once numbers are given again.
                ("none", _) if again < MOST_AGAIN => {
                    again += 1;
                    if let Ok(answer) = self.gates[gate].visitors.ask(&browser.join()).await {
                        browser.keep(&answer);
                    }
                }
                ("late" | "none", Fate::Buys) if kind == Kind::First => {
                    return self.fault(format!("somebody who wants to buy was told {state}"));
                }
                ("late" | "ended" | "none", _) => return,
                _ => {}
            }
            let refresh = told["refresh"].as_f64().unwrap_or(0.0);
            sleep(Duration::from_secs_f64(refresh.clamp(0.5, 60.0))).await;
        }
    }

    /// One gate's answer to this browser. The browsers of an account share one place, and therefore its limit on questions.
    pub async fn told(&self, browser: &mut Browser, gate: usize) -> Option<serde_json::Value> {
        let line = format!("POST /.ropeline/rooms/{ROOM}/check-in");
        loop {
            self.tally.lock().expect("nobody panics").questions += 1;
            let request = browser.request(&line, "Content-Length: 0\r\n");
            match self.gates[gate].visitors.ask(&request).await {
                Ok(answer) if answer.status == 200 => {
                    browser.keep(&answer);
                    browser.keep_told(&answer);
                    return Some(answer.json());
                }
                Ok(answer) if answer.status == 429 => sleep(Duration::from_secs(1)).await,
                Ok(answer) => {
                    self.fault(format!("a check-in was answered: {} {}", answer.status, answer.word()));
                    return None;
                }
                Err(error) => {
                    self.fault(format!("a check-in was answered: {error}"));
                    return None;
                }
            }
        }
    }

    /// Goes to the shop, and on to the till after some seconds, or never.
    async fn come_in(&self, mut browser: Browser, fate: Fate, chance: u64) {
        if !self.shop(&mut browser, "GET /drop/", PAGE, chance).await {
            return self.fault("somebody who was called did not get in".to_owned());
        }
        self.tally.lock().expect("nobody panics").came_in += 1;
        if fate == Fate::Idles {
            self.others.lock().expect("nobody panics").push((browser, Ended::Idle));
            return;
        }
        sleep(Duration::from_millis(1_000 + chance % 3_000)).await;
        self.buy(browser, chance >> 8).await;
    }

    async fn buy(&self, mut browser: Browser, chance: u64) {
        let line = format!("GET /drop/receipt/{}", account(browser.account));
        // Never a join: an account that has bought is not to come again by this.
        let script = "Accept: application/json\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n";
        let bought = self.shop(&mut browser, &line, script, chance).await;
        if bought {
            self.buyers.lock().expect("nobody panics").push(browser);
        } else if browser.number == 0 && !self.has_bought(browser.account) {
            self.fault("somebody inside could not buy".to_owned());
        }
    }

    /// In another browser.
    fn has_bought(&self, account: u64) -> bool {
        let buyers = self.buyers.lock().expect("nobody panics");
        buyers.iter().any(|buyer| buyer.account == account)
    }

    /// Whether the shop itself answered.
    async fn shop(&self, browser: &mut Browser, line: &str, fields: &str, chance: u64) -> bool {
        let gate = one_of(chance, self.gates.len());
        match self.gates[gate].visitors.ask(&browser.request(line, fields)).await {
            Ok(answer) => {
                browser.keep(&answer);
                answer.has("x-shop")
            }
            Err(error) => {
                self.fault(format!("a request to the shop was answered: {error}"));
                false
            }
        }
    }
}

/// Waits until so long after the start.
pub async fn until(began: Instant, at: Duration) {
    sleep_until((began + at).into()).await;
}

const PAGE: &str = "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";

/// Of the visitors who waited in vain, this many are asked for the results.
const MOST_OTHERS: usize = 300;

/// How often a visitor without a place comes again.
const MOST_AGAIN: u32 = 3;

//! The visitors of a crowd, most of them patient, and their behaviour.
//!
//! Each visitor is a task with a cookie jar and an address. The task checks everything that a visitor could notice: a wrong
//! answer ends the test. Its memory goes into the [`Tally`], which is compared with the shop's records and the gate's log at
//! the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ropeline::room::Number;
use tokio::time::sleep;

use super::chance::Chance;
use super::guest::{Guest, PAGE, SCRIPT, number_of, read_pass, read_ticket};
use super::http::{Message, Pool};
use super::shop::Reply;

/// The room that a crowd comes to, where crowds differ.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Slots.
    pub capacity: u64,
    pub session_secs: u64,
}

/// How long a called visitor has to come, and the time that the room adds before the slot is free, in milliseconds.
pub const CLAIM_MS: u64 = 8_000;
pub const SLACK_MS: u64 = 2_000;

/// How long a visitor counts as present after joining, and after checking in, in milliseconds.
pub const FIRM_MS: u64 = 6_000;
pub const GENERATION_MS: u64 = 8_000;

/// How often the front asks.
const FRONT: Duration = Duration::from_millis(400);

/// A visitor who comes within this time of being called is in time on any machine.
const AT_ONCE: Duration = Duration::from_millis(CLAIM_MS / 2);

/// The room of one gate's crowd.
pub const FIFTY: Rules = Rules {
    capacity: 50,
    session_secs: 6,
};

impl Rules {
    /// The lines of `[[room]]`: everything as short as `ropeline check` allows without making pages ask all the time.
    pub fn room(&self) -> String {
        let Self { capacity, session_secs } = self;
        format!(
            "total_active_users = {capacity}\nsession_duration = \"{session_secs}s\"\nclaim_deadline = \"8s\"\n\
             grace = \"16s\"\nfirm_within = \"6s\"\nlate_window = \"20 min\"\nend_grace = \"0s\"\n\
             ends_on = [{{ route = \"/receipt\", status = 200 }}]\nexcept = [\"/static/*\"]"
        )
    }
}

/// Wide limits: visitors who ask often are not what is tested here.
pub const LIMITS: &str = "[limits]\nstatus = { requests = 50, window = \"1s\" }";

/// The shop thinks a little, so that requests overlap.
pub const REPLIES: &[Reply] = &[Reply {
    after: Duration::from_millis(15),
    ..Reply::new(
        "/",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: text/html\r\n",
        "come in",
    )
}];

/// The behaviour of a visitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Plan {
    /// Waits by the script's status, buys, and goes.
    Patient,
    /// Reloads the page instead, sometimes twice at once.
    Reloader,
    /// Sees the turn, stays away until it is over, and comes back.
    NoShow,
    /// Joins, asks a few times, and is never seen again, or says goodbye.
    Churner,
    /// Drops every cookie.
    Cookieless,
    /// An app: no cookies, tokens in headers.
    App,
}

/// State that all visitors share.
pub struct World {
    pub pool: Arc<Pool>,
    pub rules: Rules,
    /// The gate is killed now and then: who gets no answer asks again.
    pub rough: bool,
    /// How long a visitor inside looks at a page, in milliseconds.
    pub stay_ms: (u64, u64),
    /// How long a pass may still be taken somewhere after its session was ended; none when people should not try.
    pub void_after: Option<Duration>,
    /// Hardly any visitor wastes a slot by not coming or not leaving: the crowd is through soon.
    pub swift: bool,
    pub tally: Mutex<Tally>,
}

/// The visitors' records.
#[derive(Default)]
pub struct Tally {
    pub owners: BTreeMap<Number, u32>,
    /// By the name that the shop knows.
    pub sessions: BTreeMap<String, (u32, Number)>,
    /// Visitors who want to be admitted, and those who were.
    pub eager: BTreeSet<u32>,
    pub admitted: BTreeSet<u32>,
    /// Numbers that two people were given.
    pub twice: Vec<String>,
    /// Numbers whose visitor was called, by an answer that arrived.
    pub told: BTreeSet<Number>,
    /// Visitors who had the first number and were given another.
    pub rejoined: Vec<Number>,
    /// Visitors who were called, came at once, and were given another number.
    pub turned_back: Vec<Number>,
    /// Sessions that were over when their visitor was informed.
    pub ended: BTreeMap<String, Duration>,
    /// Sessions that idled out because the machine was slow.
    pub fell_out: u32,
    pub answers: u64,
    pub lost_answers: u64,
    /// Answers that a gate was not ready yet, or could not give another. They are lost ones too.
    pub unavailable: u64,
}

/// A person, by number in the crowd.
struct Person {
    index: u32,
    guest: Guest,
    world: Arc<World>,
    chance: Chance,
    number: Option<Number>,
    /// When it was last called, by an answer.
    told: Option<Duration>,
    /// An app's tokens.
    ticket: String,
    pass: String,
}

impl World {
    pub fn new(pool: Pool, rules: Rules, rough: bool, stay_ms: (u64, u64)) -> Self {
        Self {
            pool: Arc::new(pool),
            rules,
            rough,
            stay_ms,
            void_after: Some(Duration::ZERO),
            swift: false,
            tally: Mutex::default(),
        }
    }
}

/// One person's whole visit.
pub async fn visit(world: Arc<World>, index: u32, mut chance: Chance, arrive_within_ms: u64) {
    sleep(Duration::from_millis(chance.within(0, arrive_within_ms))).await;
    let guest = Guest::new(&world.pool, index);
    let plan = match chance.within(0, 100) {
        62..72 => Plan::Reloader,
        72..76 if !world.swift => Plan::NoShow,
        76..78 => Plan::Churner,
        78..86 if !world.swift => Plan::Churner,
        86..92 => Plan::Cookieless,
        92.. => Plan::App,
        _ => Plan::Patient,
    };
    if !matches!(plan, Plan::Churner | Plan::Cookieless) {
        world.tally.lock().unwrap().eager.insert(index);
    }
    let (ticket, pass) = Default::default();
    let mut person = Person {
        index,
        guest,
        world,
        chance,
        number: None,
        told: None,
        ticket,
        pass,
    };
    match plan {
        Plan::Churner => person.churn().await,
        Plan::Cookieless => person.forget_everything().await,
        Plan::App => person.use_the_app().await,
        Plan::Patient | Plan::Reloader | Plan::NoShow => {
            person.get_in(plan).await;
            person.shop_around().await;
        }
    }
}

/// A client that never waits: it must be turned away or, while no visitor waits, let through, and never be given a place.
pub async fn knock(world: Arc<World>, index: u32) {
    let mut guest = Guest::new(&world.pool, index);
    loop {
        if let Ok(answer) = guest.send("GET", "/api/stock", SCRIPT, "").await {
            let refused = answer.status() == 503 && answer.word() == "waiting" && answer.json()["room"] == "shop";
            let starting = world.rough && answer.word() == "unavailable";
            assert!(refused || answer.is_the_shops() || starting, "{}", answer.head);
            assert!(guest.jar.is_empty(), "an API call was given a place: {}", answer.head);
        }
        sleep(Duration::from_millis(250)).await;
    }
}

impl Person {
    async fn get_in(&mut self, plan: Plan) {
        let mut missed = plan != Plan::NoShow;
        loop {
            let answer = self.ask("GET", "/event", PAGE, "").await;
            if answer.is_the_shops() {
                self.world.tally.lock().unwrap().admitted.insert(self.index);
                return;
            }
            assert!(is_in_line(&answer), "visitor {}: {}", self.index, answer.head);
            let called = if plan == Plan::Reloader {
                self.reload().await
            } else {
                self.wait().await
            };
            if called && !missed {
                missed = true;
                sleep(Duration::from_millis(CLAIM_MS + SLACK_MS + 500)).await;
                self.wait().await;
            }
        }
    }

    /// Asks for the status until it is no longer that of a visitor in line; true when called.
    async fn wait(&mut self) -> bool {
        loop {
            let answer = self.own("GET", "status").await;
            let status = answer.json();
            let state = status["state"].as_str().unwrap();
            if !matches!(state, "waiting" | "joining") {
                return state == "called";
            }
            let refresh = Duration::from_secs_f64(status["refresh"].as_f64().unwrap());
            // The front has the event stream; here it asks often instead.
            let near = status["position"].as_u64().is_some_and(|position| position <= 60);
            self.pause(if near { FRONT } else { refresh }).await;
        }
    }

    /// Waits by the page alone; some of it twice at once.
    async fn reload(&mut self) -> bool {
        self.pause(Duration::from_secs(3)).await;
        if self.chance.hits(300) {
            let mut twin = self.guest.clone();
            let (one, _two) = tokio::join!(
                self.ask("GET", "/event", PAGE, ""),
                twin.send("GET", "/event", PAGE, "")
            );
            assert!(one.is_the_shops() || is_in_line(&one), "{}", one.head);
        }
        false
    }

    /// Looks at a few pages, then buys, leaves, or just stops.
    async fn shop_around(&mut self) {
        for _ in 0..self.chance.within(1, 4) {
            let (from, to) = self.world.stay_ms;
            let stay = self.chance.within(from, to);
            sleep(Duration::from_millis(stay)).await;
            let (target, fields) = if self.chance.hits(300) {
                ("/api/basket", SCRIPT)
            } else {
                ("/event/seats", PAGE)
            };
            let answer = self.ask("GET", target, fields, "").await;
            if !answer.is_the_shops() {
                self.world.tally.lock().unwrap().fell_out += 1;
                return;
            }
        }
        match self.chance.within(0, 100) {
            0..45 => drop(self.ask("GET", "/receipt", PAGE, "").await),
            95.. if !self.world.swift => {}
            _ => self.leave().await,
        }
    }

    /// Gives the slot back, and in some cases tries the old pass all the same.
    async fn leave(&mut self) {
        let old = self.guest.pass();
        let cookies = self.guest.jar.clone();
        let answer = self.own("POST", "leave").await;
        assert_eq!(answer.status(), 200, "{}", answer.head);
        let Some(old) = old else { return };
        let told = ropeline::time::uptime();
        let Some(void_after) = self.world.void_after else {
            return;
        };
        let ended = (old.session_header(), told + void_after);
        self.world.tally.lock().unwrap().ended.extend([ended]);
        if self.chance.hits(300) {
            sleep(void_after).await;
            self.guest.jar = cookies;
            self.guest.keeps = false;
            self.ask("GET", "/api/again", SCRIPT, "").await;
        }
    }

    async fn churn(&mut self) {
        let answer = self.ask("GET", "/event", PAGE, "").await;
        if answer.is_the_shops() {
            return;
        }
        for _ in 0..self.chance.within(0, 4) {
            self.own("GET", "status").await;
            self.pause(Duration::from_secs(2)).await;
        }
        if self.chance.hits(400) {
            self.own("POST", "leave").await;
        }
    }

    async fn forget_everything(&mut self) {
        self.guest.keeps = false;
        for _ in 0..self.chance.within(1, 4) {
            self.ask("GET", "/event", PAGE, "").await;
            self.number = None;
            self.pause(Duration::from_secs(2)).await;
        }
    }

    async fn use_the_app(&mut self) {
        self.guest.keeps = false;
        loop {
            let method = if self.ticket.is_empty() {
                ("POST", "join")
            } else {
                ("GET", "status")
            };
            let status = self.own(method.0, method.1).await.json();
            for (field, kept) in [("ticket", &mut self.ticket), ("pass", &mut self.pass)] {
                if let Some(token) = status[field].as_str() {
                    token.clone_into(kept);
                }
            }
            self.remember(&self.ticket.clone(), &self.pass.clone());
            match status["state"].as_str().unwrap() {
                "called" | "inside" if !self.pass.is_empty() => break,
                "waiting" | "joining" | "called" | "inside" => self.pause(Duration::from_millis(700)).await,
                _ => self.ticket.clear(),
            }
        }
        let answer = self.ask("GET", "/api/event", SCRIPT, "").await;
        if answer.is_the_shops() {
            self.world.tally.lock().unwrap().admitted.insert(self.index);
        } else {
            // The answer with the call came too late because the machine is slow. It asks for the next one.
            self.pass.clear();
            return Box::pin(self.use_the_app()).await;
        }
        self.own("POST", "leave").await;
    }

    async fn own(&mut self, method: &str, endpoint: &str) -> Message {
        let answer = self
            .ask(method, &format!("/.ropeline/rooms/shop/{endpoint}"), SCRIPT, "")
            .await;
        assert_eq!(answer.status(), 200, "{endpoint}: {}", answer.head);
        if answer.json()["state"] == "called" {
            self.told = Some(ropeline::time::uptime());
            self.world.tally.lock().unwrap().told.extend(self.number);
        }
        answer
    }

    /// Sends a request until there is an answer.
    async fn ask(&mut self, method: &str, target: &str, fields: &str, body: &str) -> Message {
        let mut fields = fields.to_owned();
        for (name, token) in [("Ropeline-Ticket", &self.ticket), ("Ropeline-Pass", &self.pass)] {
            if !token.is_empty() {
                fields.extend([name, ": ", token, "\r\n"]);
            }
        }
        loop {
            match self.guest.send(method, target, &fields, body).await {
                Ok(answer) if self.world.rough && answer.word() == "unavailable" => {
                    self.world.tally.lock().unwrap().unavailable += 1;
                }
                Ok(answer) => {
                    self.look_at(&answer);
                    return answer;
                }
                Err(error) => assert!(self.world.rough, "visitor {}: {method} {target}: {error}", self.index),
            }
            self.world.tally.lock().unwrap().lost_answers += 1;
            self.pause(FRONT).await;
        }
    }

    fn look_at(&mut self, answer: &Message) {
        self.world.tally.lock().unwrap().answers += 1;
        if answer.is_the_shops() {
            self.told = None;
        }
        let ticket = answer.cookie(&super::gate::ticket_name()).unwrap_or_default();
        let pass = answer.cookie(&super::gate::pass_name()).unwrap_or_default();
        self.remember(ticket, pass);
    }

    fn remember(&mut self, ticket: &str, pass: &str) {
        let mut tally = self.world.tally.lock().unwrap();
        if let Some(number) = read_ticket(ticket).as_ref().and_then(number_of) {
            let owner = tally.owners.insert(number, self.index);
            if let Some(owner) = owner.filter(|owner| *owner != self.index) {
                let twice = format!("{number:?} was given to {owner} and to {}", self.index);
                tally.twice.push(twice);
            }
            if let Some(before) = self.number.replace(number).filter(|before| *before != number) {
                let told = self.told.take();
                let at_once = told.is_some_and(|told| ropeline::time::uptime() < told + AT_ONCE);
                let list = if at_once {
                    &mut tally.turned_back
                } else {
                    &mut tally.rejoined
                };
                list.push(before);
            }
        }
        if let Some(pass) = read_pass(pass) {
            tally.sessions.insert(pass.session_header(), (self.index, pass.number));
        }
    }

    /// Between half of `most` and all of it.
    async fn pause(&mut self, most: Duration) {
        let percent = u32::try_from(self.chance.within(50, 101)).unwrap();
        sleep(most * percent / 100).await;
    }
}

fn is_in_line(answer: &Message) -> bool {
    answer.status() == 200 && matches!(answer.word(), "waiting" | "joining")
}

//! The target of virtual visitors: a page of the room at a gate, and the names of the gate's own endpoints for it.

use std::time::Duration;

use http::{HeaderValue, Method, StatusCode, header};

use super::known::Known;
use super::lease::Lease;
use super::options::RehearseArgs;
use super::persona::Persona;
use super::place::Aim;
use super::pool::Pool;
use super::stage::{Asks, Jar, Places, Stage, word};
use crate::cli::remote::{Failure, encoded};
use crate::router::{self, LineOf};

/// What a rehearsal is aimed at, by the configuration and the arguments.
pub struct Target {
    aim: Aim,
    authorities: Option<Vec<u8>>,
    host: String,
    connections: usize,
    places: Places,
    /// The room's.
    pub claim_deadline: Duration,
    session: Duration,
}

impl Target {
    pub fn of(args: &RehearseArgs, known: &Known) -> Result<Self, Failure> {
        let (config, room) = (&known.config, known.room());
        let aim = Aim::of(args, config)?;
        let named = room
            .hosts
            .iter()
            .map(ToString::to_string)
            .find(|host| !host.starts_with("*."));
        let host = args.host.clone().or(named).unwrap_or_else(|| aim.authority.clone());
        let line = line(args, known, &host)?;
        let wrong = || Failure::Local(format!("{host:?} can be no host"));
        let own = |endpoint| format!("/.ropeline/rooms/{}/{endpoint}{line}", room.name);
        // As many as a gate takes from one address, with some to spare for people.
        let most = config.server.max_connections_per_client.saturating_sub(SPARE).max(1);
        Ok(Self {
            authorities: authorities(args)?,
            connections: usize::try_from(args.connections).unwrap_or(most).min(most),
            places: Places {
                host: HeaderValue::try_from(host.as_str()).map_err(|_| wrong())?,
                page: args.path.clone(),
                status: own("status"),
                leave: own("leave"),
            },
            claim_deadline: Duration::from_millis(room.settings.claim_deadline_ms),
            session: Duration::from_millis(room.settings.session_ms),
            aim,
            host,
        })
    }

    /// The stage, at a gate that has this room and takes the mark. A gate that redirects requests in the clear to TLS is met there.
    pub async fn gate(&mut self, lease: &Lease, args: &RehearseArgs) -> Result<Stage, Failure> {
        let stage = self.stage(lease, args.visitors)?;
        let Some(aim) = self.is_a_gate(&stage).await? else {
            return Ok(stage);
        };
        self.aim = aim;
        let stage = self.stage(lease, args.visitors)?;
        match self.is_a_gate(&stage).await? {
            None => Ok(stage),
            Some(aim) => Err(Failure::Local(format!(
                "the gate sends visitors on and on, last to {aim}"
            ))),
        }
    }

    fn stage(&self, lease: &Lease, visitors: u32) -> Result<Stage, Failure> {
        let place = self.aim.place(&self.host, self.authorities.as_deref())?;
        let pool = Pool::new(place, self.connections);
        let places = self.places.clone();
        Ok(Stage::new(pool, places, lease.id(), visitors, lease.mark()?))
    }

    /// A visitor inside asks often enough to stay so.
    pub fn awake(&self, mut persona: Persona) -> Persona {
        let half = (self.session.as_secs_f64() / 2.0).max(0.5);
        let fewest = (persona.inside.as_secs_f64() / half).ceil().clamp(1.0, 10_000.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and 10,000"
        )]
        let fewest = fewest as u32;
        persona.pages = persona.pages.max(fewest);
        persona
    }

    /// A look before anything begins: a gate that has this room, and takes the mark, says that no rehearsal is under way. Some
    /// place where it sends visitors instead.
    async fn is_a_gate(&self, stage: &Stage) -> Result<Option<Aim>, Failure> {
        let at = &self.aim;
        let answer = stage.send(Asks::Status, &Jar::new()).await;
        let answer = answer.map_err(|why| {
            let hint = if at.tls {
                "name an address of the gate with --url, and with --ca-file whoever signed its certificate"
            } else {
                "name an address of the gate with --url"
            };
            Failure::Local(format!("nothing answers at {at} ({why}); {hint}"))
        })?;
        if answer.status == StatusCode::PERMANENT_REDIRECT {
            let location = answer
                .headers
                .get(header::LOCATION)
                .and_then(|value| value.to_str().ok());
            if let Some(aim) = location.and_then(|location| at.redirected(location)) {
                return Ok(Some(aim));
            }
        }
        match word(&answer) {
            "rehearsal_over" => Ok(None),
            "rehearsal_mark" => Err(Failure::Local(format!(
                "the gate at {at} does not take the mark: it has other keys than this configuration, or its clock is minutes \
                 off, or it has no room of that name"
            ))),
            "rehearsal_off" => Err(Failure::Local(
                "the room is off: there is no line to rehearse".to_owned(),
            )),
            word => Err(Failure::Foreign(format!(
                "what answers at {at} is no gate that can rehearse, or something on the way takes the mark off (it said {}{}{})",
                answer.status,
                if word.is_empty() { "" } else { ": " },
                word
            ))),
        }
    }
}

/// The query that names the page's line at the gate's endpoints, once it is sure that the page is in the room.
fn line(args: &RehearseArgs, known: &Known, host: &str) -> Result<String, Failure> {
    let wrong = |why: &str| Failure::Local(format!("--path {}: {why}", args.path));
    if args.path.parse::<http::uri::PathAndQuery>().is_err() {
        return Err(wrong("that is no path"));
    }
    let target = router::Target::parse(host, &args.path).map_err(|_| wrong("that is no path of a shop"))?;
    let routed = known
        .config
        .router()
        .route(&Method::GET, &target, router::Brings::Nothing);
    let place = routed.ok().and_then(|routed| routed.room);
    match place {
        Some(place) if place.index == known.index => match place.line {
            LineOf::Line(line) if line.is_only() => Ok(String::new()),
            LineOf::Line(line) => Ok(format!("?line={}", encoded(line.as_str()))),
            LineOf::Unknown => Err(wrong("the room has many lines, and this page is of none")),
        },
        _ => Err(wrong(&format!(
            "this page of host {host} is not in the room {}; name one that is, and --host where it matters",
            args.room
        ))),
    }
}

fn authorities(args: &RehearseArgs) -> Result<Option<Vec<u8>>, Failure> {
    let Some(file) = &args.ca_file else { return Ok(None) };
    let read = std::fs::read(file);
    let wrong = |error| Failure::Local(format!("--ca-file {} cannot be read: {error}", file.display()));
    read.map(Some).map_err(wrong)
}

/// Connections from the same address that are left to others.
const SPARE: usize = 64;

//! Where virtual visitors go: a gate's own address, and a page of the room there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use http::{HeaderValue, Method};

use super::lease::Lease;
use super::options::RehearseArgs;
use super::persona::Persona;
use super::pool::Pool;
use super::stage::{Asks, Jar, Places, Stage, word};
use crate::cli::code;
use crate::cli::remote::{Failure, encoded};
use crate::config::routes::{self, LineOf};
use crate::config::{Config, Listen, Room};
use crate::token::Keyring;

/// What a rehearsal is aimed at, by the configuration and the arguments.
pub struct Target {
    address: SocketAddr,
    connections: usize,
    places: Places,
    /// The room's.
    pub claim_deadline: Duration,
    session: Duration,
}

/// The configuration and its keys, for a room that is in it.
pub fn configured(args: &RehearseArgs) -> Result<(Config, Keyring), Failure> {
    let (config, keyring) = code::keys(&args.config).map_err(|(text, _)| Failure::Local(text))?;
    if room(&config, args).is_none() {
        return Err(Failure::Local(format!(
            "there is no room {:?} in {}",
            args.room,
            args.config.display()
        )));
    }
    Ok((config, keyring))
}

pub fn room<'c>(config: &'c Config, args: &RehearseArgs) -> Option<&'c Room> {
    config.rooms.iter().find(|room| room.name.as_str() == args.room)
}

impl Target {
    pub fn of(args: &RehearseArgs) -> Result<Self, Failure> {
        let (config, _) = configured(args)?;
        let Some(room) = room(&config, args) else {
            return Err(Failure::Local(format!("there is no room {:?}", args.room)));
        };
        let (address, authority) = address(args, &config)?;
        let named = room
            .hosts
            .iter()
            .map(ToString::to_string)
            .find(|host| !host.starts_with("*."));
        let host = args.host.clone().or(named).unwrap_or(authority);
        let line = line(args, &config, &host)?;
        let wrong = || Failure::Local(format!("{host:?} can be no host"));
        let own = |endpoint| format!("/.anteroom/rooms/{}/{endpoint}{line}", room.name);
        // As many as a gate takes from one address, with some to spare for people.
        let most = config.server.max_connections_per_client.saturating_sub(SPARE).max(1);
        Ok(Self {
            address,
            connections: usize::try_from(args.connections).unwrap_or(most).min(most),
            places: Places {
                host: HeaderValue::try_from(host.as_str()).map_err(|_| wrong())?,
                page: args.path.clone(),
                status: own("status"),
                leave: own("leave"),
            },
            claim_deadline: Duration::from_millis(room.settings.claim_deadline_ms),
            session: Duration::from_millis(room.settings.session_ms),
        })
    }

    pub fn stage(&self, lease: &Lease, visitors: u32) -> Result<Stage, Failure> {
        let pool = Pool::new(self.address, self.connections);
        Ok(Stage::new(
            pool,
            self.places.clone(),
            lease.id(),
            visitors,
            lease.mark()?,
        ))
    }

    /// Whoever is inside asks often enough to stay so.
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

    /// A look before anything begins: a gate that has this room, and takes the mark, says that no rehearsal is under way.
    pub async fn is_a_gate(&self, stage: &Stage) -> Result<(), Failure> {
        let at = self.address;
        let answer = stage.send(Asks::Status, &Jar::new()).await;
        let answer = answer.map_err(|why| {
            Failure::Local(format!(
                "nothing answers at http://{at} ({why}); name an address of the gate with --url"
            ))
        })?;
        match word(&answer) {
            "rehearsal_over" => Ok(()),
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
fn line(args: &RehearseArgs, config: &Config, host: &str) -> Result<String, Failure> {
    let wrong = |why: &str| Failure::Local(format!("--path {}: {why}", args.path));
    if args.path.parse::<http::uri::PathAndQuery>().is_err() {
        return Err(wrong("that is no path"));
    }
    let target = routes::Target::parse(host, &args.path).map_err(|_| wrong("that is no path of a shop"))?;
    let routed = config.router().route(&Method::GET, &target);
    let place = routed.ok().and_then(|routed| routed.room);
    let own = |index: usize| config.rooms[index].name.as_str() == args.room;
    match place {
        Some(place) if own(place.index) => match place.line {
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

/// The address, and how it is called where nothing else is.
fn address(args: &RehearseArgs, config: &Config) -> Result<(SocketAddr, String), Failure> {
    let Some(url) = &args.url else {
        let listen = config.server.listen.iter().find_map(|listen| match listen {
            Listen::Tcp(address) if address.port() != 0 => Some(reachable(*address)),
            _ => None,
        });
        let none =
            "the configuration names no address in the clear that could be reached from here: say where with --url";
        let address = listen.ok_or_else(|| Failure::Local(none.to_owned()))?;
        return Ok((address, address.to_string()));
    };
    let wrong = |why: &str| Failure::Local(format!("--url {url}: {why}; it looks like http://127.0.0.1:8080"));
    if url.starts_with("https://") {
        return Err(wrong(
            "visitors of a rehearsal come in the clear: name an address of the gate without TLS",
        ));
    }
    let authority = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
    let parsed: http::uri::Authority = authority.parse().map_err(|_| wrong("that is no address"))?;
    let port = parsed.port_u16().unwrap_or(80);
    let host = parsed.host().trim_start_matches('[').trim_end_matches(']');
    let mut found = (host, port)
        .to_socket_addrs()
        .map_err(|error| wrong(&error.to_string()))?;
    let address = found.next().ok_or_else(|| wrong("the name has no address"))?;
    Ok((address, authority.to_owned()))
}

fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Connections from the same address that are left to others.
const SPARE: usize = 64;

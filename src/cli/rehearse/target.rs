//! The target of virtual visitors: a page of the room at a gate, and the names of the gate's own endpoints for it.

use http::{HeaderValue, Method, Uri};

use super::options::RehearseArgs;
use super::place::{Aim, authorities};
use crate::cli::code;
use crate::cli::remote::{Client, Failure, encoded, parsed, path_of};
use crate::config::{AddedRoom, Config, Room};
use crate::router::{self, LineOf};
use crate::token::{Keyring, Mark};
use crate::{admin::api, room::Settings};
use ropeline_ids::RehearsalId;

/// What a rehearsal is aimed at, by the configuration and the arguments.
pub struct Target {
    pub aim: Aim,
    pub authorities: Option<Vec<u8>>,
    pub host: String,
    pub host_field: HeaderValue,
    pub connections: usize,
    pub page: Uri,
    pub status: Uri,
    pub leave: Uri,
    pub rehearsal: RehearsalId,
    pub mark: HeaderValue,
    /// The room's.
    pub settings: Settings,
}

impl Target {
    pub async fn of(args: &RehearseArgs, client: &Client) -> Result<Self, Failure> {
        let (config, keyring) = configured(args, client).await?;
        let index = config.rooms.iter().position(|room| room.name.as_str() == args.room);
        let index = index.ok_or_else(|| {
            Failure::Local(format!(
                "the room {:?} is in the file of another gate, and not in {}: run this where that file is",
                args.room,
                args.config.or_default().display()
            ))
        })?;
        let room = &config.rooms[index];
        let aim = match &args.url {
            Some(url) => Aim::named(url)?,
            None => Aim::of(&config)?,
        };
        let named = room.hosts.iter().map(ToString::to_string);
        let named = named.into_iter().find(|host| !host.starts_with("*."));
        let host = args.host.clone().or(named).unwrap_or_else(|| aim.authority.clone());
        let line = line(args, &config, index, &host)?;
        let uri = |path: &str| {
            format!("http://{}{path}", aim.authority)
                .parse::<Uri>()
                .map_err(http::Error::from)
        };
        let own = |endpoint| uri(&format!("/.ropeline/rooms/{}/{endpoint}{line}", room.name));
        let wrong = |error: http::Error| {
            Failure::Local(format!("{host:?} can be no host, or {:?} no path: {error}", args.path))
        };
        // As many as a gate takes from one address, with some to spare for people.
        let most = config.server.max_connections_per_client.saturating_sub(SPARE).max(1);
        let (rehearsal, mark) = mark(args, &keyring, room)?;
        Ok(Self {
            authorities: authorities(args.ca_file.as_deref())?,
            connections: usize::try_from(args.connections).unwrap_or(most).min(most),
            host_field: HeaderValue::try_from(&host).map_err(|error| wrong(error.into()))?,
            page: uri(&args.path).map_err(wrong)?,
            status: own("status").map_err(wrong)?,
            leave: own("leave").map_err(wrong)?,
            rehearsal,
            mark,
            settings: room.settings.clone(),
            aim,
            host,
        })
    }
}

/// The configuration with its keys. A room that the file lacks is one that an operator added at run time, and is taken from the
/// gate. The file counts where both have it, as for gates.
async fn configured(args: &RehearseArgs, client: &Client) -> Result<(Config, Keyring), Failure> {
    let known = |added: &[AddedRoom]| {
        code::keys_with(args.config.or_default(), added).map_err(|(text, _)| Failure::Local(text))
    };
    let (config, keyring) = known(&[])?;
    if config.rooms.iter().any(|room| room.name.as_str() == args.room) {
        return Ok((config, keyring));
    }
    let room: api::Room = parsed(&client.get(&path_of(&[&args.room])).await?)?;
    let added = room.addition.map(|addition| AddedRoom::new(&addition.text)).transpose();
    let added = added.map_err(|mistakes| {
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Failure::Foreign(format!("the text of the room cannot be read: {}", told.join("; ")))
    })?;
    known(added.as_slice())
}

/// A new rehearsal, and what its visitors show.
fn mark(args: &RehearseArgs, keyring: &Keyring, room: &Room) -> Result<(RehearsalId, HeaderValue), Failure> {
    let mut id = [0; 8];
    getrandom::fill(&mut id).map_err(|_| Failure::Local("the operating system gives no random bytes".to_owned()))?;
    let mark = Mark {
        rehearsal: RehearsalId(id),
        forward: args.forward,
    };
    let text = HeaderValue::try_from(mark.sign(keyring, &room.name));
    let text = text.map_err(|error| Failure::Local(error.to_string()))?;
    Ok((mark.rehearsal, text))
}

/// The query that names the page's line at the gate's endpoints, once it is sure that the page is in the room.
fn line(args: &RehearseArgs, config: &Config, index: usize, host: &str) -> Result<String, Failure> {
    let wrong = |why: &str| Failure::Local(format!("--path {}: {why}", args.path));
    let target = router::Target::parse(host, &args.path).map_err(|_| wrong("that is no path of a shop"))?;
    let routed = config.router().route(&Method::GET, &target, router::Brings::Nothing);
    let place = routed.ok().and_then(|routed| routed.room);
    match place {
        Some(place) if place.index == index => match place.line {
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

/// Connections from the same address that are left to others.
const SPARE: usize = 64;

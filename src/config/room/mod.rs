//! A room as the operator describes it.

pub(in crate::config) mod active;
mod draw;
pub(in crate::config) mod identity;
pub(in crate::config) mod lanes;
mod links;
mod load_control;
mod message;
mod pace;
pub(in crate::config) mod page;
pub(in crate::config) mod proof;
mod schedule;
pub(in crate::config) mod sign_in;
pub(in crate::config) mod site;
mod stock;
mod trials;

use cookie::SameSite;
use http::StatusCode;
use ipnet::IpNet;

use crate::config::document::value::{Value as _, both, fields, text, wrong};
use crate::config::document::{Node, Read, Reader, Section};
use crate::config::keys::{Form, span};
use crate::config::upstream::Upstream;
use crate::config::upstream::several::named_by;
use crate::room::{LineName, Mode, RoomName, Settings};
use crate::router::{ActiveRoutes, HostPattern, Per, PerSource, RoomRoutes, Route};
use active::Active;
use draw::drawing;
use identity::{Identities, identities};
use lanes::{Lane, lanes, weights_and_names};
use load_control::load_control;
use message::Message;
use page::{Page, page};
use proof::{Proof, proof};
use schedule::schedule;

/// Routes that are protected together, their line, and how its visitors are treated.
#[derive(Clone, Debug)]
pub struct Room {
    pub name: RoomName,
    /// Its table's place in the file, such as `room[0]`.
    pub place: String,
    /// An operator added it at run time; it is in no file.
    pub added: bool,
    /// The place of its upstream among all; 0 where there is none.
    pub upstream: usize,
    /// Empty: every host.
    pub hosts: Vec<HostPattern>,
    pub routes: Vec<Route>,
    pub except: Vec<Route>,
    pub return_routes: Vec<Route>,
    pub per: Option<Per>,
    /// The settings that the log carries.
    pub settings: Settings,
    /// With those that complete a session, at most 32.
    pub ends_on: Vec<EndsOn>,
    pub end_grace_ms: u64,
    pub outage_extension_ms: u64,
    pub on_outage: OnOutage,
    /// How slots change hands within a session; `None`: not at all.
    pub active: Option<Active>,
    /// Of the waiting page: 200, 202, 429 or 503.
    pub waiting_status: StatusCode,
    pub same_site: SameSite,
    pub cookie_domain: Option<String>,
    pub message: Option<Message>,
    pub page: Page,
    /// The proof that newcomers must give, if any.
    pub proof: Option<Proof>,
    /// The source of accounts; `None` where the room knows none.
    pub identity: Option<Identities>,
    /// As many as the settings have weights, in the same order: first the one for everybody else.
    pub lanes: Vec<Lane>,
    /// Clients that never wait and take no slot.
    pub bypass_networks: Vec<IpNet>,
    /// Networks that a pass may be used from at one gate; `None`: any number.
    pub pass_networks: Option<u8>,
    /// Requests of verified crawlers that are forwarded past the line at once, at one gate.
    pub crawler_max: usize,
}

impl Room {
    /// The whole site waits, static files included.
    #[must_use]
    pub fn holds_everything(&self) -> bool {
        let everything = self.routes.iter().any(Route::is_everything);
        everything && self.except.is_empty() && self.settings.mode != Mode::Off
    }

    /// The routes for the router. `ends_on` and `holds` are the routes of the room's rules for answers and for `hold_slot`.
    pub(in crate::config) fn routes_for<'r>(&'r self, ends_on: &'r [Route], holds: &'r [Route]) -> RoomRoutes<'r> {
        RoomRoutes {
            hosts: &self.hosts,
            routes: &self.routes,
            except: &self.except,
            return_routes: &self.return_routes,
            ends_on,
            names: self.identity.as_ref().and_then(Identities::form),
            active: ActiveRoutes {
                holds,
                background: self.active.as_ref().map_or(&[], |active| &active.background),
            },
            per: self.per.as_ref(),
        }
    }
}

/// The shop's answer that ends a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndsOn {
    pub route: Route,
    pub status: StatusCode,
    /// The visitor has bought a piece of the stock.
    pub completes: bool,
}

/// The treatment of new visitors while the gate is cut off from its store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnOutage {
    /// They get the page, and are numbered when the store is back.
    Wait,
    /// Everybody is forwarded, past the line and the capacity.
    Open,
}

/// Most rooms, and most of some lists in a room.
const MAX_ROOMS: usize = 1_000;
const MAX_ENDS_ON: usize = 32;

/// With many calls in a step, the shop shows its effect only after the next steps.
const MAX_FOLLOWED_STEP_MS: u64 = 10_000;

/// The rooms in order: those added at run time, then the file's; one with the defaults when the file has none.
pub(in crate::config) fn rooms(reader: &Reader<'_>, upstreams: &[Upstream]) -> Vec<Room> {
    let mut sections = reader.added();
    let of_file = reader.tables("room");
    if of_file.is_empty() {
        sections.push(reader.defaults("room", "room[0]"));
    }
    sections.extend(of_file);
    if sections.len() > MAX_ROOMS {
        reader.mistake(
            "room",
            format!("{} rooms", sections.len()),
            format!("at most {MAX_ROOMS}"),
        );
    }
    sections.iter().map(|section| room(section, upstreams)).collect()
}

fn room(section: &Section<'_>, upstreams: &[Upstream]) -> Room {
    let mut settings = Settings::default();
    let name = section.need_as("name", room_name);
    let (upstream, hosts) = named_by(section, upstreams, section.list("hosts"));
    let routes = section.list("routes");
    let except = section.list_as("except", exception);
    let return_routes = section.list("return_routes");
    let per = per(section, &routes, &mut settings);
    figures(section, &mut settings);
    let (ends_on, end_grace_ms, outage_extension_ms) = endings(section, &settings);
    let active = active::active(section, &mut settings);
    pace::check(section, &settings, end_grace_ms);
    stock::check(section, &settings, ends_on.iter().any(|rule| rule.completes));
    let outages = [("wait", OnOutage::Wait), ("open", OnOutage::Open)];
    let sites = [
        ("lax", SameSite::Lax),
        ("strict", SameSite::Strict),
        ("none", SameSite::None),
    ];
    let identity = section.table("room.identity");
    let mut room = Room {
        name,
        place: section.path().to_owned(),
        added: section.is_added(),
        upstream,
        hosts,
        routes,
        except,
        return_routes,
        per,
        ends_on,
        end_grace_ms,
        outage_extension_ms,
        active,
        on_outage: section.word("on_outage", &outages),
        waiting_status: section.need_as("waiting_status", status),
        same_site: section.word("same_site", &sites),
        cookie_domain: section.get_as("cookie_domain", domain),
        message: section.get_as("message", message::message),
        bypass_networks: section.list("bypass_networks"),
        pass_networks: section.get("pass_networks"),
        crawler_max: section.need("crawler_max"),
        page: page(&section.table("room.page")),
        proof: proof(&section.table("room.proof_of_work")),
        identity: identities(&identity),
        lanes: Vec::new(),
        settings,
    };
    room.settings.load_control = load_control(&section.table("room.load_control"));
    if room.settings.load_control.is_some() && room.settings.call_every_ms > MAX_FOLLOWED_STEP_MS {
        let wrong = "a room that follows what its shop can take would let in the visitors of so long a time at once";
        section.mistake("call_every", wrong, "at most 10s");
    }
    room.lanes = lanes(section, (&identity, room.identity.as_ref()), &room.bypass_networks);
    (room.settings.lane_weights, room.settings.lanes) = weights_and_names(&room.lanes);
    cookies(section, &room);
    outage(section, &room);
    room
}

fn outage(section: &Section<'_>, room: &Room) {
    if room.on_outage == OnOutage::Open && room.settings.mode != Mode::Off {
        let wrong =
            "visitors who come while a gate is cut off from its store go straight to the shop, past capacity and line";
        section.warning(
            "on_outage",
            wrong,
            "\"wait\", unless the shop can serve everybody at once",
        );
    }
}

/// Everything of the settings but lines and lanes.
fn figures(section: &Section<'_>, settings: &mut Settings) {
    let modes = [
        ("auto", Mode::Auto),
        ("hold", Mode::Hold),
        ("closed", Mode::Closed),
        ("off", Mode::Off),
    ];
    settings.mode = section.word("mode", &modes);
    settings.capacity = section.need("total_active_users");
    settings.rate_per_minute = section.get("new_users_per_minute");
    settings.call_every_ms = section.need("call_every");
    settings.session_ms = section.need("session_duration");
    settings.session_max_ms = section.need("session_max");
    settings.claim_deadline_ms = section.need("claim_deadline");
    settings.grace_ms = section.need("grace");
    settings.firm_within_ms = section.need("firm_within");
    settings.late_window_ms = section.need("late_window");
    settings.schedule = schedule(section);
    settings.stock = stock::stock(section);
    settings.bypass_most = section.need("bypass_codes");
    settings.draw = drawing(section, settings.schedule.as_ref());
}

fn endings(section: &Section<'_>, settings: &Settings) -> (Vec<EndsOn>, u64, u64) {
    let mut rules = section.list_as("ends_on", |node, form| ends_on(node, form, false));
    rules.extend(section.list_as("completes_on", |node, form| ends_on(node, form, true)));
    if rules.len() > MAX_ENDS_ON {
        section.mistake(
            "ends_on",
            format!("{} rules, those of completes_on among them", rules.len()),
            format!("at most {MAX_ENDS_ON}"),
        );
    }
    let grace = section.need("end_grace");
    let outage = section.get("outage_extension");
    if outage.is_some_and(|outage| outage > settings.session_max_ms) {
        let wrong = "a session lasts no longer than session_max, outage or not";
        section.warning(
            "outage_extension",
            wrong,
            format!("at most session_max, {}", span(settings.session_max_ms)),
        );
    }
    (rules, grace, outage.unwrap_or(settings.session_ms))
}

fn ends_on(node: &Node<'_>, form: &Form, completes: bool) -> Read<EndsOn> {
    let [route, status] = fields(node, form)?;
    let (route, code) = both(route.read(), status.read())?;
    let Ok(status) = StatusCode::from_u16(code) else {
        return wrong(status.node, "this is no status", status.form);
    };
    Ok(EndsOn {
        route,
        status,
        completes,
    })
}

fn per(section: &Section<'_>, routes: &[Route], settings: &mut Settings) -> Option<Per> {
    let source = section.get_as("per", |node, form| per_source(node, form, routes));
    let allow = section.list_as("allow", line_name);
    settings.max_lines = section.need("max_lines");
    let Some(source) = source else {
        if !allow.is_empty() && !section.has_mistake("per") {
            section.mistake(
                "allow",
                "there are no lines to allow without per",
                "per = \"{id}\", or no allow",
            );
        }
        return None;
    };
    let most = usize::try_from(settings.max_lines).unwrap_or(usize::MAX);
    if allow.len() > most {
        let right = format!("max_lines = {} or more", allow.len());
        section.mistake(
            "max_lines",
            format!("allow has {} values, and only {most} lines may be open", allow.len()),
            right,
        );
    }
    if allow.is_empty() {
        let wrong = "visitors may make lines up, each with a capacity of its own, and values led by a digit that are no whole \
                     numbers, such as UUIDs, are 404";
        section.warning(
            "per",
            wrong,
            "allow = [\"…\"] with the values there are, wherever they are known, or [\"{uuid}\"]",
        );
    }
    Some(Per { source, allow })
}

/// `{name}` is a path variable, or a query parameter when no route has variables; `?name` is a query parameter.
fn per_source(node: &Node<'_>, form: &Form, routes: &[Route]) -> Read<PerSource> {
    let text = text(node, form)?;
    let plain =
        |name: &&str| !name.is_empty() && name.len() <= 64 && name.bytes().all(|b| b.is_ascii_graphic() && b != b'%');
    if let Some(name) = text.strip_prefix('?').filter(plain) {
        return query(node, name);
    }
    let Some(name) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).filter(plain) else {
        return wrong(node, format!("\"{text}\" names nothing"), form);
    };
    if routes.iter().all(|route| route.variables().next().is_none()) {
        return query(node, name);
    }
    match routes.iter().find(|route| route.variable(name).is_none()) {
        None => Ok(PerSource::Path(name.to_owned())),
        Some(without) => {
            let right = format!("{{{name}}} in every route of the room, so that each request has a line");
            wrong(node, format!("the route {without} has no {{{name}}}"), right)
        }
    }
}

/// SECURITY: shops read a name with other signs in as many ways as there are shops.
fn query(node: &Node<'_>, name: &str) -> Read<PerSource> {
    if name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b)) {
        return Ok(PerSource::Query(name.to_owned()));
    }
    let right = "a parameter of letters, digits, \"_\", \"-\" and \".\"";
    wrong(node, format!("shops read a parameter \"{name}\" differently"), right)
}

fn cookies(section: &Section<'_>, room: &Room) {
    if room.same_site == SameSite::Strict {
        let wrong = "visitors who come by a link from a mail or another site see a page in between, since browsers hold \
                     their place back; a browser that sends no Sec-Fetch-Site loses the place";
        section.warning("same_site", wrong, "\"lax\"");
    }
    let Some(domain) = &room.cookie_domain else { return };
    let below = |host: &&HostPattern| host.domain() != domain && !host.domain().ends_with(&format!(".{domain}"));
    for host in room.hosts.iter().filter(below) {
        let right = "a domain that all hosts of the room are in";
        section.mistake(
            "cookie_domain",
            format!("browsers on {host} refuse a cookie for {domain}"),
            right,
        );
    }
}

fn exception(node: &Node<'_>, form: &Form) -> Read<Route> {
    Route::exception(text(node, form)?).or_else(|e| wrong(node, e.wrong, e.right))
}

fn room_name(node: &Node<'_>, form: &Form) -> Read<RoomName> {
    let text = text(node, form)?;
    RoomName::new(text).map_or_else(|| wrong(node, format!("\"{text}\" is no room's name"), form), Ok)
}

fn line_name(node: &Node<'_>, form: &Form) -> Read<LineName> {
    let text = text(node, form)?;
    let line = LineName::new(text).filter(|line| !line.is_only());
    line.map_or_else(|| wrong(node, "this can name no line", form), Ok)
}

fn status(node: &Node<'_>, form: &Form) -> Read<StatusCode> {
    let code = u16::read(node, form)?;
    StatusCode::from_u16(code).or_else(|_| wrong(node, "this is no status", form))
}

fn domain(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    let host = HostPattern::parse(text.strip_prefix('.').unwrap_or(text)).ok();
    let address = text.parse::<std::net::IpAddr>().is_ok() || text.starts_with('[');
    match host.filter(|host| !address && !text.starts_with("*.") && !text.contains(':') && host.domain().contains('.'))
    {
        Some(host) => Ok(host.domain().to_owned()),
        None => wrong(node, format!("\"{text}\" is no domain for cookies"), form),
    }
}

//! The configuration: everything that an operator sets, in types that hold no wrong value.

use super::document::{InForce, Origin, Places, describe};
use super::room::Room;
use super::server::crawlers::Crawlers;
use super::server::forward_auth::Asker;
use super::server::limit::{Limit, OwnLimits};
use super::server::logging::LoggingConfig;
use super::server::store::Store;
use super::server::tls::Tls;
use super::server::{Admin, Server};
use super::upstream::Upstream;
use crate::router::{RoomRoutes, Router, UpstreamRoutes};
use crate::token::{Audience, Key};

/// Everything an operator sets. Made by reading only, so it holds no wrong value.
#[derive(Clone, Debug)]
pub struct Config {
    pub server: Server,
    pub admin: Admin,
    pub tls: Tls,
    /// Empty: the gate only answers the proxies of `forward_auth`.
    pub upstreams: Vec<Upstream>,
    /// The proxies that may ask; empty: none.
    pub forward_auth: Vec<Asker>,
    pub store: Store,
    /// Empty: the gate makes its own key.
    pub keys: Vec<Key>,
    /// Names of the installation; empty: the keys are used unchanged.
    pub audiences: Vec<Audience>,
    /// At least one; the first that takes a request has it.
    pub rooms: Vec<Room>,
    pub limits: Vec<Limit>,
    pub own_limits: OwnLimits,
    pub crawlers: Crawlers,
    pub logging: LoggingConfig,
    pub places: Places,
    pub(super) in_force: Vec<InForce>,
}

impl Config {
    /// The values in force as TOML, secrets masked; for people.
    #[must_use]
    pub fn describe(&self) -> String {
        describe::describe(&self.in_force)
    }

    /// Whether a key of a section, such as `total_active_users` of `room[0]`, is set nowhere.
    #[must_use]
    pub fn is_default(&self, section: &str, name: &str) -> bool {
        let of_key = |entry: &&InForce| entry.section == section && entry.name == name;
        let entry = self.in_force.iter().find(of_key);
        entry.is_some_and(|entry| entry.origin == Origin::Defaults)
    }

    /// The router over all rooms and limits; its room and limit numbers are places in [`Config::rooms`] and
    /// [`Config::limits`].
    #[must_use]
    pub fn router(&self) -> Router {
        let holds = |room: &Room| {
            let rules = room.active.iter().flat_map(|active| &active.hold_slot);
            rules.map(|rule| rule.route.clone()).collect::<Vec<_>>()
        };
        let ends = |room: &Room| room.ends_on.iter().map(|rule| rule.route.clone()).collect::<Vec<_>>();
        let rules: Vec<_> = self.rooms.iter().map(|room| (ends(room), holds(room))).collect();
        let rooms: Vec<RoomRoutes<'_>> = self
            .rooms
            .iter()
            .zip(&rules)
            .map(|(room, (ends_on, holds))| room.routes_for(ends_on, holds))
            .collect();
        let limits: Vec<_> = self
            .limits
            .iter()
            .map(|limit| (&limit.hosts[..], &limit.routes[..]))
            .collect();
        let upstreams: Vec<_> = self
            .upstreams
            .iter()
            .enumerate()
            .map(|(at, upstream)| UpstreamRoutes {
                hosts: &upstream.hosts,
                streamed: &upstream.uploads.stream_routes,
                has_rooms: self.rooms.iter().any(|room| room.upstream == at),
            })
            .collect();
        Router::new(&rooms, &limits).to(&upstreams)
    }
}

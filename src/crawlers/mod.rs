//! Verifies the address of a request that names a crawler, such as a search engine's, in its `User-Agent`.
//!
//! An address belongs to a crawler if its name in DNS is in a domain of the crawler's operator and resolves to that address,
//! or if the operator publishes it. No request waits for DNS: the first request of an address is answered as one of an
//! unknown address, and a separate thread looks the address up meanwhile. Queries and memory are bounded in `known`; the gate
//! decides how a crawler is treated.

mod known;
mod lookup;
mod worker;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ipnet::IpNet;
use tokio::sync::mpsc;

use crate::config::{self, Crawler};
use crate::metrics::{CrawlerMetrics, LookupFate};

use known::{Asked, Known, lock};
use lookup::Lookup;

pub use known::Verification;
pub use lookup::StartError;

/// Tells crawlers from programs that only claim to be one; clones are the same. The thread behind it ends with the last of them.
#[derive(Clone)]
pub struct Crawlers {
    settings: Arc<config::Crawlers>,
    /// The servers to ask; none where there is nothing to ask.
    resolvers: Arc<[SocketAddr]>,
    /// `None`: nothing is ever looked up.
    desk: Option<Desk>,
}

/// Where addresses are known, and asked about.
#[derive(Clone)]
struct Desk {
    known: Arc<Mutex<Known>>,
    /// Tells the thread that there is something to do.
    wake: mpsc::Sender<()>,
    metrics: CrawlerMetrics,
}

impl Crawlers {
    /// Starts the thread, where an address may have to be looked up. Addresses verified `before` still are, of crawlers that have
    /// the same domains.
    pub fn start(
        settings: &config::Crawlers,
        before: Option<&Self>,
        metrics: CrawlerMetrics,
    ) -> Result<Self, StartError> {
        let resolvers = resolvers(settings)?;
        let looks_up = !resolvers.is_empty();
        let lookup = looks_up.then(|| Lookup::new(settings, &resolvers)).transpose()?;
        let mut known = Known::new(settings.remember, settings.lookups_per_second);
        if let Some((before, desk)) = before.and_then(|before| Some((before, before.desk.as_ref()?))) {
            known.take_over(&lock(&desk.known), |at| before.place_in(settings, at));
        }
        metrics.verified(known.verified());
        let known = Arc::new(Mutex::new(known));
        let desk = lookup.map(|lookup| {
            let (wake, wakes) = mpsc::channel(1);
            worker::start(lookup, Arc::clone(&known), wakes, metrics.clone())?;
            Ok::<_, io::Error>(Desk { known, wake, metrics })
        });
        Ok(Self {
            settings: Arc::new(settings.clone()),
            resolvers: resolvers.into(),
            desk: desk.transpose()?,
        })
    }

    /// Whether these are of the same settings, and ask the servers that would be asked now, so that they may go on.
    #[must_use]
    pub fn are_of(&self, settings: &config::Crawlers) -> bool {
        let asks = || resolvers(settings).is_ok_and(|resolvers| *self.resolvers == *resolvers);
        *self.settings == *settings && asks()
    }

    /// The index of one of the crawlers in other settings, if it has the same domains there.
    fn place_in(&self, settings: &config::Crawlers, at: usize) -> Option<usize> {
        let old = self.settings.list.get(at)?;
        let same = |new: &Crawler| new.name == old.name && new.domains == old.domains;
        settings.list.iter().position(same)
    }

    /// Some crawler is configured.
    #[must_use]
    pub fn names_any(&self) -> bool {
        !self.settings.list.is_empty()
    }

    /// The verification of a request by its user agent; `None` if it names no crawler.
    #[must_use]
    pub fn judge(&self, agent: &[u8], client: IpAddr, now: Duration) -> Option<Verification> {
        let list = &self.settings.list;
        let at = list.iter().position(|crawler| names(agent, &crawler.agent))?;
        let client = client.to_canonical();
        if is_published(&list[at], client) {
            return Some(Verification::Verified);
        }
        let desk = self.desk.as_ref().filter(|_| !list[at].domains.is_empty());
        Some(desk.map_or(Verification::Refuted, |desk| desk.ask((client, at), now)))
    }
}

impl Desk {
    fn ask(&self, key: known::Key, now: Duration) -> Verification {
        let (standing, asked) = lock(&self.known).ask(key, now);
        match asked {
            // Full: it has been woken already.
            Asked::Queued => _ = self.wake.try_send(()),
            Asked::Dropped => self.metrics.count(LookupFate::Dropped),
            Asked::Known => {}
        }
        standing
    }
}

fn is_published(crawler: &Crawler, client: IpAddr) -> bool {
    crawler.networks.iter().any(|network: &IpNet| network.contains(&client))
}

/// Whether `agent` contains `name`, which is in lower case. PERF: no real crawler's name is behind that many bytes, and an
/// attacker could otherwise have each request searched once for every crawler.
fn names(agent: &[u8], name: &str) -> bool {
    let (agent, name) = (&agent[..agent.len().min(MOST_OF_AN_AGENT)], name.as_bytes());
    agent.windows(name.len()).any(|part| part.eq_ignore_ascii_case(name))
}

/// Bytes of a `User-Agent` that are looked at: crawlers' have about two hundred.
const MOST_OF_AN_AGENT: usize = 512;

/// The name servers that would be asked; none where nothing is looked up.
pub fn resolvers(settings: &config::Crawlers) -> Result<Vec<SocketAddr>, StartError> {
    if settings.list.iter().all(|crawler| crawler.domains.is_empty()) {
        return Ok(Vec::new());
    }
    lookup::servers(settings)
}

#[cfg(test)]
mod tests;

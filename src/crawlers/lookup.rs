//! One address: its names by DNS, and the addresses of those that are in the crawler's domains.
//!
//! The owner of an address writes the names that it has, so a name counts only when it has the address in turn, which only
//! the domain's owner can say. No names are searched for, none is taken from the hosts file, and nothing is kept here.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use hickory_resolver::system_conf::read_system_conf;
use hickory_resolver::{Resolver, TokioResolver};

use crate::config;

use super::known::{Found, Key};

/// Why crawlers cannot be recognised.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("[crawlers] there is no name server to ask, and no resolvers are set: {0}")]
    NoResolver(String),
    #[error("[[crawler]] \"{0}\" is no domain")]
    Domain(String),
    #[error("the system gives no thread to look crawlers up: {0}")]
    Thread(#[from] io::Error),
}

/// Asks the name servers.
pub struct Lookup {
    resolver: TokioResolver,
    /// The domains of each crawler, by its place.
    domains: Vec<Vec<Name>>,
}

/// Why there is no answer.
enum NoAnswer {
    /// There is nothing of that name, for so long.
    Nothing(Duration),
    Failed,
}

impl Lookup {
    pub fn new(settings: &config::Crawlers, asked: &[SocketAddr]) -> Result<Self, StartError> {
        let servers = asked.iter().copied().map(server).collect();
        let config = ResolverConfig::from_name_servers(servers);
        let mut builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options = builder.options_mut();
        options.timeout = PATIENCE / 2;
        options.attempts = 1;
        options.num_concurrent_reqs = 1;
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        let resolver = builder
            .build()
            .map_err(|error| StartError::NoResolver(error.to_string()))?;
        let domains = settings
            .list
            .iter()
            .map(|crawler| crawler.domains.iter().map(name).collect());
        Ok(Self {
            resolver,
            domains: domains.collect::<Result<_, _>>()?,
        })
    }

    /// Whether the address is the crawler's.
    pub async fn look_up(&self, (address, crawler): Key) -> Found {
        let domains = self.domains.get(crawler).map_or(&[][..], Vec::as_slice);
        let found = tokio::time::timeout(PATIENCE, self.verify(address, domains)).await;
        found.unwrap_or(Found::Failed)
    }

    async fn verify(&self, address: IpAddr, domains: &[Name]) -> Found {
        let names = match self.names(address, domains).await {
            Ok((names, ttl)) if names.is_empty() => return Found::Refuted(ttl),
            Ok(names) => names,
            Err(NoAnswer::Nothing(ttl)) => return Found::Refuted(ttl),
            Err(NoAnswer::Failed) => return Found::Failed,
        };
        let (names, ttl) = names;
        let mut failed = false;
        for name in names {
            match self.addresses(name, address).await {
                Ok((true, own)) => return Found::Verified(ttl.min(own)),
                Ok((false, _)) | Err(NoAnswer::Nothing(_)) => {}
                Err(NoAnswer::Failed) => failed = true,
            }
        }
        if failed { Found::Failed } else { Found::Refuted(ttl) }
    }

    /// The names of the address that are in one of the domains.
    async fn names(&self, address: IpAddr, domains: &[Name]) -> Result<(Vec<Name>, Duration), NoAnswer> {
        let mut question = Name::from(address);
        question.set_fqdn(true);
        let answers = self.ask(question, RecordType::PTR).await?;
        let within = |name: &Name| domains.iter().any(|domain| domain.zone_of(name));
        let named = answers.iter().filter_map(|record| match &record.data {
            RData::PTR(name) => Some(name.0.clone()),
            _ => None,
        });
        let names = named.filter(within).take(MAX_NAMES).collect();
        Ok((names, ttl(&answers)))
    }

    /// Whether the name has the address.
    async fn addresses(&self, mut name: Name, address: IpAddr) -> Result<(bool, Duration), NoAnswer> {
        name.set_fqdn(true);
        let kind = match address {
            IpAddr::V4(_) => RecordType::A,
            IpAddr::V6(_) => RecordType::AAAA,
        };
        let answers = self.ask(name, kind).await?;
        let is_it = |record: &Record| match (&record.data, address) {
            (RData::A(own), IpAddr::V4(v4)) => own.0 == v4,
            (RData::AAAA(own), IpAddr::V6(v6)) => own.0 == v6,
            _ => false,
        };
        Ok((answers.iter().any(is_it), ttl(&answers)))
    }

    async fn ask(&self, name: Name, kind: RecordType) -> Result<Vec<Record>, NoAnswer> {
        match self.resolver.lookup(name, kind).await {
            Ok(found) => Ok(found.answers().to_vec()),
            Err(NetError::Dns(DnsError::NoRecordsFound(none))) => {
                Err(NoAnswer::Nothing(secs(none.negative_ttl.unwrap_or(0))))
            }
            Err(error) => {
                tracing::debug!(%error, "a crawler's address cannot be looked up");
                Err(NoAnswer::Failed)
            }
        }
    }
}

/// The name servers to ask.
pub fn servers(settings: &config::Crawlers) -> Result<Vec<SocketAddr>, StartError> {
    if !settings.resolvers.is_empty() {
        return Ok(settings.resolvers.clone());
    }
    let (config, _) = read_system_conf().map_err(|error| StartError::NoResolver(error.to_string()))?;
    let servers = config.name_servers().iter();
    Ok(servers.map(|server| SocketAddr::new(server.ip, DNS_PORT)).collect())
}

/// Over UDP, and over TCP where an answer is too long for it.
fn server(address: SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()];
    let connections = connections.map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

fn name(domain: &String) -> Result<Name, StartError> {
    let mut name = Name::from_ascii(domain).map_err(|_| StartError::Domain(domain.clone()))?;
    name.set_fqdn(true);
    Ok(name)
}

/// Of all records together.
fn ttl(records: &[Record]) -> Duration {
    secs(records.iter().map(|record| record.ttl).min().unwrap_or(0))
}

fn secs(ttl: u32) -> Duration {
    Duration::from_secs(ttl.into())
}

/// How long an address may take, however slow its owner's name server is.
const PATIENCE: Duration = Duration::from_secs(4);

/// Most names of an address that are asked for its addresses.
const MAX_NAMES: usize = 4;

const DNS_PORT: u16 = 53;

//! Metrics of the upstreams and their servers.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encode::{counters, gauges};
use crate::admin::live::Live;
use crate::proxy::{Standing, UpstreamServers, UpstreamStats};

/// The counts of each upstream, and the state of each server. A name's addresses come and go, a bounded number at a time.
#[derive(Debug)]
pub struct UpstreamFigures(pub Live);

impl Collector for UpstreamFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let live = self.0.load();
        for (name, help, figure) in OF_UPSTREAMS {
            gauges(&mut encoder, name, help, read(&live.origins, figure))?;
        }
        for (name, help, figure) in COUNTED {
            counters(&mut encoder, name, help, read(&live.origins, figure))?;
        }
        let of_one = |origins: &UpstreamServers| origins.standing();
        let servers: Vec<Standing> = live.origins.iter().flat_map(of_one).collect();
        for (name, help, figure) in OF_SERVERS {
            let values = servers.iter().map(|server| (of_server(server), figure(server)));
            gauges(&mut encoder, name, help, values)?;
        }
        let failures = servers.iter().map(|server| (of_server(server), server.failures));
        let help = "Requests and checks that a server of the shop failed";
        counters(&mut encoder, "upstream_failures", help, failures)
    }
}

fn read(origins: &[UpstreamServers], figure: Count) -> impl Iterator<Item = ([(&'static str, &str); 1], u64)> {
    let value = move |one: &UpstreamServers| figure(&one.stats()).load(Ordering::Relaxed);
    origins
        .iter()
        .map(move |one| ([("upstream", one.name().unwrap_or_default())], value(one)))
}

fn of_server(standing: &Standing) -> [(&'static str, &str); 2] {
    let upstream = standing.upstream.as_deref().unwrap_or_default();
    [("origin", standing.server.as_str()), ("upstream", upstream)]
}

type Count = fn(&UpstreamStats) -> &AtomicU64;

const OF_UPSTREAMS: [(&str, &str, Count); 3] = [
    ("upstream_connections", "Open connections to the upstream", |stats| {
        &stats.open
    }),
    ("streaming_bodies", "Request bodies streamed to the upstream", |stats| {
        &stats.streaming
    }),
    ("request_buffer_kib", "Memory that request bodies take", |stats| {
        &stats.buffered_kib
    }),
];

const COUNTED: [(&str, &str, Count); 2] = [
    ("upstream_connects", "Connections to the upstream made", |stats| {
        &stats.connects
    }),
    (
        "upstream_retries",
        "Requests sent again before any byte of an answer",
        |stats| &stats.retries,
    ),
];

type Gauge = (&'static str, &'static str, fn(&Standing) -> u32);

const OF_SERVERS: [Gauge; 3] = [
    (
        "upstream_healthy",
        "1 unless a server of the shop counts as out",
        |server| u32::from(server.healthy),
    ),
    (
        "upstream_in_flight",
        "Requests and tunnels that a server of the shop is busy with",
        |server| server.in_flight,
    ),
    (
        "upstream_waiting",
        "Requests that wait for a connection to a server of the shop",
        |server| server.waiting,
    ),
];

//! The bounds on request bodies: how much of each is read before a connection to the upstream is taken, how much memory that
//! may take, and how many longer bodies are streamed at once.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::limit::{ClientKey, Held, Hold};

use crate::client::request_body::RequestBody;
use crate::error::Kind;
use crate::memory::{BodyOf, Memory, Ration};
use crate::settings::UpstreamSettings;
use crate::stats::{UpstreamStats, down, up};
use crate::upstream::servers::{Bound, Permit};

/// The bounds of one configuration, over all cores.
pub(crate) struct Uploads {
    /// Most bytes of a body that are read ahead.
    buffer: usize,
    memory: Arc<Memory>,
    streaming: Bound,
    /// A client's share of them is half.
    clients: Arc<Held<ClientKey>>,
    /// A share was given back.
    freed: Arc<Notify>,
    /// Counted here and by the connections of every core.
    stats: Arc<UpstreamStats>,
}

/// The right to stream a body, until it drops.
pub(crate) struct Streaming {
    _permit: Permit,
    share: Option<Hold<ClientKey>>,
    freed: Arc<Notify>,
    stats: Arc<UpstreamStats>,
}

impl Drop for Streaming {
    fn drop(&mut self) {
        down(&self.stats.streaming);
        self.share = None;
        self.freed.notify_waiters();
    }
}

impl Uploads {
    /// With the bodies that are under way already, where `before` were in force.
    pub(crate) fn new(settings: &UpstreamSettings, before: Option<&Self>) -> Self {
        let same = before.filter(|before| before.memory.bytes() == settings.buffer_memory);
        Self {
            buffer: settings.request_buffer,
            memory: same.map_or_else(
                || Memory::new(settings.buffer_memory),
                |before| Arc::clone(&before.memory),
            ),
            streaming: Bound::new(settings.streaming, before.map(|before| &before.streaming)),
            clients: shares(settings.streaming.connections, before.map(|before| &before.clients)),
            freed: before.map_or_else(Arc::default, |before| Arc::clone(&before.freed)),
            stats: before.map_or_else(Arc::default, |before| Arc::clone(&before.stats)),
        }
    }

    pub(crate) fn ration(&self, whose: BodyOf) -> Ration {
        self.memory.ration(whose, &self.stats)
    }

    pub(crate) fn stats(&self) -> &Arc<UpstreamStats> {
        &self.stats
    }

    /// Receives the part of a body that is read before a connection to the upstream is taken.
    pub(crate) async fn receive(&self, headers: &HeaderMap, body: &mut RequestBody, whose: BodyOf) -> Result<(), Kind> {
        if self.buffer > 0 && !is_grpc(headers) {
            body.receive(self.buffer, Some(self.ration(whose))).await?;
        }
        Ok(())
    }

    /// The right to stream a body, in order of arrival; a client that has used its share waits for one of its own to end.
    pub(crate) async fn stream(&self, client: IpAddr, deadline: Option<Instant>) -> Result<Streaming, Kind> {
        let share = self.clients.take(client.into());
        let at_once = share.and_then(|share| Some((self.streaming.enter()?, share)));
        let (permit, share) = match at_once {
            Some(right) => right,
            None => self.turn(client, deadline).await?,
        };
        up(&self.stats.streaming);
        Ok(Streaming {
            _permit: permit,
            share: Some(share),
            freed: Arc::clone(&self.freed),
            stats: Arc::clone(&self.stats),
        })
    }

    async fn turn(&self, client: IpAddr, deadline: Option<Instant>) -> Result<(Permit, Hold<ClientKey>), Kind> {
        let place = self.streaming.place(client).ok_or(Kind::Exhausted)?;
        let end = Instant::now() + self.streaming.patience();
        let (end, late) = match deadline {
            Some(deadline) if deadline < end => (deadline, Kind::TotalTimeout),
            _ => (end, Kind::Exhausted),
        };
        let waits = async {
            let share = self.share(client).await;
            Some((place.turn().await?, share))
        };
        timeout_at(end, waits).await.map_err(|_| late)?.ok_or(Kind::Exhausted)
    }

    async fn share(&self, client: IpAddr) -> Hold<ClientKey> {
        loop {
            let mut freed = pin!(self.freed.notified());
            // From here on the end of an upload is noticed.
            freed.as_mut().enable();
            if let Some(share) = self.clients.take(client.into()) {
                return share;
            }
            freed.await;
        }
    }
}

/// Uploads that clients hold under the bound before still count.
fn shares(most: u32, before: Option<&Arc<Held<ClientKey>>>) -> Arc<Held<ClientKey>> {
    let share = usize::try_from(most.div_ceil(2)).unwrap_or(usize::MAX);
    match before {
        Some(before) => {
            before.allow(share);
            Arc::clone(before)
        }
        None => Held::new(share),
    }
}

/// Both sides of gRPC may speak at once: a body that is held back could wait for an answer that waits for it.
fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map_or(&[][..], |kind| kind.as_bytes());
    let (name, rest) = kind.split_at(kind.len().min(GRPC.len()));
    name.eq_ignore_ascii_case(GRPC) && matches!(rest.first(), None | Some(b'+' | b';' | b' ' | b'\t'))
}

const GRPC: &[u8] = b"application/grpc";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_is_told_by_its_type() {
        let is = |kind: &'static str| is_grpc(&HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]));
        for kind in ["application/grpc", "Application/GRPC+proto", "application/grpc; x=y"] {
            assert!(is(kind), "{kind}");
        }
        for kind in ["application/grpc-web", "application/grp", "", "application/json"] {
            assert!(!is(kind), "{kind}");
        }
        assert!(!is_grpc(&HeaderMap::new()));
    }
}

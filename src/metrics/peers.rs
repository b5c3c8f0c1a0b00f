//! Peers whose requests show that `trusted_proxies` is wrong, by what no single visitor does.
//!
//! Any visitor can send `X-Forwarded-For`. Only a proxy brings many visitors, each with a genuine ticket or pass of their own and
//! each from another address. So a visitor counts by number and not by request, and a peer is remarkable from [`MANY`] on.
//! Memory is bounded: [`MOST_PEERS`] peers, and as many short hashes of each as are needed to count so far.

use std::fmt;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// From so many visitors, or peers, on it is not chance.
pub const MANY: usize = 8;

/// Peers that are kept in mind.
const MOST_PEERS: usize = 64;

/// How long a peer is remembered that is not seen again.
const KEPT: Duration = Duration::from_secs(15 * 60);

/// What is remarkable in a request with a genuine ticket or pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Oddity {
    /// The peer is no trusted proxy, and sends `X-Forwarded-For`.
    Untrusted,
    /// The peer is a trusted proxy, and names no client.
    Silent,
}

/// A peer that is remarkable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sight {
    /// It brings many visitors from many addresses, and is no trusted proxy.
    Proxy {
        peer: IpAddr,
        /// Many visitors come without any proxy: then it may also be a client that makes all of them up.
        others_come_directly: bool,
    },
    /// A trusted proxy that brings many visitors, and does not say from where.
    SilentProxy { peer: IpAddr },
    /// One of many peers in trusted networks that bring few visitors each: the visitors themselves.
    DirectVisitor { peer: IpAddr },
}

/// The peers of late; shared by all cores.
pub struct Peers {
    odd: Mutex<Vec<Peer>>,
    /// A bit for each hash of an untrusted peer that sent no `X-Forwarded-For`: two spans of [`KEPT`].
    direct: [AtomicU64; 2],
    /// In which span it is.
    span: AtomicU64,
    hasher: RandomState,
}

struct Peer {
    address: IpAddr,
    oddity: Oddity,
    visitors: Several,
    clients: Several,
    /// Uptime.
    last: Duration,
}

/// A count of different things, up to [`MANY`].
#[derive(Default)]
struct Several {
    hashes: [u32; MANY],
    count: usize,
}

impl Several {
    fn add(&mut self, hash: u64) {
        #[expect(clippy::cast_possible_truncation, reason = "half of a hash is one too")]
        let hash = hash as u32;
        if self.count < MANY && !self.hashes[..self.count].contains(&hash) {
            self.hashes[self.count] = hash;
            self.count += 1;
        }
    }
}

impl Peer {
    fn weight(&self) -> usize {
        match self.oddity {
            // One visitor may claim many addresses, and many may share one.
            Oddity::Untrusted => self.visitors.count.min(self.clients.count),
            Oddity::Silent => self.visitors.count,
        }
    }
}

impl Default for Peers {
    fn default() -> Self {
        Self {
            odd: Mutex::default(),
            direct: Default::default(),
            span: AtomicU64::new(0),
            hasher: RandomState::new(),
        }
    }
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peers").finish_non_exhaustive()
    }
}

impl Peers {
    /// Notes a request of `visitor` that an untrusted peer sent without `X-Forwarded-For`, as nearly all are where no proxy is
    /// in front. PERF: one load, once enough are known.
    pub fn direct(&self, peer: IpAddr, now: Duration) {
        let bits = &self.direct[self.turn(now)];
        let known = bits.load(Ordering::Relaxed);
        if known.count_ones() as usize >= MANY {
            return;
        }
        let bit = 1 << (self.hasher.hash_one(network(peer)) % 64);
        if known & bit == 0 {
            bits.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Notes a remarkable request of `visitor`, for `client` as the peer says. True where that makes the peer a proxy which is
    /// not trusted: once for each, so that it can be logged. PERF: a request that would wait is not counted.
    pub fn note(&self, peer: IpAddr, oddity: Oddity, (visitor, client): (impl Hash, impl Hash), now: Duration) -> bool {
        let Ok(mut peers) = self.odd.try_lock() else {
            return false;
        };
        let address = network(peer);
        let found = peers
            .iter()
            .position(|one| one.address == address && one.oddity == oddity);
        let at = found.unwrap_or_else(|| place(&mut peers, (address, oddity), now));
        let one = &mut peers[at];
        one.last = now;
        let before = one.weight();
        if before < MANY {
            one.visitors.add(self.hasher.hash_one(visitor));
            one.clients.add(self.hasher.hash_one(client));
        }
        before < MANY && one.weight() == MANY && oddity == Oddity::Untrusted && !self.many_come_directly(now)
    }

    /// The remarkable peers of late, under these trusted networks.
    #[must_use]
    pub fn sights(&self, is_trusted: impl Fn(IpAddr) -> bool, now: Duration) -> Vec<Sight> {
        let others_come_directly = self.many_come_directly(now);
        let mut peers = self.lock();
        peers.retain(|one| now.saturating_sub(one.last) < KEPT);
        // A reload may have changed the networks since.
        let still = |one: &&Peer| is_trusted(one.address) == (one.oddity == Oddity::Silent);
        let is_many = |one: &&Peer| one.weight() >= MANY;
        let mut sights = Vec::new();
        for one in peers.iter().filter(still).filter(is_many) {
            let peer = one.address;
            sights.push(match one.oddity {
                Oddity::Untrusted => Sight::Proxy {
                    peer,
                    others_come_directly,
                },
                Oddity::Silent => Sight::SilentProxy { peer },
            });
        }
        let few = |one: &&Peer| one.oddity == Oddity::Silent && !is_many(one);
        let alone: Vec<IpAddr> = peers.iter().filter(still).filter(few).map(|one| one.address).collect();
        if alone.len() >= MANY {
            sights.extend(alone.into_iter().map(|peer| Sight::DirectVisitor { peer }));
        }
        sights
    }

    fn many_come_directly(&self, now: Duration) -> bool {
        self.turn(now);
        let bits = self.direct.iter().map(|bits| bits.load(Ordering::Relaxed).count_ones());
        bits.sum::<u32>() as usize >= MANY
    }

    /// Which of the two spans it is now; the one before the last is forgotten when a new one begins.
    fn turn(&self, now: Duration) -> usize {
        let span = now.as_secs() / KEPT.as_secs();
        let turn = usize::from(!span.is_multiple_of(2));
        let before = self.span.load(Ordering::Relaxed);
        if before != span && self.span.swap(span, Ordering::Relaxed) != span {
            self.direct[turn].store(0, Ordering::Relaxed);
            if span > before + 1 {
                self.direct[1 - turn].store(0, Ordering::Relaxed);
            }
        }
        turn
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Peer>> {
        self.odd.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place for one more peer: a free one, or that of the peer with the least behind it, the longest unseen of those.
fn place(peers: &mut Vec<Peer>, (address, oddity): (IpAddr, Oddity), now: Duration) -> usize {
    let new = Peer {
        address,
        oddity,
        visitors: Several::default(),
        clients: Several::default(),
        last: now,
    };
    let least = |(_, one): &(usize, &Peer)| (now.saturating_sub(one.last) < KEPT, one.weight(), one.last);
    let full = peers.len() >= MOST_PEERS;
    if let Some((at, _)) = peers.iter().enumerate().min_by_key(least).filter(|_| full) {
        peers[at] = new;
        return at;
    }
    peers.push(new);
    peers.len() - 1
}

/// An address as one peer: in IPv6 a /64 is.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(100);
    const MANY_U8: u8 = 8;

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn seen(peers: &Peers) -> Vec<Sight> {
        peers.sights(|_| false, NOW)
    }

    fn sights_of_trusted(peers: &Peers) -> Vec<Sight> {
        peers.sights(|_| true, NOW)
    }

    #[test]
    fn one_visitor_who_claims_many_addresses_is_no_proxy() {
        let peers = Peers::default();
        for claimed in 0..200_u32 {
            assert!(!peers.note(peer(1), Oddity::Untrusted, (7, claimed), NOW));
        }
        for visitor in 0..200_u32 {
            assert!(!peers.note(peer(2), Oddity::Untrusted, (visitor, "the same"), NOW));
        }
        assert_eq!(seen(&peers), []);
    }

    #[test]
    fn a_peer_that_brings_many_visitors_is_a_proxy_and_told_once() {
        let peers = Peers::default();
        let told: Vec<bool> = (0..20_u32)
            .map(|one| peers.note(peer(1), Oddity::Untrusted, (one, one), NOW))
            .collect();
        assert_eq!(told.iter().position(|told| *told), Some(MANY - 1));
        assert_eq!(told.iter().filter(|told| **told).count(), 1);
        let proxy = Sight::Proxy {
            peer: peer(1),
            others_come_directly: false,
        };
        assert_eq!(seen(&peers), [proxy]);
        assert_eq!(sights_of_trusted(&peers), [], "it was made one meanwhile");
        assert_eq!(peers.sights(|_| false, NOW + KEPT), [], "it was not seen for long");
    }

    #[test]
    fn where_many_come_directly_it_may_be_a_client_that_makes_them_up() {
        let peers = Peers::default();
        for one in 0..64 {
            peers.direct(IpAddr::from([203, 0, 113, one]), NOW);
        }
        for one in 0..u32::from(MANY_U8) {
            assert!(!peers.note(peer(1), Oddity::Untrusted, (one, one), NOW));
        }
        let Some(Sight::Proxy {
            others_come_directly, ..
        }) = seen(&peers).pop()
        else {
            panic!("a proxy")
        };
        assert!(others_come_directly);
        let later = NOW + 3 * KEPT;
        peers.note(peer(1), Oddity::Untrusted, (1, 1), later);
        let Some(Sight::Proxy {
            others_come_directly, ..
        }) = peers.sights(|_| false, later).pop()
        else {
            panic!("a proxy")
        };
        assert!(!others_come_directly, "no longer");
    }

    #[test]
    fn trusted_peers_without_a_client_are_proxies_or_visitors() {
        let peers = Peers::default();
        for one in 0..u32::from(MANY_U8) {
            peers.note(peer(1), Oddity::Silent, (one, ()), NOW);
        }
        assert_eq!(sights_of_trusted(&peers), [Sight::SilentProxy { peer: peer(1) }]);
        let peers = Peers::default();
        for one in 1..MANY_U8 {
            peers.note(peer(one), Oddity::Silent, (one, ()), NOW);
        }
        assert_eq!(sights_of_trusted(&peers), [], "a few on the proxies' own machines");
        peers.note(peer(MANY_U8), Oddity::Silent, (MANY_U8, ()), NOW);
        assert_eq!(sights_of_trusted(&peers).len(), MANY);
    }

    #[test]
    fn there_is_an_end_to_what_is_kept_and_a_proxy_stays() {
        let peers = Peers::default();
        for one in 0..u32::from(MANY_U8) {
            peers.note(peer(1), Oddity::Untrusted, (one, one), NOW);
        }
        for one in 0..10_000_u32 {
            let address = IpAddr::from((u128::from(one) << 64).to_be_bytes());
            peers.note(address, Oddity::Untrusted, (one, one), NOW);
        }
        assert_eq!(peers.lock().len(), MOST_PEERS);
        assert_eq!(seen(&peers).len(), 1);
    }

    #[test]
    fn an_ipv6_network_of_one_line_is_one_peer() {
        let peers = Peers::default();
        for one in 0..u32::from(MANY_U8) {
            let address: IpAddr = format!("2001:db8::{one:x}").parse().unwrap();
            peers.note(address, Oddity::Untrusted, (one, one), NOW);
        }
        assert_eq!(seen(&peers).len(), 1);
    }
}

//! The memory that buffered request bodies take: a bound for all of them, and a share of it for each client.
//!
//! A body is charged for the memory that holds its bytes, and asks for more before it reads on. Who finds none waits in order of
//! arrival; the bytes stay in the client's socket meanwhile. Bodies of requests that pass a line without a session have half of it
//! together: however many of them come, the other half is left to all others. The first [`FIRST`] KiB of any body are
//! charged to its client alone: a small one goes on whatever others hold.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::stats::Stats;
use crate::limit::ClientKey;

/// Whose body it is.
#[derive(Clone, Copy, Debug)]
pub enum BodyOf {
    /// Of a request that nobody let in: it passes a line without a session, or is read before that is decided.
    Stranger(IpAddr),
    /// Of any other.
    Inside(IpAddr),
}

impl BodyOf {
    pub(super) fn client(self) -> IpAddr {
        match self {
            Self::Stranger(client) | Self::Inside(client) => client,
        }
    }

    pub(super) fn is_strangers(self) -> bool {
        matches!(self, Self::Stranger(_))
    }
}

/// The memory for request bodies, shared by all cores.
#[derive(Debug)]
pub(super) struct Memory {
    /// In KiB, as all here.
    free: Semaphore,
    /// Of that, what strangers may take yet.
    strangers: Semaphore,
    share: usize,
    clients: Mutex<HashMap<ClientKey, Weak<Share>>>,
    bytes: u64,
}

/// What one client may have of it. It is forgotten with its last body.
#[derive(Debug)]
struct Share {
    free: Semaphore,
    client: ClientKey,
    memory: Arc<Memory>,
}

/// What one body has of it, given back when dropped.
#[derive(Debug)]
pub struct Ration {
    memory: Arc<Memory>,
    stats: Arc<Stats>,
    client: ClientKey,
    is_strangers: bool,
    /// From the first KiB on.
    share: Option<Arc<Share>>,
    kib: usize,
}

impl Memory {
    /// So many bytes for all bodies, half of them for those of strangers, and an eighth for each client's.
    pub(super) fn new(bytes: u64) -> Arc<Self> {
        let kib = usize::try_from(bytes / KIB)
            .unwrap_or(usize::MAX)
            .min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            free: Semaphore::new(kib),
            strangers: Semaphore::new(kib / 2),
            share: (kib / SHARES).max(1),
            clients: Mutex::default(),
            bytes,
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// An empty ration for this body.
    pub(super) fn ration(self: &Arc<Self>, body: BodyOf, stats: &Arc<Stats>) -> Ration {
        Ration {
            memory: Arc::clone(self),
            stats: Arc::clone(stats),
            client: ClientKey::from(body.client()),
            is_strangers: body.is_strangers(),
            share: None,
            kib: 0,
        }
    }

    fn share(self: &Arc<Self>, client: ClientKey) -> Arc<Share> {
        let mut clients = self.clients();
        let known = clients.entry(client).or_default();
        if let Some(share) = known.upgrade() {
            return share;
        }
        let share = Arc::new(Share {
            free: Semaphore::new(self.share),
            client,
            memory: Arc::clone(self),
        });
        *known = Arc::downgrade(&share);
        share
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<ClientKey, Weak<Share>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut clients = self.memory.clients();
        // Another body of the client's may have come just now, and have a new one.
        if let Entry::Occupied(share) = clients.entry(self.client)
            && share.get().strong_count() == 0
        {
            share.remove();
        }
    }
}

impl Ration {
    /// Waits until it covers `bytes`, or all that the client may have.
    pub(super) async fn grow(&mut self, bytes: usize) {
        let Some((want, lacks)) = self.lacks(bytes) else { return };
        let mut taken = [const { None }; SOURCES];
        for (taken, (source, kib)) in taken.iter_mut().zip(lacks) {
            if kib > 0 {
                *taken = source.acquire_many(kib).await.ok();
            }
        }
        taken.into_iter().flatten().for_each(SemaphorePermit::forget);
        self.cover(want);
    }

    /// As [`grow`](Self::grow), where nobody has to wait; else false.
    pub(super) fn grow_at_once(&mut self, bytes: usize) -> bool {
        let Some((want, lacks)) = self.lacks(bytes) else {
            return true;
        };
        let mut taken = [const { None }; SOURCES];
        for (taken, (source, kib)) in taken.iter_mut().zip(lacks) {
            // PERF: a small body touches nothing that all clients share.
            if kib > 0 {
                let Ok(permit) = source.try_acquire_many(kib) else {
                    return false;
                };
                *taken = Some(permit);
            }
        }
        taken.into_iter().flatten().for_each(SemaphorePermit::forget);
        self.cover(want);
        true
    }

    /// How many KiB are to be held for `bytes`, and what it lacks of each source; `None` where it lacks nothing.
    fn lacks(&mut self, bytes: usize) -> Option<(usize, [(&Semaphore, u32); SOURCES])> {
        let want = bytes.div_ceil(1024).min(self.memory.share);
        let lacks = want.checked_sub(self.kib).filter(|lacks| *lacks > 0)?;
        let beyond = beyond(want) - beyond(self.kib);
        let of_strangers = if self.is_strangers { beyond } else { 0 };
        let (memory, client) = (&self.memory, self.client);
        let share = self.share.get_or_insert_with(|| memory.share(client));
        let sources = [
            (&share.free, permits(lacks)),
            (&memory.strangers, permits(of_strangers)),
            (&memory.free, permits(beyond)),
        ];
        Some((want, sources))
    }

    fn cover(&mut self, kib: usize) {
        let more = (kib - self.kib) as u64;
        self.kib = kib;
        self.stats.buffered_kib.fetch_add(more, Ordering::Relaxed);
    }
}

impl Drop for Ration {
    fn drop(&mut self) {
        let Some(share) = &self.share else { return };
        share.free.add_permits(self.kib);
        let beyond = beyond(self.kib);
        if self.is_strangers {
            self.memory.strangers.add_permits(beyond);
        }
        self.memory.free.add_permits(beyond);
        self.stats.buffered_kib.fetch_sub(self.kib as u64, Ordering::Relaxed);
    }
}

/// What so many KiB of one body take of what is for all.
fn beyond(kib: usize) -> usize {
    kib.saturating_sub(FIRST)
}

fn permits(kib: usize) -> u32 {
    u32::try_from(kib).unwrap_or(u32::MAX)
}

const KIB: u64 = 1024;
/// So many clients with their whole share use all of the memory.
pub const SHARES: usize = 8;
/// KiB of each body that take nothing of what is for all. What they sum to has the bound of the requests under way: 4 KiB for each,
/// 400 MiB for the 100,000 of `max_connections` over HTTP/1.1, a hundred times that over HTTP/2; of one client never more than its
/// share. A body that has no more and waits holds besides what one read brought: 32 KiB, over HTTP/2 a frame of 16.
const FIRST: usize = 4;
/// A client's share, the strangers' half, all.
const SOURCES: usize = 3;

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::FutureExt;

    use super::*;

    fn client(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    /// Room for 64 KiB, of which each client has eight.
    fn memory() -> (Arc<Memory>, Arc<Stats>) {
        (Memory::new(64 * KIB), Arc::default())
    }

    const SHARE: usize = 8 * 1024;

    fn inside(memory: &Arc<Memory>, last: u8, stats: &Arc<Stats>) -> Ration {
        memory.ration(BodyOf::Inside(client(last)), stats)
    }

    fn stranger(memory: &Arc<Memory>, last: u8, stats: &Arc<Stats>) -> Ration {
        memory.ration(BodyOf::Stranger(client(last)), stats)
    }

    /// Whether it grew without a wait; if so the other way says the same.
    fn grows(ration: &mut Ration, bytes: usize) -> bool {
        let at_once = ration.grow_at_once(bytes);
        assert_eq!(ration.grow(bytes).now_or_never().is_some(), at_once);
        at_once
    }

    #[test]
    fn a_client_waits_for_its_own_bodies_and_nobody_else_does() {
        let (memory, stats) = memory();
        let [mut first, mut second] = [0; 2].map(|_| inside(&memory, 1, &stats));
        assert!(grows(&mut first, SHARE));
        assert!(!grows(&mut second, 1));
        let mut other = inside(&memory, 2, &stats);
        assert!(grows(&mut other, 1024));
        assert_eq!(stats.buffered_kib.load(Ordering::Relaxed), 9);
        drop(first);
        assert!(grows(&mut second, 1));
        drop((second, other));
        assert_eq!(stats.buffered_kib.load(Ordering::Relaxed), 0);
        assert!(memory.clients().is_empty(), "who holds nothing is forgotten");
    }

    #[test]
    fn all_together_have_no_more_than_there_is_beyond_the_first_of_each() {
        let (memory, stats) = memory();
        let mut rations: Vec<_> = (0..17).map(|last| inside(&memory, last, &stats)).collect();
        let mut last = rations.pop().unwrap();
        for ration in &mut rations {
            assert!(grows(ration, SHARE));
        }
        assert!(!grows(&mut last, FIRST * 1024 + 1));
        assert!(grows(&mut last, FIRST * 1024), "a small body takes nothing of it");
        rations.pop();
        assert!(grows(&mut last, SHARE));
        drop((rations, last));
        assert_eq!(memory.free.available_permits(), 64, "all is given back");
    }

    #[test]
    fn strangers_together_have_half() {
        let (memory, stats) = memory();
        let mut strangers: Vec<_> = (0..9).map(|last| stranger(&memory, last, &stats)).collect();
        let mut late = strangers.pop().unwrap();
        for ration in &mut strangers {
            assert!(grows(ration, SHARE));
        }
        assert!(!grows(&mut late, SHARE), "who waits takes nothing of the other half");
        let mut others: Vec<_> = (100..108).map(|last| inside(&memory, last, &stats)).collect();
        for ration in &mut others {
            assert!(grows(ration, SHARE));
        }
        assert!(!grows(&mut inside(&memory, 108, &stats), SHARE));
        drop(others);
        assert!(!grows(&mut late, SHARE));
        strangers.pop();
        assert!(grows(&mut late, SHARE));
        drop((strangers, late));
        assert_eq!(memory.strangers.available_permits(), 32, "all is given back");
    }

    #[test]
    fn a_body_is_never_charged_more_than_its_client_may_have() {
        let (memory, stats) = memory();
        let mut ration = inside(&memory, 1, &stats);
        assert!(grows(&mut ration, 1 << 20));
        assert_eq!(ration.kib, 8);
        assert!(grows(&mut ration, 1 << 20), "it has all it may have");
    }
}

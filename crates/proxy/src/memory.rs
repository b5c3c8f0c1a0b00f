//! The memory that buffered request bodies take: a bound for all of them, and a share of it for each client.
//!
//! A body is charged for the memory that holds its bytes, and asks for more before it reads on. Without free memory it waits
//! in order of arrival, and the bytes stay in the client's socket meanwhile. Bodies of requests that pass a line without a
//! session have half of the memory together: however many of them come, the other half is left to all others. The first
//! [`FIRST`] KiB of any body are charged to its client alone, and a body of no more than [`FREE`] KiB is not charged: a small
//! body goes on whatever others hold.
//!
//! Bodies that hold a part and wait for the rest could wait for each other. So the first waiting body of a client may
//! overdraw the client's share, and one body of strangers and one of all others may overdraw the total. A body that may
//! overdraw does not wait any more, ends, and gives back the memory with which the next ones go on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::limit::ClientKey;
use crate::lock::held;
use crate::stats::UpstreamStats;

/// The owner of a body.
#[derive(Clone, Copy, Debug)]
pub enum BodyOf {
    /// A request that was not admitted: it passes a line without a session, or is read before that is decided.
    Stranger(IpAddr),
    /// Of any other.
    Inside(IpAddr),
}

impl BodyOf {
    pub(crate) fn client(self) -> IpAddr {
        match self {
            Self::Stranger(client) | Self::Inside(client) => client,
        }
    }

    pub(crate) fn is_strangers(self) -> bool {
        matches!(self, Self::Stranger(_))
    }
}

/// The memory for request bodies, shared by all cores.
#[derive(Debug)]
pub(crate) struct Memory {
    /// In KiB, as all here.
    free: Semaphore,
    /// The part of it that strangers may still take.
    strangers: Semaphore,
    /// How many may overdraw them: one body of a stranger's, and one of all others.
    overdraws: Overdrafts,
    share: usize,
    clients: Mutex<HashMap<ClientKey, Weak<Share>>>,
    bytes: u64,
}

#[derive(Debug)]
struct Overdrafts {
    strangers: Semaphore,
    others: Semaphore,
}

impl Overdrafts {
    fn of(&self, is_strangers: bool) -> &Semaphore {
        if is_strangers { &self.strangers } else { &self.others }
    }
}

/// One client's share. It is forgotten with its last body.
#[derive(Debug)]
struct Share {
    free: Semaphore,
    /// How many of its bodies may overdraw it: one.
    overdraws: Semaphore,
    client: ClientKey,
    memory: Arc<Memory>,
}

/// One body's part of the memory, returned on drop.
#[derive(Debug)]
pub struct Ration {
    memory: Arc<Memory>,
    stats: Arc<UpstreamStats>,
    client: ClientKey,
    is_strangers: bool,
    /// From the first KiB on that is charged.
    share: Option<Arc<Share>>,
    kib: usize,
    /// How much of that is charged to each source; less where it overdraws.
    charged: [usize; SOURCES],
    overdraws: Overdraws,
}

/// The sources that a body may overdraw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overdraws {
    Nothing,
    /// Its client's share.
    Share,
    /// And the memory for all.
    All,
}

impl Memory {
    /// A number of bytes for all bodies, half of them for those of strangers, and an eighth for each client's.
    pub(crate) fn new(bytes: u64) -> Arc<Self> {
        let kib = usize::try_from(bytes / KIB)
            .unwrap_or(usize::MAX)
            .min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            free: Semaphore::new(kib),
            strangers: Semaphore::new(kib / 2),
            overdraws: Overdrafts {
                strangers: Semaphore::new(1),
                others: Semaphore::new(1),
            },
            share: (kib / SHARES).max(1),
            clients: Mutex::default(),
            bytes,
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// An empty ration for this body.
    pub(crate) fn ration(self: &Arc<Self>, body: BodyOf, stats: &Arc<UpstreamStats>) -> Ration {
        Ration {
            memory: Arc::clone(self),
            stats: Arc::clone(stats),
            client: ClientKey::from(body.client()),
            is_strangers: body.is_strangers(),
            share: None,
            kib: 0,
            charged: [0; SOURCES],
            overdraws: Overdraws::Nothing,
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
            overdraws: Semaphore::new(1),
            client,
            memory: Arc::clone(self),
        });
        *known = Arc::downgrade(&share);
        share
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<ClientKey, Weak<Share>>> {
        held(&self.clients)
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
    pub(crate) async fn grow(&mut self, bytes: usize) {
        if !self.grow_at_once(bytes) {
            // PERF: rare, and its state is large.
            Box::pin(self.wait(self.want(bytes))).await;
        }
    }

    /// As [`grow`](Self::grow), if that needs no wait; false otherwise.
    pub(crate) fn grow_at_once(&mut self, bytes: usize) -> bool {
        let want = self.want(bytes);
        if want <= self.kib {
            return true;
        }
        if want <= FREE {
            self.cover(want, [0; SOURCES]);
            return true;
        }
        let lacks = self.lacks(want);
        let (memory, client) = (&self.memory, self.client);
        let share = self.share.get_or_insert_with(|| memory.share(client));
        let mut taken = [const { None }; SOURCES];
        for ((taken, source), lacks) in taken.iter_mut().zip(sources(memory, share)).zip(lacks) {
            // PERF: a small body touches nothing that all clients share.
            if lacks > 0 {
                let Ok(permit) = source.try_acquire_many(permits(lacks)) else {
                    return false;
                };
                *taken = Some(permit);
            }
        }
        forget(taken);
        self.cover(want, lacks);
        true
    }

    /// Waits for its client's share, then for the memory for all; or until it may overdraw them.
    async fn wait(&mut self, want: usize) {
        let (memory, client, is_strangers) = (Arc::clone(&self.memory), self.client, self.is_strangers);
        let share = Arc::clone(self.share.get_or_insert_with(|| memory.share(client)));
        let [lacks, ..] = self.lacks(want);
        tokio::select! {
            biased;
            permit = hold(&share.free, lacks) => {
                forget([permit]);
                self.charged[0] += lacks;
            }
            permit = hold(&share.overdraws, 1) => {
                forget([permit]);
                self.overdraws = Overdraws::Share;
            }
        }
        let [_, of_strangers, of_all] = self.lacks(want);
        let granted = async {
            let strangers = hold(&memory.strangers, of_strangers).await;
            forget([strangers, hold(&memory.free, of_all).await]);
        };
        // A body that overdraws the total overdraws its share too, so it never waits for a body of the same client that waits
        // for it.
        let lacks_share = usize::from(self.overdraws == Overdraws::Nothing);
        let overdraws = async {
            let share = hold(&share.overdraws, lacks_share).await;
            forget([share, hold(memory.overdraws.of(is_strangers), 1).await]);
        };
        let charged = tokio::select! {
            biased;
            () = granted => [0, of_strangers, of_all],
            () = overdraws => {
                self.overdraws = Overdraws::All;
                [0; SOURCES]
            }
        };
        self.cover(want, charged);
    }

    /// How many KiB cover this number of bytes.
    fn want(&self, bytes: usize) -> usize {
        bytes.div_ceil(1024).min(self.memory.share)
    }

    /// The KiB of each source that are missing to hold `want` KiB.
    fn lacks(&self, want: usize) -> [usize; SOURCES] {
        let beyond = beyond(want);
        let of_strangers = if self.is_strangers { beyond } else { 0 };
        let [share, strangers, all] = self.charged;
        let share = want.saturating_sub(share);
        let (strangers, all) = (of_strangers.saturating_sub(strangers), beyond.saturating_sub(all));
        match self.overdraws {
            Overdraws::Nothing => [share, strangers, all],
            Overdraws::Share => [0, strangers, all],
            Overdraws::All => [0; SOURCES],
        }
    }

    fn cover(&mut self, kib: usize, charged: [usize; SOURCES]) {
        let more = (kib - self.kib) as u64;
        self.kib = kib;
        for (all, more) in self.charged.iter_mut().zip(charged) {
            *all += more;
        }
        self.stats.buffered_kib.fetch_add(more, Ordering::Relaxed);
    }
}

impl Drop for Ration {
    fn drop(&mut self) {
        if self.kib > 0 {
            self.stats.buffered_kib.fetch_sub(self.kib as u64, Ordering::Relaxed);
        }
        let Some(share) = &self.share else { return };
        for (source, charged) in sources(&self.memory, share).into_iter().zip(self.charged) {
            if charged > 0 {
                source.add_permits(charged);
            }
        }
        if self.overdraws != Overdraws::Nothing {
            share.overdraws.add_permits(1);
        }
        if self.overdraws == Overdraws::All {
            self.memory.overdraws.of(self.is_strangers).add_permits(1);
        }
    }
}

/// The three semaphores that are charged: the client's share, the strangers' half, the total.
fn sources<'a>(memory: &'a Memory, share: &'a Share) -> [&'a Semaphore; SOURCES] {
    [&share.free, &memory.strangers, &memory.free]
}

async fn hold(source: &Semaphore, lacks: usize) -> Option<SemaphorePermit<'_>> {
    // A source with enough memory is taken without queueing.
    if lacks == 0 {
        return None;
    }
    source.acquire_many(permits(lacks)).await.ok()
}

fn forget<const N: usize>(permits: [Option<SemaphorePermit<'_>>; N]) {
    permits.into_iter().flatten().for_each(SemaphorePermit::forget);
}

/// The part of a body of `kib` KiB that is charged to the total.
fn beyond(kib: usize) -> usize {
    kib.saturating_sub(FIRST)
}

fn permits(kib: usize) -> u32 {
    u32::try_from(kib).unwrap_or(u32::MAX)
}

const KIB: u64 = 1024;
/// This number of clients with their whole share use all of the memory.
pub const SHARES: usize = 8;
/// A body of at most this size, in KiB, is not charged. PERF: a small body or answer needs no look-up of its client; the
/// request costs its sender ten times that anyway.
const FREE: usize = 1;
/// KiB of each body that are not charged to the total. Their sum is bounded by the requests under way: 4 KiB for each, 400
/// MiB for the 100,000 of `max_connections` over HTTP/1.1, a hundred times that over HTTP/2; for one client never more than
/// its share, apart from uncharged bodies. A waiting body of no more than this size also holds the bytes of one read: 32 KiB,
/// over HTTP/2 a frame of 16 KiB.
const FIRST: usize = 4;
/// A client's share, the strangers' half, all.
const SOURCES: usize = 3;

#[cfg(test)]
mod tests;

//! The memory that buffered request bodies take: a bound for all of them, and a share of it for each client.
//!
//! A body is charged for the memory that holds its bytes, and asks for more before it reads on. Who finds none waits in order of
//! arrival; the bytes stay in the client's socket meanwhile.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::stats::Stats;
use crate::limit::ClientKey;

/// The memory for request bodies, shared by all cores.
#[derive(Debug)]
pub(super) struct Memory {
    /// In KiB.
    free: Arc<Semaphore>,
    share: usize,
    clients: Mutex<HashMap<ClientKey, Weak<Share>>>,
    bytes: u64,
}

/// What one client may have of it. It is forgotten with its last body.
#[derive(Debug)]
struct Share {
    free: Arc<Semaphore>,
    client: ClientKey,
    memory: Arc<Memory>,
}

/// What one body has of it, given back when dropped.
#[derive(Debug)]
pub struct Ration {
    memory: Arc<Memory>,
    stats: Arc<Stats>,
    client: ClientKey,
    share: Option<Arc<Share>>,
    /// Of the client's share and of all.
    held: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

impl Memory {
    /// So many bytes for all bodies, and an eighth of them for each client's.
    pub(super) fn new(bytes: u64) -> Arc<Self> {
        let kib = usize::try_from(bytes / KIB)
            .unwrap_or(usize::MAX)
            .min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            free: Arc::new(Semaphore::new(kib)),
            share: (kib / SHARES).max(1),
            clients: Mutex::default(),
            bytes,
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// An empty ration for a body of this client.
    pub(super) fn ration(self: &Arc<Self>, client: IpAddr, stats: &Arc<Stats>) -> Ration {
        Ration {
            memory: Arc::clone(self),
            stats: Arc::clone(stats),
            client: ClientKey::from(client),
            share: None,
            held: None,
        }
    }

    fn share(self: &Arc<Self>, client: ClientKey) -> Arc<Share> {
        let mut clients = self.clients();
        let known = clients.entry(client).or_default();
        if let Some(share) = known.upgrade() {
            return share;
        }
        let share = Arc::new(Share {
            free: Arc::new(Semaphore::new(self.share)),
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
        let Some((lacks, share, all)) = self.lacks(bytes) else {
            return;
        };
        let Ok(of_share) = share.acquire_many_owned(lacks).await else {
            return;
        };
        let Ok(of_all) = all.acquire_many_owned(lacks).await else {
            return;
        };
        self.hold(lacks, of_share, of_all);
    }

    /// As [`grow`](Self::grow), where nobody has to wait; else false.
    pub(super) fn grow_at_once(&mut self, bytes: usize) -> bool {
        let Some((lacks, share, all)) = self.lacks(bytes) else {
            return true;
        };
        let of_share = share.try_acquire_many_owned(lacks);
        let both = of_share.and_then(|of_share| Ok((of_share, all.try_acquire_many_owned(lacks)?)));
        both.map(|(of_share, of_all)| self.hold(lacks, of_share, of_all))
            .is_ok()
    }

    /// How many KiB it lacks to cover `bytes`, and where they come from; `None` where it lacks none.
    fn lacks(&mut self, bytes: usize) -> Option<(u32, Arc<Semaphore>, Arc<Semaphore>)> {
        let want = bytes.div_ceil(1024).min(self.memory.share);
        let lacks = want.saturating_sub(self.kib());
        let lacks = u32::try_from(lacks).ok().filter(|lacks| *lacks > 0)?;
        let (memory, client) = (&self.memory, self.client);
        let share = self.share.get_or_insert_with(|| memory.share(client));
        Some((lacks, Arc::clone(&share.free), Arc::clone(&memory.free)))
    }

    fn hold(&mut self, kib: u32, of_share: OwnedSemaphorePermit, of_all: OwnedSemaphorePermit) {
        match &mut self.held {
            None => self.held = Some((of_share, of_all)),
            Some((share, all)) => {
                share.merge(of_share);
                all.merge(of_all);
            }
        }
        self.stats.buffered_kib.fetch_add(u64::from(kib), Ordering::Relaxed);
    }

    fn kib(&self) -> usize {
        self.held.as_ref().map_or(0, |(_, all)| all.num_permits())
    }
}

impl Drop for Ration {
    fn drop(&mut self) {
        let kib = self.kib() as u64;
        self.stats.buffered_kib.fetch_sub(kib, Ordering::Relaxed);
    }
}

const KIB: u64 = 1024;
/// So many clients with their whole share use all of the memory.
pub const SHARES: usize = 8;

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::FutureExt;

    use super::*;

    fn client(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    /// Room for 8 KiB, of which each client has one.
    fn memory() -> (Arc<Memory>, Arc<Stats>) {
        (Memory::new(8 * KIB), Arc::default())
    }

    #[test]
    fn a_client_waits_for_its_own_bodies_and_nobody_else_does() {
        let (memory, stats) = memory();
        let [mut first, mut second] = [0; 2].map(|_| memory.ration(client(1), &stats));
        assert!(first.grow(1).now_or_never().is_some());
        assert!(second.grow(1).now_or_never().is_none());
        let mut other = memory.ration(client(2), &stats);
        assert!(other.grow(1024).now_or_never().is_some());
        assert_eq!(stats.buffered_kib.load(Ordering::Relaxed), 2);
        drop(first);
        assert!(second.grow(1).now_or_never().is_some());
        drop((second, other));
        assert_eq!(stats.buffered_kib.load(Ordering::Relaxed), 0);
        assert!(memory.clients().is_empty(), "who holds nothing is forgotten");
    }

    #[test]
    fn all_together_have_no_more_than_there_is() {
        let (memory, stats) = memory();
        let mut rations: Vec<_> = (0..9).map(|last| memory.ration(client(last), &stats)).collect();
        let mut last = rations.pop().unwrap();
        for ration in &mut rations {
            assert!(ration.grow(1).now_or_never().is_some());
        }
        assert!(last.grow(1).now_or_never().is_none());
        rations.pop();
        assert!(last.grow(1).now_or_never().is_some());
    }

    #[test]
    fn a_body_is_never_charged_more_than_its_client_may_have() {
        let (memory, stats) = memory();
        let mut ration = memory.ration(client(1), &stats);
        assert!(ration.grow(1 << 20).now_or_never().is_some());
        assert_eq!(ration.kib(), 1);
        assert!(ration.grow(1 << 20).now_or_never().is_some(), "it has all it may have");
    }
}

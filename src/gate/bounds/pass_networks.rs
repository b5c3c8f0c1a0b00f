//! The number of networks that use a pass: a shared pass is refused from one network too many.
//!
//! Each gate counts for itself and forgets the oldest when it knows too many passes, which errs on the visitor's side. A network
//! is kept as four bytes of a keyed hash.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::sync::{Mutex, PoisonError};

use ipnet::IpNet;

use crate::token::Pass;

/// Most networks that a pass may be used from, where a room says so.
pub const MAX_NETWORKS: u8 = 16;

/// Passes of which a gate remembers the networks, in each of two halves: about 20 MB when full.
const PASSES: usize = 100_000;

/// The networks of the passes in use.
#[derive(Debug)]
pub struct Sharing {
    hasher: RandomState,
    halves: Mutex<Halves>,
    most: usize,
}

/// When the young half is full it becomes the old one, and entries that were used in neither are forgotten.
#[derive(Debug, Default)]
struct Halves {
    young: HashMap<u64, Networks>,
    old: HashMap<u64, Networks>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Networks {
    seen: [u32; MAX_NETWORKS as usize],
    count: u8,
}

impl Default for Sharing {
    fn default() -> Self {
        Self::remembering(PASSES)
    }
}

impl Sharing {
    fn remembering(most: usize) -> Self {
        let (hasher, halves) = (RandomState::new(), Mutex::default());
        Self { hasher, halves, most }
    }

    /// Whether a pass may be used from this network: one of the first `allowed` that it came from.
    #[must_use]
    pub fn allows(&self, pass: &Pass, network: IpNet, allowed: u8) -> bool {
        let key = self.hasher.hash_one((&pass.room, &pass.line, pass.id));
        let [a, b, c, d, ..] = self.hasher.hash_one((key, network)).to_le_bytes();
        let network = u32::from_le_bytes([a, b, c, d]);
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        halves.networks(key, self.most).allow(network, allowed)
    }
}

impl Halves {
    fn networks(&mut self, key: u64, most: usize) -> &mut Networks {
        if !self.young.contains_key(&key) {
            if self.young.len() >= most {
                self.old = mem::take(&mut self.young);
            }
            let known = self.old.remove(&key).unwrap_or_default();
            self.young.insert(key, known);
        }
        self.young.entry(key).or_default()
    }
}

impl Networks {
    fn allow(&mut self, network: u32, allowed: u8) -> bool {
        let count = usize::from(self.count);
        if self.seen[..count].contains(&network) {
            return true;
        }
        if self.count >= allowed.min(MAX_NETWORKS) {
            return false;
        }
        self.seen[count] = network;
        self.count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::PassId;
    use ropeline_ids::{Edition, Epoch, LaneId, LineName, Number, RoomName, Wall};

    fn pass(id: u8) -> Pass {
        Pass {
            room: RoomName::new("shop").unwrap(),
            line: LineName::ONLY,
            lane: LaneId(0),
            edition: Edition(0),
            number: Number { epoch: Epoch(1), n: 7 },
            call: 1,
            id: PassId([id; 8]),
            expires_at: Wall(0),
        }
    }

    fn network(n: u8) -> IpNet {
        format!("192.0.{n}.0/24").parse().unwrap()
    }

    const TWO: u8 = 2;

    #[test]
    fn the_first_networks_go_on_and_another_is_refused() {
        let sharing = Sharing::default();
        for n in [1, 2, 1, 2] {
            assert!(sharing.allows(&pass(1), network(n), TWO));
        }
        assert!(!sharing.allows(&pass(1), network(3), TWO));
        assert!(sharing.allows(&pass(1), network(1), TWO) && sharing.allows(&pass(1), network(2), TWO));
        assert!(sharing.allows(&pass(2), network(3), TWO), "another pass");
        let more = 3;
        assert!(sharing.allows(&pass(1), network(3), more), "the room allows more now");
        assert!(!sharing.allows(&pass(1), network(4), more));
    }

    #[test]
    fn what_is_remembered_is_bounded_and_what_is_in_use_stays() {
        let sharing = Sharing::remembering(10);
        assert!(sharing.allows(&pass(1), network(1), TWO) && sharing.allows(&pass(1), network(2), TWO));
        for id in 2..=200 {
            assert!(sharing.allows(&pass(id), network(1), TWO));
            assert!(
                !sharing.allows(&pass(1), network(3), TWO),
                "in use all along, after {id}"
            );
            let halves = sharing.halves.lock().unwrap();
            assert!(halves.young.len() <= 10 && halves.old.len() <= 10);
        }
    }
}

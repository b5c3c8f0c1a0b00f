//! The log in a shared store: the common suite on one server and on a cluster, and the properties of a shared log.

mod begin;
mod cluster;
mod cost;
mod full;
mod history;
mod keep;
mod rights;
mod sentinel;
mod start;
mod strain;
mod tls;

use ropeline::room::{GateId, Position};
use ropeline::store::redis::{Options, RedisLog};
use ropeline::store::{Append, Exchanged, Log, Snapshot, Unavailable};

use crate::contract::{Store, append, root};
use crate::harness::redis::Cluster;
use crate::harness::redis::{Options as Settings, Server, until};

/// A server with nothing in it.
pub fn server() -> Server {
    Server::start(&Settings::default())
}

/// The log in the store at `url`.
pub fn open(url: &str) -> RedisLog {
    RedisLog::open(&url.parse().unwrap(), Options::default()).unwrap()
}

/// Why the store at `url` is refused.
pub fn refusal(url: &str) -> String {
    match RedisLog::open(&url.parse().unwrap(), Options::default()) {
        Ok(_) => panic!("{url} was taken"),
        Err(error) => error.to_string(),
    }
}

/// An append of another gate than the suite's.
pub fn append_of(gate: u64, serial: u64) -> Append {
    Append {
        gate: GateId(gate),
        nonce: (gate << 32 | serial).to_be_bytes(),
        ..append(serial)
    }
}

pub fn snapshot(position: Position, state: &[u8]) -> Snapshot {
    Snapshot {
        position,
        state: state.to_vec(),
        ..root(0)
    }
}

/// Repeats an exchange, as a replica does, until it is answered.
pub fn until_answered(log: &mut dyn Log, at: Position, append: Option<&Append>) -> Exchanged {
    let mut answer = None;
    until("an answer", || {
        answer = log.exchange(at, append).ok();
        answer.is_some()
    });
    answer.unwrap()
}

pub fn why<T: std::fmt::Debug>(answer: Result<T, Unavailable>) -> String {
    answer.unwrap_err().reason
}

impl Store for Server {
    fn open(&self) -> Box<dyn Log> {
        Box::new(open(&self.url()))
    }
}

impl Store for Cluster {
    fn open(&self) -> Box<dyn Log> {
        Box::new(open(&self.url()))
    }
}

mod on_one_server {
    crate::contract::suite!(super::server());
}

mod on_a_cluster {
    use crate::harness::redis::{Cluster, Options};

    crate::contract::suite!(Cluster::start(&Options::default()));
}

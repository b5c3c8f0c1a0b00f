//! A line filled through a replica, as a gate's own does it, but for the requests.

use ropeline::replica::{Arrival, Charge, JoinOutcome, Options, Replica};
use ropeline::room::{LaneId, LineName, Number, RoomName};
use ropeline::store::redis::{Options as LogOptions, RedisLog};
use tokio::task::JoinSet;

use crate::house::ROOM;

/// Joins that are awaited at once.
const WAVE: usize = 20_000;

/// Joins this many visitors to the room, which a gate has made on this store; they stay.
pub async fn fill(url: &str, visitors: usize) {
    let log =
        RedisLog::open(&url.parse().expect("the store's address"), LogOptions::default()).expect("the store will do");
    // The room is in no file of this replica's, and is not its to remove.
    let options = Options {
        charge: Charge::Before,
        ..Options::default()
    };
    let (replica, thread) = Replica::start(Box::new(log), Vec::new(), options).expect("a replica");
    let mut left = visitors;
    while left > 0 {
        let wave = left.min(WAVE);
        let mut joining = JoinSet::new();
        for _ in 0..wave {
            joining.spawn(join(replica.clone()));
        }
        joining.join_all().await;
        left -= wave;
    }
    thread.stop();
}

/// Joins until there is a number.
pub async fn join(gate: Replica) -> Number {
    let room = RoomName::new(ROOM).expect("a plain name");
    let mut arrival = Arrival::first();
    let id = arrival.id;
    loop {
        match gate.join(&room, &LineName::ONLY, LaneId(0), arrival).await {
            JoinOutcome::Numbered(_, number) => return number,
            JoinOutcome::Later => arrival = Arrival::again(id),
            JoinOutcome::Refused => panic!("the room refuses"),
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

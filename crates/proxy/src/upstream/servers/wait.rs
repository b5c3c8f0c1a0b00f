//! Waiting for a connection when all are taken: a request stands in the queue of every server that it may use, and goes to
//! the first that is free.

use std::net::IpAddr;
use std::sync::Arc;

use futures_util::future::select_all;
use tokio::time::{Instant, timeout_at};

use super::bound::Place;
use super::health::now_ms;
use super::target::{Busy, Target};
use crate::error::Kind;

/// The first connection that is free at one of `servers`, of which there is at least one; within each line first come, first
/// served. `None` where all of them were drained meanwhile, or are listed no more. Dropped, it leaves all the lines.
pub(super) async fn first_free(
    servers: &[Arc<Target>],
    client: IpAddr,
    is_listed: impl Fn(&Arc<Target>) -> bool,
    deadline: Option<Instant>,
) -> Result<Option<Busy>, Kind> {
    let places: Vec<_> = servers.iter().filter_map(|target| place(target, client)).collect();
    let mut turns: Vec<_> = places
        .iter()
        .map(|(target, place)| Box::pin(async { (*target, place.turn().await) }))
        .collect();
    let patience = servers.iter().find_map(|target| Some(target.bound()?.patience()));
    let end = Instant::now() + patience.unwrap_or_default();
    let end = deadline.map_or(end, |deadline| deadline.min(end));
    while !turns.is_empty() {
        let Ok(((target, permit), _, rest)) = timeout_at(end, select_all(turns)).await else {
            return Err(if deadline == Some(end) {
                Kind::TotalTimeout
            } else {
                Kind::Exhausted
            });
        };
        if is_listed(target) && may_go_to(target, rest.is_empty()) {
            return Ok(Some(Busy::holding(Arc::clone(target), permit)));
        }
        turns = rest;
    }
    if places.is_empty() {
        Err(Kind::Exhausted)
    } else {
        Ok(None)
    }
}

fn place(target: &Arc<Target>, client: IpAddr) -> Option<(&Arc<Target>, Place<'_>)> {
    Some((target, target.bound()?.place(client)?))
}

/// It may have been drained or put out since the wait began. One that is out is still better than none.
fn may_go_to(target: &Target, is_last: bool) -> bool {
    let now = now_ms();
    target.weight() > 0 && (is_last || (target.takes(now) && target.enter(now)))
}

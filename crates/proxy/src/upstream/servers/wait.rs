//! Waiting for a connection where all are taken: a request stands in the line of every server that may have it, and goes to
//! the first that is free.

use std::net::IpAddr;
use std::sync::Arc;

use futures_util::future::select_all;
use tokio::time::{Instant, timeout_at};

use super::bound::Place;
use super::health::now_ms;
use super::origin::{Busy, Origin};
use crate::error::Kind;

/// The first connection that is free at one of `origins`, of which there is at least one; within each line first come, first
/// served. `None` where all of them were drained meanwhile, or are listed no more. Dropped, it leaves all the lines.
pub(super) async fn first_free(
    origins: &[Arc<Origin>],
    client: IpAddr,
    is_listed: impl Fn(&Arc<Origin>) -> bool,
    deadline: Option<Instant>,
) -> Result<Option<Busy>, Kind> {
    let places: Vec<_> = origins.iter().filter_map(|origin| place(origin, client)).collect();
    let mut turns: Vec<_> = places
        .iter()
        .map(|(origin, place)| Box::pin(async { (*origin, place.turn().await) }))
        .collect();
    let patience = origins.iter().find_map(|origin| Some(origin.bound()?.patience()));
    let end = Instant::now() + patience.unwrap_or_default();
    let end = deadline.map_or(end, |deadline| deadline.min(end));
    while !turns.is_empty() {
        let Ok(((origin, permit), _, rest)) = timeout_at(end, select_all(turns)).await else {
            return Err(if deadline == Some(end) {
                Kind::TotalTimeout
            } else {
                Kind::Exhausted
            });
        };
        if is_listed(origin) && may_go_to(origin, rest.is_empty()) {
            return Ok(Some(Busy::holding(Arc::clone(origin), permit)));
        }
        turns = rest;
    }
    if places.is_empty() {
        Err(Kind::Exhausted)
    } else {
        Ok(None)
    }
}

fn place(origin: &Arc<Origin>, client: IpAddr) -> Option<(&Arc<Origin>, Place<'_>)> {
    Some((origin, origin.bound()?.place(client)?))
}

/// It may have been drained or put out since the wait began. One that is out is still better than none.
fn may_go_to(origin: &Origin, is_last: bool) -> bool {
    let now = now_ms();
    origin.weight() > 0 && (is_last || (origin.takes(now) && origin.enter(now)))
}

//! Bounds on requests that pass a line without a session: preflights, exceptions, crawlers, returns from a payment.
//!
//! Limits per client do not bound many clients. Reads have one bound over all cores and writes another, so that no flood
//! of reads keeps a payment provider's callback from the shop. A body that is longer than `request_buffer` may come as slowly as its client
//! likes: these have a third bound, half of `max_streaming_bodies`. Over a bound the answer is 503 with `Retry-After`; nothing waits.
//! A client that reads a long answer slowly keeps its place until another is refused one.

use std::net::IpAddr;
use std::sync::Arc;

use http::StatusCode;
use prometheus_client::metrics::counter::Counter;

use crate::config;
use crate::limit::{self, ClientKey, Held};
use crate::metrics::Outcome;
use crate::pages::PageKind;
use crate::proxy::{Body, RequestBody};

use crate::gate::request::visit::Visit;
use crate::gate::state::pages::Pages;
use crate::gate::verdict::answers::{Answer, Refusal};

use readers::Readers;

/// The bounds.
pub struct Unadmitted {
    reads: Bound,
    preflights: Bound,
    posts: Bound,
    streams: Bound,
    cut: Counter,
}

struct Bound {
    most: usize,
    held: Arc<Held<ClientKey>>,
    readers: Arc<Readers>,
    refused: Counter,
}

/// One of the crawlers' requests that a room lets past its line; counts until it drops.
pub type CrawlerHold = limit::Hold<()>;

/// The place of a request without a session while it is under way; counts until it drops.
pub struct Place {
    readers: Arc<Readers>,
    held: (limit::Hold<ClientKey>, Option<CrawlerHold>),
}

impl Place {
    /// Is held until the client has read all of the answer, or is cut because it reads slowly and others are refused.
    pub fn until_read(self, answer: Body) -> Body {
        let client = *self.held.0.key();
        let (answer, revoke) = answer.hold(self.held).revocable();
        if let Some(revoke) = revoke {
            self.readers.add(client, revoke);
        }
        answer
    }
}

/// Which bound a request counts against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    Read,
    /// They bring no cookie, so those of visitors inside are among them: no other read may keep them out.
    Preflight,
    Post,
    /// Its body is streamed to the shop as it comes.
    Stream,
}

impl Sort {
    /// A request whose body has not all been received is a stream.
    pub fn of(self, body: &RequestBody) -> Self {
        if body.is_complete() { self } else { Self::Stream }
    }

    /// The name in the answer to a proxy that asks.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read | Self::Preflight => "reads",
            Self::Post | Self::Stream => "posts",
        }
    }
}

impl Unadmitted {
    /// Requests under way under the bounds `before` stay counted. `refused` gives the counter of a bound by its name.
    #[must_use]
    pub fn new(bounds: config::Unadmitted, refused: &dyn Fn(&str) -> Counter, before: Option<&Self>) -> Self {
        let bound = |name: &str, most, before: Option<&Bound>| Bound {
            most,
            held: before.map_or_else(|| Held::within(most, share(most)), |old| Arc::clone(&old.held)),
            readers: before.map_or_else(Arc::default, |old| Arc::clone(&old.readers)),
            refused: refused(name),
        };
        Self {
            reads: bound("unadmitted-reads", bounds.reads, before.map(|old| &old.reads)),
            preflights: bound("unadmitted-preflights", bounds.reads, before.map(|old| &old.preflights)),
            posts: bound("unadmitted-posts", bounds.posts, before.map(|old| &old.posts)),
            streams: bound("unadmitted-streams", bounds.streams, before.map(|old| &old.streams)),
            cut: refused("unadmitted-slow"),
        }
    }

    /// Sets the bounds of the counts that were taken over from `before`.
    pub fn take_force(&self) {
        for bound in [&self.reads, &self.preflights, &self.posts, &self.streams] {
            bound.held.allow_within(bound.most, share(bound.most));
        }
    }

    /// One more under way; `None` when there are as many as may be, and none of their clients reads slowly.
    #[must_use]
    pub fn take(&self, sort: Sort, client: IpAddr, crawler: &mut Option<CrawlerHold>) -> Option<Place> {
        let bound = match sort {
            Sort::Read => &self.reads,
            Sort::Preflight => &self.preflights,
            Sort::Post => &self.posts,
            Sort::Stream => &self.streams,
        };
        let taken = bound.held.take(client.into()).or_else(|| {
            let of = (!bound.held.is_full()).then(|| client.into());
            let is_cut = bound.readers.cut_slowest(of);
            self.cut.inc_by(u64::from(is_cut));
            is_cut.then(|| bound.held.take(client.into()))?
        });
        if taken.is_none() {
            bound.refused.inc();
        }
        Some(Place {
            held: (taken?, crawler.take()),
            readers: Arc::clone(&bound.readers),
        })
    }
}

/// Of one client.
fn share(most: usize) -> usize {
    most.div_ceil(2)
}

/// As many are under way as may be.
pub fn over(pages: &Pages, visit: &Visit) -> Answer {
    let refusal = Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "exhausted",
        PageKind::Unavailable,
        Outcome::Limited,
    );
    Refusal {
        retry_after_secs: Some(RETRY_SECS),
        ..refusal
    }
    .answer(pages, visit)
}

/// When to try again.
const RETRY_SECS: u32 = 5;

mod readers;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sort_has_a_bound_of_its_own_and_a_client_half_of_it() {
        let bounds = config::Unadmitted {
            reads: 4,
            posts: 2,
            streams: 1,
        };
        let unadmitted = Unadmitted::new(bounds, &|_| Counter::default(), None);
        let take = |sort, last| unadmitted.take(sort, IpAddr::from([192, 0, 2, last]), &mut None);
        let mine = [take(Sort::Read, 1), take(Sort::Read, 1)];
        assert!(
            mine.iter().all(Option::is_some) && take(Sort::Read, 1).is_none(),
            "a client's share"
        );
        let theirs = [take(Sort::Read, 2), take(Sort::Read, 3)];
        assert!(
            theirs.iter().all(Option::is_some) && take(Sort::Read, 4).is_none(),
            "all of it"
        );
        let stream = take(Sort::Stream, 4);
        let others = [take(Sort::Post, 4), take(Sort::Preflight, 1), stream];
        assert!(others.iter().all(Option::is_some), "the other bounds");
        assert!(take(Sort::Stream, 5).is_none());
        drop(mine);
        assert!(take(Sort::Read, 4).is_some());
        let less = Unadmitted::new(
            config::Unadmitted {
                reads: 1,
                posts: 1,
                streams: 1,
            },
            &|_| Counter::default(),
            Some(&unadmitted),
        );
        less.take_force();
        assert!(
            less.take(Sort::Read, IpAddr::from([192, 0, 2, 9]), &mut None).is_none(),
            "two are under way"
        );
        drop(theirs);
        assert!(less.take(Sort::Read, IpAddr::from([192, 0, 2, 9]), &mut None).is_some());
    }
}

//! Limits on requests that pass all lines without a session, at one gate.

use crate::config::document::Section;

/// Most such requests under way at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unadmitted {
    pub reads: usize,
    pub posts: usize,
    /// Of requests with a body that is streamed.
    pub streams: usize,
}

impl Default for Unadmitted {
    fn default() -> Self {
        let [reads, posts] = [UNADMITTED; 2].map(whole);
        let streams = posts / 2;
        Self { reads, posts, streams }
    }
}

/// Each bound is a quarter of the servers' simultaneous requests, if those are bounded; and half of the bodies that are
/// streamed at once.
pub(in crate::config) fn read(section: &Section<'_>, shop_takes: Option<u32>, streaming: u32) -> Unadmitted {
    let preset = shop_takes.map_or(UNADMITTED, |all| (all / 4).max(1));
    let most = |name| section.get(name).unwrap_or(preset);
    Unadmitted {
        reads: whole(most("max_unadmitted_reads")),
        posts: whole(most("max_unadmitted_posts")),
        streams: whole(streaming.div_ceil(2)),
    }
}

fn whole(most: u32) -> usize {
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Where the shop's connections have no bound.
const UNADMITTED: u32 = 64;

//! `[upstream]`: how much of a request's body is received before the upstream is asked, and how many longer bodies are streamed.

use std::time::Duration;

use crate::config::document::Section;
use crate::proxy::ConnectionBound;
use crate::router::Route;

/// The bounds on request bodies.
#[derive(Clone, Debug)]
pub struct Uploads {
    /// Bytes; 0 for none.
    pub request_buffer: usize,
    /// Bytes.
    pub buffer_memory: u64,
    pub streaming: ConnectionBound,
    pub stream_routes: Vec<Route>,
}

/// The bound on simultaneous requests of the shop's servers, if there is one, and the number and time of those that wait for
/// it.
pub(in crate::config) fn read(
    section: &Section<'_>,
    shop_takes: Option<u32>,
    (waiting, wait): (u32, Duration),
) -> Uploads {
    let buffer: u64 = section.need("request_buffer");
    let memory: u64 = section.need("buffer_memory");
    if buffer > memory / CLIENTS {
        section.mistake(
            "buffer_memory",
            format!("one client's share, a {CLIENTS}th, would not hold one body of request_buffer"),
            format!("at least {CLIENTS} times request_buffer"),
        );
    }
    let most = section.get("max_streaming_bodies");
    let quarter = shop_takes.map_or(STREAMING, |all| (all / 4).max(1));
    Uploads {
        request_buffer: usize::try_from(buffer).unwrap_or(usize::MAX),
        buffer_memory: memory,
        streaming: ConnectionBound {
            connections: most.unwrap_or(quarter),
            waiting,
            wait,
        },
        stream_routes: section.list("stream_routes"),
    }
}

/// This many clients with their whole share use all of the memory.
const CLIENTS: u64 = crate::proxy::MEMORY_SHARES as u64;
/// Bodies that are streamed at once where the shop's connections have no bound.
const STREAMING: u32 = 64;

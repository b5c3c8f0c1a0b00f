//! HTTP/2 to the upstream.

use crate::config::document::Section;
use crate::proxy::{UpstreamHttp2, UpstreamServer};

pub(in crate::config) fn http2(section: &Section<'_>, servers: &[UpstreamServer]) -> UpstreamHttp2 {
    let words = [
        ("off", UpstreamHttp2::Off),
        ("alpn", UpstreamHttp2::Alpn),
        ("prior-knowledge", UpstreamHttp2::PriorKnowledge),
    ];
    let http2 = section.word("http2", &words);
    if http2 == UpstreamHttp2::Alpn && !servers.is_empty() && !servers.iter().any(|server| server.tls) {
        section.warning(
            "http2",
            "in the clear nothing is agreed on, so HTTP/1.1 is spoken",
            "an https:// url, or \"prior-knowledge\" if the shop speaks HTTP/2 in the clear",
        );
    }
    http2
}

//! The client's address: the socket's peer, or the address that trusted proxies in front of the gate report.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

/// Whether an address is one of the trusted proxies'.
#[must_use]
pub fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|net| net.contains(&address))
}

/// The client's address: the peer's, or, when the peer is a trusted proxy, the rightmost address of `X-Forwarded-For` that is
/// not a trusted proxy. Addresses to the left of one that was written by an untrusted peer, or that does not parse, are
/// unverified and never read. When all are trusted, the leftmost.
#[must_use]
pub fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    // PERF: most gates have no proxy before them, and need not read its fields.
    if !is_trusted(peer, trusted) {
        return peer;
    }
    // A list may be spread over several lines: together they are one list, in their order.
    let lines = headers.get_all(&FORWARDED_FOR).iter().rev();
    let mut entries = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    let mut client = peer;
    while is_trusted(client, trusted) {
        let Some(before) = entries.next().and_then(parse) else {
            break;
        };
        client = before;
    }
    client
}

/// What the nearest proxy says in `X-Forwarded-For`, as it stands there; `None` without the field.
#[must_use]
pub fn last_forwarded_for(headers: &HeaderMap) -> Option<&[u8]> {
    let last = headers.get_all(&FORWARDED_FOR).iter().next_back()?;
    last.as_bytes()
        .rsplit(|byte| *byte == b',')
        .next()
        .map(<[u8]>::trim_ascii)
}

/// An address as proxies write it: bare, with a port, or in brackets.
fn parse(entry: &[u8]) -> Option<IpAddr> {
    let entry = std::str::from_utf8(entry).ok()?.trim();
    let bracketed = entry.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let bare = bracketed.unwrap_or(entry).parse::<IpAddr>();
    let address = bare
        .or_else(|_| entry.parse::<SocketAddr>().map(|socket| socket.ip()))
        .ok()?;
    Some(address.to_canonical())
}

/// The clients that proxies on the way have seen, each proxy behind the one before it.
pub(crate) const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peer: &str, lines: &[&str]) -> String {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, line.parse().unwrap());
        }
        client_address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn untrusted_peer_speaks_for_itself_only() {
        assert_eq!(seen("203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
    }

    #[test]
    fn trusted_peer_gives_the_rightmost_untrusted_address() {
        assert_eq!(seen("10.0.0.1", &["1.1.1.1, 198.51.100.1, 10.2.3.4"]), "198.51.100.1");
        assert_eq!(
            seen("10.0.0.1", &["1.1.1.1", "198.51.100.1", "10.2.3.4, fd00::2"]),
            "198.51.100.1"
        );
        assert_eq!(seen("10.0.0.1", &["10.9.9.9, 10.2.3.4"]), "10.9.9.9");
        assert_eq!(seen("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn ports_brackets_and_mapped_addresses_are_understood() {
        assert_eq!(seen("10.0.0.1", &["198.51.100.1:4711"]), "198.51.100.1");
        assert_eq!(seen("10.0.0.1", &["[2001:db8::1]:4711"]), "2001:db8::1");
        assert_eq!(seen("10.0.0.1", &["[2001:db8::1]"]), "2001:db8::1");
        assert_eq!(seen("10.0.0.1", &["::ffff:198.51.100.1"]), "198.51.100.1");
    }

    #[test]
    fn the_nearest_proxys_word_is_the_last_one() {
        let last = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(FORWARDED_FOR, line.parse().unwrap());
            }
            last_forwarded_for(&headers).map(|last| String::from_utf8_lossy(last).into_owned())
        };
        assert_eq!(last(&["1.1.1.1", "2.2.2.2, 3.3.3.3 "]).as_deref(), Some("3.3.3.3"));
        assert_eq!((last(&[""]).as_deref(), last(&[])), (Some(""), None));
    }

    #[test]
    fn what_does_not_parse_hides_what_stands_left_of_it() {
        assert_eq!(seen("10.0.0.1", &["198.51.100.1, unknown"]), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &["198.51.100.1, , 10.0.0.7"]), "10.0.0.7");
    }
}

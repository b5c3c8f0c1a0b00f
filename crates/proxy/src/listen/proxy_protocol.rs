//! The PROXY protocol, versions 1 and 2, by which a proxy that forwards bytes names the client.
//!
//! It follows [the specification](https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt) strictly: a header that a
//! trusted proxy would not send is refused, so that a client's bytes are never taken for one. A parser of our own, because
//! the crates for it (ppp, proxy-header) accept ports with a sign, and one of them any bytes between `PROXY` and the family.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A whole header at the start of the given bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// None when the proxy speaks for itself or does not know: then the socket's own addresses hold.
    pub ends: Option<Ends>,
    /// Its length in bytes; the bytes behind it are the client's.
    pub length: usize,
}

/// The ends of the connection that the proxy forwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// The client.
    pub source: SocketAddr,
    /// The address that the client connected to.
    pub destination: SocketAddr,
}

/// Why bytes are no header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Malformed {
    #[error("it begins with something else")]
    Start,
    #[error("a line of version 1 that is not as it must be")]
    Line,
    #[error("a version, command or family that is not known, or does not belong on a stream")]
    Kind,
    #[error("longer than can be, or too short for its addresses")]
    Length,
}

/// Reads the header that `bytes` begin with; none as long as more bytes can make one.
///
/// # Errors
/// As soon as no further byte can help.
pub fn parse(bytes: &[u8]) -> Result<Option<Header>, Malformed> {
    if agree(bytes, SIGNATURE) {
        return binary(bytes);
    }
    if agree(bytes, GREETING) {
        return line(bytes);
    }
    Err(Malformed::Start)
}

/// Whether one begins with the other.
fn agree(bytes: &[u8], start: &[u8]) -> bool {
    bytes.iter().zip(start).all(|(byte, wanted)| byte == wanted)
}

/// Version 1: a line of text.
fn line(bytes: &[u8]) -> Result<Option<Header>, Malformed> {
    let end = bytes.iter().position(|byte| !(b' '..=b'~').contains(byte));
    let length = end.unwrap_or(bytes.len()) + LINE_END.len();
    if length > MAX_LINE {
        return Err(Malformed::Length);
    }
    let Some(end) = end else { return Ok(None) };
    if bytes.len() < length && bytes[end..] == LINE_END[..1] {
        return Ok(None);
    }
    if !bytes[end..].starts_with(LINE_END) {
        return Err(Malformed::Line);
    }
    let text = bytes[..end].strip_prefix(GREETING).ok_or(Malformed::Line)?;
    let text = std::str::from_utf8(text).map_err(|_| Malformed::Line)?;
    // The text behind this word has no meaning.
    let is_unknown = text.split(' ').next() == Some(UNKNOWN);
    let ends = if is_unknown {
        None
    } else {
        Some(ends_of(text).ok_or(Malformed::Line)?)
    };
    Ok(Some(Header { ends, length }))
}

/// The words of a line that names both.
fn ends_of(text: &str) -> Option<Ends> {
    let mut words = text.split(' ');
    let parse: fn(&str) -> Option<IpAddr> = match words.next()? {
        "TCP4" => |word| word.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        "TCP6" => |word| word.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        _ => return None,
    };
    let (source, destination) = (parse(words.next()?)?, parse(words.next()?)?);
    let (source_port, destination_port) = (port(words.next()?)?, port(words.next()?)?);
    let ends = Ends {
        source: SocketAddr::new(source, source_port),
        destination: SocketAddr::new(destination, destination_port),
    };
    words.next().is_none().then_some(ends)
}

/// Digits only, without leading zeros.
fn port(word: &str) -> Option<u16> {
    let port: u16 = word.parse().ok()?;
    (port.to_string() == word).then_some(port)
}

/// Version 2: a block with its length in front.
fn binary(bytes: &[u8]) -> Result<Option<Header>, Malformed> {
    let Some((fixed, rest)) = bytes.split_at_checked(FIXED) else {
        return Ok(None);
    };
    let announced = usize::from(u16::from_be_bytes([fixed[14], fixed[15]]));
    if announced > MAX_BLOCK {
        return Err(Malformed::Length);
    }
    let (command, family) = (fixed[12], fixed[13]);
    let size = match (command, family) {
        (LOCAL, _) | (PROXY, UNSPECIFIED) => 0,
        (PROXY, TCP4) => 12,
        (PROXY, TCP6) => 36,
        (PROXY, UNIX) => 216,
        _ => return Err(Malformed::Kind),
    };
    if announced < size {
        return Err(Malformed::Length);
    }
    // Behind the addresses lie additions, which are not looked at.
    let Some(block) = rest.get(..announced) else {
        return Ok(None);
    };
    let ends = match (command, family) {
        (PROXY, TCP4) => Some(pair(block, |bytes: [u8; 4]| IpAddr::from(bytes))),
        (PROXY, TCP6) => Some(pair(block, |bytes: [u8; 16]| IpAddr::from(bytes))),
        _ => None,
    };
    let length = FIXED + announced;
    Ok(Some(Header { ends, length }))
}

/// Two addresses of `N` bytes and two ports, from a block that is long enough.
fn pair<const N: usize>(block: &[u8], address: fn([u8; N]) -> IpAddr) -> Ends {
    let mut places = [[0; N]; 2];
    for (place, bytes) in places.iter_mut().zip(block.chunks_exact(N)) {
        place.copy_from_slice(bytes);
    }
    let port = |at: usize| u16::from_be_bytes([block[at], block[at + 1]]);
    Ends {
        source: SocketAddr::new(address(places[0]), port(2 * N)),
        destination: SocketAddr::new(address(places[1]), port(2 * N + 2)),
    }
}

/// How version 1 begins, and how it ends.
const GREETING: &[u8] = b"PROXY ";
const LINE_END: &[u8] = b"\r\n";
/// In place of addresses.
const UNKNOWN: &str = "UNKNOWN";
/// The longest line of version 1, its end included.
const MAX_LINE: usize = 107;
/// How version 2 begins.
const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// The signature, the command, the family and the length.
const FIXED: usize = 16;
/// Most bytes behind those: addresses take 216 at most; the rest is additions, such as the name of a certificate.
const MAX_BLOCK: usize = 4096;
/// Version 2 in the upper half, the command in the lower.
const LOCAL: u8 = 0x20;
const PROXY: u8 = 0x21;
/// The family in the upper half, a stream in the lower.
const UNSPECIFIED: u8 = 0x00;
const TCP4: u8 = 0x11;
const TCP6: u8 = 0x21;
const UNIX: u8 = 0x31;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(bytes: &[u8]) -> (String, usize) {
        let header = parse(bytes).unwrap().expect("a whole header");
        let ends = header
            .ends
            .map_or("none".into(), |ends| format!("{} {}", ends.source, ends.destination));
        (ends, header.length)
    }

    fn block(command: u8, family: u8, block: &[u8]) -> Vec<u8> {
        let length = u16::try_from(block.len()).unwrap().to_be_bytes();
        [SIGNATURE, &[command, family], &length, block].concat()
    }

    #[test]
    fn lines_name_both_ends() {
        for (line, ends) in [
            (
                "TCP4 192.0.2.1 198.51.100.2 56324 443",
                "192.0.2.1:56324 198.51.100.2:443",
            ),
            (
                "TCP4 255.255.255.255 0.0.0.0 65535 0",
                "255.255.255.255:65535 0.0.0.0:0",
            ),
            ("TCP6 2001:db8::1 ::1 1 80", "[2001:db8::1]:1 [::1]:80"),
            ("UNKNOWN", "none"),
            ("UNKNOWN ffff::1 ffff::2 1 2", "none"),
        ] {
            let line = format!("PROXY {line}\r\n");
            let behind = format!("{line}GET / HTTP/1.1\r\n");
            assert_eq!(whole(behind.as_bytes()), (ends.into(), line.len()));
        }
    }

    #[test]
    fn lines_that_differ_in_anything_are_none() {
        for line in [
            "PROXY\r\n",
            "PROXY \r\n",
            "PROXY  TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
            "PROXY TCP4  192.0.2.1 192.0.2.2 1 2\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1 2 \r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1 2 3\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 +1 2\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 01 2\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1 65536\r\n",
            "PROXY TCP4 192.0.2.01 192.0.2.2 1 2\r\n",
            "PROXY TCP4 192.0.2 192.0.2.2 1 2\r\n",
            "PROXY TCP4 2001:db8::1 ::1 1 2\r\n",
            "PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n",
            "PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n",
            "PROXY TCP5 192.0.2.1 192.0.2.2 1 2\r\n",
            "PROXY tcp4 192.0.2.1 192.0.2.2 1 2\r\n",
            "PROXY UNKNOWNS\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\r\n",
            "PROXY TCP4 192.0.2.1\t192.0.2.2 1 2\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\0\r\n",
            "PROXY UNKNOWN \u{e9}\r\n",
            "proxy TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
            "GET / HTTP/1.1\r\n",
            " PROXY UNKNOWN\r\n",
            "\r\nPROXY UNKNOWN\r\n",
        ] {
            assert!(parse(line.as_bytes()).is_err(), "{line:?}");
        }
    }

    #[test]
    fn lines_end_within_107_bytes() {
        let longest = format!("PROXY UNKNOWN {}\r\n", "x".repeat(91));
        assert_eq!(whole(longest.as_bytes()), ("none".into(), 107));
        assert_eq!(parse(&longest.as_bytes()[..106]), Ok(None));
        let longer = format!("PROXY UNKNOWN {}\r\n", "x".repeat(92));
        for count in 106..=longer.len() {
            assert_eq!(parse(&longer.as_bytes()[..count]), Err(Malformed::Length), "{count}");
        }
    }

    #[test]
    fn blocks_name_both_ends_and_may_have_additions() {
        let four = [192, 0, 2, 1, 198, 51, 100, 2, 0xdc, 0x04, 1, 0xbb];
        let ends = "192.0.2.1:56324 198.51.100.2:443";
        assert_eq!(whole(&block(0x21, 0x11, &four)), (ends.into(), 28));
        let more = [&four[..], &[0x04, 0, 3, b'a', b'b', b'c']].concat();
        assert_eq!(whole(&block(0x21, 0x11, &more)), (ends.into(), 34));
        let mut six = [0; 36];
        (six[0], six[1], six[15], six[31], six[33], six[35]) = (0x20, 1, 1, 2, 80, 81);
        assert_eq!(whole(&block(0x21, 0x21, &six)), ("[2001::1]:80 [::2]:81".into(), 52));
    }

    #[test]
    fn blocks_that_name_nobody_leave_the_sockets_own() {
        assert_eq!(whole(&block(0x20, 0x00, b"")), ("none".into(), 16));
        assert_eq!(whole(&block(0x20, 0x11, &[1; 12])), ("none".into(), 28));
        assert_eq!(whole(&block(0x21, 0x00, &[1; 7])), ("none".into(), 23));
        assert_eq!(whole(&block(0x21, 0x31, &[1; 216])), ("none".into(), 232));
    }

    #[test]
    fn blocks_of_another_kind_or_length_are_none() {
        for (command, family) in [
            (0x11, 0x11),
            (0x22, 0x11),
            (0x31, 0x11),
            (0x00, 0x00),
            (0x21, 0x12),
            (0x21, 0x41),
        ] {
            assert_eq!(parse(&block(command, family, &[0; 36])), Err(Malformed::Kind));
        }
        for (family, count) in [(0x11, 11), (0x21, 35), (0x31, 215)] {
            assert_eq!(parse(&block(0x21, family, &vec![0; count])), Err(Malformed::Length));
        }
        assert_eq!(whole(&block(0x20, 0x00, &[0; 4096])).1, 4112);
        assert_eq!(parse(&block(0x20, 0x00, &[0; 4097])), Err(Malformed::Length));
        let mut other = block(0x20, 0x00, b"");
        other[11] = b'\r';
        assert_eq!(parse(&other), Err(Malformed::Start));
    }

    proptest! {
        #[test]
        fn a_header_is_incomplete_until_its_last_byte(
            a: [u8; 4], b: [u8; 16], ports: (u16, u16), additions: Vec<u8>, behind: Vec<u8>,
        ) {
            let (source, six) = (Ipv4Addr::from(a), Ipv6Addr::from(b));
            let four = [&a[..], &a, &ports.0.to_be_bytes(), &ports.1.to_be_bytes(), &additions].concat();
            for header in [
                format!("PROXY TCP4 {source} {source} {} {}\r\n", ports.0, ports.1).into_bytes(),
                format!("PROXY TCP6 {six} {six} {} {}\r\n", ports.0, ports.1).into_bytes(),
                block(PROXY, TCP4, &four),
            ] {
                for count in 0..header.len() {
                    prop_assert_eq!(parse(&header[..count]), Ok(None));
                }
                let read = parse(&[&header[..], &behind].concat()).unwrap().unwrap();
                prop_assert_eq!(read.length, header.len());
                let ends = read.ends.unwrap();
                prop_assert_eq!((ends.source.port(), ends.destination.port()), ports);
                prop_assert!([IpAddr::V4(source), IpAddr::V6(six)].contains(&ends.source.ip()));
            }
        }

        #[test]
        fn any_bytes_are_judged_within_the_bound(start in prop::sample::select(vec![&b""[..], GREETING, SIGNATURE]), rest: Vec<u8>) {
            let bytes = [start, &rest].concat();
            match parse(&bytes) {
                Ok(Some(header)) => prop_assert!(header.length <= bytes.len() && header.length <= FIXED + MAX_BLOCK),
                Ok(None) => prop_assert!(bytes.len() < FIXED + MAX_BLOCK),
                Err(_) => {}
            }
        }
    }
}

//! Decides which request targets pass: those that can stand unchanged on a request line to the upstream.
//!
//! RFC 3986 requires more bytes to be percent-encoded than clients encode. Bytes that browsers and common libraries send
//! unencoded pass, or URLs that upstreams have in use would break: `|`, `[`, `]` and `^` in a path (WHATWG URL, path
//! percent-encode set), a backtick too in a query, `"`, `{` and `}` from scripts, letters beyond ASCII as UTF-8, and a
//! backslash, which `router` reads in both of its meanings. Refused are `<`, `>` and bytes that are not UTF-8, which no
//! honest client sends, and `#`, because a fragment belongs to the client alone (RFC 9112, section 3.2; CVE-2023-45539).

use http::Uri;

use crate::client::framing::Malformed;

/// One rule for every form, and no byte that `http` would refuse or drop behind the guard.
pub(super) fn check(target: &[u8]) -> Result<(), Malformed> {
    if target.len() > MAX_TARGET {
        return Err(Malformed::TooLong);
    }
    let fits = match target {
        [b'/', ..] => is_path_and_query(target),
        // An absolute URL, `*`, or the authority of a CONNECT: rare, so that they may be read twice.
        _ => !target.contains(&b'#') && Uri::try_from(target).is_ok(),
    };
    if fits { Ok(()) } else { Err(Malformed::Target) }
}

fn is_path_and_query(target: &[u8]) -> bool {
    let mut allowed = PATH;
    let mut beyond_ascii = false;
    for byte in target {
        let class = CLASSES[usize::from(*byte)];
        if class & allowed == 0 {
            return false;
        }
        beyond_ascii |= class & HIGH != 0;
        if *byte == b'?' {
            allowed = QUERY;
        }
    }
    !beyond_ascii || std::str::from_utf8(target).is_ok()
}

const PATH: u8 = 1;
const QUERY: u8 = 1 << 1;
const HIGH: u8 = 1 << 2;

/// Where a byte may stand.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = match byte {
            b'#' | b'<' | b'>' | 0..=b' ' | 0x7F => 0,
            b'`' => QUERY,
            b'"' => PATH,
            0x80..=0xFF => PATH | QUERY | HIGH,
            _ => PATH | QUERY,
        };
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

/// Bytes that `http` can hold as a target.
const MAX_TARGET: usize = u16::MAX as usize - 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// A target that passes here reaches the upstream unchanged: `Uri` accepts it whole.
    fn passes(target: &[u8]) -> bool {
        let passes = check(target) == Ok(());
        if passes {
            let uri = Uri::try_from(target).unwrap_or_else(|error| panic!("{target:?}: {error}"));
            if target[0] == b'/' {
                assert_eq!(uri.path_and_query().unwrap().as_str().as_bytes(), target);
            }
        }
        passes
    }

    #[test]
    fn what_clients_send_unencoded_passes() {
        for target in [
            "/a|b[c]d^e",
            "/a{b}\"c\"",
            "/a?b=[1]&c={x}|`^\\",
            "/공연?날=1",
            "/a\\b",
            "/~!$&'()*+,;=:@%zz",
            "*",
            "http://a",
            "http://a:80/b?c",
        ] {
            assert!(passes(target.as_bytes()), "{target}");
        }
    }

    #[test]
    fn what_would_be_dropped_or_read_otherwise_is_refused() {
        for target in [
            "/a#b",
            "/a?b#c",
            "#",
            "http://a/#b",
            "/a<b",
            "/a?b>c",
            "/a`b",
            "a/b",
            "http:///a",
            "?a",
            "",
        ] {
            assert!(!passes(target.as_bytes()), "{target}");
        }
        assert!(!passes(b"/\xFFa") && !passes(b"/a?\xC3") && !passes(b"/a\x7F"));
        assert_eq!(check(&vec![b'/'; MAX_TARGET + 1]), Err(Malformed::TooLong));
    }

    #[test]
    fn the_guard_and_the_parser_behind_it_agree_on_every_byte() {
        for byte in 0..=u8::MAX {
            for target in [vec![b'/', byte], vec![b'/', b'?', byte], vec![b'/', byte, 0x80]] {
                let taken = Uri::try_from(target.as_slice()).is_ok() && byte != b'#';
                assert_eq!(passes(&target), taken, "{target:?}");
            }
        }
    }
}

//! Checks on a request before it is acted on, and on an answer before it is passed on.
//!
//! These checks run on the message that hyper parsed. The [`guard`](crate::client::guard) has checked the raw bytes before.

use std::borrow::Cow;

use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRANSFER_ENCODING, UPGRADE, VIA};
use http::uri::{PathAndQuery, Scheme};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, Version};

use crate::client::noted::{Noted, OWN_PREFIX};
use crate::listen::address::FORWARDED_FOR;

/// Why a request is refused; the connection is closed after the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// `CONNECT`: this is no forward proxy.
    #[error("CONNECT is not served")]
    Connect,
    /// A target that is neither a path nor an absolute http URL, or holds bytes that none may (RFC 9112, section 3.2).
    #[error("the request target is not a path")]
    Target,
    /// `Host` is missing, repeated or not a host (RFC 9112, section 3.2).
    #[error("the Host header is missing, repeated or malformed")]
    Host,
    /// `Transfer-Encoding` is anything but one `chunked` (RFC 9112, section 6.1).
    #[error("Transfer-Encoding must be one chunked")]
    TransferEncoding,
    /// Not a method, a target and a version with one space between each (RFC 9112, section 3).
    #[error("the request line is malformed")]
    Start,
    /// A version other than HTTP/1.0 and 1.1.
    #[error("this HTTP version is not served here")]
    Version,
    /// Not a name, a colon directly behind it, a value and CR LF; or a control byte (RFC 9112, sections 2.2 and 5).
    #[error("a header line is malformed")]
    Line,
    /// `Content-Length` is not one number, or stands beside `Transfer-Encoding` (RFC 9112, section 6.3).
    #[error("Content-Length must be one number, and alone")]
    Length,
    /// The head is longer than `limits` allow.
    #[error("the request head is too long")]
    TooLong,
    /// The head has more lines than any client needs.
    #[error("the request has too many header lines")]
    TooMany,
    /// `Expect` has an unknown value (RFC 9110, section 10.1.1).
    #[error("unknown Expect")]
    Expectation,
}

impl Malformed {
    /// The status that says so.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::Connect => StatusCode::METHOD_NOT_ALLOWED,
            Self::Expectation => StatusCode::EXPECTATION_FAILED,
            Self::Version => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
            Self::TooLong | Self::TooMany => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

/// Refuses ambiguous requests, brings an absolute target into origin form, its authority as `Host`, and `Host` into the
/// spelling of browsers. Returns the fields that were found.
pub(crate) fn check<B>(request: &mut Request<B>) -> Result<Noted, Malformed> {
    if request.method() == Method::CONNECT {
        return Err(Malformed::Connect);
    }
    let lines = Lines::of(request.headers());
    check_coding(lines.coding)?;
    let host = match lines.host {
        Only::One(host) if is_host(host.as_bytes()) => host,
        _ => return Err(Malformed::Host),
    };
    check_expect(lines.expect, request.version())?;
    let noted = lines.noted;
    let spelled = spelled(host.as_bytes());
    let is_absolute = request.uri().authority().is_some();
    if is_absolute {
        to_origin_form(request)?;
    }
    if let Some(spelled) = spelled
        && let Some(before) = request.headers_mut().insert(HOST, spelled)
    {
        request.extensions_mut().insert(SpelledHost(before));
    }
    if is_absolute || request.uri().path().starts_with('/') {
        Ok(noted)
    } else {
        Err(Malformed::Target)
    }
}

/// How `Host` was spelled where that is not the usual way.
#[derive(Clone, Debug)]
pub struct SpelledHost(pub HeaderValue);

/// The lines that a request is checked by. PERF: one pass over all fields costs a fraction of looking for each.
struct Lines<'h> {
    host: Only<&'h HeaderValue>,
    coding: Only<&'h HeaderValue>,
    expect: Only<&'h HeaderValue>,
    noted: Noted,
}

impl<'h> Lines<'h> {
    fn of(headers: &'h HeaderMap) -> Self {
        let mut lines = Self {
            host: Only::None,
            coding: Only::None,
            expect: Only::None,
            noted: Noted::NOTHING,
        };
        let noted = &mut lines.noted;
        for (name, value) in headers {
            match *name {
                HOST => lines.host.add(value),
                TRANSFER_ENCODING => lines.coding.add(value),
                EXPECT => {
                    noted.expect = true;
                    lines.expect.add(value);
                }
                CONNECTION => noted.connection = true,
                TE => noted.te = true,
                UPGRADE => noted.upgrade = true,
                VIA => noted.via = true,
                _ => {
                    noted.own |= name.as_str().starts_with(OWN_PREFIX);
                    noted.forwarded_for |= name.as_str() == FORWARDED_FOR.as_str();
                }
            }
        }
        lines
    }
}

fn check_coding(coding: Only<&HeaderValue>) -> Result<(), Malformed> {
    match coding {
        Only::None => Ok(()),
        Only::One(coding) if coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked") => Ok(()),
        _ => Err(Malformed::TransferEncoding),
    }
}

fn check_expect(expect: Only<&HeaderValue>, version: Version) -> Result<(), Malformed> {
    match expect {
        Only::None => Ok(()),
        Only::One(expect) if expect.as_bytes().trim_ascii().eq_ignore_ascii_case(b"100-continue") => Ok(()),
        // A server ignores the expectation of an HTTP/1.0 client.
        _ if version == Version::HTTP_10 => Ok(()),
        _ => Err(Malformed::Expectation),
    }
}

/// The authority of an absolute target must be that of `Host` (RFC 9112, section 3.2). A proxy may put it in the place of
/// another `Host` (section 3.2.2), but no client sends two that differ, and a server before this one may have gone by the
/// one that would be lost.
fn to_origin_form<B>(request: &mut Request<B>) -> Result<(), Malformed> {
    let uri = request.uri();
    let default_port = match uri.scheme() {
        Some(scheme) if *scheme == Scheme::HTTP => ":80",
        Some(scheme) if *scheme == Scheme::HTTPS => ":443",
        _ => return Err(Malformed::Target),
    };
    let authority = uri.authority().map_or("", http::uri::Authority::as_str);
    if !is_host(authority.as_bytes()) {
        return Err(Malformed::Target);
    }
    let named = request.headers().get(HOST).map_or(&b""[..], HeaderValue::as_bytes);
    let bare = |host: &'_ [u8]| {
        host.strip_suffix(default_port.as_bytes())
            .unwrap_or(host)
            .to_ascii_lowercase()
    };
    if bare(named) != bare(authority.as_bytes()) {
        return Err(Malformed::Host);
    }
    *request.uri_mut() = Uri::from(path(uri)?);
    Ok(())
}

/// In lower case, without a dot at the end, and without a default port (RFC 9110, section 4.2.3); `None` if it already has
/// that spelling. SECURITY: servers that compare hosts byte by byte would take any other spelling for an unknown host.
fn spelled(host: &[u8]) -> Option<HeaderValue> {
    let bare = host.strip_suffix(b":80").or_else(|| host.strip_suffix(b":443"));
    let (name, port) = match bare {
        Some(name) => (name, &b""[..]),
        None => host.split_at(colon(host).unwrap_or(host.len())),
    };
    let name = name.strip_suffix(b".").unwrap_or(name);
    if name.len() + port.len() == host.len() && !name.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    HeaderValue::from_bytes(&[&name.to_ascii_lowercase(), port].concat()).ok()
}

/// A host as browsers spell it; `None` if it is not a valid host.
pub(crate) fn usual(host: &[u8]) -> Option<Cow<'_, str>> {
    if !is_host(host) {
        return None;
    }
    match spelled(host) {
        None => str::from_utf8(host).ok().map(Cow::Borrowed),
        Some(host) => host.to_str().ok().map(|host| Cow::Owned(host.to_owned())),
    }
}

/// Where the port of a host begins.
fn colon(host: &[u8]) -> Option<usize> {
    let colon = host.iter().rposition(|byte| *byte == b':');
    colon.filter(|_| !host.ends_with(b"]"))
}

/// Path and query of an absolute URL, whose path may be empty (RFC 9112, section 3.2.1).
fn path(uri: &Uri) -> Result<PathAndQuery, Malformed> {
    let path = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let whole = if path.starts_with('/') {
        path.parse()
    } else {
        format!("/{path}").parse()
    };
    whole.map_err(|_| Malformed::Target)
}

/// A host name, IPv4 address or bracketed IPv6 address with an optional port. Narrower than RFC 3986: sub-delimiters and
/// percent-encoding in a host only ever occur in attacks.
fn is_host(host: &[u8]) -> bool {
    let (name, port) = match colon(host) {
        Some(colon) => (&host[..colon], Some(&host[colon + 1..])),
        None => (host, None),
    };
    let port_fits = |port: &[u8]| {
        let digits = port.iter().try_fold(0_u32, |number, byte| match byte {
            b'0'..=b'9' if number < 10_000 => Some(number * 10 + u32::from(byte - b'0')),
            _ => None,
        });
        !port.starts_with(b"0") && digits.is_some_and(|number| (1..=65_535).contains(&number))
    };
    is_name(name) && port.is_none_or(port_fits)
}

fn is_name(name: &[u8]) -> bool {
    if let [b'[', inner @ .., b']'] = name {
        return std::str::from_utf8(inner).is_ok_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok());
    }
    let mut before = b'.';
    (1..=255).contains(&name.len())
        && name.iter().all(|byte| {
            let has_label = *byte != b'.' || before != b'.';
            before = *byte;
            has_label && (byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'))
        })
}

/// Whether an answer's body can be framed in one way only. hyper refuses differing lengths by itself, but it merges equal
/// ones, reads a body with an unknown transfer coding to the end of the connection, and accepts `chunked` beside a length.
pub(crate) fn is_clear<B>(response: &Response<B>) -> bool {
    // PERF: as with a request.
    let (mut length, mut coding) = (Only::None, Only::None);
    for (name, value) in response.headers() {
        match *name {
            CONTENT_LENGTH => length.add(value),
            TRANSFER_ENCODING => coding.add(value),
            _ => {}
        }
    }
    match length {
        Only::None => check_coding(coding).is_ok(),
        Only::One(length) => matches!(coding, Only::None) && is_number(length.as_bytes()),
        Only::Many => false,
    }
}

fn is_number(length: &[u8]) -> bool {
    !length.is_empty() && length.iter().all(u8::is_ascii_digit)
}

/// None, one or more than one.
#[derive(Clone, Copy)]
enum Only<T> {
    None,
    One(T),
    Many,
}

impl<T> Only<T> {
    fn add(&mut self, value: T) {
        *self = match self {
            Self::None => Self::One(value),
            _ => Self::Many,
        };
    }
}

//! The content coding of an answer, as the request asks for it (RFC 9110, section 12.5.3).

use http::HeaderValue;

/// How a page is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coding {
    Identity,
    Gzip,
    Brotli,
}

impl Coding {
    /// The value of `Content-Encoding`.
    #[must_use]
    pub fn name(self) -> Option<HeaderValue> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some(HeaderValue::from_static("gzip")),
            Self::Brotli => Some(HeaderValue::from_static("br")),
        }
    }
}

/// The codings that a request takes, with their qualities in thousandths.
#[derive(Clone, Copy, Default, Debug)]
pub struct Codings {
    brotli: u16,
    gzip: u16,
    identity: u16,
}

impl Codings {
    /// None but identity: without the field a request takes any, but a client that does not say so may be a program that
    /// expects none.
    pub const NONE: Self = Self {
        brotli: 0,
        gzip: 0,
        identity: 0,
    };

    /// Those of a request's `Accept-Encoding`.
    #[must_use]
    pub fn of(accepted: &str) -> Self {
        let (mut brotli, mut gzip, mut identity, mut others) = (None, None, None, None);
        for item in accepted.split(',') {
            let mut parts = item.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let Some(quality) = quality(parts) else { continue };
            let named = match name {
                _ if name.eq_ignore_ascii_case("br") => &mut brotli,
                _ if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => &mut gzip,
                _ if name.eq_ignore_ascii_case("identity") => &mut identity,
                "*" => &mut others,
                _ => continue,
            };
            *named = Some(quality);
        }
        let [brotli, gzip] = [brotli, gzip].map(|quality| quality.or(others).unwrap_or(0));
        Self {
            brotli,
            gzip,
            // Every client takes it that does not refuse it, and prefers it only where it says so.
            identity: identity.unwrap_or(0),
        }
    }

    /// The one of the highest quality, where `brotli` may not be there; of two that are equal, the smaller one.
    #[must_use]
    pub fn best(self, brotli: bool) -> Coding {
        let brotli = if brotli { self.brotli } else { 0 };
        match brotli.max(self.gzip) {
            0 => Coding::Identity,
            best if best < self.identity => Coding::Identity,
            best if best == brotli => Coding::Brotli,
            _ => Coding::Gzip,
        }
    }
}

/// In thousandths, and all where none is given; `None` for one that cannot be read.
fn quality<'a>(mut parameters: impl Iterator<Item = &'a str>) -> Option<u16> {
    let Some(parameter) = parameters.next() else {
        return Some(1_000);
    };
    let (name, value) = parameter.split_once('=')?;
    if !name.trim_end().eq_ignore_ascii_case("q") || parameters.next().is_some() {
        return None;
    }
    let (whole, part) = value.trim_start().split_once('.').unwrap_or((value.trim_start(), ""));
    let digits = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let thousandths = format!("{part:0<3}").parse::<u16>().ok().filter(|_| digits)?;
    match (whole, thousandths) {
        ("0", _) => Some(thousandths),
        ("1", 0) => Some(1_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coding_is_what_the_request_takes() {
        let cases = [
            ("gzip, deflate, br, zstd", Coding::Brotli),
            ("gzip, deflate", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("BR", Coding::Brotli),
            ("br;q=0.5, gzip", Coding::Gzip),
            ("br;q=0.5,gzip;q=0.500", Coding::Brotli),
            ("br;q=0, gzip;q=0.001", Coding::Gzip),
            ("br;q=0, gzip;q=0.0", Coding::Identity),
            ("*", Coding::Brotli),
            ("*;q=0.5, br;q=0", Coding::Gzip),
            ("gzip, *;q=0", Coding::Gzip),
            ("*;q=0", Coding::Identity),
            ("identity", Coding::Identity),
            ("identity, gzip;q=0.5", Coding::Identity),
            ("identity;q=0.5, gzip;q=0.5", Coding::Gzip),
            ("identity;q=0, gzip", Coding::Gzip),
            ("identity;q=0", Coding::Identity),
            ("deflate, zstd, compress", Coding::Identity),
            ("", Coding::Identity),
            (" gzip ; q = 1.0 ", Coding::Gzip),
            ("gzip;q=1.001", Coding::Identity),
            ("gzip;q=", Coding::Identity),
            ("gzip;q=0.1234, br;q=-1", Coding::Identity),
            ("gzip;q=0.5;q=1", Coding::Identity),
            ("gzip;level=9", Coding::Identity),
            ("gzipped, brotli", Coding::Identity),
            (";,;q=1,", Coding::Identity),
        ];
        for (accepted, coding) in cases {
            assert_eq!(Codings::of(accepted).best(true), coding, "{accepted:?}");
        }
    }

    #[test]
    fn where_there_is_no_brotli_it_is_gzip_or_nothing() {
        assert_eq!(Codings::of("gzip, br").best(false), Coding::Gzip);
        assert_eq!(Codings::of("br").best(false), Coding::Identity);
        assert_eq!(
            Codings::of("br, identity;q=0.9, gzip;q=0.8").best(false),
            Coding::Identity
        );
    }
}

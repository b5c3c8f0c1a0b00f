//! The id of a request, by which a visitor's report, an answer and the log lines of gate and shop are matched.

use std::cell::Cell;
use std::fmt;

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};

/// The field that carries it: to the upstream, and in every answer.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A proxy's id for a request, or one of our own. Not a secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// A fresh one: twelve characters of Crockford's base 32 (no i, l, o, u), 60 random bits. PERF: the system's randomness is asked
    /// once per thread.
    ///
    /// # Panics
    /// Never: letters and digits are a header's value.
    #[must_use]
    pub fn fresh() -> Self {
        thread_local!(static STATE: Cell<u64> = Cell::new(seed()));
        let bits = STATE.with(|state| {
            let next = state.get().wrapping_add(GOLDEN);
            state.set(next);
            mix(next) >> 4
        });
        let text: [u8; 12] = std::array::from_fn(|at| ALPHABET[(bits >> (55 - 5 * at) & 31) as usize]);
        Self(HeaderValue::from_bytes(&text).expect("letters and digits are a header's value"))
    }

    /// The id that a proxy has given to the request. `None` without one, and where it is not one value of 1 to 128 letters,
    /// digits and signs that logs, pages and URLs of all kinds carry unchanged.
    #[must_use]
    pub fn of_proxy(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(X_REQUEST_ID).iter();
        let value = values.next().filter(|_| values.next().is_none())?;
        let sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~:+/=@".contains(byte);
        let fits = (1..=MAX_LEN).contains(&value.len()) && value.as_bytes().iter().all(sign);
        fits.then(|| Self(value.clone()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// The id as the value of [`X_REQUEST_ID`].
    #[must_use]
    pub fn value(&self) -> &HeaderValue {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn seed() -> u64 {
    // Without randomness ids repeat from one process to the next, which is no reason to serve no one.
    getrandom::u64().unwrap_or_default()
}

/// The output function of `SplitMix64` (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
fn mix(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Longest id of a proxy in characters: a UUID has 36, a W3C trace context 55.
const MAX_LEN: usize = 128;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_twelve_plain_characters_and_do_not_repeat() {
        let ids: HashSet<String> = (0..10_000).map(|_| RequestId::fresh().to_string()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(
            ids.iter()
                .all(|id| id.len() == 12 && id.bytes().all(|byte| ALPHABET.contains(&byte)))
        );
    }

    #[test]
    fn threads_give_different_ids() {
        let other = std::thread::spawn(RequestId::fresh).join().expect("no panic");
        assert_ne!(RequestId::fresh(), other);
    }

    #[test]
    fn a_proxys_id_is_taken_if_it_is_one_short_plain_value() {
        let taken = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(X_REQUEST_ID, HeaderValue::from_bytes(value).expect("a value"));
            }
            RequestId::of_proxy(&headers).map(|id| id.to_string())
        };
        for good in [
            "7",
            "6f1c9d1e-25a4-4b0e-9d57-1f1c6c1f0b11",
            "Root=1-67891233:a.b_c~d/e+f@g",
            &"x".repeat(MAX_LEN),
        ] {
            assert_eq!(taken(&[good.as_bytes()]).as_deref(), Some(good));
        }
        let (long, longest) = ("x".repeat(MAX_LEN + 1), "x".repeat(10_000));
        for bad in [
            "", "a b", "a,b", "a\"b", "<b>", "a\tb", "%41", "\u{e9}", &long, &longest,
        ] {
            assert_eq!(taken(&[bad.as_bytes()]), None, "{bad}");
        }
        assert_eq!((taken(&[]), taken(&[b"a", b"a"])), (None, None));
    }
}

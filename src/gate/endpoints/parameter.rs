//! Parameters of a query, and the refusals of the endpoints.

use http::StatusCode;

use crate::gate::request::visit::Visit;
use crate::gate::state::shared::Shared;
use crate::gate::verdict::answers::{Answer, Refusal};
use crate::metrics::Outcome;
use crate::pages::PageKind;

/// A query parameter's value, decoded; the first where there are several.
pub fn parameter(query: &str, name: &str) -> Option<Vec<u8>> {
    let value = query
        .split('&')
        .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
    let mut decoded = Vec::with_capacity(value.len());
    let mut bytes = value.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                digit(bytes.next()?)? * 16 + digit(bytes.next()?)?
            }
            b'+' => b' ',
            plain => plain,
        });
    }
    Some(decoded)
}

pub fn refusal(status: StatusCode, word: &'static str) -> Refusal<'static> {
    Refusal::new(status, word, PageKind::BadRequest, Outcome::Own)
}

pub fn not_found(shared: &Shared, visit: &Visit) -> Answer {
    refusal(StatusCode::NOT_FOUND, "not_found").answer(&shared.pages, visit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_decoded_and_a_broken_one_is_none() {
        assert_eq!(parameter("a=1&line=x%20y+z", "line").as_deref(), Some(&b"x y z"[..]));
        assert_eq!(parameter("line=%EA%B0%80", "line").as_deref(), Some("가".as_bytes()));
        assert_eq!(
            parameter("line=1&line=2", "line").as_deref(),
            Some(&b"1"[..]),
            "the first"
        );
        assert_eq!(parameter("line=", "line").as_deref(), Some(&b""[..]));
        for broken in ["line=%", "line=%g0", "line=%1", "line=%+1", "lines=1", "line", ""] {
            assert_eq!(parameter(broken, "line"), None, "{broken}");
        }
    }
}

//! Request bodies: one JSON object, in which no key stands twice, since serde would silently keep the last of two.

use std::collections::BTreeSet;
use std::fmt;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::problem::Problem;
use crate::admin::shared::Shared;

/// A body that was sent as JSON, not read yet.
pub struct JsonBytes(pub Bytes);

/// A body of JSON.
pub struct JsonBody<T>(pub T);

impl FromRequest<Shared> for JsonBytes {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, Problem> {
        check_content_type(request.headers())?;
        bytes(request, shared).await.map(Self)
    }
}

impl<T: DeserializeOwned> FromRequest<Shared> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, Problem> {
        let JsonBytes(body) = JsonBytes::from_request(request, shared).await?;
        read(&body).map(Self)
    }
}

/// The body as it was sent.
pub async fn bytes(request: Request, shared: &Shared) -> Result<Bytes, Problem> {
    let body = Bytes::from_request(request, shared).await;
    body.map_err(|error| Problem::new(error.status(), error.body_text()))
}

/// The value that a body of JSON holds.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let wrong = |why: String| Problem::new(StatusCode::BAD_REQUEST, format!("the body: {why}"));
    check_keys(body).map_err(wrong)?;
    serde_json::from_slice(body).map_err(|error| wrong(error.to_string()))
}

/// The media type of the body, without its parameters.
pub fn content_type(headers: &HeaderMap) -> &str {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim()
}

/// SECURITY: a form or a plain-text post of another site's page cannot carry this type without asking first.
fn check_content_type(headers: &HeaderMap) -> Result<(), Problem> {
    let right = ["application/json", "application/merge-patch+json"];
    if right
        .iter()
        .any(|right| content_type(headers).eq_ignore_ascii_case(right))
    {
        return Ok(());
    }
    let detail = "send the change as Content-Type: application/json";
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail))
}

/// An object of which only the keys are looked at.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Distinct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Distinct, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<IgnoredAny>()?;
            if let Some(key) = seen.replace(key) {
                return Err(A::Error::custom(format!("{key:.40?} is given twice")));
            }
        }
        Ok(Distinct)
    }
}

/// # Errors
/// The mistake in a body that is no object, or gives a key twice.
pub fn check_keys(body: &[u8]) -> Result<(), String> {
    serde_json::from_slice::<Distinct>(body)
        .map(|_| ())
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_given_once() {
        assert_eq!(check_keys(br#"{"en": "a", "ko": {"en": [1]}, "EN": null}"#), Ok(()));
        for wrong in [r#"{"en": "a", "en": "b"}"#, r#"{"en": 1, "\u0065n": 2}"#] {
            assert!(
                check_keys(wrong.as_bytes()).is_err_and(|why| why.contains("given twice")),
                "{wrong}"
            );
        }
        for wrong in ["", "[]", "{", "{} x"] {
            assert!(check_keys(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}

//! The trace that a request belongs to (W3C Trace Context). The gate passes `traceparent` on as it came, and writes the trace's
//! id into the access log.

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The value of the one `traceparent` of a request.
pub fn parent(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    values.next().filter(|_| values.next().is_none()).cloned()
}

/// The id of the trace: 32 hexadecimal digits. `None` if the value is malformed (W3C Trace Context, section 3.2.2).
pub fn id(parent: &HeaderValue) -> Option<&str> {
    let text = parent.to_str().ok()?;
    let mut parts = text.split('-');
    let mut next = |digits: usize| {
        parts
            .next()
            .filter(|part| part.len() == digits && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
    };
    let (version, trace, span, _flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
    // A later version may have more parts.
    let is_known = version != "ff" && (version != "00" || parts.next().is_none());
    let is_set = |id: &str| id.bytes().any(|digit| digit != b'0');
    (is_known && is_set(trace) && is_set(span)).then_some(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn id_of(text: &str) -> Option<String> {
        id(&HeaderValue::from_str(text).expect("a value")).map(str::to_owned)
    }

    #[test]
    fn the_id_of_a_trace_is_read_from_a_valid_value_alone() {
        let trace = Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned());
        assert_eq!(id_of(GOOD), trace);
        assert_eq!(id_of(&GOOD.replacen("00-", "cc-", 1)), trace);
        assert_eq!(id_of(&format!("{}-more", GOOD.replacen("00-", "cc-", 1))), trace);
        let long = "0".repeat(16_000);
        for bad in [
            "",
            "00",
            &GOOD[..54],
            &format!("{GOOD}0"),
            &format!("{GOOD}-more"),
            &GOOD.to_uppercase(),
            &GOOD.replacen("00-", "ff-", 1),
            &GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &long,
        ] {
            assert_eq!(id_of(bad), None, "{bad}");
        }
    }

    #[test]
    fn two_values_name_no_trace() {
        let mut headers = HeaderMap::new();
        assert_eq!(parent(&headers), None);
        headers.append(TRACEPARENT, HeaderValue::from_static(GOOD));
        assert_eq!(parent(&headers).as_ref().and_then(id).map(str::len), Some(32));
        headers.append(TRACEPARENT, HeaderValue::from_static(GOOD));
        assert_eq!(parent(&headers), None);
    }
}

//! Fields by which a client asks that its request be taken for one with another method.
//!
//! Frameworks obey them, so a rule for some methods could be bypassed by one. They are forwarded unchanged: a shop that
//! tunnels its methods works on. But where it matters which of the two methods counts, the request is refused.

use http::request::Parts;
use http::{HeaderMap, Method};

use crate::names;
use crate::names::parameter::value_in_query;

/// The methods that fields of the request name; [`Unclear`] for a value that is none.
pub fn claimed(headers: &HeaderMap) -> impl Iterator<Item = Result<Method, Unclear>> {
    let fields = headers
        .iter()
        .filter(|(name, _)| names::field::names_a_method(name.as_str()));
    fields.map(|(_, value)| named(value.as_bytes()))
}

/// The methods that a query names.
pub fn in_query(query: &str) -> impl Iterator<Item = Result<Method, Unclear>> {
    PARAMETERS.iter().filter_map(|name| match value_in_query(query, name) {
        Ok(None) => None,
        Ok(Some(value)) => Some(named(&value.bytes)),
        Err(_) => Some(Err(Unclear)),
    })
}

/// The method that a value names.
pub fn named(value: &[u8]) -> Result<Method, Unclear> {
    Method::from_bytes(&value.trim_ascii().to_ascii_uppercase()).map_err(|_| Unclear)
}

/// Whether a request names another method, in a field or in its query, as some shops read it there too.
pub fn is_claimed(head: &Parts) -> bool {
    claimed(&head.headers).next().is_some() || head.uri.query().is_some_and(is_in_query)
}

/// Whether a request only reads (RFC 9110, section 9.2.1), by all methods that an upstream may take it for.
pub fn is_read(head: &Parts) -> bool {
    head.method.is_safe() && !is_claimed(head)
}

/// Whether a query names a method.
pub fn is_in_query(query: &str) -> bool {
    in_query(query).next().is_some()
}

/// A value that a shop may read as any method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unclear;

/// Parameters of a query or form that name a method: Rack, Symfony, Laravel, Spring, Express; ASP.NET; Catalyst.
pub const PARAMETERS: [&str; 3] = ["_method", "x-http-method-override", "x-tunneled-method"];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &'static str, value: &'static str) -> Vec<Result<Method, Unclear>> {
        let mut headers = HeaderMap::new();
        headers.insert("host", "a".parse().expect("a value"));
        headers.insert(name, value.parse().expect("a value"));
        claimed(&headers).collect()
    }

    #[test]
    fn a_field_that_names_a_method_is_found_in_every_spelling() {
        for name in [
            "x-http-method-override",
            "x_http_method_override",
            "x-http_method-override",
            "x.http.method.override",
            "x-http-method",
            "x-method-override",
        ] {
            assert_eq!(of(name, " delete "), [Ok(Method::DELETE)], "{name}");
        }
        assert_eq!(of("x-http-method", "PUT, POST"), [Err(Unclear)]);
        assert_eq!(of("x-http-method", ""), [Err(Unclear)]);
    }

    #[test]
    fn a_query_names_a_method_in_one_spelling_or_is_unclear() {
        let of = |query: &str| in_query(query).collect::<Vec<_>>();
        assert_eq!(of("a=1&_method=delete"), [Ok(Method::DELETE)]);
        assert_eq!(of("_METHOD=put&_method=put"), [Ok(Method::PUT)]);
        for unclear in [
            "_method=put&_method=get",
            "_method[]=put",
            "+_method=put",
            ".method=put",
            "_method=",
        ] {
            assert_eq!(of(unclear), [Err(Unclear)], "{unclear}");
        }
        for other in ["", "method=put", "_methods=put", "a=_method"] {
            assert!(of(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn other_fields_name_none() {
        for name in [
            "access-control-request-method",
            "x-http-methods",
            "method",
            "x-http-metho",
        ] {
            assert!(of(name, "PUT").is_empty(), "{name}");
        }
    }
}

//! Route patterns as the configuration writes them: `/checkout/*`, `/event/{id}`, `POST /seats`.

use std::fmt;

use http::Method;

use super::queries::Queries;
use super::{OWN_PREFIX, readings};

/// Most segments of a pattern.
const MAX_SEGMENTS: usize = 32;

/// Why a pattern is refused: the mistake, and the correction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{wrong}; {right}")]
pub struct RouteError {
    pub wrong: String,
    pub right: String,
}

fn refuse<T>(wrong: impl Into<String>, right: impl Into<String>) -> Result<T, RouteError> {
    Err(RouteError {
        wrong: wrong.into(),
        right: right.into(),
    })
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Segment {
    /// Decoded bytes.
    Literal(Vec<u8>),
    /// One segment that is not empty.
    Variable(String),
}

/// A pattern of paths, and the methods it is for.
///
/// `{name}` matches one segment; `/*` at the end any rest, so `/shop/*` matches `/shop`, `/shop/` and `/shop/a/b`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    text: String,
    methods: Vec<Method>,
    segments: Vec<Segment>,
    rest: bool,
    /// Of an exception that names no method; it is for reads alone.
    queries: Option<Queries>,
}

impl Route {
    /// Takes an optional list of methods (`GET, POST`) and a path pattern.
    pub fn parse(text: &str) -> Result<Self, RouteError> {
        let Some(slash) = text.find('/') else {
            return refuse(
                format!("\"{text}\" has no path"),
                "a path from its first slash on, such as \"/shop/*\"",
            );
        };
        let (methods, path) = text.split_at(slash);
        let methods = parse_methods(methods)?;
        let (body, rest) = match path.strip_suffix("/*") {
            Some(body) => (body, true),
            None => (path, false),
        };
        check_path(body)?;
        let segments = parse_segments(body)?;
        Ok(Self {
            text: text.to_owned(),
            methods,
            segments,
            rest,
            queries: None,
        })
    }

    /// Takes an entry of `except`: as [`Route::parse`], but one without a method is for reads (GET and HEAD without a body), and
    /// `?*` behind its path lets any query pass.
    pub fn exception(text: &str) -> Result<Self, RouteError> {
        let (path, queries) = match text.strip_suffix("?*") {
            Some(path) => (path, Queries::Any),
            None => (text, Queries::OfCaches),
        };
        let mut route = Self::parse(path)?;
        if route.methods.is_empty() {
            route.methods = vec![Method::GET];
            route.queries = Some(queries);
        } else if queries == Queries::Any {
            let right = "the entry without \"?*\": one that names a method takes any query";
            return refuse(format!("\"{text}\" names a method and queries"), right);
        }
        text.clone_into(&mut route.text);
        Ok(route)
    }

    /// Of an exception that names no method: which queries it takes.
    pub(super) fn queries(&self) -> Option<Queries> {
        self.queries
    }

    /// An exception that allows more than a file: with a query or a body, by another method, or the whole site. One that
    /// names a method allows any query and body by it, GET and HEAD included.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        let whole = self.rest && self.segments.is_empty();
        whole || self.queries != Some(Queries::OfCaches)
    }

    /// As written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True for a pattern without a method list, and for `GET` also HEAD: shops answer it from the same place.
    #[must_use]
    pub fn takes_method(&self, method: &Method) -> bool {
        let same = |own: &Method| {
            let is_head = method.as_str().eq_ignore_ascii_case("HEAD");
            own.as_str().eq_ignore_ascii_case(method.as_str()) || (*own == Method::GET && is_head)
        };
        self.methods.is_empty() || self.methods.iter().any(same)
    }

    /// `/*`: every path.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.rest && self.segments.is_empty() && self.methods.is_empty()
    }

    /// Below the gate's own prefix, where nothing is ever forwarded.
    #[must_use]
    pub fn is_own(&self) -> bool {
        let own = &OWN_PREFIX.as_bytes()[1..];
        matches!(self.segments.first(), Some(Segment::Literal(first)) if first.eq_ignore_ascii_case(own))
    }

    /// Where in the path, counted in segments from 0, the variable stands.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<usize> {
        self.segments
            .iter()
            .position(|s| matches!(s, Segment::Variable(own) if own == name))
    }

    /// The names of its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|s| match s {
            Segment::Variable(name) => Some(name.as_str()),
            Segment::Literal(_) => None,
        })
    }

    pub(crate) fn methods(&self) -> &[Method] {
        &self.methods
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(super) fn rest(&self) -> bool {
        self.rest
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn parse_methods(text: &str) -> Result<Vec<Method>, RouteError> {
    let mut methods = Vec::new();
    for name in text.split([',', ' ']).filter(|name| !name.is_empty()) {
        let plain = name.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
        match Method::from_bytes(name.as_bytes()) {
            Ok(_) if matches!(name, "ANY" | "ALL") => {
                return refuse(
                    format!("\"{name}\" is no method"),
                    "none before the path, which is for all",
                );
            }
            Ok(Method::CONNECT) => return refuse("CONNECT is never forwarded", "another method, or none"),
            Ok(method) if plain => methods.push(method),
            _ => {
                let right = "methods in capitals and a path, such as \"POST /seats\" or \"GET, POST /seats\"";
                return refuse(format!("\"{name}\" before the path is no method"), right);
            }
        }
    }
    Ok(methods)
}

/// A pattern must have only one reading; otherwise it would promise a treatment that no request gets.
fn check_path(path: &str) -> Result<(), RouteError> {
    if path.contains(['?', '#']) {
        return refuse(
            format!("\"{path}\" is more than a path"),
            "the path without \"?\" or \"#\"; a line by query parameter is `per`",
        );
    }
    if path.contains('*') {
        return refuse(
            format!("\"{path}\" has \"*\" somewhere else than at the end, after a slash"),
            "\"{name}\" for one segment, \"/*\" at the end for any rest",
        );
    }
    match readings::of(path.as_bytes()) {
        Ok(None) => Ok(()),
        Ok(Some(list)) if list.len() == 1 => Ok(()),
        Ok(Some(_)) => refuse(
            format!("\"{path}\" can be read in two ways"),
            "a path without \"//\", \".\", \"..\", \";\", \"\\\" and without encoded ASCII characters",
        ),
        Err(_) => refuse(
            format!("\"{path}\" is badly encoded"),
            "the path as people read it, such as \"/공연/*\"",
        ),
    }
}

fn parse_segments(path: &str) -> Result<Vec<Segment>, RouteError> {
    let Some(body) = path.strip_prefix('/') else {
        return Ok(Vec::new());
    };
    let mut segments = Vec::new();
    for text in body.split('/') {
        let segment = parse_segment(text)?;
        if matches!(segment, Segment::Variable(_)) && segments.contains(&segment) {
            return refuse(format!("{text} stands twice"), "another name for one of them");
        }
        segments.push(segment);
    }
    if segments.len() > MAX_SEGMENTS {
        return refuse("the pattern has too many segments", format!("at most {MAX_SEGMENTS}"));
    }
    Ok(segments)
}

fn parse_segment(text: &str) -> Result<Segment, RouteError> {
    if !text.contains(['{', '}']) {
        let decoded = crate::names::percent::decode(text.as_bytes(), true, |_| true);
        let Ok(bytes) = decoded else {
            return refuse("the pattern is badly encoded", "the path as people read it");
        };
        return Ok(Segment::Literal(bytes));
    }
    let name = text
        .strip_prefix('{')
        .and_then(|t| t.strip_suffix('}'))
        .unwrap_or_default();
    let plain = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if name.is_empty() || name.len() > 32 || !plain {
        let right = "a whole segment such as \"{id}\": 1 to 32 of a-z, 0-9 and \"_\" in braces";
        return refuse(format!("\"{text}\" is no variable"), right);
    }
    Ok(Segment::Variable(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_variables_are_read() {
        let route = Route::parse("GET, POST /event/{id}/seats").expect("route");
        assert!(
            route.takes_method(&Method::GET) && route.takes_method(&Method::HEAD) && route.takes_method(&Method::POST)
        );
        assert!(!route.takes_method(&Method::PUT));
        assert_eq!(route.variable("id"), Some(1));
        assert!(Route::parse("/*").expect("route").is_everything());
    }

    #[test]
    fn what_could_never_match_is_refused() {
        for odd in [
            "shop",
            "post /seats",
            "CONNECT /x",
            "/a/*/b",
            "/a*",
            "/a//b",
            "/a/../b",
            "/a?x=1",
            "/a#b",
            "/a%2Fb",
            "/%61",
            "/a;b",
            "/a\\b",
            "/a/{id",
            "/a/x{id}",
            "/{a}/{a}",
            "/{A}",
            "/a%",
            "/a%00",
        ] {
            assert!(Route::parse(odd).is_err(), "{odd}");
        }
        assert!(Route::parse(&"/a".repeat(MAX_SEGMENTS + 1)).is_err());
    }

    #[test]
    fn a_path_may_be_written_decoded_or_encoded() {
        let plain = Route::parse("/공연/*").expect("route");
        let encoded = Route::parse("/%EA%B3%B5%EC%97%B0/*").expect("route");
        assert_eq!(plain.segments(), encoded.segments());
    }
}

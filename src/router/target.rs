//! The target of a request, taken apart once: host, path in all its readings, query.

use std::borrow::Cow;

use super::{host, readings};

/// Why a request's target is refused with 400 in any room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadTarget {
    #[error("the host is malformed")]
    Host,
    #[error("the target is not a path")]
    NotAPath,
    #[error("a percent sign without two hexadecimal digits")]
    Percent,
    #[error("a control character in the path")]
    Control,
    #[error("the path is encoded or nested beyond reason")]
    Excess,
}

impl From<readings::Refused> for BadTarget {
    fn from(refused: readings::Refused) -> Self {
        match refused {
            readings::Refused::Percent => Self::Percent,
            readings::Refused::Control => Self::Control,
            readings::Refused::Excess => Self::Excess,
        }
    }
}

/// A request's host, path and query. Borrows from the request; an ordinary one costs no allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target<'a> {
    host: Cow<'a, str>,
    spelled: &'a str,
    path: &'a str,
    query: Option<&'a str>,
    readings: Option<Vec<Vec<u8>>>,
}

impl<'a> Target<'a> {
    /// Takes the Host field's value (with or without a port) and the origin-form target, query included.
    pub fn parse(host: &'a str, path_and_query: &'a str) -> Result<Self, BadTarget> {
        let spelled = host;
        let host = host::normal(spelled).ok_or(BadTarget::Host)?;
        let (path, query) = match path_and_query.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path_and_query, None),
        };
        if !path.starts_with('/') || path.contains('#') {
            return Err(BadTarget::NotAPath);
        }
        let readings = readings::of(path.as_bytes())?;
        Ok(Self {
            host,
            spelled,
            path,
            query,
            readings,
        })
    }

    /// In lower case, without port and without a dot at the end.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host as it came, where that is not its normal form: with a port, as a rule.
    #[must_use]
    pub fn spelled(&self) -> Option<&'a str> {
        (self.spelled != self.host).then_some(self.spelled)
    }

    /// The path as it came.
    #[must_use]
    pub fn raw_path(&self) -> &'a str {
        self.path
    }

    /// The query as it came, without its question mark.
    #[must_use]
    pub fn query(&self) -> Option<&'a str> {
        self.query
    }

    /// Every reading of the path, at least one; the first is the path decoded once.
    pub fn readings(&self) -> impl Iterator<Item = &[u8]> {
        let own = self.readings.is_none().then_some(self.path.as_bytes());
        own.into_iter().chain(self.readings.iter().flatten().map(Vec::as_slice))
    }

    /// More than one reading: an attack, or an unusual client.
    #[must_use]
    pub fn has_readings(&self) -> bool {
        self.readings.as_ref().is_some_and(|list| list.len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_target_is_borrowed_whole() {
        let target = Target::parse("shop.example:8080", "/a/b?x=1").expect("plain");
        assert_eq!(
            (target.host(), target.raw_path(), target.query()),
            ("shop.example", "/a/b", Some("x=1"))
        );
        assert!(matches!(target.host, Cow::Borrowed(_)));
        assert_eq!(target.readings().collect::<Vec<_>>(), [b"/a/b"]);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for odd in ["*", "", "shop.example:443", "http://x/", "/a#b"] {
            assert_eq!(Target::parse("x", odd), Err(BadTarget::NotAPath), "{odd}");
        }
        assert_eq!(Target::parse("a b", "/"), Err(BadTarget::Host));
    }

    #[test]
    fn percent_in_the_query_is_nobodys_business_here() {
        assert!(Target::parse("x", "/a?b=100%").is_ok());
    }
}

//! Queries that a path may carry which a room leaves outside.

use crate::names::spelling::is_own;

/// The queries that a read may have, where an entry of `except` names no method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Queries {
    /// Only names by which caches distinguish versions.
    OfCaches,
    /// Anything: the entry ends in `?*`.
    Any,
}

impl Queries {
    pub(super) fn take(self, query: Option<&str>) -> bool {
        let of_caches = |key: &str| CACHE_NAMES.iter().any(|name| is_own(key.as_bytes(), name));
        self == Self::Any || keys(query.unwrap_or_default()).all(of_caches)
    }
}

/// Some shops part parameters at `;` too.
fn keys(query: &str) -> impl Iterator<Item = &str> {
    let pairs = query.split(['&', ';']).filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').map_or(pair, |(key, _)| key))
}

/// By which build tools tell versions of a file apart.
const CACHE_NAMES: [&str; 6] = ["v", "ver", "version", "t", "h", "hash"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_have_a_version_and_nothing_else() {
        for query in [
            None,
            Some(""),
            Some("v=3"),
            Some("ver=6.4&t=1"),
            Some("%76=1"),
            Some("hash=a&h=b&version"),
        ] {
            assert!(Queries::OfCaches.take(query), "{query:?}");
        }
        for query in [
            "wc-ajax=checkout",
            "v=3&add-to-cart=7",
            "v=3;add-to-cart=7",
            "v[]=3",
            "%2576=1",
            "=1",
            "123",
            "v%00=1",
        ] {
            assert!(!Queries::OfCaches.take(Some(query)), "{query}");
            assert!(Queries::Any.take(Some(query)), "{query}");
        }
    }
}

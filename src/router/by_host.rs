//! Values for some hosts, found by a request's host, so that a request costs the same with one host or a thousand.

use std::collections::BTreeMap;

use super::host::HostPattern;

/// Numbers of a caller's, each for some hosts or for every one.
#[derive(Clone, Default, Debug)]
pub(super) struct ByHost {
    every: Vec<usize>,
    /// By the host.
    of: BTreeMap<String, Vec<usize>>,
    /// By the domain that the hosts are below.
    below: BTreeMap<String, Vec<usize>>,
}

impl ByHost {
    /// `hosts` empty: every host.
    pub(super) fn insert(&mut self, hosts: &[HostPattern], id: usize) {
        if hosts.is_empty() {
            self.every.push(id);
        }
        for pattern in hosts {
            let table = if pattern.is_below() {
                &mut self.below
            } else {
                &mut self.of
            };
            table.entry(pattern.name().to_owned()).or_default().push(id);
        }
    }

    /// Every number that is for `host`, in normal form; some more than once.
    pub(super) fn find<'t>(&'t self, host: &'t str) -> impl Iterator<Item = usize> + 't {
        // PERF: most are for every host, and nothing is looked up.
        let domains = (!self.below.is_empty()).then(|| domains(host));
        let below = domains
            .into_iter()
            .flatten()
            .filter_map(|domain| self.below.get(domain));
        let named = self.of.get(host).into_iter().chain(below).flatten();
        self.every.iter().chain(named).copied()
    }

    pub(super) fn has(&self, host: &str) -> bool {
        self.find(host).next().is_some()
    }
}

/// The domains that a host is below, the nearest first.
fn domains(host: &str) -> impl Iterator<Item = &str> {
    let dots = host.bytes().enumerate().skip(1);
    dots.filter(|(_, byte)| *byte == b'.').map(|(at, _)| &host[at + 1..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_found_is_what_each_pattern_says(
            patterns in prop::collection::vec(prop::collection::vec("(\\*\\.)?[ab](\\.[ab]){0,2}", 0..3), 0..8),
            host in "\\.?[abc](\\.{1,2}[abc]){0,4}",
        ) {
            let lists: Vec<Vec<HostPattern>> = patterns
                .iter()
                .map(|list| list.iter().map(|text| HostPattern::parse(text).expect("a pattern")).collect())
                .collect();
            let mut table = ByHost::default();
            lists.iter().enumerate().for_each(|(id, hosts)| table.insert(hosts, id));
            let matches = |hosts: &Vec<HostPattern>| hosts.is_empty() || hosts.iter().any(|one| one.matches(&host));
            let wanted: Vec<usize> = (0..lists.len()).filter(|id| matches(&lists[*id])).collect();
            let mut found: Vec<usize> = table.find(&host).collect();
            found.sort_unstable();
            found.dedup();
            prop_assert_eq!(table.has(&host), !wanted.is_empty());
            prop_assert_eq!(found, wanted);
        }
    }
}

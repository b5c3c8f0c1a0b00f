//! Laws over random paths and hosts.
//!
//! Every path that a shop serves as the protected one is seen: the models are in [`shops`](crate::router::shops). And each
//! request is for the shop that names its host.

use proptest::prelude::*;

use super::{find, router};
use crate::router::fuzzing::own_shop_alone;
use crate::router::shops::SHOPS;
use crate::router::{HostPattern, Routed};

const PIECES: [&str; 38] = [
    "/",
    "/",
    "/",
    "//",
    "seats",
    "seats",
    "seats",
    "Seats",
    "%73eats",
    "%2573eats",
    "1",
    "1",
    "%31",
    "static",
    "/(S(x))",
    "%28S(x%29)",
    "x",
    "..",
    "..",
    ".",
    "%2e%2e",
    "%2E.",
    "%252e%252e",
    "%2e",
    "%2f",
    "%2F",
    "%252f",
    "\\",
    "%5c",
    ";",
    ";v=1",
    "%3b",
    "%3bx",
    "%3f",
    "%23",
    "%20",
    "%25",
    "%",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_a_shop_serves_as_protected_is_never_let_past(pieces in prop::collection::vec(0..PIECES.len(), 1..12)) {
        let text: String = pieces.into_iter().map(|at| PIECES[at]).collect();
        let path = format!("/{text}");
        let narrow = router(&["/seats/*"], &[]);
        let beside = router(&[], &["/static/*", "/x/*"]);
        for (name, shop) in SHOPS {
            let Some(served) = shop(&path) else { continue };
            let seats = served == "/seats" || served.starts_with("/seats/");
            let past = |routed| matches!(routed, Ok(Routed { room: None, own: false, .. }));
            prop_assert!(!seats || !past(find(&narrow, &path)), "{name} serves {served} for {path}: past a narrow room");
            prop_assert!(!seats || !past(find(&beside, &path)), "{name} serves {served} for {path}: past a whole site");
        }
    }

    /// As the configuration has it, no host meets one of an upstream before it.
    #[test]
    fn a_request_is_for_the_upstream_that_names_its_host_and_for_none_other(
        lists in prop::collection::vec(
            (prop::collection::vec("(\\*\\.)?[ab](\\.[ab]){0,2}(:(80|81|443))?", 1..4), any::<bool>()),
            1..5,
        ),
        host in "[abAB](\\.[abAB]){0,3}\\.{0,2}(:(80|81|443|082|))?",
        path in "/(seats/1|\\.ropeline/health|%2e%2e/a)?",
    ) {
        let mut taken: Vec<HostPattern> = Vec::new();
        let mut shops: Vec<(Vec<HostPattern>, bool)> = Vec::new();
        for (list, has_room) in lists {
            let parsed = list.iter().map(|text| HostPattern::parse(text).expect("a host"));
            let is_free = |host: &HostPattern| !taken.iter().any(|other| other.covers(host) || host.covers(other));
            let own: Vec<HostPattern> = parsed.filter(is_free).collect();
            if !own.is_empty() {
                taken.extend(own.iter().cloned());
                shops.push((own, has_room));
            }
        }
        let shops: Vec<_> = shops.iter().map(|(hosts, has_room)| (&hosts[..], *has_room)).collect();
        own_shop_alone(&shops, &host, &path);
    }
}

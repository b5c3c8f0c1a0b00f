//! A law over random paths, against models of shops: every path that a shop serves as the protected one is seen.
//!
//! The models are in [`shops`](crate::router::shops).

use proptest::prelude::*;

use super::{find, router};
use crate::router::Routed;
use crate::router::shops::SHOPS;

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
}

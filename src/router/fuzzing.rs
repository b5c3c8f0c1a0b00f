//! The fuzz target for paths: the gate sees every path that a shop may read, or refuses the request.

use std::sync::LazyLock;

use http::Method;

use super::shops::SHOPS;
use super::{Brings, Per, PerSource, RoomRoutes, Route, Routed, Router, Target};

/// A target in origin form.
///
/// # Panics
/// When a law does not hold.
pub fn path(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(target) = Target::parse("shop.example", text) else {
        return;
    };
    assert!(target.readings().next().is_some(), "{text}: no reading");
    for (name, router) in &*ROUTERS {
        let Ok(routed) = router.route(&Method::GET, &target, Brings::Nothing) else {
            continue;
        };
        if !matches!(name, Rooms::Lines) {
            seen_by_shops(&target, &routed);
        }
        as_read(router, &target, &routed);
    }
}

/// A request that a shop serves as the protected path never passes.
fn seen_by_shops(target: &Target<'_>, routed: &Routed) {
    let past = routed.room.is_none() && !routed.own;
    for (name, shop) in SHOPS {
        let served = shop(target.raw_path()).unwrap_or_default();
        let seats = served == "/seats" || served.starts_with("/seats/");
        assert!(!(seats && past), "{name} serves {served} for {}", target.raw_path());
    }
}

/// Each reading, sent as it is with the same query, has the same route as the path.
fn as_read(router: &Router, target: &Target<'_>, routed: &Routed) {
    for reading in target.readings() {
        let Ok(text) = std::str::from_utf8(reading) else {
            continue;
        };
        if text.contains(['?', '#']) {
            continue;
        }
        let query = target.query().map(|query| format!("?{query}")).unwrap_or_default();
        let sent = format!("{text}{query}");
        let Ok(again) = Target::parse("shop.example", &sent) else {
            continue;
        };
        if !again.has_readings() {
            let routed_again = router.route(&Method::GET, &again, Brings::Nothing);
            assert_eq!(
                routed_again.as_ref(),
                Ok(routed),
                "{} read as {text}",
                target.raw_path()
            );
        }
    }
}

/// The rooms of a router.
enum Rooms {
    /// `/seats/*` alone.
    Narrow,
    /// The whole site but two folders.
    Site,
    /// A line for each value of a part of the path.
    Lines,
}

static ROUTERS: LazyLock<[(Rooms, Router); 3]> = LazyLock::new(|| {
    let per = Per {
        source: PerSource::Path("id".to_owned()),
        allow: Vec::new(),
    };
    [
        (Rooms::Narrow, router("/seats/*", &[], None)),
        (Rooms::Site, router("/*", &["/static/*", "/x/*"], None)),
        (Rooms::Lines, router("/{id}/seats/*", &[], Some(&per))),
    ]
});

fn router(route: &str, except: &[&str], per: Option<&Per>) -> Router {
    let routes = |list: &[&str]| -> Vec<Route> {
        let list = list.iter();
        list.map(|text| Route::parse(text).expect("a route")).collect()
    };
    let exceptions = except.iter().map(|text| Route::exception(text).expect("an exception"));
    let room = RoomRoutes {
        hosts: &[],
        routes: &routes(&[route]),
        except: &exceptions.collect::<Vec<_>>(),
        return_routes: &routes(&["/checkout/return"]),
        ends_on: &[],
        names: None,
        per,
    };
    Router::new(&[room], &[(&[], &routes(&["GET /api/seats"]))])
}

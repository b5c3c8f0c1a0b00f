//! The fuzz targets for paths and hosts: the gate sees every path that a shop may read, or refuses the request; and a request
//! belongs to the shop of its own host.

use std::sync::LazyLock;

use http::Method;

use super::shops::SHOPS;
use super::{
    ActiveRoutes, Brings, HostPattern, Per, PerSource, RoomRoutes, Route, Routed, Router, Target, UpstreamRoutes,
};

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

/// The value of `Host`, or an authority.
///
/// # Panics
/// When a law does not hold.
pub fn host(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let hosts = ["shop.test", "*.shop.test", "shop.test:8443", "open.test", "[::1]:81"];
    let hosts = hosts.map(|text| HostPattern::parse(text).expect("a host"));
    let shops = [(&hosts[..2], true), (&hosts[2..3], true), (&hosts[3..], false)];
    for path in ["/", "/buy/1", "/.ropeline/health"] {
        own_shop_alone(&shops, text, path);
    }
}

/// A request is for the shop that names its host, and for the room and limit of that shop; for no shop where none names it,
/// however it is spelled. Each shop is its hosts, of which it shares none, and whether a room is in front of it.
pub(super) fn own_shop_alone(shops: &[(&[HostPattern], bool)], host: &str, path: &str) {
    let Ok(target) = Target::parse(host, path) else { return };
    let Ok(routed) = shops_behind(shops).route(&Method::GET, &target, Brings::Nothing) else {
        return;
    };
    let names = |shop: &(&[HostPattern], bool), host: &str| shop.0.iter().any(|pattern| pattern.matches(host));
    let meant = usual(host);
    let owner = shops.iter().position(|shop| names(shop, &meant));
    let is_usual = host == meant;
    assert!(
        routed.upstream == owner || (routed.upstream.is_none() && !is_usual),
        "{host}{path} is for {:?} instead of {owner:?}",
        routed.upstream
    );
    assert_eq!(routed.misdirected, routed.upstream.is_none(), "{host}{path}");
    let places: Vec<usize> = (0..shops.len()).filter(|at| shops[*at].1).collect();
    let of_room = routed.room.map(|room| places[room.index]);
    assert!(
        of_room.is_none() || of_room == owner,
        "{host}{path} is in the room of {of_room:?}"
    );
    let foreign = routed.limits.iter().find(|limit| Some(*limit) != owner);
    assert_eq!(foreign, None, "{host}{path} counts at another shop");
}

/// As browsers write it: in lower case, without a dot at the end, without the port of HTTP or HTTPS.
fn usual(host: &str) -> String {
    let lower = host.to_ascii_lowercase();
    let (name, port) = match lower.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port),
        _ => (&*lower, ""),
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    match port {
        "" | "80" | "443" => name.to_owned(),
        port => format!("{name}:{port}"),
    }
}

/// A router over the shops, each with a limit, and a room over everything where it has one.
fn shops_behind(shops: &[(&[HostPattern], bool)]) -> Router {
    let all = [Route::parse("/*").expect("a route")];
    let room = |hosts| RoomRoutes {
        hosts,
        routes: &all,
        except: &[],
        return_routes: &[],
        ends_on: &[],
        names: None,
        active: ActiveRoutes::default(),
        per: None,
    };
    let with_room = shops.iter().filter(|shop| shop.1);
    let rooms: Vec<RoomRoutes<'_>> = with_room.map(|shop| room(shop.0)).collect();
    let limits: Vec<(&[HostPattern], &[Route])> = shops.iter().map(|shop| (shop.0, &all[..])).collect();
    let mut upstreams = Vec::new();
    for (hosts, has_rooms) in shops {
        upstreams.push(UpstreamRoutes {
            hosts,
            streamed: &[],
            has_rooms: *has_rooms,
        });
    }
    Router::new(&rooms, &limits).to(&upstreams)
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
        active: ActiveRoutes::default(),
        per,
    };
    Router::new(&[room], &[(&[], &routes(&["GET /api/seats"]))])
}

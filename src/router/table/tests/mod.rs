mod laws;

use super::*;

fn routes(list: &[&str]) -> Vec<Route> {
    list.iter().map(|text| Route::parse(text).expect("route")).collect()
}

fn exceptions(list: &[&str]) -> Vec<Route> {
    let list = list.iter();
    list.map(|text| Route::exception(text).expect("exception")).collect()
}

/// One narrow room, one site-wide room with paths left outside, one limit.
fn router(narrow: &[&str], except: &[&str]) -> Router {
    let (narrow, wide, except) = (routes(narrow), routes(&["/*"]), exceptions(except));
    let back = routes(&["/checkout/return"]);
    let limit = routes(&["GET /api/seats", "/api/seats/stream"]);
    let room = RoomRoutes {
        hosts: &[],
        routes: &narrow,
        except: &[],
        return_routes: &back,
        ends_on: &[],
        names: None,
        active: ActiveRoutes::default(),
        per: None,
    };
    let site = RoomRoutes {
        routes: &wide,
        except: &except,
        return_routes: &[],
        ..room
    };
    let rooms = if except.is_empty() { vec![room] } else { vec![site] };
    Router::new(&rooms, &[(&[], &limit)])
}

fn find(router: &Router, path: &str) -> Result<Routed, &'static str> {
    let target = Target::parse("shop.example", path).map_err(|_| "bad")?;
    router
        .route(&Method::GET, &target, Brings::Nothing)
        .map_err(|_| "doubtful")
}

/// Spellings of `/seats/1` that some server in common use serves as `/seats/1`, raw or behind a path left outside.
const SPELLINGS: [&str; 89] = [
    "/seats/1",
    "/(S(x))/seats/1",
    "/seats/(S(x))/1",
    "/seats/1/(A(x)F(y))",
    "/se/(S(x))ats/1",
    "/Seats/1",
    "/SEATS/1",
    "/seats/1/",
    "/seats/1.",
    "/seats/1%20",
    "/seats./1",
    "/seats%20/1",
    "/%73eats/1",
    "/%53eats/1",
    "/seat%73/1",
    "/%73%65%61%74%73/1",
    "/%2573eats/1",
    "/%252573eats/1",
    "/seats%2F1",
    "/seats%2f1",
    "/%2Fseats/1",
    "/%2fseats%2f1",
    "/seats%252F1",
    "/seats%5C1",
    "/seats%5c1",
    "/seats\\1",
    "/\\seats/1",
    "/\\seats\\1",
    "/%5Cseats/1",
    "//seats/1",
    "///seats/1",
    "/seats//1",
    "//seats//1",
    "//shop.example/seats/1",
    "///x/seats/1",
    "/\\x/seats/1",
    "/%2F/seats/1",
    "/%2F%2Fx/seats/1",
    "/./seats/1",
    "/seats/./1",
    "/././seats/1",
    "/%2e/seats/1",
    "/seats/%2E/1",
    "/x/../seats/1",
    "/static/../seats/1",
    "/static/%2e%2e/seats/1",
    "/static/%2E./seats/1",
    "/static/..%2fseats/1",
    "/static%2f..%2fseats/1",
    "/static/%252e%252e/seats/1",
    "/static/..%252fseats/1",
    "/static/..;/seats/1",
    "/static/..;x=1/seats/1",
    "/static/..%3b/seats/1",
    "/static/%2e%2e;x/seats/1",
    "/static/..\\seats\\1",
    "/static/..%5cseats/1",
    "/static/%2e%2e%5cseats%5c1",
    "/../seats/1",
    "/..%2fseats/1",
    "/../../seats/1",
    "/static/x/../../seats/1",
    "/static//..//seats/1",
    "/seats/1/x/..",
    "/seats/x/../1",
    "/seats;x/1",
    "/seats;jsessionid=1/1",
    "/seats/1;x",
    "/seats%3b/1",
    "/seats%3Bx/1",
    "/seats/1%3Fx",
    "/seats/1%23x",
    "/static/%c0%ae%c0%ae/seats/1",
    "/%c0%afseats/1",
    "/%EF%BC%8Fseats/1",
    "/s%C3%A9%C3%A4ts/1",
    "/%E2%88%95seats/1",
    "/static/%E2%80%A5/seats/1",
    "/static/%E2%80%A4%EF%B9%92/seats/1",
    "/static/..%C2%A5seats%E2%82%A91",
    "/seats%CD%BEx/1",
    "/%F8%80%80%81%B3eats/1",
    "/SEAT%C5%BF/1",
    // Found by the law over random paths, or by taking a reading out.
    "/..%2fseats/1;%2f.%2e",
    "/1%3f/%2e%2e/seats/1%3f",
    "/a%2fb/%2e%2e/%73eats/1",
    "/x%252fy/../%2573eats/1",
    "/..%252fseats/1%3b%2f..",
    "/..%3b%2f1/seats/1",
];

#[test]
fn no_spelling_of_a_protected_path_goes_unseen() {
    let narrow = router(&["/seats/*"], &[]);
    let beside = router(&[], &["/static/*", "/x/*", "/{anything}"]);
    for path in SPELLINGS {
        // Seen: in the room, or refused.
        assert!(
            !matches!(find(&narrow, path), Ok(Routed { room: None, .. })),
            "narrow room: {path}"
        );
        assert!(
            !matches!(find(&beside, path), Ok(Routed { room: None, .. })),
            "beside what is left outside: {path}"
        );
    }
}

#[test]
fn the_same_spellings_pass_where_they_make_no_difference() {
    let wide = router(&["/*"], &[]);
    for path in SPELLINGS {
        let routed = find(&wide, path).expect("one treatment");
        assert_eq!(routed.room.expect("the room").index, 0, "{path}");
    }
}

#[test]
fn a_session_in_the_path_leaves_a_file_in_its_room() {
    let outside = router(&[], &["/static/*", "/feed?*"]);
    for path in ["/(S(x))/static/a.css", "/static/(S(x))/a.css"] {
        let routed = find(&outside, path).expect("one treatment");
        assert_eq!(routed.room.expect("the room").index, 0, "{path}");
    }
    let routed = find(&outside, "/static/(shop)/a.css").expect("one treatment");
    assert_eq!(routed.room, None);
}

#[test]
fn harmless_paths_pass_untouched() {
    let narrow = router(&["/seats/*"], &[]);
    let outside = router(&[], &["/static/*", "/공연/*"]);
    for path in [
        "/",
        "/a//b",
        "/files/a%2Fb",
        "/a%20b",
        "/%EA%B3%B5%EC%97%B0",
        "/공연",
        "/search;v=1/x",
        "/100%25-off",
        "/~user",
        "/%7Euser",
        "/a+b",
        "/@shop/x",
        "/%40shop/x",
        "/a:b",
        "/.well-known/acme",
        "/a.b.c",
        "/x?next=/seats/1",
        "/seatsmap",
        "/a/../b",
        "/%C0%AF",
        "/%B0%A1",
        "/a%2Cb",
        "/?q=%zz",
        "/seat",
        "/events/seats/1",
    ] {
        let routed = find(&narrow, path);
        assert_eq!(routed.map(|r| r.room.is_some()), Ok(false), "{path}");
    }
    for path in [
        "/static/a%20b.css",
        "/static/%EA%B3%B5.js",
        "/static/a%2Fb",
        "/%EA%B3%B5%EC%97%B0/1",
        "/공연/1",
        "/static/a;v=1",
    ] {
        assert_eq!(find(&outside, path).map(|r| r.room.is_some()), Ok(false), "{path}");
    }
}

#[test]
fn limits_count_in_every_spelling_and_outside_rooms() {
    let narrow = router(&["/checkout/*"], &[]);
    for path in ["/api/seats", "/API/Seats", "/api/seats/", "/api/seats/stream"] {
        assert!(!find(&narrow, path).expect("clear").limits.is_empty(), "{path}");
    }
    assert_eq!(find(&narrow, "/api//seats"), Err("doubtful"));
    assert_eq!(find(&narrow, "/api/%73eats"), Err("doubtful"));
    let target = Target::parse("x", "/api/seats").expect("target");
    let posted = narrow.route(&Method::POST, &target, Brings::Nothing);
    assert!(posted.expect("clear").limits.is_empty());
}

#[test]
fn the_gates_own_paths_are_own_on_every_host() {
    let wide = router(&["/*"], &[]);
    assert!(find(&wide, "/.ropeline/rooms/shop/status").expect("clear").own);
    assert!(find(&wide, "/.ropeline").expect("clear").own);
    for path in [
        "/.ROPELINE/health",
        "/.Ropeline",
        "/.ropeline./x",
        "/.ropeline%20/x",
        "/.ROPELINE. /",
    ] {
        assert!(find(&wide, path).expect("clear").own, "{path}");
    }
    for path in ["/.ropeliney", "/ropeline/x", "/x/.ropeline", "/.", "/"] {
        assert!(!find(&wide, path).expect("clear").own, "{path}");
    }
    for path in [
        "/%2eropeline/x",
        "/.rope%6cine/x",
        "/.ropeline;v=1/x",
        "/.ropeline\\x",
        "/%2EROPELINE/x",
        "/./.ropeline/x",
        "/%252eropeline/x",
        "/x/../.ropeline/x",
        "//.ropeline/x",
        "/.ropeline/../seats",
        "/.ropeline%2fx",
    ] {
        assert_eq!(find(&wide, path), Err("doubtful"), "{path}");
    }
}

#[test]
fn never_queued_paths_and_return_routes_are_told() {
    let wide = router(&["/*"], &[]);
    for path in [
        "/robots.txt",
        "/.well-known/x/y",
        "/favicon.ico",
        "/apple-touch-icon.png",
    ] {
        assert_eq!(find(&wide, path).expect("clear").room, None, "{path}");
    }
    assert!(
        find(&wide, "/checkout/return")
            .expect("clear")
            .room
            .expect("room")
            .returning
    );
    assert_eq!(
        find(&wide, "/Robots.txt").expect("clear").room.map(|r| r.index),
        Some(0)
    );
}

#[test]
fn what_is_left_outside_is_left_to_reads_that_bring_nothing_unless_an_entry_says_more() {
    let (all, except) = (
        routes(&["/*"]),
        exceptions(&["/static/*", "/api/stock?*", "POST /payment/callback"]),
    );
    let room = RoomRoutes {
        hosts: &[],
        routes: &all,
        except: &except,
        return_routes: &[],
        ends_on: &[],
        names: None,
        active: ActiveRoutes::default(),
        per: None,
    };
    let router = Router::new(&[room], &[]);
    let outside = |method: Method, target: &str, brings| {
        let target = Target::parse("x", target).expect("target");
        let routed = router.route(&method, &target, brings).expect("clear");
        assert_eq!(routed.room.is_some(), routed.outside.is_none(), "{target:?}");
        routed.outside.is_some()
    };
    let (get, post) = (Method::GET, Method::POST);
    for (method, target, most) in [
        (&get, "/robots.txt", Some(Brings::Nothing)),
        (&Method::HEAD, "/.well-known/x", Some(Brings::Nothing)),
        (&get, "/robots.txt?add-to-cart=7", None),
        (&post, "/favicon.ico", None),
        (&Method::OPTIONS, "/robots.txt", None),
        (&get, "/static/x?v=3", Some(Brings::Credentials)),
        (&Method::HEAD, "/static/x", Some(Brings::Credentials)),
        (&get, "/static/x?wc-ajax=checkout", None),
        (&post, "/static/x", None),
        (&get, "/api/stock?of=7", Some(Brings::Credentials)),
        (&post, "/api/stock?of=7", None),
        (&post, "/payment/callback?id=7", Some(Brings::More)),
        (&get, "/payment/callback", None),
    ] {
        for brings in [Brings::Nothing, Brings::Credentials, Brings::More] {
            let wanted = most.is_some_and(|most| brings <= most);
            assert_eq!(
                outside(method.clone(), target, brings),
                wanted,
                "{method} {target} {brings:?}"
            );
        }
    }
}

#[test]
fn the_first_room_that_takes_a_path_has_it() {
    let (first, second, out) = (routes(&["/event/*"]), routes(&["/*"]), exceptions(&["/event/free/*"]));
    let room = RoomRoutes {
        hosts: &[],
        routes: &first,
        except: &out,
        return_routes: &[],
        ends_on: &[],
        names: None,
        active: ActiveRoutes::default(),
        per: None,
    };
    let rooms = [
        room,
        RoomRoutes {
            routes: &second,
            except: &[],
            ..room
        },
    ];
    let router = Router::new(&rooms, &[]);
    let index = |path: &str| find(&router, path).expect("clear").room.map(|r| r.index);
    assert_eq!(index("/event/1"), Some(0));
    assert_eq!(index("/event/free/1"), Some(1));
    assert_eq!(index("/"), Some(1));
}

#[test]
fn a_line_is_named_by_its_segment_and_doubt_about_it_is_doubt() {
    let list = routes(&["/event/{id}/*", "/{id}/tickets"]);
    let per = Per {
        source: PerSource::Path("id".into()),
        allow: Vec::new(),
    };
    let room = RoomRoutes {
        hosts: &[],
        routes: &list,
        except: &[],
        return_routes: &[],
        ends_on: &[],
        names: None,
        active: ActiveRoutes::default(),
        per: Some(&per),
    };
    let router = Router::new(&[room], &[]);
    let line = |path: &str| find(&router, path).map(|r| r.room.map(|room| room.line));
    let named = |name: &str| Ok(Some(LineOf::Line(LineName::new(name).expect("line"))));
    assert_eq!(line("/event/42/x"), named("42"));
    assert_eq!(line("/event/%EA%B3%B5"), named("공"));
    assert_eq!(line("/7/tickets"), named("7"));
    assert_eq!(line("/event/4%32"), Err("doubtful"));
    assert_eq!(line("/event/42;x"), Err("doubtful"));
    assert_eq!(line("/event/1/../2"), Err("doubtful"));
    assert_eq!(line("/event/4 2"), Ok(Some(LineOf::Unknown)));
    assert_eq!(line("/event"), Ok(None));
}

#[test]
fn hosts_part_rooms_and_unknown_hosts_are_told() {
    let (all, hosts) = (routes(&["/*"]), [HostPattern::parse("*.shop.example").expect("host")]);
    let room = RoomRoutes {
        hosts: &hosts,
        routes: &all,
        except: &[],
        return_routes: &[],
        ends_on: &[],
        names: None,
        active: ActiveRoutes::default(),
        per: None,
    };
    let router = Router::new(&[room], &[]);
    let misdirected = |host: &str, path: &str| {
        let target = Target::parse(host, path).expect("target");
        let routed = router.route(&Method::GET, &target, Brings::Nothing);
        routed.expect("clear").misdirected
    };
    assert!(!misdirected("www.shop.example", "/") && misdirected("other.example", "/"));
    assert!(!misdirected("other.example", "/.ropeline/health"));
    for other in [
        "www.shop.example:8443",
        "www.shop.example.",
        "www.Shop.example",
        "www.shop.example:80",
    ] {
        assert!(
            misdirected(other, "/") && !misdirected(other, "/.ropeline/health"),
            "{other}"
        );
    }
}

/// A shop with a room over all, one with a room over a part, and one without a room.
#[test]
fn each_host_belongs_to_one_upstream_and_to_its_rooms_alone() {
    let hosts = |list: &[&str]| -> Vec<HostPattern> {
        list.iter()
            .map(|text| HostPattern::parse(text).expect("a host"))
            .collect()
    };
    let (music, books, open) = (
        hosts(&["music.example", "*.music.example"]),
        hosts(&["books.example", "music.example:8443"]),
        hosts(&["open.example"]),
    );
    let all_books = hosts(&["books.example", "music.example:8443", "shelf.example"]);
    let (all, part, streamed) = (routes(&["/*"]), routes(&["/buy/*"]), routes(&["POST /upload"]));
    let room = |hosts, routes| RoomRoutes {
        hosts,
        routes,
        except: &[],
        return_routes: &[],
        ends_on: &[],
        names: None,
        active: ActiveRoutes::default(),
        per: None,
    };
    let upstream = |hosts, has_rooms| UpstreamRoutes {
        hosts,
        streamed: &[],
        has_rooms,
    };
    let streaming = UpstreamRoutes {
        streamed: &streamed,
        ..upstream(&music, true)
    };
    let router = Router::new(&[room(&music, &all), room(&books, &part)], &[]).to(&[
        streaming,
        upstream(&all_books, true),
        upstream(&open, false),
    ]);
    let asked = |host: &str, path: &str| {
        let target = Target::parse(host, path).expect("a target");
        router.route(&Method::POST, &target, Brings::Nothing).expect("clear")
    };
    let room_of = |host: &str, path: &str| asked(host, path).room.map(|room| room.index);
    for (host, place) in [
        ("music.example", Some(0)),
        ("www.music.example", Some(0)),
        ("music.example:8443", Some(1)),
        ("books.example", Some(1)),
        ("open.example", Some(2)),
        ("other.example", None),
        ("open.example:8443", None),
        ("Books.example", None),
        ("books.example.", None),
        ("books.example:80", None),
        ("sub.books.example", None),
        ("[::1]", None),
    ] {
        for path in ["/buy/1", "/", "/.ropeline/rooms/a/status"] {
            let routed = asked(host, path);
            assert_eq!(
                (routed.upstream, routed.misdirected),
                (place, place.is_none()),
                "{host}{path}"
            );
        }
    }
    assert_eq!(
        (room_of("music.example", "/buy/1"), room_of("music.example", "/")),
        (Some(0), Some(0))
    );
    assert_eq!(
        (room_of("books.example", "/buy/1"), room_of("books.example", "/")),
        (Some(1), None)
    );
    assert_eq!(
        (room_of("open.example", "/buy/1"), room_of("other.example", "/buy/1")),
        (None, None)
    );
    assert!(router.serves("open.example") && router.serves("books.example") && !router.serves("other.example"));
    let shelf = |path| asked("shelf.example", path);
    assert!(
        shelf("/").misdirected && !shelf("/.ropeline/health").misdirected,
        "a shop with rooms may serve all its hosts in the same way"
    );
    assert!(asked("music.example", "/upload").streamed.0 && !asked("books.example", "/upload").streamed.0);
}

#[test]
fn a_host_that_may_be_taken_for_another_is_doubt_unless_its_port_is_named() {
    let (all, free) = (routes(&["/*"]), routes(&["/blog/*"]));
    let hosts = ["blog.example", "*.blog.example:8443"].map(|host| HostPattern::parse(host).expect("host"));
    let room = RoomRoutes {
        hosts: &hosts,
        routes: &free,
        except: &[],
        return_routes: &[],
        ends_on: &[],
        names: None,
        active: ActiveRoutes::default(),
        per: None,
    };
    let site = RoomRoutes {
        hosts: &[],
        routes: &all,
        ..room
    };
    let router = Router::new(&[room, site], &[]);
    let room_of = |host: &str, path: &str| {
        let target = Target::parse(host, path).expect("target");
        let routed = router.route(&Method::GET, &target, Brings::Nothing);
        routed.map(|routed| routed.room.map(|room| room.index))
    };
    assert_eq!(room_of("blog.example", "/blog/1"), Ok(Some(0)));
    assert_eq!(room_of("www.blog.example:8443", "/blog/1"), Ok(Some(0)));
    assert_eq!(room_of("www.blog.example", "/blog/1"), Ok(Some(1)));
    for odd in ["blog.example:1", "blog.example.", "Blog.example"] {
        assert_eq!(room_of(odd, "/blog/1"), Err(Doubtful), "{odd}");
        assert_eq!(room_of(odd, "/buy"), Ok(Some(1)), "{odd}");
    }
}

#[test]
fn ends_on_gives_a_bit_for_each_rule() {
    let (all, ends) = (routes(&["/*"]), routes(&["/order/complete", "POST /bye", "/order/*"]));
    let room = RoomRoutes {
        hosts: &[],
        routes: &all,
        except: &[],
        return_routes: &[],
        ends_on: &ends,
        names: None,
        active: ActiveRoutes::default(),
        per: None,
    };
    let router = Router::new(&[room], &[]);
    assert_eq!(
        find(&router, "/order/complete")
            .expect("clear")
            .room
            .expect("room")
            .ends_on,
        0b101
    );
    assert_eq!(find(&router, "/bye").expect("clear").room.expect("room").ends_on, 0);
}

#[test]
fn more_than_eight_limits_are_all_told() {
    let everything = routes(&["/*"]);
    let limits: Vec<(&[HostPattern], &[Route])> = (0..12).map(|_| (&[][..], everything.as_slice())).collect();
    let router = Router::new(&[], &limits);
    let hits = find(&router, "/").expect("clear").limits;
    assert_eq!(hits.iter().collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
}

//! Rooms, passes and limits of one shop at the host of another.

use super::{BOOKS, MUSIC, Two, at, inside};
use crate::reload::taken;
use crate::rooms::added::adds;
use crate::visitor::Visitor;

#[test]
fn a_path_waits_at_the_shop_whose_room_has_it_and_at_no_other() {
    let two = Two::new("", "");
    let gate = two.start();
    let _music = inside(&gate, MUSIC, "/buy");
    assert_eq!(at(&gate, MUSIC).goes_to("/buy").word(), "waiting");
    assert_eq!(at(&gate, MUSIC).goes_to("/free").word(), "waiting");
    let _books = inside(&gate, BOOKS, "/buy");
    assert_eq!(at(&gate, BOOKS).goes_to("/buy").word(), "waiting");
    assert!(at(&gate, BOOKS).goes_to("/free").is_the_shops());
    assert_eq!((two.asked("/buy"), two.asked("/free")), ((2, 2), (0, 1)));
}

/// SECURITY: a client may send any cookie to any host.
#[test]
fn a_pass_of_one_shops_room_is_nothing_at_another() {
    let two = Two::new("", "");
    let gate = two.start();
    let visitor = inside(&gate, MUSIC, "/one");
    let _books = inside(&gate, BOOKS, "/buy");
    let mut waiting = at(&gate, MUSIC);
    assert_eq!(waiting.goes_to("/one").word(), "waiting");
    let token = |of: &Visitor, kind: &str| {
        let (name, value) = of.jar.iter().find(|(name, _)| name.contains(kind)).expect(kind);
        (name.replace("shop", "books"), value.clone())
    };
    let (ticket, pass) = (token(&waiting, "ticket"), token(&visitor, "pass"));
    let mut renamed = at(&gate, BOOKS);
    renamed.jar.extend([ticket.clone(), pass.clone()]);
    let (ticket, pass) = (ticket.1, pass.1);
    assert_eq!(visitor.at_host(BOOKS).goes_to("/buy").word(), "waiting");
    assert_eq!(renamed.goes_to("/buy").word(), "waiting");
    let fields = format!("Ropeline-Pass: {pass}\r\nRopeline-Ticket: {ticket}\r\n");
    let answer = at(&gate, BOOKS).asks("GET /buy", &fields, "");
    assert!(!answer.is_the_shops() && answer.status == 503, "{answer:?}");
    assert_eq!(two.asked("/buy"), (0, 2));
    assert!(
        visitor.at_host(MUSIC).goes_to("/one").is_the_shops(),
        "it is good where it is from"
    );
}

/// Added while the gate runs, in front of one of the shops.
#[test]
fn an_added_room_names_its_upstream_and_is_refused_without_one_that_is_there() {
    let two = Two::new("", "");
    let gate = two.start();
    let room =
        |upstream: &str| format!("[[room]]\nname = \"late\"\n{upstream}routes = [\"/late\"]\nmode = \"closed\"\n");
    for (upstream, wrong) in [
        ("", "there are several upstreams"),
        ("upstream = \"gone\"\n", "no upstream is called"),
        ("upstream = \"../books\"\n", "\\\"../books\\\" is no name"),
        ("upstream = 1\n", "found a bare number"),
        (
            "upstream = \"books\"\nhosts = [\"music.test\"]\n",
            "music.test is no host of the upstream",
        ),
    ] {
        let refused = adds(&gate, &room(upstream));
        assert_eq!(refused.status, 422, "{refused:?}");
        assert!(refused.body.contains(wrong), "{refused:?}");
    }
    assert_eq!(adds(&gate, &room("upstream = \"books\"\n")).status, 201);
    assert_eq!(at(&gate, BOOKS).goes_to("/late").word(), "closed");
    assert_eq!(gate.asks_admin("/api/v1/rooms/late").json()["upstream"], "books");
    let _music = inside(&gate, MUSIC, "/late");
    assert_eq!(two.asked("/late"), (2, 0));
}

#[test]
fn a_limit_counts_the_requests_of_its_upstream_alone() {
    let limit =
        "[[limit]]\nname = \"search\"\nupstream = \"books\"\nroutes = [\"/search\"]\nrequests = 1\nwindow = \"1 h\"";
    let two = Two::new("", limit);
    two.site
        .edit("upstream = \"music\"", "upstream = \"music\"\nexcept = [\"/search\"]");
    let gate = two.start();
    let asks = |host: &str| at(&gate, host).goes_to("/search").status;
    assert_eq!([MUSIC, MUSIC, BOOKS, BOOKS, MUSIC].map(asks), [200, 200, 200, 429, 200]);
}

/// SECURITY: a shop that knew the key of another could sign requests to it.
#[test]
fn requests_are_signed_with_the_key_of_their_upstream_alone() {
    let two = Two::new("", "");
    for (host, id) in [(MUSIC, "for-music"), (BOOKS, "for-books")] {
        let hosts = format!("hosts = [\"{host}\"]");
        let key = format!("signature_key = {{ id = \"{id}\", secret = \"known-to-the-gate-and-to-{host}\" }}");
        two.site.edit(&hosts, &format!("{hosts}\n{key}"));
    }
    let gate = two.start();
    let signed_by = |host: &str| {
        let body = at(&gate, host).goes_to("/free").body.to_lowercase();
        let field = body.split("\r\n").find(|line| line.starts_with("ropeline-signature: "));
        ["for-music", "for-books"].map(|id| field.is_some_and(|field| field.contains(id)))
    };
    assert_eq!([MUSIC, BOOKS].map(signed_by), [[true, false], [false, true]]);
}

/// Without a session a client has half of what its upstream takes at once.
#[test]
fn sockets_reach_their_shop_and_are_bounded_by_each_upstream() {
    let two = Two::new("max_connections = 2", "");
    two.site
        .edit("upstream = \"music\"", "upstream = \"music\"\nmode = \"off\"");
    let gate = two.start();
    let mut music = at(&gate, MUSIC).opens_socket();
    assert!(music.is_alive());
    assert_eq!(at(&gate, MUSIC).asks_for_socket(), 503, "one of two");
    let mut books = inside(&gate, BOOKS, "/buy").opens_socket();
    assert!(books.is_alive() && music.is_alive());
    assert_eq!(two.asked("/socket"), (1, 1));
    let refused = "ropeline_limited_total{limit=\"sockets\",upstream=";
    assert_eq!(gate.figure(&format!("{refused}\"music\"}} ")), 1);
    assert_eq!(gate.figure(&format!("{refused}\"books\"}} ")), 0);
}

/// Each upstream counts its own: a client that fills one shop's bound is let through at the other.
#[test]
fn a_bound_on_requests_without_a_session_is_each_upstreams_own() {
    let two = Two::new("max_unadmitted_reads = 2", "");
    two.site.edit(
        "upstream = \"music\"",
        "upstream = \"music\"\nexcept = [\"/hold\", \"/free\"]",
    );
    two.site.edit(
        "routes = [\"/buy\"]",
        "routes = [\"/buy\", \"/hold\", \"/free\"]\nexcept = [\"/hold\", \"/free\"]",
    );
    let gate = two.start();
    let held = at(&gate, MUSIC).sets_out_for("/hold");
    two.site.shop.holds(1);
    assert_eq!(at(&gate, MUSIC).goes_to("/free").status, 503, "a client has half");
    assert!(at(&gate, BOOKS).goes_to("/free").is_the_shops());
    two.swap();
    taken(&two.site, &gate);
    assert_eq!(at(&gate, MUSIC).goes_to("/free").status, 503, "in another order too");
    assert!(at(&gate, BOOKS).goes_to("/free").is_the_shops());
    two.site.shop.let_go();
    assert!(held.answer().is_the_shops());
}

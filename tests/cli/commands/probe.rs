//! `ropeline probe` against a real gate before a real shop: its report matches the requests that reached the shop.

use crate::gate::{Gate, Site};
use crate::program::Ended;

fn probe(site: &Site, gate: &Gate, more: &[&str]) -> Ended {
    let (url, admin) = (format!("http://{}", gate.address), format!("http://{}", gate.admin));
    let base = ["probe", &url, "--admin", &admin, "--room", "shop"];
    site.run(&[&base, more].concat())
}

#[test]
fn nothing_reaches_the_shop_of_a_room_that_is_held() {
    let site = Site::new("mode = \"hold\"\nexcept = [\"/static/*\"]", "");
    let gate = site.start();
    gate.lives();
    let ended = probe(&site, &gate, &["--path", "/product/7", "--outside", "/static/app.css"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("\n0 found."), "{}", ended.out);
    for tried in [
        "a CORS preflight with a cookie",
        "GET /robots.txt?add-to-cart=7",
        "POST /static/app.css?wc-ajax=checkout",
        "a way back to //0",
        "the path as //product/7",
        "a visitor's own X_Forwarded_Uri",
        "Ropeline-Body named away by Connection",
        "a body that never comes",
        "a body that asks to be sent",
    ] {
        assert!(
            ended.out.contains(&format!("kept     {tried}")),
            "{tried}:\n{}",
            ended.out
        );
    }
    assert!(
        ended.out.contains("skipped  HTTP/2: it is not spoken there"),
        "{}",
        ended.out
    );
    for path in [
        "/robots.txt?add-to-cart=7",
        "/product/7",
        "/static/app.css?wc-ajax=checkout",
    ] {
        assert_eq!(site.shop.asked(path), 0, "{path}");
    }
}

#[test]
fn a_page_of_no_room_or_line_proves_nothing_and_is_told() {
    let site = Site::new(
        "mode = \"hold\"\nhosts = [\"shop.example\"]\nroutes = [\"/buy\"]\nper = \"?id\"",
        "",
    );
    let gate = site.start();
    gate.lives();
    let more = ["--host", "shop.example", "--parameter", "id", "--path"];
    for path in ["/buy", "/buy?id=%FF"] {
        let ended = probe(&site, &gate, &[&more[..], &[path]].concat());
        assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.err);
        assert!(ended.err.contains("nothing would be proved"), "{}", ended.err);
        assert!(ended.out.is_empty(), "{}", ended.out);
    }
    let ended = probe(&site, &gate, &[&more[..], &["/buy?id=7"]].concat());
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    assert!(
        ended.out.contains("kept     the line by ?id=5&%20id=7"),
        "{}",
        ended.out
    );
    // A path in no Latin letters is tried as well.
    let korean = probe(&site, &gate, &["--host", "shop.example", "--path", "/\u{c0c1}\u{d488}"]);
    assert_ne!(korean.code, None, "{}", korean.err);
    assert!(!korean.err.contains("panicked"), "{}", korean.err);
}

#[test]
fn a_wide_exception_and_a_back_door_are_found() {
    let site = Site::new("mode = \"hold\"\nexcept = [\"/static/*?*\"]", "");
    let gate = site.start();
    gate.lives();
    let shop = site.shop.url();
    let ended = probe(
        &site,
        &gate,
        &[
            "--path",
            "/product/7",
            "--outside",
            "/static/app.css",
            "--back-door",
            &shop,
        ],
    );
    assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.err);
    assert!(
        ended
            .out
            .contains("REACHED  GET /static/app.css?add-to-cart=7: 200, not from the gate"),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("REACHED  the back door"), "{}", ended.out);
    assert_eq!(site.shop.asked("/static/app.css?add-to-cart=7"), 1);
}

#[test]
fn http2_and_the_form_that_names_an_account_are_tried_too() {
    let site = Site::new(
        "mode = \"hold\"\nexcept = [\"/static/*?*\"]",
        "[room.identity]\nfrom = \"field\"\nname = \"email\"\non = \"POST /enter\"",
    );
    site.edit("[server]", "[server]\nh2c = true");
    let gate = site.start();
    gate.lives();
    let more = [
        "--path",
        "/product/7",
        "--account-path",
        "/enter",
        "--account",
        "email",
        "--outside",
        "/static/app.css",
    ];
    let ended = probe(&site, &gate, &more);
    for told in [
        "kept     a CORS preflight with a cookie over HTTP/2",
        "kept     a second Host over HTTP/2",
        "kept     an account named twice in a form: 400",
        "kept     an account in a body without a type: 415",
        "kept     an account behind a long field over HTTP/2: 413",
        "REACHED  GET /static/app.css?add-to-cart=7 over HTTP/2: 200, not from the gate",
    ] {
        assert!(ended.out.contains(told), "{told}:\n{}{}", ended.out, ended.err);
    }
    assert!(
        !ended.out.contains("a body that never comes over HTTP/2"),
        "{}",
        ended.out
    );
    // Once over each version.
    assert_eq!(site.shop.asked("/static/app.css?add-to-cart=7"), 2);
    assert_eq!(site.shop.asked("/enter"), 0);
    // A path at which no account is named: a form there is kept like any other, and that is not enough.
    let elsewhere = probe(&site, &gate, &["--account-path", "/product/7", "--account", "email"]);
    assert!(
        elsewhere.out.contains("WRONG    an account named twice in a form"),
        "{}",
        elsewhere.out
    );
    assert_eq!(elsewhere.code, Some(1));
}

#[test]
fn nothing_is_sent_to_what_is_not_the_operators_gate_nor_to_a_room_that_is_open() {
    let (held, open) = (Site::new("mode = \"hold\"", ""), Site::new("", ""));
    let (own, other) = (held.start(), open.start());
    own.lives();
    other.lives();
    let (url, admin) = (format!("http://{}", other.address), format!("http://{}", own.admin));
    let ended = held.run(&["probe", &url, "--admin", &admin, "--room", "shop"]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.err.contains("is no gate with the keys of this admin listener"),
        "{}",
        ended.err
    );
    let shop = open.shop.url();
    let ended = held.run(&["probe", &shop, "--admin", &admin, "--room", "shop"]);
    assert!(ended.err.contains("nothing else was sent"), "{}", ended.err);
    assert_eq!(open.shop.asked("/"), 0);
    let ended = probe(&open, &other, &[]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("hold the room first"), "{}", ended.err);
    assert!(ended.out.is_empty(), "{}", ended.out);
}

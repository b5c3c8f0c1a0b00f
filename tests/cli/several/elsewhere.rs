//! Other ways to several shops: a proxy that asks, and the probe of an operator.

use super::{BOOKS, MUSIC, Two, at, inside};

#[test]
fn a_proxy_that_asks_gets_the_answer_of_the_host_that_it_describes() {
    let two = Two::new("", "[forward_auth]\nproxies = [\"traefik\"]");
    two.site
        .edit("threads = 1", "threads = 1\ntrusted_proxies = [\"127.0.0.1/32\"]");
    let gate = two.start();
    let _music = inside(&gate, MUSIC, "/one");
    let ask = |host: &str, uri: &str| {
        let fields = format!(
            "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nX-Forwarded-For: 203.0.113.9\r\n\
             X-Forwarded-Proto: http\r\nX-Forwarded-Method: GET\r\nX-Forwarded-Host: {host}\r\nX-Forwarded-Uri: {uri}\r\n\
             Ropeline-Body: none\r\n"
        );
        let answer = at(&gate, "gate.test").asks("GET /.ropeline/forward/traefik", &fields, "");
        (answer.status, answer.word().to_owned())
    };
    assert_eq!(ask(BOOKS, "/free"), (200, "pass".to_owned()));
    assert_eq!(ask(MUSIC, "/free").1, "waiting");
    for host in ["other.test", "music.test:8443"] {
        assert_eq!(ask(host, "/free"), (421, "unknown_host".to_owned()), "{host}");
    }
    // Such a proxy sends it to the shop as it is spelled.
    assert_eq!(ask("Books.test", "/free").0, 400);
    assert_eq!(two.asked("/free"), (0, 0));
}

#[test]
fn the_probe_finds_no_way_round_the_line_of_any_shop() {
    let two = Two::new("", "");
    two.site.edit("[server]", "[server]\nh2c = true");
    two.site.edit(
        "upstream = \"music\"",
        "upstream = \"music\"\nmode = \"hold\"\nexcept = [\"/static/*\"]",
    );
    two.site
        .edit("upstream = \"books\"", "upstream = \"books\"\nmode = \"hold\"");
    let gate = two.start();
    let (url, admin) = (format!("http://{}", gate.address), format!("http://{}", gate.admin));
    let probe = |room: &str, host: &str, path: &str| {
        let base = [
            "probe", &url, "--admin", &admin, "--room", room, "--host", host, "--path", path,
        ];
        two.site.run(&base)
    };
    for (room, host, path) in [("shop", MUSIC, "/product/7"), ("books", BOOKS, "/buy")] {
        let ended = probe(room, host, path);
        assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
        assert!(
            ended.out.contains("\n0 found.") && ended.out.contains("over HTTP/2"),
            "{}",
            ended.out
        );
        assert_eq!(two.asked(path), (0, 0));
    }
    let ended = probe("books", MUSIC, "/buy");
    assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.err);
    assert!(
        ended
            .err
            .contains("no gate with the keys of this admin listener and a room books"),
        "{}",
        ended.err
    );
}

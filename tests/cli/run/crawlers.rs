//! Crawlers at a gate with a line: verified by a real name server, forwarded past the line within a bound, and never given a
//! place.

use std::time::Duration;

use crate::gate::{Gate, Site};
use crate::harness::dns::{Dns, Says, arpa, name};
use crate::reload;
use crate::until;
use crate::visitor::{Answer, Coming};

use hickory_resolver::proto::rr::RecordType;

const GOOGLE: &str = "192.0.2.66";
const NAME: &str = "crawl-192-0-2-66.googlebot.com";
const REFUTED: &str = "ropeline_crawler_lookups_total{found=\"refuted\"}";
const AGENT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

/// A site whose clients' addresses a proxy says, and whose crawlers this name server tells.
fn site(dns: &Dns, room: &str) -> Site {
    let tables = format!(
        "[[crawler]]\nname = \"googlebot\"\nagent = \"Googlebot\"\ndomains = [\"googlebot.com\"]\n\
         [[crawler]]\nname = \"duck\"\nagent = \"DuckDuckBot\"\nnetworks = [\"203.0.113.0/24\"]\n\
         [crawlers]\nresolvers = [\"{}\"]",
        dns.address
    );
    let site = Site::new(room, &tables);
    site.edit("threads = 1", "threads = 1\ntrusted_proxies = [\"127.0.0.1\"]");
    site
}

fn fields(agent: &str, address: &str) -> String {
    format!("Accept: text/html\r\nUser-Agent: {agent}\r\nX-Forwarded-For: {address}\r\n")
}

fn comes(gate: &Gate, line: &str, agent: &str, address: &str) -> Answer {
    gate.visitor().asks(line, &fields(agent, address), "")
}

fn duck(gate: &Gate, line: &str) -> Answer {
    comes(gate, line, "DuckDuckBot/1.1", "203.0.113.9")
}

/// 503 with a word and a time to come again: nothing to index, and no place.
fn is_put_off(answer: &Answer, word: &str) -> bool {
    let again = answer.header("retry-after").parse::<u32>().is_ok();
    let bare = answer.headers("set-cookie").is_empty() && answer.body == word;
    answer.status == 503 && answer.word() == word && again && bare
}

fn waiting(gate: &Gate) -> u64 {
    gate.asks_admin("/api/v1/rooms/shop").json()["waiting"]
        .as_u64()
        .expect("a figure")
}

#[test]
fn a_crawler_is_put_off_until_it_is_verified_and_then_passes_without_a_place() {
    let dns = Dns::open();
    let site = site(&dns, "");
    let gate = site.start();
    let _inside = gate.insider();
    let _first = gate.waits(1);
    dns.says(&arpa(GOOGLE), RecordType::PTR, Says::Fails);
    let first = comes(&gate, "GET /", AGENT, GOOGLE);
    assert!(is_put_off(&first, "waiting"), "{first:?}");
    until("the failed lookup", || {
        (gate.figure("ropeline_crawler_lookups_total{found=\"failed\"}") == 1).then_some(())
    });
    let failed = comes(&gate, "GET /", AGENT, GOOGLE);
    assert!(
        is_put_off(&failed, "waiting"),
        "what cannot be told gets no page: {failed:?}"
    );

    let other = "192.0.2.67";
    dns.names(other, 3_600, &[NAME]);
    dns.has(NAME, 3_600, &[other]);
    until("a verified crawler", || {
        comes(&gate, "GET /item", AGENT, other).is_the_shops().then_some(())
    });
    let asked = dns.asked(other);
    for line in ["GET /", "HEAD /", "GET /style.css"] {
        let answer = comes(&gate, line, AGENT, other);
        assert!(answer.status == 200 && answer.word().is_empty(), "{answer:?}");
        assert!(answer.headers("set-cookie").is_empty(), "{answer:?}");
    }
    let form = gate.visitor().asks(
        "POST /",
        &format!(
            "{}Sec-Fetch-Mode: navigate\r\nContent-Length: 0\r\n",
            fields(AGENT, other)
        ),
        "",
    );
    assert!(
        form.status == 503 || form.word() == "waiting",
        "it buys nothing: {form:?}"
    );
    let before = waiting(&gate);
    assert!(comes(&gate, "GET /", AGENT, other).is_the_shops());
    assert_eq!((waiting(&gate), dns.asked(other)), (before, asked));
    assert!(gate.figure("ropeline_requests_total{room=\"shop\",outcome=\"crawler\"}") >= 4);
    assert_eq!(gate.figure("ropeline_crawlers_verified "), 1);
    // Its knowledge outlives a change of the file.
    site.edit("users = 1", "users = 1\ncrawler_max = 0");
    reload::taken(&site, &gate);
    assert!(
        is_put_off(&comes(&gate, "GET /", AGENT, other), "waiting"),
        "none is forwarded now"
    );
    site.edit("crawler_max = 0", "crawler_max = 1");
    reload::taken(&site, &gate);
    assert!(comes(&gate, "GET /", AGENT, other).is_the_shops());
    assert_eq!(dns.asked(other), asked);
}

#[test]
fn who_only_says_to_be_a_crawler_gets_neither_the_page_nor_a_place() {
    let dns = Dns::open();
    let site = site(&dns, "");
    let gate = site.start();
    let _inside = gate.insider();
    // The name of a crawler, which is not the address's to give.
    dns.names("192.0.2.13", 3_600, &[NAME]);
    dns.has(NAME, 3_600, &[GOOGLE]);
    // And one in a domain that looks like it.
    dns.names("192.0.2.14", 3_600, &["crawl.evilgooglebot.com"]);
    dns.has("crawl.evilgooglebot.com", 3_600, &["192.0.2.14"]);
    for (address, lookups) in [("192.0.2.13", 1), ("192.0.2.14", 2)] {
        // Before the lookup, and after it has shown what the address is not.
        let asks = || {
            let answer = comes(&gate, "GET /", AGENT, address);
            assert!(is_put_off(&answer, "waiting"), "{answer:?}");
        };
        asks();
        until("the lookup", || (gate.figure(REFUTED) == lookups).then_some(()));
        asks();
    }
    for agent in [AGENT, "DuckDuckBot/1.1", "SomeBot/2.0 (+https://bot.example/)"] {
        let elsewhere = comes(&gate, "GET /", agent, "203.0.114.1");
        assert!(is_put_off(&elsewhere, "waiting"), "{agent}: {elsewhere:?}");
    }
    assert_eq!((waiting(&gate), gate.figure("ropeline_crawlers_verified ")), (0, 0));
    assert!(dns.asked_in_all() > 0 && name(NAME).is_fqdn());
}

#[test]
fn so_many_are_past_the_line_at_once_and_no_more() {
    let dns = Dns::open();
    let site = site(&dns, "crawler_max = 2");
    let gate = site.start();
    let _inside = gate.insider();
    let held: Vec<Coming> = (0..2)
        .map(|_| {
            gate.visitor()
                .begins("GET /hold", &fields("DuckDuckBot/1.1", "203.0.113.9"), "")
        })
        .collect();
    site.shop.holds(2);
    let third = duck(&gate, "GET /");
    assert!(is_put_off(&third, "waiting"), "{third:?}");
    site.shop.let_go();
    for coming in held {
        assert!(coming.answer().is_the_shops());
    }
    until("room for another", || duck(&gate, "GET /").is_the_shops().then_some(()));
}

/// Shops continue to work when no client waits for the answer.
#[test]
fn a_crawler_that_hangs_up_is_past_the_line_until_the_shop_has_answered() {
    let dns = Dns::open();
    let site = site(&dns, "crawler_max = 1");
    let gate = site.start();
    let _inside = gate.insider();
    let fields = fields("DuckDuckBot/1.1", "203.0.113.9");
    let coming = gate.visitor().begins("GET /hold", &fields, "");
    site.shop.holds(1);
    drop(coming);
    // Long enough for a gate that lets it go to have done so.
    for _ in 0..20 {
        std::thread::park_timeout(Duration::from_millis(20));
        assert!(is_put_off(&duck(&gate, "GET /"), "waiting"));
    }
    site.shop.let_go();
    until("room for another", || duck(&gate, "GET /").is_the_shops().then_some(()));
}

#[test]
fn nobody_reads_what_is_held_closed_or_not_on_sale_yet() {
    let dns = Dns::open();
    for (room, word) in [
        ("mode = \"closed\"", "closed"),
        ("mode = \"hold\"", "waiting"),
        (
            "prequeue_from = \"2020-12-01T13:00:00Z\"\nopens_at = \"2999-12-01T13:00:00Z\"",
            "waiting",
        ),
        ("opens_at = \"2999-12-01T13:00:00Z\"", "early"),
    ] {
        let site = site(&dns, room);
        let gate = site.start();
        gate.lives();
        let answer = duck(&gate, "GET /");
        assert!(is_put_off(&answer, word), "{room}: {answer:?}");
    }
    assert_eq!(dns.asked_in_all(), 0);
}

#[test]
fn a_proxy_that_asks_is_told_no_since_nobody_could_count() {
    let dns = Dns::open();
    let site = site(&dns, "");
    site.edit("[[room]]", "[forward_auth]\nproxies = [\"traefik\"]\n[[room]]");
    let gate = site.start();
    let _inside = gate.insider();
    let asked = "X-Forwarded-Method: GET\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: shop.example\r\nX-Forwarded-Uri: /\r\n\
                 Ropeline-Body: none\r\n";
    let fields = format!("{}{asked}", fields("DuckDuckBot/1.1", "203.0.113.9"));
    let answer = gate.visitor().asks("GET /.ropeline/forward/traefik", &fields, "");
    assert!(is_put_off(&answer, "waiting"), "{answer:?}");
}

#[test]
fn check_says_which_name_servers_will_be_asked() {
    let dns = Dns::open();
    let site = site(&dns, "except = [\"/static/*\"]");
    let ended = site.run(&["check"]);
    let line = format!(
        "crawlers are looked up at {}, as [crawlers] resolvers says\n",
        dns.address
    );
    assert!(ended.code == Some(0) && ended.out.ends_with(&line), "{ended:?}");
    assert_eq!(dns.asked_in_all(), 0, "it asks nobody");
    let site = Site::new("except = [\"/static/*\"]", "");
    assert!(!site.run(&["check"]).out.contains("crawlers"));
}

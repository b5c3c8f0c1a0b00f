//! Crawlers recognised by a real name server on loopback.

use std::time::Duration;

use hickory_resolver::proto::rr::rdata::PTR;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use ropeline_testkit::harness::dns::{Dns, Says, arpa, name};

use super::known::Found;
use super::*;
use crate::metrics::Metrics;
use crate::time;

fn settings(dns: &Dns) -> config::Crawlers {
    let crawler = |name: &str, domains: &[&str], networks: &[&str]| Crawler {
        name: name.to_owned(),
        agent: name.to_owned(),
        domains: domains.iter().map(|&domain| domain.to_owned()).collect(),
        networks: networks.iter().map(|network| network.parse().unwrap()).collect(),
    };
    config::Crawlers {
        list: vec![
            crawler("googlebot", &["googlebot.com", "google.com"], &[]),
            crawler("bingbot", &["search.msn.com"], &["198.51.100.0/24"]),
            crawler("duckduckbot", &[], &["203.0.113.0/24"]),
        ],
        resolvers: vec![dns.address],
        lookups_per_second: 1_000,
        remember: 1_000,
    }
}

async fn look_up(dns: &Dns, address: &str) -> Found {
    let lookup = Lookup::new(&settings(dns), &[dns.address]).unwrap();
    lookup.look_up((address.parse().unwrap(), 0)).await
}

const GOOGLE: &str = "192.0.2.66";
const GOOGLE_V6: &str = "2001:db8:66::1";
const NAME: &str = "crawl-192-0-2-66.googlebot.com";

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[tokio::test]
async fn an_address_whose_name_has_it_is_verified_for_the_shorter_time() {
    let dns = Dns::open();
    dns.names(GOOGLE, 3_600, &[NAME]);
    dns.has(NAME, 900, &["192.0.2.1", GOOGLE]);
    assert_eq!(look_up(&dns, GOOGLE).await, Found::Verified(secs(900)));
    dns.names(
        GOOGLE,
        60,
        &["other.example", "x.other.example", "CRAWL-192-0-2-66.GoogleBot.com"],
    );
    assert_eq!(
        look_up(&dns, GOOGLE).await,
        Found::Verified(secs(60)),
        "one of several, in any case"
    );
    dns.names(GOOGLE_V6, 3_600, &["geo-crawl-1.geo.googlebot.com"]);
    dns.has("geo-crawl-1.geo.googlebot.com", 3_600, &["2001:db8:66::2", GOOGLE_V6]);
    assert_eq!(look_up(&dns, GOOGLE_V6).await, Found::Verified(secs(3_600)));
}

#[tokio::test]
async fn a_name_that_its_domain_does_not_bear_out_is_worth_nothing() {
    let dns = Dns::open();
    dns.names(GOOGLE, 700, &[NAME]);
    assert_eq!(look_up(&dns, GOOGLE).await, Found::Refuted(secs(700)), "no such name");
    dns.has(NAME, 300, &["192.0.2.67"]);
    assert_eq!(
        look_up(&dns, GOOGLE).await,
        Found::Refuted(secs(700)),
        "another address"
    );
    dns.names(GOOGLE_V6, 700, &[NAME]);
    assert_eq!(
        look_up(&dns, GOOGLE_V6).await,
        Found::Refuted(secs(700)),
        "addresses of the other kind only"
    );
    assert_eq!(
        look_up(&dns, "192.0.2.99").await,
        Found::Refuted(secs(60)),
        "an address without a name"
    );
}

#[tokio::test]
async fn a_name_in_another_domain_is_not_even_asked_for() {
    let dns = Dns::open();
    let mut sly = Name::from_labels([&b"x.googlebot"[..], b"com"]).unwrap();
    sly.set_fqdn(true);
    let others = [
        "evilgooglebot.com",
        "googlebot.com.evil.com",
        "googlebot.com.",
        "com",
        ".",
    ];
    for other in &others[..2] {
        dns.has(other, 300, &[GOOGLE]);
    }
    for other in [name(others[0]), name(others[1]), name("com"), Name::root(), sly] {
        let record = RData::PTR(PTR(other.clone()));
        dns.says(&arpa(GOOGLE), RecordType::PTR, Says::Records(600, vec![record]));
        let before = dns.asked_in_all();
        assert_eq!(look_up(&dns, GOOGLE).await, Found::Refuted(secs(600)), "{other}");
        assert_eq!(dns.asked_in_all(), before + 1, "{other}");
    }
    dns.names(GOOGLE, 600, &["a.msn.com", NAME]);
    dns.has("a.msn.com", 600, &[GOOGLE]);
    dns.has(NAME, 600, &[GOOGLE]);
    let lookup = Lookup::new(&settings(&dns), &[dns.address]).unwrap();
    let as_bing = lookup.look_up((GOOGLE.parse().unwrap(), 1)).await;
    assert_eq!(
        as_bing,
        Found::Refuted(secs(600)),
        "one crawler's address is no other's"
    );
}

#[tokio::test]
async fn an_alias_is_followed_both_ways() {
    let dns = Dns::open();
    // Delegated as in RFC 2317.
    let handed_on = "66.64-127.2.0.192.in-addr.arpa";
    dns.is_alias("66.2.0.192.in-addr.arpa", RecordType::PTR, handed_on);
    let record = RData::PTR(PTR(name(NAME)));
    dns.says(&name(handed_on), RecordType::PTR, Says::Records(600, vec![record]));
    dns.is_alias(NAME, RecordType::A, "pool.googlebot.com");
    dns.has("pool.googlebot.com", 300, &[GOOGLE]);
    assert_eq!(look_up(&dns, GOOGLE).await, Found::Verified(secs(300)));
}

#[tokio::test]
async fn what_cannot_be_answered_is_no_answer() {
    let dns = Dns::open();
    for says in [Says::Fails, Says::Silence] {
        dns.says(&arpa(GOOGLE), RecordType::PTR, says.clone());
        assert_eq!(look_up(&dns, GOOGLE).await, Found::Failed);
        dns.names(GOOGLE, 600, &[NAME]);
        dns.says(&name(NAME), RecordType::A, says);
        assert_eq!(look_up(&dns, GOOGLE).await, Found::Failed);
    }
    let names = ["b.googlebot.com", NAME];
    dns.names(GOOGLE, 600, &names);
    dns.has(names[0], 600, &[GOOGLE]);
    assert_eq!(
        look_up(&dns, GOOGLE).await,
        Found::Verified(secs(600)),
        "one that answers is enough"
    );
}

#[tokio::test]
async fn an_answer_too_long_for_udp_comes_over_tcp_and_a_few_names_are_tried() {
    let dns = Dns::open();
    let many = |last: &str| {
        let fillers = (0..300).map(|n| format!("a-name-that-takes-some-room-{n}.example"));
        let names = fillers.chain([last.to_owned()]);
        names.map(|own| RData::PTR(PTR(name(&own)))).collect::<Vec<RData>>()
    };
    dns.says(&arpa(GOOGLE), RecordType::PTR, Says::Long(many(NAME)));
    dns.has(NAME, 600, &[GOOGLE]);
    assert_eq!(look_up(&dns, GOOGLE).await, Found::Verified(secs(300)));
    let crowd: Vec<String> = (0..50).map(|n| format!("c{n}.googlebot.com")).collect();
    let crowd: Vec<&str> = crowd.iter().map(String::as_str).chain([NAME]).collect();
    dns.names(GOOGLE, 600, &crowd);
    let before = dns.asked_in_all();
    assert_eq!(look_up(&dns, GOOGLE).await, Found::Refuted(secs(600)));
    assert_eq!(dns.asked_in_all() - before, 5);
}

fn crawlers(settings: &config::Crawlers) -> Crawlers {
    Crawlers::start(settings, None, Metrics::new().crawlers).unwrap()
}

const AGENT: &[u8] = b"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

/// Asks until the standing is this; panics after a minute and a half.
fn becomes(crawlers: &Crawlers, agent: &[u8], address: &str, right: Verification) {
    let end = time::uptime() + secs(90);
    let address = address.parse().unwrap();
    while crawlers.judge(agent, address, time::uptime()) != Some(right) {
        assert!(time::uptime() < end, "never: {right:?}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn the_first_request_is_not_kept_waiting_and_later_ones_know() {
    let dns = Dns::open();
    dns.names(GOOGLE, 3_600, &[NAME]);
    dns.has(NAME, 3_600, &[GOOGLE]);
    let crawlers = crawlers(&settings(&dns));
    let judge = |agent: &[u8], address: &str| crawlers.judge(agent, address.parse().unwrap(), time::uptime());
    assert_eq!(judge(AGENT, GOOGLE), Some(Verification::Unknown));
    becomes(&crawlers, AGENT, GOOGLE, Verification::Verified);
    assert_eq!(judge(AGENT, "::ffff:192.0.2.66"), Some(Verification::Verified));
    becomes(&crawlers, AGENT, "192.0.2.1", Verification::Refuted);
    becomes(&crawlers, b"bingbot/2.0", GOOGLE, Verification::Refuted);
    for _ in 0..100 {
        judge(AGENT, GOOGLE);
        judge(AGENT, "192.0.2.1");
    }
    assert_eq!(dns.asked(GOOGLE), 2, "as each of two crawlers, once");
    assert_eq!(dns.asked("192.0.2.1"), 1);
    assert_eq!(judge(b"Mozilla/5.0 (X11; Linux x86_64)", "192.0.2.5"), None);
    assert_eq!(judge(b"", "192.0.2.5"), None);
    assert_eq!(
        dns.asked("192.0.2.5"),
        0,
        "who says nothing of the kind is not looked up"
    );
}

#[test]
fn published_networks_need_no_dns_and_nothing_runs_where_there_is_nothing_else() {
    let dns = Dns::open();
    let mut settings = settings(&dns);
    let with_domains = crawlers(&settings);
    let judge = |crawlers: &Crawlers, agent: &[u8], address: &str| {
        crawlers.judge(agent, address.parse().unwrap(), time::uptime())
    };
    assert_eq!(
        judge(&with_domains, b"DuckDuckBot/1.1", "203.0.113.9"),
        Some(Verification::Verified)
    );
    assert_eq!(
        judge(&with_domains, b"DuckDuckBot/1.1", "203.0.114.9"),
        Some(Verification::Refuted)
    );
    assert_eq!(
        judge(&with_domains, b"bingbot/2.0", "198.51.100.7"),
        Some(Verification::Verified)
    );
    assert_eq!(dns.asked_in_all(), 0);
    settings.list.retain(|crawler| crawler.domains.is_empty());
    settings.resolvers.clear();
    let without = crawlers(&settings);
    assert!(without.desk.is_none());
    assert_eq!(judge(&without, AGENT, GOOGLE), None);
    assert!(resolvers(&settings).unwrap().is_empty());
    settings.list.clear();
    assert_eq!(judge(&crawlers(&settings), b"DuckDuckBot/1.1", "203.0.113.9"), None);
}

#[test]
fn a_flood_of_made_up_crawlers_neither_floods_dns_nor_unseats_a_verified_one() {
    let dns = Dns::open();
    dns.names(GOOGLE, 3_600, &[NAME]);
    dns.has(NAME, 3_600, &[GOOGLE]);
    let settings = config::Crawlers {
        lookups_per_second: 20,
        ..settings(&dns)
    };
    let crawlers = crawlers(&settings);
    becomes(&crawlers, AGENT, GOOGLE, Verification::Verified);
    let begun = time::uptime();
    for n in 0..20_000_u32 {
        let address = IpAddr::from((0x0a00_0000 + n * 80).to_be_bytes());
        assert_ne!(
            crawlers.judge(AGENT, address, time::uptime()),
            Some(Verification::Verified)
        );
    }
    let asked = u64::try_from(dns.asked_in_all()).unwrap();
    // Each takes a question, and each question one try more at most.
    let most = 2 * (20 * time::uptime().saturating_sub(begun).as_secs() + 40);
    assert!(asked <= most, "{asked} questions, {most} at most");
    assert_eq!(
        crawlers.judge(AGENT, GOOGLE.parse().unwrap(), time::uptime()),
        Some(Verification::Verified)
    );
}

#[test]
fn other_settings_keep_what_is_verified_of_the_same_domains() {
    let dns = Dns::open();
    dns.names(GOOGLE, 3_600, &[NAME]);
    dns.has(NAME, 3_600, &[GOOGLE]);
    let before = settings(&dns);
    let first = crawlers(&before);
    becomes(&first, b"googlebot", GOOGLE, Verification::Verified);
    let mut after = before.clone();
    after.list.swap(0, 1);
    after.remember = 500;
    assert!(first.are_of(&before) && !first.are_of(&after));
    let start = |settings: &_| Crawlers::start(settings, Some(&first), Metrics::new().crawlers).unwrap();
    let judge = |crawlers: &Crawlers| crawlers.judge(b"googlebot", GOOGLE.parse().unwrap(), time::uptime());
    assert_eq!(judge(&start(&after)), Some(Verification::Verified), "at once");
    after.list[1].domains.pop();
    assert_eq!(judge(&start(&after)), Some(Verification::Unknown), "other domains");
}

#[test]
fn who_is_asked_may_change_and_the_rest_stay() {
    let (dns, other) = (Dns::open(), Dns::open());
    let before = settings(&dns);
    let mut crawlers = crawlers(&before);
    assert!(crawlers.are_of(&before));
    // As where the system's own have become others.
    crawlers.resolvers = Arc::new([other.address]);
    assert!(!crawlers.are_of(&before));
}

#[test]
fn a_name_far_behind_in_an_agent_is_none() {
    let mut agent = vec![b'x'; MOST_OF_AN_AGENT - 9];
    agent.extend_from_slice(b"GoogleBot");
    assert!(names(&agent, "googlebot"));
    agent.insert(0, b'x');
    assert!(!names(&agent, "googlebot") && !names(b"", "googlebot"));
}

#[test]
fn the_thread_ends_with_the_last_of_its_handles() {
    let dns = Dns::open();
    let crawlers = crawlers(&settings(&dns));
    let known = Arc::downgrade(&crawlers.desk.as_ref().unwrap().known);
    becomes(&crawlers, AGENT, "192.0.2.1", Verification::Refuted);
    drop(crawlers.clone());
    assert!(known.upgrade().is_some());
    drop(crawlers);
    let end = time::uptime() + secs(90);
    while known.upgrade().is_some() {
        assert!(time::uptime() < end, "it goes on");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

use std::time::Duration;

use super::*;
use crate::room::Settings;

const SHOP: &str = "http://127.0.0.1:3000";

fn defaults() -> Config {
    Config::load(None, &Overrides::none().text("upstream.url", "--upstream", SHOP)).expect("the defaults are good")
}

#[test]
fn the_defaults_are_the_designs() {
    let config = defaults();
    let room = &config.rooms[0];
    assert_eq!(room.settings, Settings::default());
    assert_eq!(
        (config.rooms.len(), room.name.as_str(), room.outage_extension_ms),
        (1, "main", 300_000)
    );
    assert_eq!((room.end_grace_ms, room.waiting_status.as_u16()), (30_000, 200));
    assert!(room.routes[0].is_everything() && room.except.is_empty());
    assert_eq!(config.server.first_byte_timeout, Duration::from_secs(10));
    assert_eq!((config.server.max_head, config.server.max_body), (32 << 10, 100 << 20));
    let [upstream] = &config.upstreams[..] else {
        panic!("a shop is set above");
    };
    let servers: Vec<String> = upstream.servers.iter().map(|server| server.place.to_string()).collect();
    assert_eq!(servers, ["127.0.0.1:3000"]);
    assert_eq!(upstream.connect_timeout, Duration::from_secs(2));
    assert_eq!(upstream.response_timeout, Duration::from_mins(1));
    assert!(config.forward_auth.is_empty());
    let folder = "./ropeline-data".into();
    assert_eq!(config.store.kind, StoreKind::Embedded { folder });
    assert_eq!(
        (config.store.prefix.as_str(), &config.store.archive),
        ("ropeline", &None)
    );
    assert_eq!(config.store.log_keep, Duration::from_hours(168));
}

#[test]
fn a_wider_bound_that_is_left_at_its_default_gives_way_to_what_is_set_within_it() {
    let limits = |own: &str| {
        let text = format!("[upstream]\nurl = \"{SHOP}\"\n[limits]\n{own}");
        let (config, _) = check(&text, "limits").finish().expect("no mistake");
        (config.describe(), config.own_limits)
    };
    let rate = |rate: Rate| (rate.requests.get(), rate.window_ms);
    let (_, shipped) = limits("");
    assert_eq!(rate(shipped.join_network), (1_500, 60_000));
    let (_, small) = limits("join = { requests = 500, window = \"1 min\" }");
    assert_eq!(
        (small.join_network, small.join_wide),
        (shipped.join_network, shipped.join_wide)
    );
    let (_, written) = limits(
        "join = { requests = 2000, window = \"1 min\" }\njoin_network = { requests = 1500, window = \"1 min\" }",
    );
    assert_eq!(written.join_network, written.join, "as in a copy of the shipped file");
    let (told, great) = limits("join = { requests = 40000, window = \"1 min\" }");
    assert_eq!((great.join_network, great.join_wide), (great.join, great.join));
    assert!(
        told.contains("join_wide = { requests = 40000, window = \"1 min\" }"),
        "{told}"
    );
    let (_, quick) = limits("join = { requests = 300, window = \"10s\" }");
    assert_eq!(
        rate(quick.join_network),
        (1_500, 50_000),
        "its burst, as fast as the client's"
    );
    assert_eq!(quick.join_wide, shipped.join_wide);
    let (_, middle) = limits("join_network = { requests = 50000, window = \"10 min\" }");
    assert_eq!(
        rate(middle.join_wide),
        (50_000, 100_000),
        "the network's burst, as fast as its own"
    );
    let (told, prefixes) = limits("join_network_prefix = { ipv4 = 12, ipv6 = 48 }");
    let wide = (prefixes.join_wide_prefix.ipv4, prefixes.join_wide_prefix.ipv6);
    assert_eq!(wide, (12, 40), "each kind by itself");
    assert!(told.contains("join_wide_prefix = { ipv4 = 12, ipv6 = 40 }"), "{told}");
    let (_, asked) = limits("status = { requests = 9000, window = \"1s\" }");
    assert_eq!(asked.status_network, asked.status);
}

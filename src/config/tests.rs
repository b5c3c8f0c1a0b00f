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
        (1, "shop", 300_000)
    );
    assert_eq!((room.end_grace_ms, room.waiting_status.as_u16()), (30_000, 200));
    assert!(room.routes[0].is_everything() && room.except.is_empty());
    assert_eq!(config.server.first_byte_timeout, Duration::from_secs(10));
    assert_eq!((config.server.max_head, config.server.max_body), (32 << 10, 100 << 20));
    let upstream = config.upstream.expect("a shop is set above");
    let servers: Vec<String> = upstream.servers.iter().map(|server| server.place.to_string()).collect();
    assert_eq!(servers, ["127.0.0.1:3000"]);
    assert_eq!(upstream.connect_timeout, Duration::from_secs(2));
    assert_eq!(upstream.response_timeout, Duration::from_mins(1));
    assert!(config.forward_auth.is_empty());
    let folder = "./anteroom-data".into();
    assert_eq!(config.store.kind, StoreKind::Embedded { folder });
    assert_eq!(
        (config.store.prefix.as_str(), &config.store.archive),
        ("anteroom", &None)
    );
    assert_eq!(config.store.log_keep, Duration::from_hours(168));
}

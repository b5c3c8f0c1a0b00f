//! Upgrades on an open path: a tunnel of HTTP would carry requests about which the proxy does not ask.

use crate::http::Wire;

use super::{House, ONE};

const WEBSOCKET: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[tokio::test]
async fn the_shop_is_asked_for_no_tunnel_but_a_websocket() {
    let house = House::open(ONE, "").await;
    let other = |protocol: &str| format!("Connection: Upgrade\r\nUpgrade: {protocol}\r\n");
    let asked = [
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"
            .to_owned(),
        other("h2c"),
        other("H2C"),
        other("h2"),
        other("HTTP/2.0"),
        other("TLS/1.3"),
        WEBSOCKET.replace("websocket", "websocket, h2c"),
        WEBSOCKET.replace("websocket", "h2c, websocket"),
        WEBSOCKET.replace("Upgrade: websocket\r\n", "Upgrade: websocket\r\nUpgrade: h2c\r\n"),
        WEBSOCKET.replace("Upgrade: websocket\r\n", "Upgrade: h2c\r\nUpgrade: websocket\r\n"),
    ];
    for lines in &asked {
        let mut wire = Wire::open_from("127.0.2.1".parse().unwrap(), house.entrance)
            .await
            .unwrap();
        let request = format!("GET /static/x HTTP/1.1\r\nHost: shop.test\r\n{lines}\r\n");
        let answer = wire.ask(request.as_bytes()).await.unwrap();
        assert!(
            answer.is_the_shops() || answer.status() >= 400,
            "{lines}{}",
            answer.head
        );
    }
    for seen in house.shop.seen() {
        let upgrades: Vec<&str> = seen.request.fields("upgrade").collect();
        assert!(
            upgrades.is_empty() || upgrades == ["websocket"],
            "{}",
            seen.request.head
        );
    }
    // Nor is a WebSocket in order held up.
    let mut wire = Wire::open_from("127.0.2.1".parse().unwrap(), house.entrance)
        .await
        .unwrap();
    let request = format!("GET /static/socket HTTP/1.1\r\nHost: shop.test\r\n{WEBSOCKET}\r\n");
    assert!(wire.ask(request.as_bytes()).await.unwrap().is_the_shops());
    let seen = house.shop.seen_of("/static/socket");
    assert_eq!(seen[0].request.field("upgrade"), Some("websocket"));
}

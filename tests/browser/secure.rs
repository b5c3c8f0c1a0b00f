//! TLS and HTTP/2 for visitors: the shop, its socket and its stream on one connection, and the waiting page.

use serde_json::Value;

use crate::hall;
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::gate::Gate;
use crate::harness::look::Look;

#[tokio::test]
async fn shop_socket_and_line_are_all_on_one_connection_of_http2() {
    let folder = tempfile::tempdir().expect("a folder for the certificate");
    let (gate, address) = hall::open_secured(folder.path(), 1, "firm_within = \"5s\"\n").await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&format!("{address}/seats")).await;
    browser.shows("120 seats are free.").await;
    assert_eq!(protocol(&browser).await, "h2");
    let shaken = gate.metric("ropeline_tls_handshakes_total").await;
    browser.open(&format!("{address}/ticker")).await;
    browser.shows("connected").await;
    // Over HTTP/1.1 the socket would have needed a connection of its own.
    assert_eq!(gate.metric("ropeline_tls_handshakes_total").await, shaken);
    counts(&gate, "ropeline_tunnels", 1).await;

    let waiting = Browser::start(Look::default()).await;
    waiting.open(&format!("{address}/seats")).await;
    waiting.awaits("h1").await;
    assert_eq!(protocol(&waiting).await, "h2");
    waiting.screenshot("waiting-http2").await;
    counts(&gate, "ropeline_streams", 1).await;
    browser.open(&format!("{address}/.ropeline/health")).await;
    let left = "return fetch('/.ropeline/rooms/hall/leave', { method: 'POST' }).then(a => a.status)";
    let status = browser.client.execute(left, Vec::new()).await.expect("a script");
    assert!(status.as_u64().is_some_and(|status| status < 400), "{status}");
    waiting.shows("Choose your seats").await;
    counts(&gate, "ropeline_tunnels", 0).await;
}

/// A browser may know of a connection before the gate has counted it.
async fn counts(gate: &Gate, name: &str, wanted: u64) {
    eventually(name, async || (gate.metric(name).await == wanted).then_some(())).await;
}

/// The protocol by which the page was loaded (ALPN).
async fn protocol(browser: &Browser) -> String {
    let asked = "return performance.getEntriesByType('navigation')[0].nextHopProtocol";
    let said = browser.client.execute(asked, Vec::new()).await.expect("a script");
    said.as_str().map_or_else(|| Value::to_string(&said), str::to_owned)
}

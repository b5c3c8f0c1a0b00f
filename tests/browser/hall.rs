//! The demo's shop with a gate before it, and its visitors' actions.

use std::future::pending;
use std::net::SocketAddr;
use std::path::Path;

use fantoccini::wd::WindowHandle;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::harness::browser::Browser;
use crate::harness::certificates::Authority;
use crate::harness::eventually;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;

/// The room's name.
pub const ROOM: &str = "hall";

/// Starts the shop, which ends with the test's runtime, and a gate with a room of `capacity` before it. `extra` are
/// further lines of the room.
pub async fn open(capacity: u32, extra: &str) -> Gate {
    Gate::start(shop().await, &room(capacity, extra))
}

/// As [`open`], with these further lines of `[server]`.
pub async fn open_serving(server: &str, capacity: u32, extra: &str) -> Gate {
    Gate::serving(shop().await, server, &room(capacity, extra))
}

/// As [`open`], with a gate on the shared store at this URL.
pub async fn open_on(store: &str, capacity: u32, extra: &str) -> Gate {
    Gate::sharing(store, shop().await, &room(capacity, extra))
}

fn room(capacity: u32, extra: &str) -> String {
    format!(
        "[[room]]\nname = \"{ROOM}\"\nroutes = [\"/*\"]\nexcept = [\"/static/*\"]\nreturn_routes = [\"/checkout/return\"]\n\
         total_active_users = {capacity}\nends_on = [{{ route = \"/checkout/complete\", status = 200 }}]\n\
         end_grace = \"1s\"\n{extra}"
    )
}

/// As [`open`], over TLS too, with a certificate in `folder`; the address there comes with the gate.
pub async fn open_secured(folder: &Path, capacity: u32, extra: &str) -> (Gate, String) {
    let (cert, key) = Authority::new().issue(&["localhost"]).write(folder, "hall");
    let tls = format!(
        "[tls]\nlisten = [\"127.0.0.1:0\"]\ncertificates = [{{ cert_file = \"{}\", key_file = \"{}\" }}]\n",
        cert.display(),
        key.display()
    );
    let gate = Gate::start(shop().await, &format!("{}\n{tls}", room(capacity, extra)));
    let said = gate.said();
    let port = said
        .split_once("\"tls\":\"127.0.0.1:")
        .and_then(|(_, rest)| rest.split('"').next());
    let address = format!(
        "https://localhost:{}",
        port.unwrap_or_else(|| panic!("no port in {said}"))
    );
    (gate, address)
}

async fn shop() -> SocketAddr {
    let bind = async || TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let (shop, provider) = (bind().await, bind().await);
    let address = shop.local_addr().expect("bound above");
    tokio::spawn(ropeline::demo::serve(shop, provider, pending()));
    address
}

/// Takes a slot and keeps it, for tests about waiting visitors.
pub async fn insider(gate: &Gate) -> Guest {
    let mut guest = Guest::new(&gate.address);
    // The second time with the pass: only that claims the slot for longer than `claim_deadline`.
    for _ in 0..2 {
        let answer = guest.visit("/seats").await;
        assert_eq!(answer.gate, None, "the shop's own page: {}", answer.body);
    }
    guest
}

/// Hides the browser's page behind a new tab, and returns the handle of the page's.
pub async fn hide(browser: &Browser) -> WindowHandle {
    let page = browser.client.window().await.expect("a tab");
    let other = browser.client.new_window(true).await.expect("another tab").handle;
    browser.client.switch_to_window(other).await.expect("the other tab");
    page
}

/// Waits for these figures of the room, as the operator has them.
pub async fn is(gate: &Gate, called: u64, sessions: u64) {
    eventually(&format!("{called} called and {sessions} inside"), async || {
        let mut operator = Guest::new(&format!("http://{}", gate.admin));
        let answer = operator.visit(&format!("/api/v1/rooms/{ROOM}")).await;
        let room: Value = serde_json::from_str(&answer.body).ok()?;
        (room["called"] == called && room["sessions"] == sessions).then_some(())
    })
    .await;
}

/// Buys a seat of the shop at `address`: basket, payment at another site, its way back by POST, receipt.
pub async fn buy(browser: &Browser, address: &str, seat: u32) {
    browser.open(&format!("{address}/seats")).await;
    browser.click(&format!("#s{seat} button")).await;
    // Opening the next page too early would cut the click's own request off.
    browser.awaits(&format!("#s{seat} button.mine")).await;
    browser.open(&format!("{address}/checkout")).await;
    browser.click("form[action='/checkout'] button").await;
    browser.click("button[name=pay][value=yes]").await;
    browser.shows("Thank you").await;
}

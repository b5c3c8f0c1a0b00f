//! Through a real proxy that asks the gate.

use std::net::SocketAddr;

use super::case::Case;
use super::crowd::house;
use super::gate::Gate;
use super::http::Message;
use super::proxies::{Behind, Program};
use super::site::{Way, http1, wire};

/// Behind the proxy that this program is.
pub struct Through<P>(Behind<P>);

impl<P: Program> Way for Through<P> {
    const NAME: &str = P::NAME;

    fn tables(shop: SocketAddr) -> String {
        <Behind<P> as house::Way>::tables(shop)
    }

    async fn open(gate: &Gate, shop: SocketAddr) -> Self {
        Self(<Behind<P> as house::Way>::open(gate, shop).await)
    }

    async fn send(&self, case: &Case, fields: &[(String, String)]) -> Message {
        let host = [("Host".to_owned(), "shop.test".to_owned())];
        let request = http1(
            &format!("{} {}", case.method, case.target),
            &[&host, fields].concat(),
            case.body,
        );
        let mut wire = wire(house::Way::entrance(&self.0)).await;
        wire.ask(request.as_bytes()).await.unwrap()
    }
}

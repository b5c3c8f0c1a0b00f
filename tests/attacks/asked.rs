//! The questions of proxies that are not run here, as their documents and the examples say that they ask them.
//!
//! Both drop hop-by-hop fields, name the visitor and send the beginning of a body along, if there is one; the example adds to
//! every question that there is none.

use std::net::SocketAddr;

use super::case::{Body, Case};
use super::gate::Gate;
use super::http::{Message, Pool};
use super::site::{Way, http1};

/// `ForwardAuth`: a GET of the configured address.
pub struct Traefik(Pool);

impl Way for Traefik {
    const NAME: &str = "traefik";
    const HAS_SHOP: bool = false;

    fn tables(_: SocketAddr) -> String {
        "[forward_auth]\nproxies = [\"traefik\"]".to_owned()
    }

    async fn open(gate: &Gate, _: SocketAddr) -> Self {
        Self(Pool::new(gate.address))
    }

    async fn send(&self, case: &Case, fields: &[(String, String)]) -> Message {
        let own = [
            ("Host", "gate"),
            ("X-Forwarded-For", "203.0.113.9"),
            ("X-Forwarded-Proto", "http"),
            ("X-Forwarded-Host", "shop.test"),
            ("X-Forwarded-Method", case.method),
            ("X-Forwarded-Port", "80"),
            ("X-Forwarded-Server", "proxy"),
            ("X-Forwarded-Uri", case.target),
            ("X-Real-Ip", "203.0.113.9"),
            ("Ropeline-Body", "none"),
        ];
        ask(&self.0, "GET /.ropeline/forward/traefik", &own, fields, case.body).await
    }
}

/// `ext_authz`: the visitor's own method, and the path behind a prefix.
pub struct Envoy(Pool);

impl Way for Envoy {
    const NAME: &str = "envoy";
    const HAS_SHOP: bool = false;

    fn tables(_: SocketAddr) -> String {
        "[forward_auth]\nproxies = [\"envoy\"]".to_owned()
    }

    async fn open(gate: &Gate, _: SocketAddr) -> Self {
        Self(Pool::new(gate.address))
    }

    async fn send(&self, case: &Case, fields: &[(String, String)]) -> Message {
        let own = [
            ("host", "shop.test"),
            ("x-forwarded-for", "203.0.113.9"),
            ("x-forwarded-proto", "http"),
            ("x-envoy-internal", "true"),
            ("x-request-id", "7"),
            ("ropeline-body", "none"),
        ];
        let start = format!("{} /.ropeline/forward/envoy{}", case.method, case.target);
        ask(&self.0, &start, &own, fields, case.body).await
    }
}

async fn ask(gate: &Pool, start: &str, own: &[(&str, &str)], fields: &[(String, String)], body: Body) -> Message {
    let hop = |name: &str| ["connection", "te", "upgrade", "keep-alive"].contains(&name.to_lowercase().as_str());
    let passed = fields.iter().filter(|(name, _)| !hop(name)).cloned();
    let own = own
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    // The part that they have read has a length that they know.
    let body = match body {
        Body::Untold(text) | Body::Trailed(text, _) => Body::Told(text),
        other => other,
    };
    let request = http1(start, &passed.chain(own).collect::<Vec<_>>(), body);
    gate.ask(request.as_bytes()).await.unwrap()
}

//! Requests that name a configured crawler in their `User-Agent`.
//!
//! A verified crawler never joins: its request is forwarded past the line, within a bound, or it is asked to come again. Any other is
//! asked to come again too, whether its address is unknown or refuted, because it would take the waiting page for the shop's.

use http::Method;
use http::header::USER_AGENT;
use http::request::Parts;
use ipnet::IpNet;

use crate::crawlers::{Crawlers, Verification};
use crate::proxy::{Conn, is_trusted};
use crate::router::Brings;

use super::kind::{FORWARDED_HOST, Kind};
use super::payload;
use super::visit::Visit;

/// A request's circumstances, and whether it is a crawler's. SECURITY: which host its visitor asked for only a trusted proxy knows.
#[must_use]
pub fn visit((trusted, crawlers): (&[IpNet], &Crawlers), conn: &Conn, head: &mut Parts, has_body: bool) -> Visit {
    if !is_trusted(conn.peer().ip(), trusted) {
        head.headers.remove(FORWARDED_HOST);
    }
    let mut visit = Visit::of(conn, head, has_body, trusted);
    // PERF: nearly nowhere is a crawler configured.
    let agent = crawlers.names_any().then(|| head.headers.get(USER_AGENT)).flatten();
    let standing = agent.and_then(|agent| crawlers.judge(agent.as_bytes(), visit.client, visit.started));
    if let Some(standing) = standing.filter(|_| visit.kind != Kind::Preflight) {
        visit.kind = met(standing, head, has_body);
    }
    visit
}

/// The kind of the request.
fn met(standing: Verification, head: &Parts, has_body: bool) -> Kind {
    let kind = Kind::of_no_crawler(&head.method, &head.headers);
    // SECURITY: a request with a body, or with the name of another method, may be a form to the shop.
    let reads = matches!(head.method, Method::GET | Method::HEAD) && payload::of(head, has_body) != Brings::More;
    match standing {
        Verification::Verified if reads => Kind::Crawler,
        Verification::Unknown | Verification::Refuted if reads && kind.is_navigation() => Kind::Passive,
        _ => kind,
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn head(method: &str, target: &str, fields: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        request = request.header(USER_AGENT, "Googlebot/2.1");
        request.body(()).unwrap().into_parts().0
    }

    fn request(standing: Verification, method: &str, fields: &[(&str, &str)]) -> Kind {
        met(standing, &head(method, "/", fields), false)
    }

    const PAGE: [(&str, &str); 1] = [("accept", "text/html")];
    const STANDINGS: [Verification; 3] = [Verification::Verified, Verification::Unknown, Verification::Refuted];

    #[test]
    fn only_what_a_verified_crawler_reads_is_a_crawlers() {
        let kinds = |method, fields: &[(&str, &str)]| STANDINGS.map(|standing| request(standing, method, fields));
        assert_eq!(kinds("GET", &PAGE), [Kind::Crawler, Kind::Passive, Kind::Passive]);
        assert_eq!(kinds("HEAD", &PAGE), [Kind::Crawler, Kind::Passive, Kind::Passive]);
        assert_eq!(
            kinds("GET", &[("accept", "*/*")]),
            [Kind::Crawler, Kind::Api, Kind::Api]
        );
        assert_eq!(kinds("POST", &PAGE), [Kind::Post; 3]);
        for method in ["PUT", "DELETE", "OPTIONS"] {
            assert_eq!(kinds(method, &PAGE), [Kind::Api; 3], "{method}");
        }
        let socket = [PAGE[0], ("upgrade", "websocket")];
        assert_eq!(kinds("GET", &socket), [Kind::Api; 3]);
        let others = [Kind::Navigation; 3];
        assert_eq!(kinds("GET", &[PAGE[0], ("x-http-method-override", "POST")]), others);
        let by = |head: Parts, has_body| STANDINGS.map(|standing| met(standing, &head, has_body));
        assert_eq!(by(head("GET", "/", &PAGE), true), others, "a body");
        assert_eq!(by(head("GET", "/?_method=POST", &PAGE), false), others);
    }
}

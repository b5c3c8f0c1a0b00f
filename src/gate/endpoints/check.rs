//! Without a script, a page finds out here whether the browser kept its ticket, and goes back to where it was.

use http::header::{CACHE_CONTROL, LOCATION, SET_COOKIE};
use http::{HeaderValue, Response, StatusCode};

use crate::metrics::Outcome;
use crate::proxy::Body;
use crate::waiting::{PageFacts, PageKind, path_on_this_host};

use super::super::Gate;
use super::super::answers::{ANTEROOM_STATUS, Answer, page};
use super::super::seat::{RELOAD_COOKIE, Seat};
use super::super::visit::Visit;
use super::parameter;

impl Gate {
    /// `GET check?to=PATH[&reload=on|off]`: back to `to` with a ticket, the page about cookies without one. SECURITY: `to`
    /// is only ever a path on this host.
    pub(super) fn check(seat: &Seat<'_>, visit: &Visit, query: &str) -> Answer {
        let to = parameter(query, "to")
            .and_then(|to| String::from_utf8(to).ok())
            .unwrap_or_default();
        let to = path_on_this_host(&to);
        if seat.ticket().is_none() && !seat.has_pass() {
            let id = visit.id.to_string();
            let facts = PageFacts::new(&id, visit.wall, to);
            let page = page(
                StatusCode::OK,
                "cookies_refused",
                seat.rules.pages.render(PageKind::CookiesRefused, &facts, visit),
            );
            return Answer::new(Outcome::Own, page);
        }
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SEE_OTHER;
        let headers = response.headers_mut();
        headers.insert(
            LOCATION,
            HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/")),
        );
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(ANTEROOM_STATUS, HeaderValue::from_static("check"));
        match parameter(query, "reload").as_deref() {
            Some(b"off") => _ = headers.append(SET_COOKIE, seat.policy.set_ticket(RELOAD_COOKIE, "off".to_owned())),
            Some(b"on") => _ = headers.append(SET_COOKIE, seat.policy.clear(RELOAD_COOKIE)),
            _ => {}
        }
        Answer::new(Outcome::Own, response)
    }
}

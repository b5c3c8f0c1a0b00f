//! Without a script, a page finds out here whether the browser kept its ticket, and goes back to where it was.
//!
//! The page's Refresh passes here too, and only where no script runs, since it is in a `noscript`: a visitor who comes by it
//! is marked and gets the bare page from then on, so that an hour of reloads stays small.

use http::header::{CACHE_CONTROL, LOCATION, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use crate::metrics::Outcome;
use crate::pages::{PageFacts, PageKind, Reload, path_on_this_host};
use crate::proxy::{Body, ROPELINE_STATUS};

use super::super::seat::Seat;
use super::parameter::parameter;
use crate::gate::request::kind::is_cross_site;
use crate::gate::request::location;
use crate::gate::request::referer::came_from;
use crate::gate::request::visit::Visit;
use crate::gate::seat::told_wait;
use crate::gate::verdict::answers::{Answer, page};

/// `GET check?to=PATH[&reload=on|off|bare][&ticket=any][&by=SECONDS][&again=1]`: back to `to`, or to the page that led here, with a
/// ticket; the page about cookies without one, unless any will do. A page leads here at once where no script runs, so that a
/// browser that keeps no cookies would go round without end: it gets the mark of a bare page and comes here `again`, and without the mark
/// sees the page about cookies. SECURITY: `to` is only ever a path on this host.
pub fn check(seat: &Seat<'_>, visit: &Visit, head: &Parts) -> Answer {
    let query = head.uri.query().unwrap_or_default();
    let to = parameter(query, "to")
        .and_then(|to| String::from_utf8(to).ok())
        .or_else(|| came_from(&head.headers))
        .unwrap_or_default();
    let to = path_on_this_host(&to);
    let is = |name: &str, value: &[u8]| parameter(query, name).as_deref() == Some(value);
    let known = seat.shown.ticket().is_some() || seat.shown.pass().is_some();
    let marked = seat.shown.reload() != Reload::Automatic;
    let from_elsewhere = is_cross_site(&head.headers);
    let unsure = !known && !marked && is("ticket", b"any") && is("reload", b"bare") && !from_elsewhere;
    if (!known && !is("ticket", b"any")) || (unsure && parameter(query, "again").is_some()) {
        let id = visit.id.as_str();
        let facts = PageFacts::new(id, visit.wall, to);
        let page = page(
            StatusCode::OK,
            "cookies_refused",
            seat.rules.pages.render(PageKind::CookiesRefused, &facts, visit),
        );
        return Answer::new(Outcome::Own, page);
    }
    let once_more = unsure.then(|| format!("{}?{query}&again=1", head.uri.path()));
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(LOCATION, location::to(once_more.as_deref().unwrap_or(to)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ROPELINE_STATUS, HeaderValue::from_static("check"));
    // SECURITY: another site's link neither stops a page from coming again nor changes the wait that it shows.
    if from_elsewhere {
        return Answer::new(Outcome::Own, response);
    }
    match parameter(query, "reload").as_deref() {
        Some(b"off") => _ = headers.append(SET_COOKIE, seat.cookies.set_reload("off")),
        Some(b"bare") => _ = headers.append(SET_COOKIE, seat.cookies.set_reload("bare")),
        Some(b"on") => _ = headers.append(SET_COOKIE, seat.cookies.clear_reload()),
        _ => {}
    }
    // The wait that the page before this one showed to a visitor who runs no script.
    if let Some(kept) = parameter(query, "by").and_then(|by| told_wait::parse(std::str::from_utf8(&by).ok()?)) {
        headers.append(SET_COOKIE, seat.cookies.set_told(kept));
    }
    Answer::new(Outcome::Own, response)
}

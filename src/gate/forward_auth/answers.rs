//! Answers to a proxy that asks: leave to pass, the way back with a cookie, or a refusal.

use http::header::{CACHE_CONTROL, COOKIE, HeaderName, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use crate::config::Asker;
use crate::metrics::Outcome;
use crate::proxy::{Body, ROPELINE_STATUS};

use super::super::forward::Session;
use crate::gate::request::aim::Aim;
use crate::gate::request::headers::{PASS_HEADER, SESSION_HEADER, TICKET_HEADER};
use crate::gate::request::location;
use crate::gate::request::visit::Visit;
use crate::gate::verdict::answers::{Answer, plain};

/// Marks the one answer that lets a request pass.
#[derive(Clone, Copy, Debug)]
struct Leave;

/// The request may go on to the shop, as this session's or as nobody's. Where the visitor must be given a cookie for it, the
/// browser is sent back to the same address with the cookie first, since none can be set on a yes.
#[must_use]
pub fn go_on(visit: &Visit, head: &Parts, outcome: Outcome, session: Option<&Session<'_>>) -> Answer {
    match (visit.aim, session) {
        (_, Some(session)) if session.must_set => {
            let check = session.check.as_deref();
            Answer::new(outcome, back(visit, head, &session.cookies, check))
        }
        // It was no when the proxy asked, and would be yes now: it has to ask again.
        (Aim::Words(_), _) if visit.kind.is_navigation() => Answer::new(outcome, back(visit, head, &[], None)),
        (Aim::Words(_), _) => Answer::new(Outcome::TurnedAway, once_more()),
        (aim, session) => Answer::new(outcome, leave(aim, head, session)),
    }
}

/// Permission for a request without a session, with the bound that it counts against: only the proxy sees how long it is
/// under way.
#[must_use]
pub fn bounded(mut answer: Answer, bound: &'static str) -> Answer {
    if is_leave(&answer) {
        let bound = HeaderValue::from_static(bound);
        answer.response.headers_mut().insert(BOUND, bound);
    }
    answer
}

/// No, to a proxy that will ask for the words.
#[must_use]
pub fn no() -> Answer {
    Answer::new(Outcome::Own, plain(StatusCode::UNAUTHORIZED, "no"))
}

/// Whether the answer lets the request pass.
#[must_use]
pub fn is_leave(answer: &Answer) -> bool {
    answer.response.extensions().get::<Leave>().is_some()
}

/// The closing step. SECURITY: nothing but leave to pass is 2xx, independent of the answer so far; and a proxy that only asked for
/// that gets nothing that would be lost on the way, such as a cookie.
#[must_use]
pub fn close(aim: Aim, mut answer: Answer) -> Answer {
    if is_leave(&answer) {
        return answer;
    }
    if let Aim::Leave(_) = aim {
        return no();
    }
    if answer.response.status().is_success() {
        *answer.response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    // It takes 5xx for a failure of the gate, and throws page and cookies away.
    if aim == Aim::LeaveOrWords(Asker::Envoy) && answer.response.status().is_server_error() {
        *answer.response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    }
    answer
}

/// 200, which all proxies take for a yes, with the fields for the shop, for proxies that can pass them on.
fn leave(aim: Aim, head: &Parts, session: Option<&Session<'_>>) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(ROPELINE_STATUS, HeaderValue::from_static("pass"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let mut gone = vec![TICKET_HEADER, PASS_HEADER];
    match session.and_then(|session| HeaderValue::from_str(&session.name).ok()) {
        Some(name) => _ = headers.insert(SESSION_HEADER, name),
        None => gone.push(SESSION_HEADER),
    }
    match cookies(&head.headers) {
        Some(cookies) => _ = headers.insert(COOKIE, cookies),
        None => gone.push(COOKIE),
    }
    match aim {
        Aim::LeaveOrWords(Asker::Envoy) => {
            let others = head
                .headers
                .keys()
                .filter(|name| name.as_str().starts_with("ropeline-"));
            gone.extend(others.filter(|name| !OWN.contains(name)).cloned());
            let gone: Vec<&str> = gone.iter().map(HeaderName::as_str).collect();
            let gone = HeaderValue::try_from(gone.join(",")).expect("names of fields are header text");
            headers.insert(TO_REMOVE, gone);
        }
        // For a missing field, Caddy 2.6 copies the name of its own variable.
        Aim::LeaveOrWords(Asker::Caddy) => {
            for name in gone {
                headers.insert(name, HeaderValue::from_static(""));
            }
        }
        _ => {}
    }
    response.extensions_mut().insert(Leave);
    response
}

/// The visitor's cookies in one line, without the gate's own.
fn cookies(headers: &HeaderMap) -> Option<HeaderValue> {
    let lines: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if lines.is_empty() {
        return None;
    }
    HeaderValue::from_bytes(&lines.join(&b"; "[..])).ok()
}

/// A redirect to the same address: by GET after a GET, and with its form after a POST, which the shop has not seen yet. A
/// newcomer goes via `check`, because a visitor who keeps no cookies would be redirected forever, joining each time; but not
/// with a form, which would be lost.
fn back(visit: &Visit, head: &Parts, cookies: &[HeaderValue], check: Option<&str>) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    let has_form = !matches!(head.method, Method::GET | Method::HEAD);
    *response.status_mut() = if has_form {
        StatusCode::TEMPORARY_REDIRECT
    } else {
        StatusCode::SEE_OTHER
    };
    let headers = response.headers_mut();
    let check = check.filter(|_| !has_form);
    headers.insert(LOCATION, location::back(visit, head, check.unwrap_or(visit.here())));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ROPELINE_STATUS, HeaderValue::from_static("called"));
    for cookie in cookies {
        headers.append(SET_COOKIE, cookie.clone());
    }
    response
}

fn once_more() -> Response<Body> {
    let mut response = plain(StatusCode::SERVICE_UNAVAILABLE, "again");
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// Those of the gate's fields that have a fixed place in the list of fields to pass on.
const OWN: [HeaderName; 3] = [TICKET_HEADER, PASS_HEADER, SESSION_HEADER];
/// Which of its bounds a proxy should keep a request within.
const BOUND: HeaderName = HeaderName::from_static("ropeline-bound");
/// Fields that Envoy removes from the request before it forwards it.
const TO_REMOVE: HeaderName = HeaderName::from_static("x-envoy-auth-headers-to-remove");

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;
    use crate::gate::request::kind::Kind;

    fn head(method: &str, cookies: &[&str]) -> Parts {
        let mut request = Request::builder().method(method).uri("/here");
        for line in cookies {
            request = request.header(COOKIE, *line);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn visit(kind: Kind, aim: Aim) -> Visit {
        let mut visit = Visit::sample(kind);
        visit.aim = aim;
        visit
    }

    #[test]
    fn leave_is_the_only_answer_of_success() {
        for aim in [
            Aim::Leave(Asker::Nginx),
            Aim::Words(Asker::Nginx),
            Aim::LeaveOrWords(Asker::Caddy),
        ] {
            for status in [200, 202, 204, 206] {
                let answer = Answer::new(
                    Outcome::Waiting,
                    plain(StatusCode::from_u16(status).unwrap(), "waiting"),
                );
                let closed = close(aim, answer).response;
                assert!(!closed.status().is_success(), "{aim:?} {status}");
            }
        }
        let yes = go_on(
            &visit(Kind::Api, Aim::Leave(Asker::Nginx)),
            &head("GET", &[]),
            Outcome::Open,
            None,
        );
        assert!(is_leave(&yes));
        assert_eq!(close(Aim::Leave(Asker::Nginx), yes).response.status(), StatusCode::OK);
    }

    #[test]
    fn envoy_is_told_429_for_what_it_would_take_for_a_failure() {
        for (status, told) in [(503, 429), (504, 429), (200, 429), (303, 303), (403, 403)] {
            let response = plain(StatusCode::from_u16(status).unwrap(), "waiting");
            let closed = close(Aim::LeaveOrWords(Asker::Envoy), Answer::new(Outcome::Waiting, response));
            assert_eq!(closed.response.status(), told, "{status}");
        }
    }

    #[test]
    fn a_no_to_who_asked_for_leave_alone_is_401_and_bare() {
        let mut response = plain(StatusCode::TOO_MANY_REQUESTS, "limited");
        response
            .headers_mut()
            .insert(SET_COOKIE, HeaderValue::from_static("a=1"));
        let closed = close(Aim::Leave(Asker::Haproxy), Answer::new(Outcome::Limited, response)).response;
        assert_eq!(closed.status(), StatusCode::UNAUTHORIZED);
        assert!(!closed.headers().contains_key(SET_COOKIE));
    }

    #[test]
    fn a_yes_that_comes_when_words_are_asked_for_sends_people_back_and_programs_away() {
        let answer = |kind, method| {
            go_on(
                &visit(kind, Aim::Words(Asker::Nginx)),
                &head(method, &[]),
                Outcome::Open,
                None,
            )
            .response
        };
        assert_eq!(answer(Kind::Navigation, "GET").status(), StatusCode::SEE_OTHER);
        assert_eq!(answer(Kind::Post, "POST").status(), StatusCode::TEMPORARY_REDIRECT);
        let program = answer(Kind::Api, "GET");
        assert_eq!(
            (program.status(), &program.headers()[RETRY_AFTER]),
            (StatusCode::SERVICE_UNAVAILABLE, &HeaderValue::from_static("1"))
        );
    }

    #[test]
    fn the_shops_cookies_are_told_in_one_line() {
        let told =
            |lines: &[&str]| cookies(&head("GET", lines).headers).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(told(&[]), None);
        assert_eq!(told(&["a=1; b=2"]).as_deref(), Some("a=1; b=2"));
        assert_eq!(told(&["a=1", "b=2"]).as_deref(), Some("a=1; b=2"));
    }

    #[test]
    fn envoy_is_told_what_to_take_out_and_caddy_what_is_empty() {
        let gone = |lines: &[&str]| {
            let answer = leave(Aim::LeaveOrWords(Asker::Envoy), &head("GET", lines), None);
            answer.headers()[TO_REMOVE].to_str().unwrap().to_owned()
        };
        assert_eq!(gone(&["a=1"]), "ropeline-ticket,ropeline-pass,ropeline-session");
        assert_eq!(gone(&[]), "ropeline-ticket,ropeline-pass,ropeline-session,cookie");
        let mut forged = head("GET", &["a=1"]);
        forged
            .headers
            .insert("ropeline-signature", HeaderValue::from_static("x"));
        let answer = leave(Aim::LeaveOrWords(Asker::Envoy), &forged, None);
        assert_eq!(
            answer.headers()[TO_REMOVE],
            "ropeline-ticket,ropeline-pass,ropeline-session,ropeline-signature"
        );
        let caddy = leave(Aim::LeaveOrWords(Asker::Caddy), &head("GET", &[]), None);
        assert!(!caddy.headers().contains_key(TO_REMOVE));
        assert!(caddy.headers()[COOKIE].is_empty() && caddy.headers()[SESSION_HEADER].is_empty());
        let traefik = leave(Aim::LeaveOrWords(Asker::Traefik), &head("GET", &[]), None);
        assert!(!traefik.headers().contains_key(COOKIE) && !traefik.headers().contains_key(SESSION_HEADER));
    }
}

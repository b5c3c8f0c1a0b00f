use http::header::{CACHE_CONTROL, EXPIRES, SET_COOKIE};
use http::{HeaderValue, Method};

use super::*;
use crate::gate::verdict::cacheable::give;

const PASS: HeaderValue = HeaderValue::from_static("pass=1");
const TICKET: HeaderValue = HeaderValue::from_static("ticket=1");

/// The shop's answer to a GET with this `Cache-Control`, after cookies were given.
fn given(cookies: &[HeaderValue], must_set: bool, cache_control: Option<&'static str>) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    if let Some(value) = cache_control {
        response
            .headers_mut()
            .insert(CACHE_CONTROL, HeaderValue::from_static(value));
    }
    response
        .headers_mut()
        .append(SET_COOKIE, HeaderValue::from_static("shop=1"));
    give(cookies, must_set, &Method::GET, &mut response);
    response
}

fn cookies(response: &Response<Body>) -> Vec<&str> {
    let all = response.headers().get_all(SET_COOKIE);
    all.iter().map(|cookie| cookie.to_str().unwrap()).collect()
}

fn cache_control(response: &Response<Body>) -> Option<&str> {
    response
        .headers()
        .get(CACHE_CONTROL)
        .map(|value| value.to_str().unwrap())
}

#[test]
fn a_renewed_pass_is_never_set_on_what_caches_are_told_to_keep() {
    for kept in ["public", "max-age=60", "s-maxage=1, must-revalidate"] {
        let response = given(&[PASS], false, Some(kept));
        assert_eq!(cookies(&response), ["shop=1"], "{kept}");
        assert_eq!(cache_control(&response), Some(kept));
    }
}

#[test]
fn the_only_proof_of_a_place_is_set_and_the_answer_made_private_for_it() {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
    headers.insert(EXPIRES, HeaderValue::from_static("Thu, 01 Jan 2099 00:00:00 GMT"));
    give(&[TICKET, PASS], true, &Method::GET, &mut response);
    assert_eq!(cookies(&response), ["ticket=1", "pass=1"]);
    assert_eq!(cache_control(&response), Some("private, no-cache"));
    assert!(!response.headers().contains_key(EXPIRES));
}

#[test]
fn an_answer_that_a_cache_might_keep_by_a_guess_is_made_private_with_the_cookie() {
    let response = given(&[PASS], false, None);
    assert_eq!(cookies(&response), ["shop=1", "pass=1"], "the shop's own cookies stay");
    assert_eq!(cache_control(&response), Some("private, no-cache"));
}

#[test]
fn an_answer_that_no_cache_keeps_stays_as_the_shop_made_it() {
    let response = given(&[PASS], false, Some("private, max-age=5"));
    assert_eq!(
        (cookies(&response), cache_control(&response)),
        (vec!["shop=1", "pass=1"], Some("private, max-age=5"))
    );
    let untouched = given(&[], true, Some("public"));
    assert_eq!(
        (cookies(&untouched), cache_control(&untouched)),
        (vec!["shop=1"], Some("public"))
    );
    let mut post = Response::new(Body::empty());
    give(&[PASS], false, &Method::POST, &mut post);
    assert_eq!((cookies(&post), cache_control(&post)), (vec!["pass=1"], None));
}

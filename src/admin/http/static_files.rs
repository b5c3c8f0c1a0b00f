//! The operator's page: three static files, with a script that is an ordinary client of the API.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};

/// Its paths, which need no token: the files hold no figures of rooms.
pub const PAGE: [&str; 3] = ["/", "/style.css", "/script.js"];

pub async fn index() -> Response {
    file(
        include_str!("../../../static/admin/index.html"),
        "text/html; charset=utf-8",
    )
}

pub async fn style() -> Response {
    file(
        include_str!("../../../static/admin/style.css"),
        "text/css; charset=utf-8",
    )
}

pub async fn script() -> Response {
    file(
        include_str!("../../../static/admin/script.js"),
        "text/javascript; charset=utf-8",
    )
}

/// SECURITY: nothing is loaded from elsewhere, nothing within the page is run, and no page frames it.
fn file(text: &'static str, kind: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

//! The router, with the checks before every handler and the header fields of every answer.

use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, Method, StatusCode, Uri, header};

use super::caller::Peer;
use super::problem::Problem;
use super::routes;
use crate::admin::handlers::reload;
use crate::admin::handlers::upgrade;
use crate::admin::shared::Shared;
use crate::proxy::{RequestId, X_REQUEST_ID};

/// Largest body of a request, in bytes.
pub const MAX_BODY: usize = 64 * 1024;

/// How long a request may take, its body included.
const REQUEST_WITHIN: Duration = Duration::from_secs(20);

pub fn router(shared: Shared) -> Router {
    routes::table()
        .into_iter()
        .fold(Router::new(), |router, route| router.route(route.path, route.handler))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(shared.clone(), around))
        .with_state(shared)
}

/// The steps before every handler and after every answer.
async fn around(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let id = parts.extensions.get::<Peer>().map(|peer| peer.request.clone());
    let checked = shared.live.load().options.entrance.check(&parts);
    let mut response = match checked.map(|operator| parts.extensions.insert(operator)) {
        Ok(_) if [upgrade::UPGRADE, reload::RELOAD].contains(&parts.uri.path()) => {
            next.run(Request::from_parts(parts, body)).await
        }
        Ok(_) => within(next.run(Request::from_parts(parts, body))).await,
        Err(problem) => {
            shared.metrics.admin_refused.inc();
            tracing::warn!(
                request_id = id.as_ref().map(RequestId::as_str),
                status = problem.status.as_u16(),
                reason = problem.detail,
                "an admin request was refused"
            );
            problem.into_response()
        }
    };
    let headers = response.headers_mut();
    if let Some(id) = id {
        headers.insert(X_REQUEST_ID, id.value().clone());
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let nothing = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(nothing);
    response
}

async fn within(answer: impl Future<Output = Response>) -> Response {
    let late = || Problem::new(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time").into_response();
    tokio::time::timeout(REQUEST_WITHIN, answer)
        .await
        .unwrap_or_else(|_| late())
}

async fn no_such_path() -> Problem {
    let mut paths: Vec<&str> = routes::table().into_iter().map(|route| route.path).collect();
    paths.dedup();
    Problem::not_found(format!("there are {}", paths.join(", ")))
}

async fn no_such_method(method: Method, uri: Uri) -> Problem {
    let detail = format!(
        "{} does not take {method}; the Allow field has what it takes",
        uri.path()
    );
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
}

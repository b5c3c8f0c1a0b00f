//! What is wrong, and what to write where.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use tokio::sync::oneshot;

use super::health::degraded;
use crate::acme::Acme;
use crate::admin::api;
use crate::admin::http::problem::{Problem, json};
use crate::admin::shared::Shared;
use crate::admin::view;
use crate::doctor::{Finding, Gate, Running, examine};
use crate::proxy::is_trusted;
use crate::time;

/// `GET /api/v1/doctor`. One examination is under way at a time. A request during it, or right after, gets its findings, so the shop
/// and the store are asked no more often, however many pages are open.
pub async fn show(State(shared): State<Shared>) -> Result<Response, Problem> {
    let mut last = Arc::clone(&shared.examination).lock_owned().await;
    if let Some(findings) = last.fresh(time::uptime()) {
        return Ok(answer(findings));
    }
    let subject = Arc::clone(&shared.live.load().options.examined);
    let running = running(&shared);
    let (done, findings) = oneshot::channel();
    // A thread of its own: this one serves health checks. It holds the lock to its end, also when nobody waits any more.
    let body = move || {
        let findings = examine(&subject, Some(&running));
        last.keep(findings.clone(), time::uptime());
        let _ = done.send(findings);
    };
    let unavailable = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the system gives no thread: try again");
    thread::Builder::new()
        .name("doctor".to_owned())
        .spawn(body)
        .map_err(|_| unavailable())?;
    findings.await.map(answer).map_err(|_| unavailable())
}

fn answer(findings: Vec<Finding>) -> Response {
    json(&api::Doctor { findings })
}

/// What this gate knows of itself.
fn running(shared: &Shared) -> Running {
    let (replica, live) = (&shared.replica, shared.live.load());
    let (view, now) = (replica.view(), replica.now());
    let trusted = &live.options.examined.trusted;
    let gates = view.roster.iter().map(|gate| Gate {
        id: gate.id,
        heard_ago: Duration::from_millis(now.since(gate.heard)),
    });
    Running {
        troubles: view::gate::unready(replica)
            .into_iter()
            .chain(degraded(replica))
            .collect(),
        refused_reload: shared.reloads.refused_at(),
        sights: shared
            .metrics
            .peers
            .sights(|peer| is_trusted(peer, trusted), time::uptime()),
        me: replica.gate(),
        gates: gates.collect(),
        keys: live.keyring.marks(),
        certificates: shared
            .tls
            .as_ref()
            .map(|tls| tls.certificates().in_force())
            .unwrap_or_default(),
        acme: shared.acme.as_ref().map(Acme::hosts).unwrap_or_default(),
    }
}

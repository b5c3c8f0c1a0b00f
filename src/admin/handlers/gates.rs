//! The gates that share the rooms, and orders about their log: end the wait for silent gates, skip an entry, raise the
//! machine version.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use super::change::conflict;
use crate::admin::api;
use crate::admin::http::body::{JsonBody, JsonBytes};
use crate::admin::http::caller::{Operator, Peer};
use crate::admin::http::problem::{Problem, json};
use crate::admin::shared::Shared;
use crate::admin::view;
use crate::admin::view::gate::{hex, spelled};
use crate::replica::{Condition, NoEnd};
use crate::room::{NEWEST, Position, View};

/// `GET /api/v1/gates`.
pub async fn list(State(shared): State<Shared>) -> Response {
    let shown = view::gate::gates(&shared.replica);
    json(&api::Gates {
        gate: api::Gate {
            untaken: shared.reloads.untaken(),
            ..shown.gate.clone()
        },
        ..shown
    })
}

/// `POST /api/v1/heal`: gates that have not spoken are waited for no longer.
pub async fn heal(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    _: JsonBytes,
) -> Result<Response, Problem> {
    shared.replica.root_now().await.map_err(no_end)?;
    shared.metrics.admin_changes.inc();
    tracing::warn!(
        %peer, request_id = %peer.request, operator = operator.0,
        "an operator ended the wait for silent gates"
    );
    Ok(json(&view::gate::gates(&shared.replica)))
}

fn no_end(why: NoEnd) -> Problem {
    match why {
        NoEnd::Rooted => conflict("no gate is waited for: the log has its root"),
        NoEnd::NotYet => conflict(
            "not yet: this gate has not come so far in the log that it could tell whom to wait for; look at \
             /api/v1/gates and try again in a moment",
        ),
        NoEnd::Further(gate) => {
            let id = hex(&gate.0.to_be_bytes());
            conflict(&format!(
                "gate {id} has read further than this one: only there can the wait be ended without a loss"
            ))
        }
        NoEnd::Unanswered => Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the replica waits for its store and did not answer in time: look at /api/v1/gates and try again",
        ),
    }
}

/// `POST /api/v1/skip`: the entry that froze this gate is passed over by all.
pub async fn skip(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    JsonBody(api::Skip { position }): JsonBody<api::Skip>,
) -> Result<Response, Problem> {
    let Some(position) = parse(&position) else {
        let detail = format!("position: {position:?} is none; it is EPOCH-SEQUENCE, as the frozen gate names it");
        return Err(Problem::mistakes(vec![detail]));
    };
    // Passed over here and applied elsewhere, an entry would make two rooms of one.
    match shared.replica.condition() {
        Condition::Frozen { at } if at == position => {}
        Condition::Frozen { at } => return Err(conflict(&format!("this gate is frozen at {}", spelled(at)))),
        _ => {
            return Err(conflict(
                "this gate is not frozen: ask one that is, and pass over nothing else",
            ));
        }
    }
    shared.replica.skip(position).map_err(Problem::unrecorded)?;
    shared.metrics.admin_changes.inc();
    tracing::warn!(
        %peer, request_id = %peer.request, operator = operator.0, position = spelled(position),
        "an operator has an entry passed over"
    );
    Ok(json(&view::gate::gates(&shared.replica)))
}

/// `POST /api/v1/raise`: answered once the version is in force.
pub async fn raise(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    JsonBody(api::Raise {
        machine_version: wanted,
    }): JsonBody<api::Raise>,
) -> Result<Response, Problem> {
    let view = shared.replica.view();
    may_raise(&view, wanted)?;
    let mut views = shared.replica.subscribe();
    shared.replica.raise(wanted).map_err(Problem::unrecorded)?;
    let in_force = views.wait_for(|view| view.version >= wanted);
    match tokio::time::timeout(RAISE_WITHIN, in_force).await {
        Ok(Ok(_)) => {}
        Ok(Err(_)) | Err(_) => return Err(Problem::unrecorded(crate::replica::Unrecorded::CutOff)),
    }
    shared.metrics.admin_changes.inc();
    tracing::warn!(
        %peer, request_id = %peer.request,
        operator = operator.0, before = view.version, after = wanted, "an operator raised the machine version"
    );
    Ok(json(&view::gate::gates(&shared.replica)))
}

fn may_raise(view: &View, wanted: u16) -> Result<(), Problem> {
    if wanted <= view.version {
        return Err(conflict(&format!(
            "machine version {} is in force; it never goes down",
            view.version
        )));
    }
    if wanted > NEWEST {
        let detail = format!("machine_version: this gate's binary knows up to {NEWEST}");
        return Err(Problem::mistakes(vec![detail]));
    }
    let lacking: Vec<String> = view
        .roster
        .iter()
        .filter(|gate| gate.knows < wanted)
        .map(|gate| format!("{} (up to {})", hex(&gate.id.0.to_be_bytes()), gate.knows))
        .collect();
    if lacking.is_empty() {
        return Ok(());
    }
    Err(conflict(&format!(
        "not all gates know machine version {wanted}: {}",
        lacking.join(", ")
    )))
}

fn parse(text: &str) -> Option<Position> {
    let (epoch, sequence) = text.split_once('-')?;
    Some(Position {
        epoch: epoch.parse().ok()?,
        sequence: sequence.parse().ok()?,
    })
}

/// How long a raise may take to be in force before the answer is that it is not known.
const RAISE_WITHIN: std::time::Duration = std::time::Duration::from_secs(2);

//! The gates that share the rooms, and an operator's word about their log: end a wait, pass an entry over, raise the
//! machine version.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use super::body::{JsonBody, JsonBytes};
use super::entrance::Operator;
use super::problem::json;
use super::{Peer, Problem, Shared, api};
use crate::replica::{Condition, NoEnd, Replica};
use crate::room::{Position, RosterGate, StateHash, VERSION, View};

/// `GET /api/v1/gates`.
pub(super) async fn list(State(shared): State<Shared>) -> Response {
    let shown = shown(&shared.replica);
    json(&api::Gates {
        gate: api::Gate {
            untaken: shared.reloads.untaken(),
            ..shown.gate.clone()
        },
        ..shown
    })
}

fn shown(replica: &Replica) -> api::Gates {
    let (view, me) = (replica.view(), replica.gate());
    let now = replica.now();
    let gate = |gate: &RosterGate| api::RosterGate {
        id: hex(&gate.id.0.to_be_bytes()),
        this: gate.id == me,
        heard_ms_ago: now.since(gate.heard),
        sequence: gate.applied,
        behind: view.position.sequence.saturating_sub(gate.applied),
        lag_us: gate.lag_us,
        knows: gate.knows,
        vote: gate.vote.map(|vote| checkpoint((vote.sequence, vote.hash))),
        agrees: agrees(&view, gate),
    };
    api::Gates {
        gate: standing(replica),
        log: api::Log {
            position: if has_read(&view) {
                spelled(view.position)
            } else {
                String::new()
            },
            hash: if has_read(&view) {
                view.chain.to_string()
            } else {
                String::new()
            },
            rooted: view.rooted,
            machine_version: view.version,
            knows: replica.knows(),
            checkpoint: view.confirmed.map(checkpoint),
            alarm: view.alarm,
        },
        gates: view.roster.iter().filter(|_| has_read(&view)).map(gate).collect(),
    }
}

/// False while the view only stands in for one: the gate has not read its log yet.
fn has_read(view: &View) -> bool {
    view.position.incarnation != 0
}

/// Whether a gate's word on the confirmed checkpoint is what most have; `None` when it has said nothing about that one.
pub(super) fn agrees(view: &View, gate: &RosterGate) -> Option<bool> {
    let (sequence, hash) = view.confirmed?;
    let vote = gate.vote.filter(|vote| vote.sequence == sequence)?;
    Some(vote.hash == hash)
}

/// How the gate stands to its log now.
pub(super) fn standing(replica: &Replica) -> api::Gate {
    if replica.fallen() {
        return api::Gate {
            condition: FALLEN.to_owned(),
            ..api::Gate::default()
        };
    }
    let condition = replica.condition();
    let failure = replica.failure();
    let silent = match condition {
        Condition::Starting | Condition::Live => replica.cut_off(),
        // In these the rooms stand still whether or not the store answers.
        Condition::Healing { .. } | Condition::Frozen { .. } | Condition::Behind { .. } => None,
    };
    let failing = failure.as_ref().map(|failure| failure.lasts);
    let mut gate = api::Gate {
        condition: word(replica).to_owned(),
        cut_off_secs: silent.max(failing).map(|lasts| lasts.as_secs()),
        reason: failure.map(|failure| failure.reason),
        healing_secs: healing_secs(replica),
        ..api::Gate::default()
    };
    match condition {
        Condition::Healing { .. } => {
            let missing = replica.missing();
            gate.missing = missing.iter().map(|id| hex(&id.0.to_be_bytes())).collect();
        }
        Condition::Frozen { at } => gate.frozen_at = Some(spelled(at)),
        Condition::Behind { version } => gate.behind_version = Some(version),
        Condition::Starting | Condition::Live => {}
    }
    gate
}

/// Seconds until the rooms call again, at the latest: gates agree on a root, an era is brought back, or marks are collected.
pub(super) fn healing_secs(replica: &Replica) -> Option<u64> {
    let (view, now) = (replica.view(), replica.now());
    let of_rooms = [view.healing_until, view.adopting].into_iter().flatten();
    let of_rooms = of_rooms.filter(|_| has_read(&view));
    let left = of_rooms.map(|until| until.since(now));
    let of_log = match replica.condition() {
        Condition::Healing { left, .. } => u64::try_from(left.as_millis()).ok(),
        _ => None,
    };
    left.chain(of_log)
        .max()
        .filter(|left| *left > 0 || of_log.is_some())
        .map(|left| left.div_ceil(1_000))
}

/// `POST /api/v1/heal`: gates that have not spoken are waited for no longer.
pub(super) async fn heal(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    _: JsonBytes,
) -> Result<Response, Problem> {
    shared.replica.root_now().await.map_err(no_end)?;
    shared.metrics.admin_changes.inc();
    tracing::warn!(%peer, operator = operator.0, "an operator ended the wait for silent gates");
    Ok(json(&shown(&shared.replica)))
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
                "gate {id} has read further than this one: only there the wait can be ended without a loss"
            ))
        }
        NoEnd::Unanswered => Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the replica waits for its store and did not answer in time: look at /api/v1/gates and try again",
        ),
    }
}

/// `POST /api/v1/skip`: the entry that froze this gate is passed over by all.
pub(super) async fn skip(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    JsonBody(api::Skip { position }): JsonBody<api::Skip>,
) -> Result<Response, Problem> {
    let Some(position) = parse(&position) else {
        let detail = format!("position: {position:?} is none; it is INCARNATION-SEQUENCE, as the frozen gate names it");
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
    tracing::warn!(%peer, operator = operator.0, position = spelled(position), "an operator has an entry passed over");
    Ok(json(&shown(&shared.replica)))
}

/// `POST /api/v1/raise`: answered once the version is in force.
pub(super) async fn raise(
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
        %peer, operator = operator.0, before = view.version, after = wanted, "an operator raised the machine version"
    );
    Ok(json(&shown(&shared.replica)))
}

fn may_raise(view: &View, wanted: u16) -> Result<(), Problem> {
    if wanted <= view.version {
        return Err(conflict(&format!(
            "machine version {} is in force; it never goes down",
            view.version
        )));
    }
    if wanted > VERSION {
        let detail = format!("machine_version: this gate's binary knows up to {VERSION}");
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

fn conflict(detail: &str) -> Problem {
    Problem::new(StatusCode::CONFLICT, detail)
}

fn checkpoint((sequence, hash): (u64, StateHash)) -> api::Checkpoint {
    api::Checkpoint {
        sequence,
        hash: hex(&hash),
    }
}

/// How a gate stands to its log, in a word.
pub(super) fn word(replica: &Replica) -> &'static str {
    if replica.fallen() {
        return FALLEN;
    }
    match replica.condition() {
        Condition::Starting => "starting",
        Condition::Live => "live",
        Condition::Healing { .. } => "healing",
        Condition::Frozen { .. } => "frozen",
        Condition::Behind { .. } => "behind",
    }
}

/// Every word that [`word`] has.
pub(super) const CONDITIONS: [&str; 6] = ["starting", "live", "healing", "frozen", "behind", FALLEN];

/// The word for a gate whose replica has ended by a fault.
const FALLEN: &str = "failed";

/// A position as operators write it.
pub(super) fn spelled(at: Position) -> String {
    format!("{}-{}", at.incarnation, at.sequence)
}

fn parse(text: &str) -> Option<Position> {
    let (incarnation, sequence) = text.split_once('-')?;
    Some(Position {
        incarnation: incarnation.parse().ok()?,
        sequence: sequence.parse().ok()?,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from_digit(half.into(), 16).unwrap_or('?'));
        }
        text
    })
}

/// How long a raise may take to be in force before the answer is that it is not known.
const RAISE_WITHIN: std::time::Duration = std::time::Duration::from_secs(2);

//! The state of a gate and its roster as API types.

use crate::admin::api;
use crate::replica::{Condition, Replica};
use crate::room::{Position, RosterGate, StateHash, View};

pub fn gates(replica: &Replica) -> api::Gates {
    let (view, me) = (replica.view(), replica.gate());
    let now = replica.now();
    let gate = |gate: &RosterGate| api::RosterGate {
        id: hex(&gate.id.0.to_be_bytes()),
        this: gate.id == me,
        heard_ms_ago: now.since(gate.heard),
        sequence: gate.applied,
        behind: gate.behind,
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

/// False while the view is only a placeholder: the gate has not read its log yet.
fn has_read(view: &View) -> bool {
    view.position.epoch != 0
}

/// Whether a gate's vote on the confirmed checkpoint agrees with the majority; `None` without a vote on that one.
pub fn agrees(view: &View, gate: &RosterGate) -> Option<bool> {
    let (sequence, hash) = view.confirmed?;
    let vote = gate.vote.filter(|vote| vote.sequence == sequence)?;
    Some(vote.hash == hash)
}

/// How the gate stands to its log now.
pub fn standing(replica: &Replica) -> api::Gate {
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
        Condition::Opening | Condition::Healing { .. } | Condition::Frozen { .. } | Condition::Behind { .. } => None,
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
        Condition::Starting | Condition::Opening | Condition::Live => {}
    }
    gate
}

/// Seconds until the rooms call again, at the latest: gates agree on a root, or an epoch is brought back.
pub fn healing_secs(replica: &Replica) -> Option<u64> {
    let (view, now) = (replica.view(), replica.now());
    let adopting = view.adopting.filter(|_| has_read(&view));
    let left = adopting.map(|until| until.since(now));
    let of_log = match replica.condition() {
        Condition::Healing { left, .. } => u64::try_from(left.as_millis()).ok(),
        _ => None,
    };
    left.max(of_log)
        .filter(|left| *left > 0 || of_log.is_some())
        .map(|left| left.div_ceil(1_000))
}

fn checkpoint((sequence, hash): (u64, StateHash)) -> api::Checkpoint {
    api::Checkpoint {
        sequence,
        hash: hex(&hash),
    }
}

/// A gate's condition towards its log, as one word.
pub fn word(replica: &Replica) -> &'static str {
    if replica.fallen() {
        return FALLEN;
    }
    match replica.condition() {
        Condition::Starting => "starting",
        Condition::Live => "live",
        Condition::Opening => "opening",
        Condition::Healing { .. } => "healing",
        Condition::Frozen { .. } => "frozen",
        Condition::Behind { .. } => "behind",
    }
}

/// Every word that [`word`] has.
pub const CONDITIONS: [&str; 7] = ["starting", "live", "opening", "healing", "frozen", "behind", FALLEN];

/// The word for a gate whose replica has ended by an internal error.
const FALLEN: &str = "failed";

/// A position as operators write it.
pub fn spelled(at: Position) -> String {
    format!("{}-{}", at.epoch, at.sequence)
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from_digit(half.into(), 16).unwrap_or('?'));
        }
        text
    })
}

/// Why another gate would serve visitors better. Not that nothing could be read since the start: with the store away
/// another has no more to show than this one.
pub fn unready(replica: &Replica) -> Option<String> {
    if let Some(reason) = fallen(replica) {
        return Some(reason);
    }
    match replica.condition() {
        Condition::Frozen { at } => Some(format!(
            "frozen: the entry {} of the log could not be applied, and the rooms stand still",
            spelled(at)
        )),
        Condition::Behind { version } => Some(format!(
            "behind: the log has gone on with machine version {version}, which this gate does not run"
        )),
        _ if replica.has_opened() || replica.failure().is_some() => None,
        Condition::Opening => Some("opening: the log is about to begin, and nobody is numbered yet".to_owned()),
        Condition::Healing { .. } => Some("starting: a new log begins, and nobody is numbered yet".to_owned()),
        _ => Some("starting: the log is being read, and nobody is numbered yet".to_owned()),
    }
}

/// A failure that only a restart mends.
pub fn fallen(replica: &Replica) -> Option<String> {
    let reason = "failed: the replica has ended by a fault of the program, and the rooms stand still until a restart";
    replica.fallen().then(|| reason.to_owned())
}

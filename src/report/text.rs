//! The report for a terminal.

use std::fmt::Write as _;

use super::findings::{Change, Findings, Line, Outcomes, Stamp, Tally};
use super::life;
use super::sentence::verdict;
use crate::charts::{Spread, in_words};
use crate::terminal::{may_be_shown, plain};

/// The whole report as plain text, at most 120 columns wide but for names; of a visitor who was asked for, the life and the verdict.
#[must_use]
pub fn text(findings: &Findings) -> String {
    let mut text = String::new();
    if let Some(life) = &findings.visitor {
        return life::text(life) + "\n" + &verdict(findings) + "\n";
    }
    head(&mut text, findings);
    for line in &findings.lines {
        text.push('\n');
        of_line(&mut text, line);
    }
    trail(&mut text, findings);
    text += "\n";
    text += verdict(findings).as_str();
    text += "\n";
    text
}

fn head(text: &mut String, findings: &Findings) {
    let covers = &findings.covers;
    let stamp = |stamp: &Option<Stamp>| {
        stamp.as_ref().map_or_else(
            || "nothing".to_owned(),
            |stamp| format!("{} at {}", stamp.position, stamp.time),
        )
    };
    row(text, "from", &stamp(&covers.from));
    row(text, "to", &stamp(&covers.to));
    row(text, "hash before", &covers.hash_before);
    row(text, "hash", &covers.hash);
    let logs = covers.logs.len();
    row(
        text,
        "entries",
        &format!(
            "{} in {}, of {}",
            covers.entries,
            files(covers.files),
            counted(logs as u64, "log")
        ),
    );
    if covers.entries_not_replayed > 0 {
        let lost = format!("{} behind a gap, their bytes checked only", covers.entries_not_replayed);
        row(text, "not replayed", &lost);
    }
    let checks = &findings.checks;
    row(
        text,
        "checked by",
        &format!(
            "{} written down, {} of gates; {} against",
            counted(checks.states_matched, "state"),
            counted(checks.votes_matched, "word"),
            checks.votes_against.len()
        ),
    );
    if let Some(expected) = &findings.verdict.expected {
        let found = match (&expected.position, expected.entries_after) {
            (Some(position), Some(after)) => format!("is at {position}, {} before the end", counted(after, "entry")),
            _ => "is NOT in this history".to_owned(),
        };
        row(text, "expected", &format!("{} {found}", expected.hash));
    }
    for fault in &findings.faults {
        row(text, "fault", fault);
    }
    for wrong in &findings.verdict.wrong {
        row(text, "wrong", wrong);
    }
    for act in &findings.verdict.interventions {
        let room = if act.room.is_empty() {
            String::new()
        } else {
            format!("{}: ", act.room)
        };
        let reason = act
            .reason
            .as_ref()
            .map_or_else(String::new, |reason| format!(" ({reason})"));
        let said = format!(
            "{} {room}{}, by {}{reason}, gate {}",
            act.at.time, act.what, act.by, act.gate
        );
        row(text, "by hand", &said);
    }
}

fn of_line(text: &mut String, line: &Line) {
    let name = if line.line.is_empty() {
        line.room.clone()
    } else {
        format!("{}, line {}", line.room, line.line)
    };
    let _ = writeln!(text, "{name}");
    let Tally {
        joins,
        virtual_joins,
        calls,
        calls_again,
        claims,
        no_shows,
        places_spent,
        left,
        evicted,
        gave_up,
        waiting_at_end,
        late_marks,
        bypasses,
        excess,
        let_in_uncalled,
        inversions,
        numbers_given_twice,
        completed,
        beyond_stock,
        waits_unknown,
    } = line.tally;
    let joins = match virtual_joins {
        0 => joins.to_string(),
        virtual_joins => format!("{joins}, {virtual_joins} of them virtual visitors of a rehearsal"),
    };
    row(text, "  joins", &joins);
    row(text, "  calls", &format!("{calls}, {calls_again} of them again"));
    row(text, "  came in", &claims.to_string());
    row(
        text,
        "  no-shows",
        &format!("{no_shows}, {places_spent} of them cost the place"),
    );
    row(
        text,
        "  went",
        &format!(
            "{left} left, {gave_up} gave up, {waiting_at_end} wait at the end; {evicted} evictions by an operator"
        ),
    );
    row(
        text,
        "  late",
        &format!("{late_marks} check-ins after the turn was over"),
    );
    row(text, "  past the line", &bypasses.to_string());
    row(
        text,
        "  beyond",
        &format!("{excess} sessions let in again, {let_in_uncalled} of them never called"),
    );
    row(
        text,
        "  inversions",
        &format!("{inversions}; numbers given twice {numbers_given_twice}"),
    );
    if completed + beyond_stock > 0 {
        row(
            text,
            "  stock",
            &format!("{completed} pieces bought, {beyond_stock} calls for pieces that were not there"),
        );
    }
    for inversion in &line.inversions {
        row(
            text,
            "    at",
            &format!(
                "{} ({}) lane {}: {} {} before {}",
                inversion.at.position,
                inversion.at.time,
                inversion.lane,
                inversion.number,
                inversion.kind,
                inversion.before
            ),
        );
    }
    if line.waits.count > 0 {
        waits(text, line);
    }
    if waits_unknown > 0 {
        row(
            text,
            "  waits",
            &format!("{waits_unknown} of visitors who joined before"),
        );
    }
    uses(text, line);
}

fn waits(text: &mut String, line: &Line) {
    let _ = writeln!(
        text,
        "  {:<16}{:>8}{:>11}{:>11}{:>11}{:>11}{:>11}",
        "waits", "visitors", "p50", "p90", "p95", "p99", "longest"
    );
    spread(text, "all", &line.waits);
    let cohorts = line.waits_by_cohort.iter();
    let lanes = line.waits_by_lane.iter().filter(|_| line.waits_by_lane.len() > 1);
    for cohort in cohorts.chain(lanes) {
        spread(text, &cohort.name, &cohort.waits);
    }
}

fn spread(text: &mut String, name: &str, spread: &Spread) {
    let _ = write!(text, "    {name:<14}{:>8}", spread.count);
    for secs in [
        spread.p50_secs,
        spread.p90_secs,
        spread.p95_secs,
        spread.p99_secs,
        spread.max_secs,
    ] {
        let _ = write!(text, "{:>11}", in_words(secs));
    }
    text.push('\n');
}

fn uses(text: &mut String, line: &Line) {
    let (sessions, capacity) = (&line.sessions, &line.capacity);
    if sessions.held.count > 0 {
        let _ = writeln!(
            text,
            "  sessions        used p50 {}, p95 {}, longest {}; slot held p50 {}, p95 {}",
            in_words(sessions.used.p50_secs),
            in_words(sessions.used.p95_secs),
            in_words(sessions.used.max_secs),
            in_words(sessions.held.p50_secs),
            in_words(sessions.held.p95_secs)
        );
    }
    let used = capacity.used_while_waiting_percent.map_or_else(
        || "nobody had to wait".to_owned(),
        |percent| format!("{percent} % in use while somebody waited"),
    );
    row(
        text,
        "  capacity",
        &format!(
            "{}, at most {} slots at once; {used}",
            capacity.at_end, capacity.most_slots
        ),
    );
    let known: u64 = line.estimates.iter().map(|quarter| quarter.known).sum();
    if known > 0 {
        let shares: Vec<String> = line.estimates.iter().map(|quarter| held(*quarter)).collect();
        let shares = shares.join(", ");
        row(
            text,
            "  estimates",
            &format!("{shares} % of {known} told intervals held, by quarter of the line from the front"),
        );
    }
    for advice in &line.advice {
        row(
            text,
            "  suggested",
            &format!("{} = {} (now {})", advice.setting, advice.suggested, advice.now),
        );
        row(text, "", &advice.rule);
    }
}

fn held(outcomes: Outcomes) -> String {
    outcomes
        .held_percent
        .map_or_else(|| "-".to_owned(), |percent| percent.to_string())
}

fn trail(text: &mut String, findings: &Findings) {
    for log in findings.covers.logs.iter().skip(1) {
        let since = log.since.clone().unwrap_or_default();
        let from = match log.goes_on_from {
            "whole" => "goes on from the whole of the one before".to_owned(),
            "lost" => format!("goes on without the last {}", counted(log.entries_lost, "entry")),
            "nothing" => "begins from nothing: everything was lost".to_owned(),
            _ => "begins from a history that is not here".to_owned(),
        };
        row(text, "new log", &format!("{since} {}: {from}", log.epoch));
    }
    for interruption in &findings.interruptions {
        let to = interruption.to.as_ref().map_or("the end", |to| to.time.as_str());
        row(
            text,
            "pause",
            &format!(
                "{} to {to}: {} ({})",
                interruption.from.time,
                interruption.kind,
                in_words(interruption.secs)
            ),
        );
    }
    for change in &findings.changes {
        let counted = if change.counted {
            ""
        } else {
            " (came too late to count)"
        };
        row(
            text,
            "change",
            &format!(
                "{} by {}gate {}: {} revision {}, {}{counted}",
                change.at.time,
                said_by(change),
                change.gate,
                change.room,
                change.revision,
                change.what
            ),
        );
    }
    if let Some(said) = findings.routine.said() {
        row(text, "routine", &format!("{said}: counted, not listed"));
    }
    for gate in &findings.gates {
        let end = if gate.said_goodbye {
            "said goodbye"
        } else {
            "no goodbye"
        };
        row(
            text,
            "gate",
            &format!(
                "{} from {} to {}, {}, {} ignored, {end}",
                gate.gate,
                gate.first.time,
                gate.last.time,
                counted(gate.entries, "entry"),
                gate.entries_ignored
            ),
        );
    }
}

fn row(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "{name:<18}{}", plain(value));
}

fn files(count: u64) -> String {
    counted(count, "file")
}

fn counted(count: u64, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "entry") => format!("{count} entries"),
        _ => format!("{count} {what}s"),
    }
}

/// The operator, and why; or the file.
fn said_by(change: &Change) -> String {
    let mut said = match &change.who {
        Some(who) => format!("{} ", printable(who)),
        None => "the file of ".to_owned(),
    };
    if let Some(reason) = change.reason.as_deref().filter(|reason| !reason.is_empty()) {
        let _ = write!(said, "({}) ", printable(reason));
    }
    said
}

/// Text of a person, on one line.
pub(super) fn printable(text: &str) -> String {
    text.chars().filter(|character| may_be_shown(*character)).collect()
}

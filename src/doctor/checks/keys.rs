//! Whether every gate takes what the others sign: else a visitor who comes to another gate has no place.

use crate::doctor::check::Checking;
use crate::doctor::finding::Finding;
use crate::doctor::look::Look;
use crate::doctor::note::{KeyMark, Note, marks};
use crate::doctor::subject::{Running, Subject};
use ropeline_ids::GateId;

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    Box::pin(async {
        let Some(running) = look.running else { return Vec::new() };
        // Without the store nothing can be compared, and its own check says so.
        let Some(Ok(seen)) = look.store().await else {
            return Vec::new();
        };
        let notes = seen.notes.iter().map(|note| note.as_deref().and_then(Note::decode));
        compared(look.subject, running, look.others().into_iter().zip(notes))
    })
}

fn compared(subject: &Subject, running: &Running, notes: impl Iterator<Item = (GateId, Option<Note>)>) -> Vec<Finding> {
    let own = marks(&running.keys);
    let (mut findings, mut same) = (Vec::new(), 1);
    for (gate, note) in notes {
        match note {
            Some(note) => match difference(&own, &note.keys) {
                Some(wrong) => findings.push(told(subject, gate, wrong)),
                None => same += 1,
            },
            None => findings.push(
                Finding::warning(format!("Gate {} has not said yet which keys it has.", short(gate))).by(
                    "ropeline doctor",
                    "once more in a minute; a gate of an earlier build never says",
                ),
            ),
        }
    }
    if findings.is_empty() {
        findings.push(Finding::fine(if same == 1 {
            "This gate is the only one.".to_owned()
        } else {
            format!("All {same} gates have the same keys.")
        }));
    }
    findings
}

/// What one of two gates has and the other lacks.
enum Difference {
    /// What one signs the other does not take.
    Untaken(String),
    /// They differ in keys that sign no more, or not yet.
    Others,
}

fn difference(own: &[KeyMark], theirs: &[KeyMark]) -> Option<Difference> {
    let (ours, their) = (own.first()?, theirs.first()?);
    let untaken = |key: &KeyMark, there: &[KeyMark], who: &str, whose: &str| {
        let same_name = there.iter().any(|other| other.name == key.name);
        let what = if same_name {
            "has with another secret"
        } else {
            "does not have"
        };
        (!there.contains(key))
            .then(|| Difference::Untaken(format!("{who} with the key \"{}\", which {whose} {what}", key.name)))
    };
    let lacks = |one: &[KeyMark], other: &[KeyMark]| one.iter().any(|key| !other.contains(key));
    untaken(their, own, "it signs", "this gate")
        .or_else(|| untaken(ours, theirs, "this gate signs", "it"))
        .or_else(|| (lacks(own, theirs) || lacks(theirs, own)).then_some(Difference::Others))
}

fn told(subject: &Subject, gate: GateId, wrong: Difference) -> Finding {
    let gate = short(gate);
    match wrong {
        Difference::Untaken(wrong) => {
            let wrong =
                format!("Gate {gate} has other keys: {wrong}. Visitors lose their place from one gate to the other.");
            let right = "the same list on every gate, with the same audience";
            Finding::fault(wrong).at(&subject.places, KEY, right)
        }
        Difference::Others => {
            let wrong =
                format!("Gate {gate} has other keys beside the one that signs, as in the middle of a rotation.");
            Finding::warning(wrong).at(
                &subject.places,
                KEY,
                "the same list on every gate, once the rotation is over",
            )
        }
    }
}

/// As much of a gate's id as `ropeline gates` needs to find it.
fn short(gate: GateId) -> String {
    format!("{:016x}", gate.0)
}

const KEY: &str = "tokens.keys";

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(list: &[(&str, u8)]) -> Vec<KeyMark> {
        let mark = |(name, print): &(&str, u8)| KeyMark {
            name: (*name).to_owned(),
            print: [*print; 8],
        };
        list.iter().map(mark).collect()
    }

    #[test]
    fn a_key_that_signs_must_be_known_to_the_other_gate() {
        let untaken = |own: &[(&str, u8)], theirs: &[(&str, u8)]| match difference(&keys(own), &keys(theirs)) {
            None => "the same".to_owned(),
            Some(Difference::Others) => "others".to_owned(),
            Some(Difference::Untaken(why)) => why,
        };
        let (a, b, c) = (("a", 1), ("b", 2), ("a", 3));
        assert_eq!(untaken(&[a], &[a]), "the same");
        assert_eq!(
            untaken(&[a, b], &[b, a]),
            "the same",
            "a rotation that one gate has finished"
        );
        assert_eq!(untaken(&[a], &[a, b]), "others");
        assert_eq!(untaken(&[a, b], &[a]), "others");
        assert!(untaken(&[a], &[b]).starts_with("it signs with the key \"b\", which this gate does not have"));
        assert!(untaken(&[b], &[a, b]).starts_with("it signs with the key \"a\", which this gate does not"));
        assert!(untaken(&[b, a], &[a]).starts_with("this gate signs with the key \"b\", which it does not have"));
        assert!(untaken(&[a], &[c]).ends_with("has with another secret"));
    }
}

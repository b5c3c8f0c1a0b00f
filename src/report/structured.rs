//! Entries as JSON, for `ropeline log --format json`: everything that is in them but the ids of pending tickets.

use serde_json::{Map, Value, json};

use super::codes;
use super::describe;
use crate::archive::Stored;
use crate::dates::rfc3339;
use crate::room::{Batch, Chain, LaneId, Number, Section};

/// One entry as one object; `only` leaves out other rooms. `hash` is the chain after it, where that is known.
#[must_use]
pub fn entry(stored: &Stored, only: Option<&str>) -> Value {
    let entry = &stored.entry;
    json!({
        "position": entry.position.to_string(),
        "time": rfc3339(entry.time),
        "time_ms": entry.time.0,
        "gate": describe::gate(entry.gate),
        "serial": entry.serial,
        "version": entry.version,
        "passed_over": stored.passed_over,
        "hash": (stored.chain != Chain::default()).then(|| stored.chain.to_string()),
        "says": describe::batch(&entry.batch, only),
        "gates": among_gates(&entry.batch),
        "lines": lines(&entry.batch, only),
        "codes": codes::structured(&entry.batch, only),
    })
}

fn among_gates(batch: &Batch) -> Value {
    let mut said = Map::new();
    if batch.hello {
        said.insert("hello".into(), json!(true));
    }
    if batch.goodbye {
        said.insert("goodbye".into(), json!(true));
    }
    if let Some(spoke) = &batch.spoke {
        let roster: Vec<String> = spoke.roster.iter().map(|gate| describe::gate(*gate)).collect();
        said.insert(
            "spoke".into(),
            json!({ "position": spoke.position.to_string(), "roster": roster }),
        );
    }
    if let Some(vote) = batch.vote {
        let hash = Chain(vote.hash).to_string();
        said.insert(
            "vote".into(),
            json!({ "sequence": vote.sequence, "hash": hash, "again": vote.again }),
        );
    }
    if let Some(hash) = batch.root {
        said.insert("root".into(), json!(Chain(hash).to_string()));
    }
    if let Some(sequence) = batch.saved {
        said.insert("saved".into(), json!(sequence));
    }
    if let Some(version) = batch.raise {
        said.insert("raise".into(), json!(version));
    }
    if let Some(adopt) = batch.adopt {
        said.insert(
            "adopt".into(),
            json!({ "era": adopt.epoch.0.to_string(), "sequence": adopt.sequence, "floor": adopt.floor, "whole": adopt.whole,
                    "done": adopt.done }),
        );
    }
    Value::Object(said)
}

fn lines(batch: &Batch, only: Option<&str>) -> Vec<Value> {
    let sections = batch.sections.iter();
    sections
        .filter(|section| only.is_none_or(|only| only == section.room.as_str()))
        .map(line)
        .collect()
}

fn line(section: &Section) -> Value {
    let claims: Vec<_> = section.claims.iter().map(|claim| (claim.lane, claim.number)).collect();
    let ends: Vec<_> = section.ends.iter().map(|end| (end.lane, end.number)).collect();
    let completions: Vec<_> = section
        .completions
        .iter()
        .map(|done| (done.lane, done.number))
        .collect();
    let joins: Vec<Value> = section
        .joins
        .iter()
        .map(|(lane, count)| json!({ "lane": lane.0, "count": count }))
        .collect();
    json!({
        "room": section.room.as_str(),
        "line": section.line.as_str(),
        "joins": joins,
        "pending_joins": section.pending_joins.len(),
        "tagged_joins": section.tagged.len(),
        "bound": section.bound.len(),
        "bypasses": section.bypasses,
        "bypasses_by_network": section.networks,
        "leaves": numbers(&section.leaves),
        "completions": numbers(&completions),
        "ends": numbers(&ends),
        "claims": numbers(&claims),
        "reopens": numbers(&section.reopens),
        "renewals": numbers(&section.renewals),
        "marks": numbers(&section.marks),
        "taken": numbers(&section.taken),
        "spent": numbers(&section.spent),
        "voids": numbers(&section.voids),
    })
}

fn numbers(who: &[(LaneId, Number)]) -> Vec<Value> {
    let number = |(lane, number): &(LaneId, Number)| json!([lane.0, format!("{}/{}", number.epoch.0, number.n)]);
    who.iter().map(number).collect()
}

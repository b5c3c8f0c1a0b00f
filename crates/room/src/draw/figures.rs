//! The published figures of a draw, as JSON, and the faults found in them.
//!
//! Each fault is found by a fingerprint of its own, so the message names the altered figure: the secret by the commitment,
//! the count by the closing, the beacon's value by the seal.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::draw::facts::{Beacon, Draw, MAX_BEACON_NAME, is_beacon_value};
use crate::draw::orders::{AdmissionOrder, Arrangement};
use ropeline_ids::Hash;

/// More than figures can be long.
pub const MAX_FIGURES_BYTES: usize = 16 * 1_024;

/// Longest name of a room, and value of a line, in bytes.
const MAX_NAME: usize = 64;

/// Figures as published; figures that are not known yet are left out.
#[derive(Clone, PartialEq, Eq, std::hash::Hash, Debug, Serialize, Deserialize)]
pub struct Published {
    /// The form, which says by which order is drawn.
    pub draw: u32,
    pub room: String,
    /// Empty in a room with a single line.
    pub line: String,
    pub lane: u8,
    pub edition: u32,
    /// When the line begins to form, and the opening that was promised for it: milliseconds since 1970.
    pub begins_ms: u64,
    pub opens_ms: u64,
    /// The beacon's name; left out where the draw has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beacon: Option<String>,
    pub commitment: Hash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// When the line was closed for the draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Hash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beacon_value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Hash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Hash>,
}

/// Figures of a draw that was made.
#[derive(Clone, Debug)]
pub struct Figures {
    published: Published,
    count: u32,
    closed_ms: u64,
    closing: Hash,
    secret: Hash,
    seal: Hash,
}

/// Why figures cannot be worked with at all.
#[derive(Debug, Error)]
pub enum FiguresError {
    #[error("more than {MAX_FIGURES_BYTES} bytes: not the figures of a draw")]
    TooLong,
    #[error("not the figures of a draw: {0}")]
    NoFigures(#[from] serde_json::Error),
    #[error("figures of form {0}, and this program knows form {known}", known = known_forms())]
    Form(u32),
    #[error("{0:?} cannot be the name of a room")]
    Room(String),
    #[error("{0:?} cannot be the value of a line")]
    Line(String),
    #[error("a beacon's name is 1 to {MAX_BEACON_NAME} bytes long")]
    Beacon,
    #[error("a beacon's value is 64 or 128 hexadecimal digits in small letters")]
    BeaconValue,
    #[error("a beacon's value without the name of a beacon")]
    ValueAlone,
    #[error("the draw has not been made: {0} not published yet")]
    NotMade(&'static str),
}

/// A contradiction in the figures, as a sentence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    #[error(
        "the secret does not fit the commitment: the secret was changed, or the room, edition, opening or name of the beacon \
         that it was committed for"
    )]
    Secret,
    #[error("the count does not fit the closing: the number of those drawn was changed, or the line, lane or time")]
    Count,
    #[error(
        "the line was closed {0} s before the opening that was promised: those who came after it were kept out of the draw"
    )]
    Early(u64),
    #[error("the beacon's value does not fit the seal: it was changed after the draw")]
    Beacon,
    #[error(
        "{0} is none of this draw's fingerprints: these are figures of another draw, or all of them were made anew"
    )]
    Unknown(Hash),
    #[error("number {number} stands at place {place} by these figures, not at {shown}")]
    Place { number: u32, place: u32, shown: u32 },
}

impl Figures {
    /// Reads figures of a draw that was made.
    ///
    /// # Errors
    /// When the text is something else, or the draw has not been made.
    pub fn parse(json: &[u8]) -> Result<Self, FiguresError> {
        if json.len() > MAX_FIGURES_BYTES {
            return Err(FiguresError::TooLong);
        }
        let published: Published = serde_json::from_slice(json)?;
        published.check()?;
        let missing = FiguresError::NotMade;
        Ok(Self {
            count: published.count.ok_or(missing("the count is"))?,
            closed_ms: published.closed_ms.ok_or(missing("the time of the closing is"))?,
            closing: published.closing.ok_or(missing("the closing is"))?,
            secret: published.secret.ok_or(missing("the secret is"))?,
            seal: published.seal.ok_or(missing("the seal is"))?,
            published,
        })
    }

    /// The figures that the fingerprints show to be altered; empty if all match.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let draw = self.draw();
        let early_ms = draw.opens_ms.saturating_sub(self.closed_ms);
        let found = [
            (draw.commitment() != self.published.commitment, Fault::Secret),
            (draw.closing(self.published.commitment) != self.closing, Fault::Count),
            (draw.seal(self.closing) != self.seal, Fault::Beacon),
            (self.closed_ms < draw.opens_ms, Fault::Early(early_ms.div_ceil(1_000))),
        ];
        found
            .into_iter()
            .filter(|(wrong, _)| *wrong)
            .map(|(_, fault)| fault)
            .collect()
    }

    /// A fault unless `seen`, a fingerprint that a visitor kept, belongs to this draw.
    #[must_use]
    pub fn expects(&self, seen: Hash) -> Option<Fault> {
        let known = [self.published.commitment, self.closing, self.seal];
        (!known.contains(&seen)).then_some(Fault::Unknown(seen))
    }

    /// The order that the figures give.
    #[must_use]
    pub fn order(&self) -> Arc<dyn Arrangement> {
        self.draw().arranged()
    }

    #[must_use]
    pub fn published(&self) -> &Published {
        &self.published
    }

    /// How many are drawn.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// When the line was closed, in milliseconds since 1970.
    #[must_use]
    pub fn closed_ms(&self) -> u64 {
        self.closed_ms
    }

    fn draw(&self) -> Draw<'_> {
        let figures = &self.published;
        Draw {
            order: AdmissionOrder::of_form(figures.draw).unwrap_or_default(),
            room: &figures.room,
            line: &figures.line,
            edition: figures.edition,
            lane: figures.lane,
            begins_ms: figures.begins_ms,
            opens_ms: figures.opens_ms,
            closed_ms: self.closed_ms,
            count: self.count,
            secret: self.secret,
            beacon: figures.beacon.as_deref().map(|name| Beacon {
                name,
                value: figures.beacon_value.as_deref().unwrap_or_default(),
            }),
        }
    }
}

impl Published {
    fn check(&self) -> Result<(), FiguresError> {
        if AdmissionOrder::of_form(self.draw).is_none() {
            return Err(FiguresError::Form(self.draw));
        }
        if self.room.is_empty() || !is_name(&self.room) {
            return Err(FiguresError::Room(self.room.clone()));
        }
        if !is_name(&self.line) {
            return Err(FiguresError::Line(self.line.clone()));
        }
        match (&self.beacon, &self.beacon_value) {
            (None, Some(_)) => Err(FiguresError::ValueAlone),
            (Some(_), None) if self.secret.is_some() => Err(FiguresError::NotMade("the beacon's value is")),
            (Some(name), _) if !(1..=MAX_BEACON_NAME).contains(&name.len()) => Err(FiguresError::Beacon),
            (Some(_), Some(value)) if !is_beacon_value(value) => Err(FiguresError::BeaconValue),
            _ => Ok(()),
        }
    }
}

fn known_forms() -> String {
    let forms: Vec<String> = AdmissionOrder::all().map(|order| order.form().to_string()).collect();
    forms.join(", ")
}

/// Short, and nothing in it that could command a terminal.
fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME && !text.chars().any(char::is_control)
}

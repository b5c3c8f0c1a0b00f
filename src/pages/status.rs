//! The status answer: where a visitor stands, as JSON for the page's script and for apps.

use serde::Serialize;

use super::kind::Stall;
use super::text::json;
use crate::dates::rfc3339;
use crate::draw::Published;
use crate::room::{Called, Clock, Estimate, Phase, Stage, Wall};

/// A visitor's state, one word each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Early,
    Joining,
    Waiting,
    Called,
    Inside,
    Late,
    Ended,
    SoldOut,
    /// By an operator.
    Closed,
    /// The last sale of the schedule has ended.
    Over,
    /// No ticket, or none that is worth anything.
    None,
}

/// The body of `GET /.ropeline/rooms/{room}/status` and of the answers to join and check-in.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Status<'a> {
    pub state: State,
    /// Inside, and idle: the next request waits for a slot.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub parked: bool,
    /// Present visitors ahead plus one; absent where there is no place. A room that is closed or over keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// The visitor's lane, if it is not the common one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<&'a str>,
    /// Present visitors in the lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
    /// While a rehearsal is under way: how many of those in the whole line are virtual.
    #[serde(rename = "virtual", skip_serializing_if = "Option::is_none")]
    pub rehearsed: Option<u64>,
    /// Seconds; `null` if unknown.
    #[serde(serialize_with = "interval")]
    pub estimate: Option<Estimate>,
    /// How often it was a visitor's turn in the last five minutes; absent while nobody can be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub let_in: Option<u64>,
    /// For a request that names the latest moment shown so far, the one that holds now: in seconds of wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<u64>,
    /// Seconds that a called visitor has left to come in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim_in: Option<u64>,
    /// When to ask again; written as `refresh`, in seconds. 0 when there is nothing to wait for.
    #[serde(rename = "refresh", serialize_with = "secs")]
    pub refresh_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'a str>,
    /// The tag of its language, where it was given for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_lang: Option<&'a str>,
    /// Why no visitor is called just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Stall>,
    /// The sentence for it in the visitor's language: for apps, and for a page that may not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_text: Option<&'a str>,
    /// While opening or healing, after how many seconds calls go on at the latest, in whole minutes.
    #[serde(rename = "resumes", skip_serializing_if = "Option::is_none")]
    pub resumes_secs: Option<u32>,
    /// `false` where all that is left of the stock goes to people ahead, as things stand; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable: Option<bool>,
    /// Whether the visitor has bought one: absent where that is not to be shown, or where it is unknown that they took part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub won: Option<bool>,
    /// When that is shown, where it lies ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results_at: Option<String>,
    /// Before a sale, and in the line that forms before its opening.
    #[serde(flatten)]
    pub opening: Option<Opening>,
    /// How far the room's draw has come, and the stock as shown to a visitor, for the page's script.
    #[serde(skip_serializing_if = "is_none")]
    pub lot: u8,
    /// In a room that draws, from the promise on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawStatus>,
    /// To apps only, which keep their tokens themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<&'a str>,
}

/// A visitor's draw: the figures to check it by, and its result for this one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DrawStatus {
    /// The visitor's number in the draw, from the closing on; absent for one who was not drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// The place that the draw gave, once it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    pub figures: Published,
}

/// When a sale begins, as RFC 3339 and in seconds from now on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Opening {
    /// From then on visitors can join.
    pub begins_at: String,
    pub begins_in: u64,
    /// From then on they are called.
    pub opens_at: String,
    pub opens_in: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<String>,
}

impl Opening {
    /// Of a room that is not open yet.
    #[must_use]
    pub fn of(stage: &Stage, now: Wall) -> Option<Self> {
        let window = &stage.window;
        let secs = |at: Wall| at.since(now).div_ceil(1_000);
        matches!(stage.phase, Phase::Early | Phase::Prequeue).then(|| Self {
            begins_at: rfc3339(window.begins),
            begins_in: secs(window.begins),
            opens_at: rfc3339(window.opens),
            opens_in: secs(window.opens),
            closes_at: window.closes.map(rfc3339),
        })
    }
}

impl Status<'_> {
    /// A state without a place.
    #[must_use]
    pub fn new(state: State, refresh_ms: u64) -> Self {
        Self {
            state,
            parked: false,
            position: None,
            ahead: None,
            lane: None,
            waiting: None,
            rehearsed: None,
            estimate: None,
            let_in: None,
            by: None,
            claim_in: None,
            refresh_ms,
            message: None,
            message_lang: None,
            why: None,
            why_text: None,
            resumes_secs: None,
            reachable: None,
            won: None,
            results_at: None,
            opening: None,
            lot: 0,
            draw: None,
            ticket: None,
            pass: None,
            reference: None,
        }
    }

    /// In line, with `ahead` present visitors before this one and `waiting` in all.
    #[must_use]
    pub fn waiting(ahead: u64, waiting: u64, estimate: Option<Estimate>, refresh_ms: u64) -> Self {
        Self {
            position: Some(ahead.saturating_add(1)),
            ahead: Some(ahead),
            waiting: Some(waiting),
            estimate,
            ..Self::new(State::Waiting, refresh_ms)
        }
    }

    /// The answer's body.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// Whole seconds until the claim deadline of a call.
#[must_use]
pub fn claim_in(called: &Called, now: Clock) -> u64 {
    called.deadline.since(now) / 1_000
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(super) fn is_none(lot: &u8) -> bool {
    *lot == 0
}

/// Milliseconds as seconds.
#[expect(
    clippy::cast_precision_loss,
    reason = "a thousand years in milliseconds are far below 2^53"
)]
pub(super) fn seconds(ms: u64) -> f64 {
    ms.min(1_000 * 366 * 86_400_000) as f64 / 1_000.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(super) fn secs<S: serde::Serializer>(ms: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    match ms % 1_000 {
        0 => serializer.serialize_u64(ms / 1_000),
        _ => serializer.serialize_f64(seconds(*ms)),
    }
}

#[expect(clippy::ref_option, reason = "serde's signature")]
fn interval<S: serde::Serializer>(estimate: &Option<Estimate>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Interval {
        low: u32,
        high: u32,
    }
    estimate
        .map(|known| Interval {
            low: known.low_secs,
            high: known.high_secs,
        })
        .serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_visitor_gets_the_fields_of_the_contract() {
        let estimate = Some(Estimate {
            low_secs: 240,
            high_secs: 420,
        });
        let status = Status {
            message: Some("Doors at 14:00"),
            message_lang: Some("en"),
            ..Status::waiting(1_203, 4_000, estimate, 1_500)
        };
        let json = status.to_json();
        assert_eq!(
            json,
            r#"{"state":"waiting","position":1204,"ahead":1203,"waiting":4000,"estimate":{"low":240,"high":420},"refresh":1.5,"message":"Doors at 14:00","message_lang":"en"}"#
        );
    }

    #[test]
    fn an_unknown_estimate_is_null_and_what_does_not_apply_is_absent() {
        let json = Status::new(State::SoldOut, 0).to_json();
        assert_eq!(json, r#"{"state":"sold_out","estimate":null,"refresh":0}"#);
    }

    #[test]
    fn an_app_gets_its_tokens() {
        let status = Status {
            ticket: Some("t"),
            pass: Some("p"),
            reference: Some("r"),
            why: Some(Stall::CutOff),
            ..Status::new(State::Called, 2_000)
        };
        let json: serde_json::Value = serde_json::from_str(&status.to_json()).unwrap();
        assert_eq!(json["ticket"], "t");
        assert_eq!(json["pass"], "p");
        assert_eq!(json["reference"], "r");
        assert_eq!(json["why"], "cut_off");
        assert_eq!(json["refresh"], 2);
    }
}

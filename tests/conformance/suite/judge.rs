//! Verdicts: the result of a case, compared with the correct one.

use std::fmt::Write;

use super::case::{Case, Check, Expect};
use super::client::Heard;
use super::message::{self, Message, Rest};
use super::shop::Seen;

#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Verdict {
    Right,
    /// Repaired, or read as the RFCs allow, into an unambiguous request; but not refused.
    Lenient,
    Wrong,
    /// Not asked.
    None,
}

/// The result of a case at one proxy.
#[derive(Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    /// For the table.
    pub tells: String,
    /// The property that did not hold.
    pub fault: Option<String>,
}

/// The observations of a client and the shop in a case.
pub struct Facts<'a> {
    pub heard: &'a Heard,
    pub messages: Vec<Message>,
    rests: Vec<Rest>,
    tunnel: Option<Vec<u8>>,
    nothing_ahead: bool,
}

impl<'a> Facts<'a> {
    pub fn new(heard: &'a Heard, seen: &'a [Seen]) -> Self {
        let mut facts = Self {
            heard,
            messages: Vec::new(),
            rests: Vec::new(),
            tunnel: None,
            nothing_ahead: true,
        };
        for seen in seen {
            let end = seen.switched.map_or(seen.bytes.len(), |(end, _)| end);
            let (messages, rest) = message::read(&seen.bytes[..end]);
            facts.messages.extend(messages);
            facts.rests.push(rest);
            if let Some((end, then)) = seen.switched {
                facts.tunnel = Some(seen.bytes[end..].to_vec());
                facts.nothing_ahead &= end == then;
            }
        }
        facts
    }

    pub fn ambiguous(&self) -> Option<&'static str> {
        self.rests.iter().find_map(|rest| match rest {
            Rest::Ambiguous(why) => Some(*why),
            _ => None,
        })
    }

    fn status(&self) -> Option<u16> {
        self.heard.answers.last().map(|answer| answer.status)
    }

    /// No whole request and no ambiguous one has reached the shop.
    fn nothing_forwarded(&self) -> bool {
        self.messages.is_empty() && self.ambiguous().is_none()
    }

    /// A short text of the shop's requests, or of the client's answer.
    fn tells(&self) -> String {
        let mut words = self.forwarded();
        let end = match (self.heard.closed, self.status()) {
            (_, Some(status)) if self.nothing_forwarded() => Some(status.to_string()),
            (true, None) => Some("closed".into()),
            (false, None) => Some("waits".into()),
            _ => None,
        };
        words.extend(end);
        words.join(", ")
    }

    /// The requests that the shop got.
    pub fn forwarded(&self) -> Vec<String> {
        let whole = self.messages.iter();
        let mut words: Vec<String> = whole.map(|message| format!("`{}`", shown(message))).collect();
        words.extend(self.ambiguous().map(|why| format!("ambiguous {why}")));
        if words.is_empty() && self.rests.contains(&Rest::Cut) {
            words.push("cut".into());
        }
        words
    }

    pub fn holds(&self, check: Check) -> bool {
        holds(self, check)
    }

    /// The part that must be the same for another delivery: all of it, except a worker's port and the request's id.
    pub fn gist(&self) -> String {
        let mut gist = String::new();
        for answer in &self.heard.answers {
            let _ = write!(gist, "{} ", answer.status);
        }
        for message in &self.messages {
            let is_own = |name: &str| ["x-forwarded-port", "x-request-id"].contains(&name);
            let fields = message.fields.iter().filter(|(name, _)| !is_own(name));
            let fields = fields
                .chain(&message.trailers)
                .map(|(name, value)| format!("{name}: {}", value.escape_ascii()));
            let fields = fields.collect::<Vec<_>>().join(", ");
            let _ = write!(gist, "[{message}; {fields}] {} ", message.body.escape_ascii());
        }
        // How soon a connection ends after an answer that does not say so is nobody's promise.
        let ends = self.heard.closed && self.status().is_none_or(|status| status >= 400);
        gist + if ends { "closed" } else { "" } + self.ambiguous().unwrap_or_default()
    }
}

fn shown(message: &Message) -> String {
    let text: String = message.to_string().replace('`', "'").replace('|', "\\|");
    let cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() {
        format!("{cut}…")
    } else {
        cut
    }
}

pub fn judge(case: &Case, facts: &Facts<'_>) -> Outcome {
    let (verdict, fault) = match &case.expect {
        Expect::Refused => refused(facts, true),
        Expect::Declined => refused(facts, false),
        Expect::Passes(checks) => passes(facts, checks),
        Expect::Either(checks) => match refused(facts, false) {
            right @ (Verdict::Right, _) => right,
            _ => passes(facts, checks),
        },
        Expect::Protected | Expect::Alike if facts.nothing_forwarded() => (Verdict::Right, None),
        Expect::Protected => (Verdict::Wrong, Some("the protected route is reached".into())),
        Expect::Alike => (
            Verdict::Lenient,
            Some("some shops read it as the protected route".into()),
        ),
    };
    Outcome {
        verdict,
        tells: facts.tells(),
        fault,
    }
}

fn refused(facts: &Facts<'_>, must_close: bool) -> (Verdict, Option<String>) {
    if let Some(why) = facts.ambiguous() {
        return (Verdict::Wrong, Some(format!("forwarded with an ambiguous {why}")));
    }
    let refused = facts.heard.answers.last().is_none_or(|answer| answer.status >= 400);
    if !facts.messages.is_empty() {
        return (Verdict::Lenient, Some("forwarded".into()));
    }
    match (refused, facts.heard.closed, facts.status()) {
        (true, true, _) => (Verdict::Right, None),
        (true, false, Some(_)) if !must_close => (Verdict::Right, None),
        (true, false, Some(_)) => (Verdict::Lenient, Some("the connection stays".into())),
        (true, false, None) => (Verdict::Lenient, Some("waits".into())),
        (false, ..) => (Verdict::Wrong, Some("answered as if it were sound".into())),
    }
}

fn passes(facts: &Facts<'_>, checks: &[Check]) -> (Verdict, Option<String>) {
    if let Some(why) = facts.ambiguous() {
        return (Verdict::Wrong, Some(format!("forwarded with an ambiguous {why}")));
    }
    let mut checks = checks.to_vec();
    if !checks
        .iter()
        .any(|check| matches!(check, Check::Times(_) | Check::AnyTimes))
    {
        checks.push(Check::Times(1));
    }
    if !checks.iter().any(|check| matches!(check, Check::Status(_))) {
        checks.push(Check::Status(200));
    }
    match checks.iter().find(|check| !holds(facts, **check)) {
        None => (Verdict::Right, None),
        Some(check) => (Verdict::Wrong, Some(format!("not {check:?}"))),
    }
}

fn holds(facts: &Facts<'_>, check: Check) -> bool {
    let Some(first) = facts.messages.first() else {
        return matches!(check, Check::Times(0) | Check::AnyTimes | Check::Never(_)) || about_answer(facts, check);
    };
    let is = |values: Vec<&[u8]>, value: &str| values.len() == 1 && values[0].eq_ignore_ascii_case(value.as_bytes());
    match check {
        Check::Times(times) => facts.messages.len() == times && whole_answers(facts) == times,
        Check::AnyTimes => true,
        Check::OneOf(starts) => starts.contains(&first.start.as_str()),
        Check::Never(start) => !facts.messages.iter().any(|message| message.start.starts_with(start)),
        Check::Start(start) => facts.messages.iter().any(|message| message.start == start),
        Check::Field(name, value) => is(first.values(name), value),
        Check::FieldOneOf(name, values) => values.into_iter().any(|value| is(first.values(name), value)),
        Check::NoField(name) => first.values(name).is_empty(),
        Check::Nowhere(text) => {
            let fields = first.fields.iter().chain(&first.trailers);
            let mut all = fields.flat_map(|(name, value)| [name.clone(), String::from_utf8_lossy(value).into_owned()]);
            !all.any(|part| part.to_ascii_lowercase().contains(&text.to_ascii_lowercase()))
        }
        Check::Body(body) => first.body == body.as_bytes(),
        Check::BodyBytes(count) => first.body.len() == count,
        Check::Trailer(name, value) => is(message::values(&first.trailers, name), value),
        Check::NoTrailer(name) => message::values(&first.trailers, name).is_empty(),
        Check::Tunnel(text) => facts.tunnel.as_deref() == Some(text.as_bytes()),
        Check::NoTunnel => facts.heard.answers.iter().all(|answer| answer.status != 101),
        Check::NothingAhead => facts.nothing_ahead,
        _ => about_answer(facts, check),
    }
}

fn whole_answers(facts: &Facts<'_>) -> usize {
    facts.heard.answers.iter().filter(|answer| answer.is_whole).count()
}

fn about_answer(facts: &Facts<'_>, check: Check) -> bool {
    let last = facts.heard.answers.last();
    match check {
        Check::Status(status) => facts.status() == Some(status),
        Check::AnswerField(name, value) => last.and_then(|answer| answer.field(name)) == Some(value),
        Check::NoAnswerField(name) => last.is_some_and(|answer| answer.field(name).is_none()),
        Check::AnswerBody(body) => last.is_some_and(|answer| answer.body == body.as_bytes()),
        Check::Interims(count) => facts.heard.interims == count,
        Check::Closed => facts.heard.closed,
        Check::Heard(text) => facts.heard.tunnel == text.as_bytes(),
        _ => false,
    }
}

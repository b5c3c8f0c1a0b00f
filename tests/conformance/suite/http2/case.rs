//! A case over HTTP/2: a client's frames, and the correct result.

use crate::suite::case::{Check, OK, Shop};

/// One connection, and its frames.
pub struct Case {
    pub name: String,
    /// As for HTTP/1.1: an RFC and a section.
    pub source: &'static str,
    /// Where h2spec has it: its chapter, section and number there.
    pub listed: &'static str,
    /// Settings sent behind the preface; without them the case begins with its own first byte.
    pub opening: Option<Vec<(u16, u32)>>,
    pub steps: Vec<Step>,
    pub shop: Shop,
    pub expect: Expect,
    /// The streams that must be over for the case to be.
    pub streams: Vec<u32>,
    /// Why the gate may be lenient here.
    pub known: &'static str,
    /// The gate's behaviour depends on the order of arrivals, which is not a fault.
    pub varies: bool,
}

#[derive(Clone)]
pub enum Step {
    Send(Vec<u8>),
    /// Waits for this.
    Hear(Sign),
    /// Requests on as many streams as the other end takes, and one more.
    Exceed,
}

/// Something to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// This many SETTINGS frames of the client are acknowledged, those of the beginning included.
    Acknowledged(usize),
    /// A piece of a stream's answer, or its end.
    Data(u32),
    Over(u32),
}

pub enum Expect {
    /// Every stream answered with 200, the connection goes on, and the checks hold.
    Passes(Vec<Check>),
    /// Either that, or as [`Expect::Malformed`].
    Either(Vec<Check>),
    /// No whole request is forwarded; the stream or the connection is ended, or answered with an error (RFC 9113, section
    /// 8.1.1).
    Malformed,
    /// The stream, or the connection, is ended for one of these reasons.
    Stream(&'static [u32]),
    /// The connection is ended for one of these reasons.
    Connection(&'static [u32]),
    /// No effect: a PING is answered.
    Alive,
    /// No effect, or the connection is ended without an error.
    Harmless,
    /// Exactly this many bytes of an answer's body come.
    Bytes(usize),
}

impl Case {
    pub fn new(name: impl Into<String>, source: &'static str, bytes: impl AsRef<[u8]>, expect: Expect) -> Self {
        Self {
            name: name.into(),
            source,
            listed: "",
            opening: Some(Vec::new()),
            steps: vec![Step::Send(bytes.as_ref().to_vec())],
            shop: Shop::Says(OK),
            streams: if matches!(expect, Expect::Passes(_) | Expect::Either(_)) {
                vec![1]
            } else {
                Vec::new()
            },
            expect,
            known: "",
            varies: false,
        }
    }

    pub fn listed(mut self, place: &'static str) -> Self {
        self.listed = place;
        self
    }

    /// Begins with these settings.
    pub fn opening(mut self, settings: &[(u16, u32)]) -> Self {
        self.opening = Some(settings.to_vec());
        self
    }

    /// Begins with its own first byte.
    pub fn bare(mut self) -> Self {
        self.opening = None;
        self
    }

    pub fn shop(mut self, shop: Shop) -> Self {
        self.shop = shop;
        self
    }

    pub fn hear(mut self, sign: Sign) -> Self {
        self.steps.push(Step::Hear(sign));
        self
    }

    pub fn send(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.steps.push(Step::Send(bytes.as_ref().to_vec()));
        self
    }

    pub fn exceed(mut self) -> Self {
        self.steps.push(Step::Exceed);
        self
    }

    pub fn streams(mut self, streams: &[u32]) -> Self {
        self.streams = streams.to_vec();
        self
    }

    pub fn expect(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }

    pub fn known(mut self, why: &'static str) -> Self {
        self.known = why;
        self
    }

    pub fn varies(mut self) -> Self {
        self.varies = true;
        self
    }
}

/// h2 says `PROTOCOL_ERROR` where there is a code that says more.
pub const LESS_TELLING: &str = "the connection is ended, but h2 says `PROTOCOL_ERROR` where the RFC has a code that says more; nothing of it is forwarded";
/// The `http` crate cuts a path before its fragment.
pub const CUT: &str =
    "the `http` crate cuts the path before `#`; the gate judges and forwards what is left, and the rest reaches nobody";

/// The allowed results of a valid request.
pub fn passes() -> Expect {
    Expect::Passes(Vec::new())
}

/// Every row: a name, a source, and fields behind the pseudo-fields of a GET that must be refused.
pub fn malformed(rows: &[(&str, &'static str, Vec<u8>)]) -> Vec<Case> {
    let cases = rows.iter();
    cases
        .map(|(name, source, bytes)| Case::new(*name, source, bytes, Expect::Malformed))
        .collect()
}

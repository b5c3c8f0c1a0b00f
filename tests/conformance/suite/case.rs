//! A case: the client's bytes, the shop's answer, and the correct result, with its source.

use super::faults::Faulty;

/// One conversation on a connection of its own.
pub struct Case {
    pub name: String,
    /// The source of the rule, such as "9112, 6.3" for RFC 9112, section 6.3.
    pub source: &'static str,
    pub steps: Vec<Step>,
    pub shop: Shop,
    pub expect: Expect,
    /// It is about names that only the gate knows: the others are not judged.
    pub gate_alone: bool,
    /// The gate's behaviour depends on the order of arrivals, which is not a fault.
    pub varies: bool,
}

/// The client's steps, one after another; then it listens.
#[derive(Clone)]
pub enum Step {
    Send(Vec<u8>),
    /// Waits until this has come.
    Hear(&'static str),
    /// Closes the sending half.
    Finish,
}

/// How the shop answers.
#[derive(Clone, Copy)]
pub enum Shop {
    /// With this, whenever a request is complete; a HEAD gets the head alone.
    Says(&'static str),
    /// With this as soon as a head is there, its body or not.
    Early(&'static str),
    /// Says `100 Continue` where it is expected, then OK.
    Continues,
    /// With this answer, after which another protocol is spoken: received bytes are sent back in capitals, and `DONE` at the
    /// end.
    Switches(&'static str),
    /// The same, but some time after it has the request.
    SwitchesLate(&'static str),
    /// With [`OK`] to who asks for [`SERVED`], with this to all others.
    Serves(&'static str),
    /// With [`OK`] to who asks for [`SERVED`], wrongly to all others.
    Faulty(Faulty),
}

/// The target of another client meanwhile.
pub const SERVED: &str = "/served";

/// An answer that leaves the connection open.
pub const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

pub enum Expect {
    /// Answered with an error or not at all, nothing whole forwarded, the connection closed. Forwarded all the same it is
    /// `lenient` if what the shop got can be read in one way only, else `wrong`.
    Refused,
    /// As [`Expect::Refused`], but the message is sound and the connection may stay.
    Declined,
    /// Forwarded once with an answer of 200, unless a check says otherwise, and all checks hold.
    Passes(Vec<Check>),
    /// Either of both.
    Either(Vec<Check>),
    /// The path is the protected one to a server that follows the RFCs: never forwarded.
    Protected,
    /// The path is the protected one to some servers in common use: forwarding it is `lenient`.
    Alike,
}

/// A required property. Names of fields in lower case.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// This many requests reach the shop, and have their answers.
    Times(usize),
    /// However many reach it.
    AnyTimes,
    /// A request line, of the first request or of any.
    Start(&'static str),
    /// One of these.
    OneOf(&'static [&'static str]),
    /// No request line of any begins so.
    Never(&'static str),
    /// A field of the request, with just this value and once.
    Field(&'static str, &'static str),
    /// The same with one of two values.
    FieldOneOf(&'static str, [&'static str; 2]),
    NoField(&'static str),
    /// A value that no field of the request contains, in any case.
    Nowhere(&'static str),
    Body(&'static str),
    BodyBytes(usize),
    Trailer(&'static str, &'static str),
    NoTrailer(&'static str),
    /// The status of the last answer.
    Status(u16),
    AnswerField(&'static str, &'static str),
    NoAnswerField(&'static str),
    AnswerBody(&'static str),
    /// Interim answers that the client saw.
    Interims(usize),
    Closed,
    /// The bytes that the shop got in the tunnel.
    Tunnel(&'static str),
    NoTunnel,
    /// The bytes that the client got in the tunnel.
    Heard(&'static str),
    /// The shop got none of the tunnel's bytes before it had agreed.
    NothingAhead,
}

impl Case {
    pub fn new(name: impl Into<String>, source: &'static str, bytes: impl AsRef<[u8]>, expect: Expect) -> Self {
        Self {
            name: name.into(),
            source,
            steps: vec![Step::Send(bytes.as_ref().to_vec())],
            shop: Shop::Says(OK),
            expect,
            gate_alone: false,
            varies: false,
        }
    }

    pub fn shop(mut self, shop: Shop) -> Self {
        self.shop = shop;
        self
    }

    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub fn gate_alone(mut self) -> Self {
        self.gate_alone = true;
        self
    }

    pub fn varies(mut self) -> Self {
        self.varies = true;
        self
    }

    /// Whether the shop itself answers with an error.
    pub fn is_shop_s_error(&self) -> bool {
        matches!(self.shop, Shop::Says(answer) if answer.starts_with("HTTP/1.1 4"))
    }

    /// Final answers that a client waits for.
    pub fn answers(&self) -> usize {
        let (Expect::Passes(checks) | Expect::Either(checks)) = &self.expect else {
            return 1;
        };
        let times = checks.iter().find_map(|check| match check {
            Check::Times(times) => Some(*times),
            _ => None,
        });
        times.unwrap_or(1)
    }

    /// The method of the first request.
    pub fn is_head(&self) -> bool {
        matches!(self.steps.first(), Some(Step::Send(bytes)) if bytes.starts_with(b"HEAD "))
    }
}

/// Every row is a case that must be refused.
pub fn refused(rows: &[(&str, &'static str, String)]) -> Vec<Case> {
    let cases = rows.iter();
    cases
        .map(|(name, source, text)| Case::new(*name, source, text, Expect::Refused))
        .collect()
}

/// A request to `/` with these header lines and this body.
pub fn post(lines: &str, body: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: shop.test\r\n{lines}\r\n\r\n{body}")
}

/// A request without a body, with these header lines (each with its end).
pub fn get(target: &str, lines: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: shop.test\r\n{lines}\r\n")
}

/// A chunked request with this body.
pub fn chunked(body: &str) -> String {
    post("Transfer-Encoding: chunked", body)
}

/// A request that must never be read as one.
pub const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: shop.test\r\n\r\n";

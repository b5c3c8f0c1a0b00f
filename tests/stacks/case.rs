//! A request to be tried, and the parts of it that are read: by the gate, to choose a line or an account, and by a stack
//! below it.

/// The part that both read. Each has a room of its own at the gate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Thing {
    /// The path variable of `/event/{id}`, which chooses a line.
    Event,
    /// The query parameter `id`, which chooses a line.
    Id,
    /// The query parameter `event_id`, which chooses a line.
    EventId,
    /// The field `X-User` of a trusted proxy, which names an account.
    User,
    /// The cookie `sid`, which names an account.
    Sid,
    /// The member `email` of a form or a JSON object, which names an account.
    Email,
}

impl Thing {
    pub const ALL: [Self; 6] = [Self::Event, Self::Id, Self::EventId, Self::User, Self::Sid, Self::Email];

    /// The name of its room, and what stacks call it in their answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Id => "id",
            Self::EventId => "event_id",
            Self::User => "user",
            Self::Sid => "sid",
            Self::Email => "email",
        }
    }

    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|thing| thing.name() == name)
    }

    /// The name of its room at the gate, where `_` has no place.
    pub fn room(self) -> &'static str {
        match self {
            Self::EventId => "event-id",
            other => other.name(),
        }
    }

    /// It names an account, and no line.
    pub fn is_account(self) -> bool {
        matches!(self, Self::User | Self::Sid | Self::Email)
    }
}

/// One request over HTTP/1.1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    pub thing: Thing,
    /// A stack may read nothing where others read the value: the name or the body's type is in another letter case, a part's name has no
    /// quotes (Mojolicious), or a cookie beside it is malformed (Python's `http.cookies`).
    pub may_be_missed: bool,
    /// Without `Connection`, which is added where it is sent.
    pub bytes: Vec<u8>,
}

impl Case {
    /// The request with one field more, right behind its first line.
    pub fn with(bytes: &[u8], field: &str) -> Vec<u8> {
        let at = bytes.windows(2).position(|two| two == b"\r\n").map_or(0, |at| at + 2);
        [&bytes[..at], field.as_bytes(), b"\r\n", &bytes[at..]].concat()
    }
}

/// A stack's answer: its readings, or that it refused the request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Read(Vec<Reading>),
    Refused(u16),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Reading {
    pub thing: Thing,
    /// The call by which it was read, such as `_GET`.
    pub by: String,
    pub value: Vec<u8>,
}

impl Answer {
    /// From the status and the text of a stack's answer: a line `thing reader hexadecimal` for each value.
    pub fn read(status: u16, text: &str) -> Self {
        if status != 200 {
            return Self::Refused(status);
        }
        let mut readings: Vec<Reading> = text.lines().filter_map(Reading::read).collect();
        readings.sort();
        readings.dedup();
        Self::Read(readings)
    }
}

impl Reading {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let (thing, by, value) = (words.next()?, words.next()?, words.next()?);
        Some(Self {
            thing: Thing::of(thing)?,
            by: by.to_owned(),
            value: unhex(value)?,
        })
    }
}

pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    text.as_bytes().chunks(2).map(pair).collect()
}

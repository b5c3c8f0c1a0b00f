//! One line of the table: a request, and its required result.

/// The cases of one threat, and the room that they are tried on.
pub struct Row {
    /// Lines of `[[room]]`.
    pub room: &'static str,
    /// Tables behind it.
    pub tables: &'static str,
    pub cases: &'static [Case],
}

/// A request, and its required result. Cases are made by [`attack`] and [`ordinary`].
#[derive(Clone, Copy)]
pub struct Case {
    /// A description of the attack.
    pub name: &'static str,
    pub method: &'static str,
    pub target: &'static str,
    pub fields: &'static [(&'static str, &'static str)],
    pub body: Body,
    /// Sent by the visitor who is inside, rather than by a stranger.
    pub inside: bool,
    pub fate: Fate,
    /// Ways that it cannot be sent over.
    pub not_over: &'static [&'static str],
}

/// The bytes behind the head.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Body {
    None,
    /// With the length in the head.
    Told(&'static str),
    /// Without a declared length: chunks, or frames.
    Untold(&'static str),
    /// The same, with fields behind it.
    Trailed(&'static str, &'static [(&'static str, &'static str)]),
}

/// The required result of a request.
#[derive(Clone, Copy)]
pub enum Fate {
    /// The shop sees nothing of it, and this is the status; where a proxy asks twice, the first no has no words.
    Refused(u16),
    /// Treated as any visitor's: it waits as every request does, with an answer of the gate's own.
    Waits,
    /// It reaches the shop, with these fields and without those.
    Passes {
        with: &'static [&'static str],
        without: &'static [&'static str],
    },
}

/// A request that must not reach the shop for any visitor; it is judged as an ordinary one unless [`Case::fate`] says more.
pub const fn attack(name: &'static str, method: &'static str, target: &'static str) -> Case {
    Case {
        name,
        method,
        target,
        fields: &[],
        body: Body::None,
        inside: false,
        fate: Fate::Waits,
        not_over: &[],
    }
}

/// A request that people's browsers and programs send, and that must get through.
pub const fn ordinary(name: &'static str, method: &'static str, target: &'static str) -> Case {
    Case {
        fate: Fate::Passes {
            with: &[],
            without: &[],
        },
        ..attack(name, method, target)
    }
}

impl Case {
    pub const fn fields(self, fields: &'static [(&'static str, &'static str)]) -> Self {
        Self { fields, ..self }
    }

    pub const fn body(self, body: Body) -> Self {
        Self { body, ..self }
    }

    pub const fn inside(self) -> Self {
        Self { inside: true, ..self }
    }

    pub const fn fate(self, fate: Fate) -> Self {
        Self { fate, ..self }
    }

    pub const fn not_over(self, not_over: &'static [&'static str]) -> Self {
        Self { not_over, ..self }
    }

    /// Its fields as they are sent.
    pub fn sent(&self, pass: &str) -> Vec<(String, String)> {
        let own = self
            .fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let pass = self.inside.then(|| ("Ropeline-Pass".to_owned(), pass.to_owned()));
        own.chain(pass).collect()
    }
}

impl Body {
    pub const fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Told(text) | Self::Untold(text) | Self::Trailed(text, _) => text,
        }
    }

    pub const fn trailers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Trailed(_, fields) => fields,
            _ => &[],
        }
    }
}

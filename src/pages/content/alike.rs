//! The facts that many visitors share: all content of a page, apart from a visitor's own facts, follows from them.

use crate::draw::Published;
use crate::metrics::CodeFate;
use crate::pages::addresses::MAX_CARRIED;
use crate::pages::catalogue::Catalogue;
use crate::pages::kind::{LineFacts, Message, Notice, PageFacts, PageKind, Reload, Stall, StockFacts, TurnFacts};
use crate::room::{LineName, Phase, RoomName, Wall};

/// The facts of a page without those that are one visitor's own or one moment's.
#[derive(Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(in crate::pages) struct Alike<'a> {
    pub kind: PageKind,
    pub catalogue: &'a Catalogue,
    pub bare: bool,
    pub not_sent: bool,
    /// As [`PageFacts::leads_on_at_once`].
    pub at_once: bool,
    /// Its language where that is not the page's.
    pub message: Option<Message<'a>>,
    pub retry_after_secs: Option<u32>,
    pub button_url: Option<&'a str>,
    pub signs_in: bool,
    pub code: Option<CodeFate>,
    pub line: Option<InLine<'a>>,
}

/// As [`LineFacts`].
#[derive(Hash)]
pub(in crate::pages) struct InLine<'a> {
    pub room: &'a RoomName,
    pub line: &'a LineName,
    pub late_window_ms: u64,
    pub claim_deadline_ms: u64,
    pub session_ms: u64,
    pub session_max_ms: u64,
    /// Whether the room has a draw.
    pub draws: bool,
    /// When the room opens, where it is not open yet, and what comes next there.
    pub opens: Option<Wall>,
    pub next: Option<Next>,
    pub stock: StockFacts,
    pub draw: Option<&'a Published>,
    pub turn: Option<InTurn<'a>>,
}

/// What comes next in a room that is not open yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::pages) enum Next {
    /// The line, which forms before the opening.
    Line,
    /// The opening, before which nobody can join.
    Opening,
    /// The opening of a line that forms already.
    Calls,
}

/// As [`TurnFacts`].
#[derive(Hash)]
pub(in crate::pages) struct InTurn<'a> {
    /// There is a position.
    pub placed: bool,
    pub crowded: bool,
    pub notice: Option<Notice>,
    pub lane: Option<&'a str>,
    pub stall: Option<Stall>,
    pub resumes_secs: Option<u32>,
}

impl<'a> Alike<'a> {
    pub fn of(kind: PageKind, facts: &PageFacts<'a>, catalogue: &'a Catalogue) -> Self {
        // A proof of work is asked for outside the line.
        let line = facts.line.as_ref().filter(|_| facts.proof.is_none());
        Self {
            kind,
            catalogue,
            bare: kind.follows() && line.is_some_and(|line| line.reload == Reload::Bare),
            not_sent: facts.not_sent,
            at_once: facts.leads_on_at_once(),
            message: facts.message.and_then(|message| of_message(message, &catalogue.tag)),
            // When it tries again is not when there is a slot, and the next page would say the same.
            retry_after_secs: facts.retry_after_secs.filter(|_| kind != PageKind::Returning),
            button_url: facts.button_url,
            signs_in: facts.sign_in.is_some(),
            code: facts.code.filter(|_| facts.proof.is_none()),
            line: line.map(InLine::of),
        }
    }

    /// The visitor waits for something on this page: a turn, an opening, or a result.
    pub fn expects(&self) -> bool {
        let results = self.line.as_ref().is_some_and(|line| line.stock.results.is_some());
        results || !matches!(self.kind, PageKind::Over | PageKind::SoldOut)
    }

    /// The facts that many visitors share of a page that ends with each one's own; `None` for another page. It leads on
    /// where no script runs, and one with a place in line only if it does so at once: nobody misses what the script would show.
    pub fn of_many(mut self, facts: &PageFacts<'a>) -> Option<Self> {
        let leads_on = facts.line.as_ref()?.reload == Reload::Automatic && facts.here.len() <= MAX_CARRIED;
        if !self.kind.follows() || !leads_on || facts.proof.is_some() {
            return None;
        }
        if !self.at_once && self.line.as_ref()?.turn.is_some() {
            return None;
        }
        // None of these pages says when to try again.
        self.retry_after_secs = None;
        let line = self.line.as_mut()?;
        line.line = &LineName::ONLY;
        if let Some(turn) = &mut line.turn {
            (turn.stall, turn.resumes_secs) = (None, None);
        }
        Some(self)
    }
}

fn of_message<'a>(message: Message<'a>, tag: &str) -> Option<Message<'a>> {
    let lang = message.lang.filter(|lang| !lang.eq_ignore_ascii_case(tag));
    (!message.text.trim().is_empty()).then_some(Message { lang, ..message })
}

impl<'a> InLine<'a> {
    fn of(line: &LineFacts<'a>) -> Self {
        let settings = line.settings;
        let stage = line
            .opening
            .filter(|stage| matches!(stage.phase, Phase::Early | Phase::Prequeue));
        Self {
            room: line.room,
            line: line.line,
            late_window_ms: settings.late_window_ms,
            claim_deadline_ms: settings.claim_deadline_ms,
            session_ms: settings.session_ms,
            session_max_ms: settings.session_max_ms,
            draws: settings.draw.is_some(),
            opens: stage.map(|stage| stage.window.opens),
            next: stage.map(|stage| match stage.phase {
                Phase::Prequeue => Next::Calls,
                _ if stage.window.begins < stage.window.opens => Next::Line,
                _ => Next::Opening,
            }),
            stock: line.stock,
            draw: line.draw.map(|draw| draw.figures),
            turn: line.turn.as_ref().map(InTurn::of),
        }
    }
}

impl<'a> InTurn<'a> {
    fn of(turn: &TurnFacts<'a>) -> Self {
        Self {
            placed: turn.ahead.is_some(),
            crowded: turn.crowded,
            notice: turn.notice,
            lane: turn.lane,
            stall: turn.stall,
            resumes_secs: turn.resumes_secs,
        }
    }
}

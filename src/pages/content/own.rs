//! The parts of a page that are one visitor's own, or one moment's, put into words; all else is the same for many.

use std::borrow::Cow;

use minijinja::value::Value;
use serde::{Serialize, Serializer};

use super::Alike;
use crate::pages::addresses::{MAX_CARRIED, check, check_url};
use crate::pages::catalogue::{Catalogue, fill};
use crate::pages::kind::{LineFacts, PageFacts, PageKind, Reload, TurnFacts};
use crate::pages::text::{bare_time, path_on_this_host, percent_encode, time, timed};
use crate::pages::{lot, proof, script};
use crate::room::{Estimate, Phase, Stage, Wall, pace};

/// A visitor's own facts.
#[derive(Serialize, Default)]
pub(in crate::pages) struct Own<'a> {
    pub title: Piece<'a>,
    request_id: Piece<'a>,
    /// The address asked for.
    pub here: Piece<'a>,
    /// The shop's host, without a port.
    host: Option<Piece<'a>>,
    /// Where "check now" leads.
    check_url: Piece<'a>,
    /// Where the reload without JavaScript leads.
    pub reload_url: Piece<'a>,
    pub reload_secs: Option<Piece<'a>>,
    /// Seconds until the whole page, where no script runs, leads there: 0 where it does so at once, since later pages are bare. An
    /// address that no link carries is reloaded in its time.
    reload_in: Option<Piece<'a>>,
    /// With no seconds: where no script runs, the page does not reload.
    reload_text: Option<Piece<'a>>,
    reload_stop_url: Option<Piece<'a>>,
    reload_start_url: Option<Piece<'a>>,
    reference: Option<Piece<'a>>,
    position: Option<u64>,
    position_text: Option<Piece<'a>>,
    ahead_text: Option<Piece<'a>>,
    estimate_text: Option<Piece<'a>>,
    /// 0 to 100; none while the wait is not known.
    progress: Option<Piece<'a>>,
    /// How often it was somebody's turn lately.
    let_in_text: Option<Piece<'a>>,
    /// None where nothing is to come.
    updated: Option<Piece<'a>>,
    /// The time left until visitors can join, or until they are called.
    countdown: Option<Piece<'a>>,
    countdown_secs: Option<Piece<'a>>,
    /// It is a day or more, so that the countdown is wide.
    countdown_long: bool,
    /// The promise and the known facts of the draw, in words.
    draw_text: Option<Piece<'a>>,
    /// For the script; set on pages that keep themselves up to date.
    pub data: Option<Piece<'a>>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(in crate::pages) enum Piece<'a> {
    Text(Cow<'a, str>),
    Markup(String),
    Number(u64),
}

/// Writes the visitor's own facts as text.
pub(in crate::pages) fn own<'a>(alike: &Alike<'a>, facts: &PageFacts<'a>) -> Own<'a> {
    let catalogue = alike.catalogue;
    let page = catalogue.page(alike.kind);
    let here = path_on_this_host(facts.here);
    let mut own = Own {
        title: Piece::of(&*page.title),
        request_id: Piece::of(facts.request_id),
        here: Piece::of(facts.sign_in.map_or(here, path_on_this_host)),
        host: facts.host.map(Piece::of),
        check_url: Piece::of(here),
        reload_url: Piece::of(here),
        ..Own::default()
    };
    if let Some(secs) = facts.again_secs {
        own.reload_secs = Some(Piece::Number(secs.into()));
        own.reload_text = Some(Piece::of(&*catalogue.words.tries_again));
    }
    let Some(line) = &facts.line else { return own };
    if let Some(asked) = &facts.proof {
        own.reload_secs = Some(Piece::Number(u64::from(asked.wait_secs) + 1));
        own.reload_url = Piece::of(proof::enter_url(line, asked, here));
        own.data = Some(Piece::Markup(proof::data(line, asked, here)));
    } else if alike.kind.follows() {
        let time = if alike.bare { bare_time } else { time };
        let updated = || Piece::Markup(timed(&catalogue.words.updated, &time(facts.now, false, catalogue)).0);
        own.updated = alike.expects().then(updated);
        own.draw_text = line.draw.map(|draw| Piece::of(lot::text(draw, catalogue)));
        add_reload(&mut own, (alike.kind, facts), (line, here), catalogue);
        add_countdown(&mut own, line, facts.now, catalogue);
        match &line.turn {
            Some(turn) if turn.ahead.is_some() => add_turn(&mut own, (alike.kind, facts.now), turn, catalogue),
            // Before the draw a visitor has no place.
            _ if alike.kind == PageKind::Waiting => own.title = Piece::of(&*page.heading),
            _ => {}
        }
        own.reference = line.turn.as_ref().and_then(|turn| turn.reference).map(Piece::of);
        own.data = Some(Piece::Markup(script::data(
            (alike.kind, false),
            facts,
            line,
            (here, catalogue),
        )));
    }
    own
}

/// Stands where a page has a visitor's own fact, in the text that is the same for many; the one for `data` last.
pub(in crate::pages) const BLANK: char = '\0';

/// Room for the facts of such a page, which the script shows.
pub(in crate::pages) fn blank<'a>(alike: &Alike<'a>, shape: Shape) -> Own<'a> {
    let page = alike.catalogue.page(alike.kind);
    let blank = || Piece::Markup(BLANK.to_string());
    let some = |there: bool| there.then(blank);
    let line = alike.line.as_ref();
    let placed = line.and_then(|line| line.turn.as_ref()).is_some_and(|turn| turn.placed);
    let counts = line.is_some_and(|line| line.next.is_some());
    // The title without a number says no less.
    let title = if page.title.contains("{n}") {
        &page.heading
    } else {
        &page.title
    };
    Own {
        title: Piece::of(&**title),
        request_id: blank(),
        here: blank(),
        host: some(shape.host),
        check_url: blank(),
        reload_url: blank(),
        reference: some(shape.reference),
        position: placed.then_some(1),
        position_text: some(placed),
        ahead_text: some(placed),
        estimate_text: some(placed && alike.kind == PageKind::Waiting),
        updated: some(alike.expects()),
        countdown: some(counts),
        countdown_secs: some(counts),
        draw_text: some(line.is_some_and(|line| line.draw.is_some())),
        data: some(true),
        ..Own::default()
    }
}

/// Which facts there are.
#[derive(Clone, Copy, Hash, Debug)]
pub(in crate::pages) struct Shape {
    pub host: bool,
    pub reference: bool,
}

/// Links of a bare page carry no longer path than this, encoded; for a longer one `check` uses the `Referer`.
const MAX_BARE_CARRIED: usize = 80;

fn add_reload<'a>(
    own: &mut Own<'a>,
    (kind, facts): (PageKind, &PageFacts<'_>),
    (line, here): (&LineFacts<'_>, &str),
    catalogue: &'a Catalogue,
) {
    let now = facts.now;
    let checked = check_url(line, here);
    let carried = here.len() <= MAX_CARRIED;
    let brief = line.reload == Reload::Bare && percent_encode(here).len() > MAX_BARE_CARRIED;
    let unsure = line.fresh && line.turn.is_some();
    // Only a page that has just given a ticket leads to where one is asked for.
    let any = if unsure { "" } else { "&ticket=any" };
    let high_secs = |turn: &TurnFacts<'_>| turn.estimate.map(|estimate| estimate.high_secs);
    // The wait that is shown here must be known to the page that this one leads to, if no script keeps it.
    let by = match line.turn.as_ref().and_then(high_secs) {
        Some(secs) if line.reload == Reload::Automatic => format!("&by={}", now.0 / 1_000 + u64::from(secs)),
        _ => String::new(),
    };
    let switch = |to: &str, any: &str| match (brief, carried) {
        (true, _) => Some([&check(line), "reload=", to, any].concat()),
        (false, true) => Some([&checked, "&reload=", to, &by, any].concat()),
        (false, false) => None,
    };
    match line.reload {
        Reload::Automatic => {
            if let Some(url) = switch("bare", any) {
                own.reload_url = Piece::of(url);
            }
        }
        Reload::Bare | Reload::Stopped => own.reload_start_url = switch("on", "").map(Piece::of),
        Reload::Off => {}
    }
    if matches!(line.reload, Reload::Automatic | Reload::Bare) {
        let secs = reload_secs(line, now);
        let shown = catalogue.number(secs);
        own.reload_secs = Some(Piece::Number(secs));
        own.reload_in = match line.reload {
            Reload::Bare => None,
            _ if carried && facts.leads_on_at_once() => Some(Piece::Number(0)),
            _ => Some(Piece::Number(secs)),
        };
        own.reload_text = Some(Piece::of(fill(&catalogue.words.moves_by_itself, &[("n", &shown)])));
        own.reload_stop_url = switch("off", "").map(Piece::of);
    } else if kind.waits() {
        own.reload_text = Some(Piece::of(&*catalogue.words.reload_stopped));
    }
    if unsure && carried {
        if line.reload != Reload::Automatic {
            own.reload_url = Piece::of(checked.clone());
        }
        own.check_url = Piece::of(checked);
    }
}

/// Not faster than reading allows (WCAG 2.2, F41), never slower than half a claim deadline; a new ticket is checked within
/// ten seconds. The bare page must stay small over an hour, so it uses the slowest pace. The last reload before a sale comes
/// in time for it.
pub(in crate::pages) fn reload_secs(line: &LineFacts<'_>, now: Wall) -> u64 {
    let soon = |stage: &Stage| stage.phase == Phase::Early && stage.window.begins.since(now) <= pace::EARLY_MOST_MS;
    if line.opening.is_some_and(soon) {
        return (line.refresh_ms / 1_000).max(1);
    }
    let most = (line.settings.claim_deadline_ms / 2_000).max(1);
    let least = if line.fresh { 10 } else { 30 };
    let wanted_ms = match (line.reload, line.fresh) {
        (Reload::Bare, false) => pace::slowest_ms(line.settings),
        _ => line.refresh_ms,
    };
    (wanted_ms / 1_000).clamp(least.min(most), most)
}

/// So many reloads, at the least, lie before the turn of a visitor whose page reloads less often.
const RELOADS_BEFORE: u64 = 4;

/// Seconds between the reloads of a bare page that takes so many bytes each time, where an hour may take `most_bytes`. For a visitor whose turn is far, or not foreseen and
/// not the next, a large page reloads less often. It does so three times in two claim deadlines even then: a turn that comes early
/// is not missed.
pub(in crate::pages) fn spared_secs(line: &LineFacts<'_>, secs: u64, (bytes, most_bytes): (u64, u64)) -> u64 {
    let most = line.settings.claim_deadline_ms * 2 / 3_000;
    let spared = (bytes * 3_600).div_ceil(most_bytes).min(most).max(secs);
    let is_far = |turn: &TurnFacts<'_>| match turn.estimate {
        Some(estimate) => u64::from(estimate.low_secs) >= RELOADS_BEFORE * spared,
        None => turn.ahead.is_some_and(|ahead| ahead > 0),
    };
    let may_wait = line.reload == Reload::Bare && !line.fresh && line.turn.as_ref().is_some_and(is_far);
    if may_wait { spared } else { secs }
}

fn add_turn<'a>(own: &mut Own<'a>, (kind, now): (PageKind, Wall), turn: &TurnFacts<'_>, catalogue: &'a Catalogue) {
    let Some(ahead) = turn.ahead else { return };
    let (position, ahead_text) = place_texts(kind, ahead, catalogue);
    own.title = Piece::of(fill(&catalogue.page(kind).title, &[("n", &position)]));
    own.position = Some(ahead.saturating_add(1));
    own.position_text = Some(Piece::of(position));
    own.ahead_text = ahead_text.map(Piece::of);
    if kind != PageKind::Waiting {
        return;
    }
    own.estimate_text = Some(Piece::of(estimate_text(turn.estimate, catalogue)));
    let waited_secs = now.since(turn.joined_at) / 1_000;
    own.progress = turn
        .estimate
        .map(|estimate| Piece::Number(progress(waited_secs, estimate)));
    own.let_in_text = turn
        .let_in
        .map(|calls| Piece::of(catalogue.count(&catalogue.plurals.let_in, calls)));
}

/// The position, and how many are ahead. Where no turn will come nobody is next.
pub(in crate::pages) fn place_texts(
    kind: PageKind,
    ahead: u64,
    catalogue: &Catalogue,
) -> (String, Option<Cow<'_, str>>) {
    let ahead_text = (kind != PageKind::Over).then(|| match ahead {
        0 => Cow::Borrowed(&*catalogue.words.first),
        _ => Cow::Owned(catalogue.count(&catalogue.plurals.ahead, ahead)),
    });
    (catalogue.number(ahead.saturating_add(1)), ahead_text)
}

/// The time left until visitors can join, and in a line that forms already until they are called.
fn add_countdown(own: &mut Own<'_>, line: &LineFacts<'_>, now: Wall, catalogue: &Catalogue) {
    let Some(secs) = countdown_secs(line, now) else { return };
    own.countdown = Some(Piece::of(countdown(secs, catalogue)));
    own.countdown_secs = Some(Piece::Number(secs));
    own.countdown_long = secs >= DAY_SECS;
}

/// What a countdown begins with.
pub(in crate::pages) fn countdown_secs(line: &LineFacts<'_>, now: Wall) -> Option<u64> {
    let Stage { phase, window, .. } = line.opening?;
    let to = match phase {
        Phase::Early => window.begins,
        Phase::Prequeue => window.opens,
        Phase::Open | Phase::Closed => return None,
    };
    Some(to.since(now).div_ceil(1_000))
}

/// Hours, minutes and seconds, and days before them; `static/countdown.js` writes it the same way.
fn countdown(secs: u64, catalogue: &Catalogue) -> String {
    let (days, hours, minutes) = (secs / DAY_SECS, secs / 3_600 % 24, secs / 60 % 60);
    let time = format!("{hours:02}:{minutes:02}:{:02}", secs % 60);
    match days {
        0 => time,
        _ => fill(
            &catalogue.words.days,
            &[("n", &catalogue.number(days)), ("time", &time)],
        ),
    }
}

const DAY_SECS: u64 = 86_400;

/// An interval in minutes, from an hour and a half in hours, and never more exact than it is.
pub(super) fn estimate_text(estimate: Option<Estimate>, catalogue: &Catalogue) -> Cow<'_, str> {
    let Some(Estimate { low_secs, high_secs }) = estimate else {
        return Cow::Borrowed(&catalogue.words.estimate_unknown);
    };
    let plurals = &catalogue.plurals;
    let (unit, exact, range) = match high_secs {
        0..=60 => return Cow::Borrowed(&catalogue.words.estimate_soon),
        61..=5_400 => (60, &plurals.estimate_minutes, &plurals.estimate_minutes_range),
        _ => (3_600, &plurals.estimate_hours, &plurals.estimate_hours_range),
    };
    let (low, high) = (low_secs / unit, high_secs.div_ceil(unit));
    let forms = if low == 0 || low >= high { exact } else { range };
    let values = [
        ("low", &*catalogue.number(low.into())),
        ("high", &*catalogue.number(high.into())),
    ];
    Cow::Owned(fill(catalogue.form(forms, high.into()), &values))
}

/// The part of the whole wait that is over, in percent.
fn progress(waited_secs: u64, estimate: Estimate) -> u64 {
    let whole = waited_secs.saturating_add(estimate.high_secs.into()).max(1);
    waited_secs.saturating_mul(100) / whole
}

impl Own<'_> {
    /// A countdown is among them.
    pub fn counts(&self) -> bool {
        self.countdown.is_some()
    }
}

impl<'a> Piece<'a> {
    pub fn of(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// It as text, for where nothing is marked up.
    pub fn plain(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Markup(markup) => Cow::Borrowed(markup),
            Self::Number(number) => Cow::Owned(number.to_string()),
        }
    }
}

impl Default for Piece<'_> {
    fn default() -> Self {
        Self::Text(Cow::Borrowed(""))
    }
}

impl Serialize for Piece<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Markup(markup) => Value::from_safe_string(markup.clone()).serialize(serializer),
            Self::Number(number) => serializer.serialize_u64(*number),
        }
    }
}

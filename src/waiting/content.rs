//! Facts put into words: everything a template may show, made for one kind, one visitor and one language.
//!
//! The fields of [`Content`] are the variables of `docs/page.md`; a change here is a change for operators' templates.

mod own;

use minijinja::value::Value;
use serde::Serialize;

pub(super) use own::{MARKS, Own, Words};

use super::addresses::{MAX_CARRIED, api, check, check_url, query};
use super::catalogue::{Catalogue, fill};
use super::kind::{LineFacts, Notice, PageFacts, PageKind, ProofFacts, Reload, Stall, TurnFacts};
use super::language::Language;
use super::lot;
use super::script;
use super::text::{Markup, bare_time, beginning, escape, path_on_this_host, percent_encode, time, timed};
use crate::room::{Estimate, Phase, Stage, Wall, pace};

/// The variables of a template; those that do not apply are none, and lists are empty.
#[derive(Serialize, Default, Hash)]
pub(super) struct Content<'a> {
    pub kind: &'static str,
    pub lang: &'static str,
    dir: &'static str,
    pub title: String,
    pub heading: &'static str,
    lead: &'static str,
    /// Sentences about why the place is not what the visitor remembers.
    notices: Vec<Markup>,
    message: Option<&'a str>,
    /// As much of it as a bare page has room for.
    message_start: Option<String>,
    request_id: &'a str,
    retry: Option<String>,
    opens: Option<Markup>,
    /// The time left until visitors can join, and what stands above it.
    countdown: Option<String>,
    countdown_secs: Option<u64>,
    countdown_label: Option<&'static str>,
    /// The address asked for.
    pub here: &'a str,
    /// What the link under the text says, where there is one.
    go_on: Option<&'static str>,
    /// Where "check now" leads.
    pub check_url: String,
    /// Where the reload without JavaScript leads.
    reload_url: String,
    /// No more than what changes: for who has seen the whole page and runs no script.
    pub bare: bool,
    reload_secs: Option<Value>,
    reload_text: Option<String>,
    reload_stop_url: Option<String>,
    reload_start_url: Option<String>,
    leave_url: Option<String>,
    /// Where the button of the page about another account's place posts to.
    afresh_url: Option<&'a str>,
    reference: Option<&'a str>,
    pub position: Option<u64>,
    position_text: Option<String>,
    ahead_text: Option<String>,
    estimate_text: Option<String>,
    /// 0 to 100.
    progress: Option<Value>,
    updated: Option<Markup>,
    why: Option<String>,
    /// What is promised and known of the draw, in words, and as what anybody can check it by.
    pub draw_text: Option<String>,
    pub draw_figures: Option<String>,
    good_to_know: Vec<String>,
    /// For the script; set on pages that keep themselves up to date.
    data: Option<Markup>,
    /// In place of the script of pages that follow their line.
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<Markup>,
    words: Words,
}

/// What all pages of one language share.
#[derive(Debug)]
pub(super) struct Shared {
    pub words: Value,
    /// The words that the script needs, as JSON.
    pub script_words: String,
}

/// Bytes of a message that a bare page shows, as markup.
const MESSAGE_START: usize = 140;

/// The content of one page.
pub(super) fn content<'a>(kind: PageKind, facts: &PageFacts<'a>, language: Language, shared: &Shared) -> Content<'a> {
    let catalogue = language.catalogue();
    let page = catalogue.page(kind);
    let here = path_on_this_host(facts.here);
    let mut content = Content {
        kind: kind.name(),
        lang: &catalogue.tag,
        dir: catalogue.direction.name(),
        title: page.title.clone(),
        heading: &page.heading,
        lead: &page.lead,
        message: facts.message.filter(|message| !message.trim().is_empty()),
        request_id: facts.request_id,
        retry: facts
            .retry_after_secs
            .map(|secs| catalogue.count(&catalogue.plurals.retry, secs.into())),
        here: facts.sign_in.map_or(here, path_on_this_host),
        go_on: facts.sign_in.map(|_| &*catalogue.words.go_on).or(catalogue.link(kind)),
        afresh_url: facts.afresh,
        check_url: here.to_owned(),
        reload_url: here.to_owned(),
        words: Words(shared.words.clone()),
        ..Content::default()
    };
    content.message_start = content.message.map(|message| beginning(message, MESSAGE_START));
    if facts.not_sent && (kind.follows() || kind == PageKind::Proof) {
        content.notices.push(Markup(escape(&catalogue.words.notice_not_sent)));
    }
    if let (Some(line), Some(proof)) = (&facts.line, &facts.proof) {
        add_proof(&mut content, line, proof, catalogue);
        return content;
    }
    content
        .notices
        .extend(facts.code.map(|fate| Markup(escape(catalogue.words.code(fate)))));
    if let Some(line) = &facts.line {
        add_line(&mut content, kind, facts, line, catalogue);
        if kind.follows() {
            content.data = Some(script::data(
                kind,
                facts,
                line,
                &content,
                (catalogue, &shared.script_words),
            ));
        }
    }
    content
}

/// The work for the script, and for who runs none the wait.
fn add_proof(content: &mut Content<'_>, line: &LineFacts<'_>, proof: &ProofFacts<'_>, catalogue: &Catalogue) {
    let wait = catalogue.number(proof.wait_secs.into());
    content
        .notices
        .push(Markup(escape(&fill(&catalogue.words.proof_without, &[("n", &wait)]))));
    content.data = Some(super::proof::data(line, proof, content.here));
    content.script = Some(Markup(super::proof::SCRIPT.clone()));
    content.reload_secs = Some(Value::from(u64::from(proof.wait_secs) + 1));
    content.reload_url = super::proof::enter_url(line, proof, content.here);
}

/// How a moment is shown, with or without its date.
type Time = fn(Wall, bool) -> String;

fn add_line<'a>(
    content: &mut Content<'a>,
    kind: PageKind,
    facts: &PageFacts<'a>,
    line: &LineFacts<'a>,
    catalogue: &'static Catalogue,
) {
    content.bare = kind.follows() && line.reload == Reload::Bare;
    let time: Time = if content.bare { bare_time } else { time };
    add_opening(content, line, facts.now, (catalogue, time));
    add_stock(content, line, (catalogue, time));
    if !kind.follows() {
        return;
    }
    content.updated = Some(timed(&catalogue.words.updated, &time(facts.now, false)));
    add_reload(content, line, catalogue, facts.now);
    lot::add(content, kind, line, catalogue);
    if let Some(turn) = &line.turn {
        content.leave_url = Some(format!("{}/leave{}", api(line), query(line)));
        content.good_to_know = good_to_know(line, catalogue);
        add_turn(content, facts, turn, (catalogue, time));
    }
}

/// What is left for the visitor, or what came of it.
fn add_stock(content: &mut Content<'_>, line: &LineFacts<'_>, (catalogue, time): (&'static Catalogue, Time)) {
    let words = &catalogue.words;
    let won = line
        .stock
        .won
        .map(|won| if won { &words.stock_won } else { &words.stock_lost });
    let beyond = line.stock.beyond.then_some(&words.stock_beyond);
    let said = won.or(beyond).map(|text| Markup(escape(text)));
    let results = line
        .stock
        .results
        .map(|at| timed(&words.stock_results, &time(at, true)));
    content.notices.extend(said.into_iter().chain(results));
}

/// When the room opens, for those who are early and those in a line that is not called yet.
fn add_opening(
    content: &mut Content<'_>,
    line: &LineFacts<'_>,
    now: Wall,
    (catalogue, time): (&'static Catalogue, Time),
) {
    let Some(&Stage { phase, window, .. }) = line.opening else {
        return;
    };
    if matches!(phase, Phase::Early | Phase::Prequeue) {
        content.opens = Some(timed(&catalogue.words.opens, &time(window.opens, true)));
    }
    if phase == Phase::Early {
        let words = &catalogue.words;
        let secs = window.begins.since(now).div_ceil(1_000);
        content.countdown = Some(countdown(secs, catalogue));
        content.countdown_secs = Some(secs);
        content.countdown_label = Some(if window.begins < window.opens {
            &words.until_line
        } else {
            &words.until_open
        });
    }
}

/// Hours, minutes and seconds, and days before them; `static/countdown.js` writes it the same way.
fn countdown(secs: u64, catalogue: &Catalogue) -> String {
    let (days, hours, minutes) = (secs / 86_400, secs / 3_600 % 24, secs / 60 % 60);
    let time = format!("{hours:02}:{minutes:02}:{:02}", secs % 60);
    match days {
        0 => time,
        _ => fill(
            &catalogue.words.days,
            &[("n", &catalogue.number(days)), ("time", &time)],
        ),
    }
}

/// The links of a bare page carry no longer one than this, encoded; behind it `check` goes by the `Referer`.
const MAX_BARE_CARRIED: usize = 80;

fn add_reload(content: &mut Content<'_>, line: &LineFacts<'_>, catalogue: &Catalogue, now: Wall) {
    let carried = content.here.len() <= MAX_CARRIED;
    let brief = content.bare && percent_encode(content.here).len() > MAX_BARE_CARRIED;
    let high_secs = |turn: &TurnFacts<'_>| turn.estimate.map(|estimate| estimate.high_secs);
    // What is told here must be known to the page that this one leads to, if no script keeps it.
    let by = match line.turn.as_ref().and_then(high_secs) {
        Some(secs) if line.reload == Reload::Automatic => format!("&by={}", now.0 / 1_000 + u64::from(secs)),
        _ => String::new(),
    };
    let switch = |to| match (brief, carried) {
        (true, _) => Some(format!("{}reload={to}", check(line))),
        (false, true) => Some(format!("{}&reload={to}{by}", check_url(line, content.here))),
        (false, false) => None,
    };
    let unsure = line.fresh && line.turn.is_some();
    if unsure && carried {
        content.check_url = check_url(line, content.here);
        content.reload_url.clone_from(&content.check_url);
    }
    match line.reload {
        Reload::Automatic => {
            // Only a page that has just given a ticket leads to where one is asked for.
            let any = if unsure { "" } else { "&ticket=any" };
            if let Some(url) = switch("bare") {
                content.reload_url = url + any;
            }
        }
        Reload::Bare | Reload::Stopped => content.reload_start_url = switch("on"),
        Reload::Off => {}
    }
    if matches!(line.reload, Reload::Automatic | Reload::Bare) {
        let secs = reload_secs(line, now);
        let shown = catalogue.number(secs);
        content.reload_secs = Some(Value::from(secs));
        content.reload_text = Some(fill(&catalogue.words.moves_by_itself, &[("n", &shown)]));
        content.reload_stop_url = switch("off");
    }
}

/// Not faster than reading allows (WCAG 2.2, F41), never slower than half a claim deadline; a new ticket is looked for
/// within ten seconds. The bare page is there to be small over an hour, so it keeps to the slowest pace there is. The last
/// one before a sale comes in time for it.
fn reload_secs(line: &LineFacts<'_>, now: Wall) -> u64 {
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

fn add_turn<'a>(
    content: &mut Content<'a>,
    facts: &PageFacts<'a>,
    turn: &TurnFacts<'a>,
    (catalogue, time): (&'static Catalogue, Time),
) {
    let words = &catalogue.words;
    content.reference = turn.reference;
    if turn.crowded {
        content.lead = &words.joining_crowded;
    }
    content
        .notices
        .extend(turn.notice.map(|notice| notice_text(notice, catalogue, time)));
    let lane = turn.lane.map(|lane| fill(&words.lane, &[("lane", lane)]));
    content.notices.extend(lane.map(|text| Markup(escape(&text))));
    content.why = turn.stall.map(|stall| why(stall, turn.resumes_secs, catalogue));
    let Some(ahead) = turn.ahead else { return };
    let position = catalogue.number(ahead.saturating_add(1));
    content.title = fill(&content.title, &[("n", &position)]);
    content.position = Some(ahead.saturating_add(1));
    content.position_text = Some(position);
    content.ahead_text = Some(match ahead {
        0 => words.first.clone(),
        _ => catalogue.count(&catalogue.plurals.ahead, ahead),
    });
    content.estimate_text = Some(estimate_text(turn.estimate, catalogue));
    content.progress = Some(progress(facts.now.since(turn.joined_at) / 1_000, turn.estimate).into());
}

/// An interval in minutes, from an hour and a half in hours, and never more exact than it is.
fn estimate_text(estimate: Option<Estimate>, catalogue: &Catalogue) -> String {
    let Some(Estimate { low_secs, high_secs }) = estimate else {
        return catalogue.words.estimate_unknown.clone();
    };
    let plurals = &catalogue.plurals;
    let (unit, exact, range) = match high_secs {
        0..=60 => return catalogue.words.estimate_soon.clone(),
        61..=5_400 => (60, &plurals.estimate_minutes, &plurals.estimate_minutes_range),
        _ => (3_600, &plurals.estimate_hours, &plurals.estimate_hours_range),
    };
    let (low, high) = (low_secs / unit, high_secs.div_ceil(unit));
    let forms = if low == 0 || low >= high { exact } else { range };
    let values = [
        ("low", &*catalogue.number(low.into())),
        ("high", &*catalogue.number(high.into())),
    ];
    fill(catalogue.form(forms, high.into()), &values)
}

/// The share of the whole wait that is over, in percent; 0 while it cannot be said.
fn progress(waited_secs: u64, estimate: Option<Estimate>) -> u64 {
    let Some(estimate) = estimate else { return 0 };
    let whole = waited_secs.saturating_add(estimate.high_secs.into()).max(1);
    waited_secs.saturating_mul(100) / whole
}

fn notice_text(notice: Notice, catalogue: &Catalogue, time: Time) -> Markup {
    let words = &catalogue.words;
    match notice {
        Notice::Missed(at) => timed(&words.notice_missed, &time(at, false)),
        Notice::Late => Markup(escape(&words.notice_late)),
        Notice::Ended => Markup(escape(&words.notice_ended)),
        Notice::Reset => Markup(escape(&words.notice_reset)),
    }
}

fn why(stall: Stall, resumes_secs: Option<u32>, catalogue: &'static Catalogue) -> String {
    let words = &catalogue.words;
    let why = match stall {
        Stall::Held => &words.why_held,
        Stall::Prequeue => &words.why_prequeue,
        Stall::Lot => &words.why_lot,
        Stall::Draw => &words.why_draw,
        Stall::Full => &words.why_full,
        Stall::Busy => &words.why_busy,
        Stall::Resting => &words.why_resting,
        Stall::Healing => &words.why_healing,
        Stall::CutOff => &words.why_cut_off,
        Stall::Slower => &words.why_slower,
    };
    let Some(high_secs) = resumes_secs else {
        return why.clone();
    };
    let left = estimate_text(Some(Estimate { low_secs: 0, high_secs }), catalogue);
    format!("{why} {}", fill(&words.time_left, &[("time", &left)]))
}

fn good_to_know(line: &LineFacts<'_>, catalogue: &Catalogue) -> Vec<String> {
    let (words, settings) = (&catalogue.words, line.settings);
    let late = catalogue.span(settings.late_window_ms);
    let claim = catalogue.span(settings.claim_deadline_ms);
    let (session, most) = (
        catalogue.span(settings.session_ms),
        catalogue.span(settings.session_max_ms),
    );
    vec![
        words.on_reload.clone(),
        fill(&words.on_close, &[("n", &late)]),
        fill(&words.on_turn, &[("n", &claim)]),
        fill(&words.on_missed, &[("n", &late)]),
        fill(&words.on_session, &[("n", &session), ("max", &most)]),
    ]
}

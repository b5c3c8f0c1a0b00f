//! Facts put into words: everything a template may show, made for one kind, one visitor and one language.
//!
//! The fields of [`Content`] and of [`Own`] are the variables of `docs/guides/page.md`; a change here is a change for operators' templates.

mod alike;
mod own;

use std::sync::Arc;

use minijinja::value::Value;
use serde::Serialize;

pub(super) use alike::{Alike, InLine, Next};
pub(super) use own::{BLANK, Own, Piece, Shape, blank, countdown_secs, own, place_texts, reload_secs, spared_secs};

use super::addresses::{api, query};
use super::brand::{Brand, Link};
use super::catalogue::{Catalogue, fill};
use super::kind::{Notice, PageFacts, PageKind, ProofFacts, Stall};
use super::script;
use super::text::{Markup, bare_time, beginning, escape, time, timed};
use crate::room::{Estimate, Wall};
use alike::InTurn;
use own::estimate_text;

/// The variables of a template; those that do not apply are none, and lists are empty.
#[derive(Serialize, Default)]
pub(super) struct Content<'a> {
    kind: &'static str,
    lang: &'a str,
    dir: &'static str,
    heading: &'a str,
    lead: &'a str,
    /// Sentences about why the place differs from the one that the visitor remembers.
    notices: Vec<Markup>,
    message: Option<&'a str>,
    /// The part of it that fits on a bare page.
    message_start: Option<String>,
    /// The tag of its language, where that is not the page's.
    message_lang: Option<&'a str>,
    retry: Option<String>,
    opens: Option<Markup>,
    /// How long a visitor has to come in when called.
    claim_text: Option<String>,
    /// What the countdown counts to.
    countdown_label: Option<&'a str>,
    /// The text of the link under the text, if there is one.
    go_on: Option<&'a str>,
    /// Only the parts that change: for a visitor who has seen the whole page and runs no script.
    bare: bool,
    leave_url: Option<String>,
    /// The target of the page's button, and its text.
    button_url: Option<&'a str>,
    button: Option<&'a str>,
    why: Option<String>,
    /// The figures by which the draw can be checked.
    draw_figures: Option<String>,
    good_to_know: Vec<String>,
    /// In place of the script of pages that follow their line.
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<Markup>,
    /// What `data` has of many visitors, where that has only one visitor's own facts; and the beginning of the address to which such
    /// a page leads at once where no script runs.
    script_words: Option<Markup>,
    way_on: Option<Markup>,
    words: Value,
    #[serde(flatten)]
    brand: BrandValues,
    #[serde(flatten)]
    pub own: Own<'a>,
}

/// State that all pages of one language share.
#[derive(Debug)]
pub(super) struct Shared {
    pub catalogue: Arc<Catalogue>,
    pub words: Value,
    /// The words that the script needs, as JSON.
    pub script_words: String,
    pub brand: BrandValues,
}

/// The brand in one language, as a template shows it.
#[derive(Serialize, Clone, Default, Debug)]
pub(super) struct BrandValues {
    brand_name: Option<Value>,
    /// The tag of the name's language, where that is not the page's.
    brand_lang: Option<Value>,
    /// Finished markup.
    brand_logo: Option<Value>,
    help_url: Option<Value>,
    imprint_url: Option<Value>,
    privacy_url: Option<Value>,
}

impl BrandValues {
    /// In the language of a tag.
    pub fn of(brand: &Brand, tag: &str) -> Self {
        let name = brand.name.as_ref().map(|name| name.in_language(tag));
        let of = name.and_then(|(of, _)| of);
        let link = |link: &Option<Link>| link.as_ref().map(|link| Value::from(link.as_str()));
        Self {
            brand_name: name.map(|(_, name)| Value::from(name)),
            brand_lang: of.filter(|of| *of != tag).map(Value::from),
            brand_logo: brand
                .logo
                .as_ref()
                .map(|logo| Value::from_safe_string(logo.uri().to_owned())),
            help_url: link(&brand.help),
            imprint_url: link(&brand.imprint),
            privacy_url: link(&brand.privacy),
        }
    }
}

/// Bytes of a message that a bare page shows, as markup.
const MESSAGE_START: usize = 140;

/// The content of one page.
pub(super) fn content<'a>(kind: PageKind, facts: &PageFacts<'a>, shared: &'a Shared) -> Content<'a> {
    let alike = Alike::of(kind, facts, &shared.catalogue);
    let mut content = Content::whole(&alike, own(&alike, facts), shared);
    if let (Some(_), Some(proof)) = (&facts.line, &facts.proof) {
        add_proof(&mut content, proof, &shared.catalogue);
    }
    content
}

impl<'a> Content<'a> {
    /// The text that the pages of many visitors begin with, up to the last blank.
    pub fn of_many(alike: &Alike<'a>, shape: Shape, shared: &Shared) -> Self {
        let line = alike.line.as_ref().filter(|_| alike.at_once);
        let common = alike
            .line
            .as_ref()
            .map(|line| script::common(alike, line, &shared.script_words));
        Self {
            script_words: common.map(|common| Markup(format!("{{{common}"))),
            way_on: line.map(|line| Markup(script::way_on(line.room))),
            ..Self::of(alike, blank(alike, shape), shared)
        }
    }

    /// The content of the page, apart from a proof of work.
    fn whole(alike: &Alike<'a>, mut own: Own<'a>, shared: &Shared) -> Self {
        if let (Some(line), Some(Piece::Markup(data))) = (&alike.line, &mut own.data) {
            data.push(',');
            data.push_str(&script::common(alike, line, &shared.script_words));
        }
        Self::of(alike, own, shared)
    }

    /// Only the visitor's `own` facts depend on more than `alike`.
    fn of(alike: &Alike<'a>, own: Own<'a>, shared: &Shared) -> Self {
        let catalogue = alike.catalogue;
        let page = catalogue.page(alike.kind);
        let mut content = Content {
            kind: alike.kind.name(),
            lang: &catalogue.tag,
            dir: catalogue.direction.name(),
            heading: &page.heading,
            lead: &page.lead,
            message: alike.message.map(|message| message.text),
            message_start: alike.message.map(|message| beginning(message.text, MESSAGE_START)),
            message_lang: alike.message.and_then(|message| message.lang),
            retry: alike
                .retry_after_secs
                .map(|secs| catalogue.count(&catalogue.plurals.retry, secs.into())),
            go_on: match catalogue.link(alike.kind) {
                // Following the link sends nothing.
                Some(_) if alike.signs_in || (alike.not_sent && alike.kind.passes()) => Some(&catalogue.words.go_on),
                link => link,
            },
            bare: alike.bare,
            button_url: alike.button_url,
            button: alike.button_url.and(catalogue.button(alike.kind)),
            words: shared.words.clone(),
            brand: shared.brand.clone(),
            own,
            ..Content::default()
        };
        content
            .notices
            .extend(not_sent(alike, catalogue).map(|text| Markup(escape(text))));
        let code = alike.code.map(|fate| Markup(escape(catalogue.words.code(fate))));
        content.notices.extend(code);
        if let Some(line) = &alike.line {
            add_line(&mut content, alike, line, catalogue);
        }
        content
    }
}

/// What became of a form.
fn not_sent<'a>(alike: &Alike<'_>, catalogue: &'a Catalogue) -> Option<&'a str> {
    let words = &catalogue.words;
    match alike.kind {
        _ if !alike.not_sent => None,
        // It may have reached the shop.
        PageKind::BadGateway | PageKind::GatewayTimeout => Some(&words.notice_unsure),
        kind if kind.follows() || kind.passes() || kind == PageKind::Proof => Some(&words.notice_not_sent),
        _ => None,
    }
}

/// The work for the script, and for who runs none the wait.
fn add_proof(content: &mut Content<'_>, proof: &ProofFacts<'_>, catalogue: &Catalogue) {
    let wait = catalogue.number(proof.wait_secs.into());
    content
        .notices
        .push(Markup(escape(&fill(&catalogue.words.proof_without, &[("n", &wait)]))));
    content.script = Some(Markup(crate::pages::proof::SCRIPT.to_owned()));
}

/// How a moment is shown, with or without its date.
type Time = fn(Wall, bool, &Catalogue) -> String;

fn add_line<'a>(content: &mut Content<'a>, alike: &Alike<'_>, line: &InLine<'_>, catalogue: &'a Catalogue) {
    let time: Time = if alike.bare { bare_time } else { time };
    let words = &catalogue.words;
    content.opens = line.opens.map(|at| timed(&words.opens, &time(at, true, catalogue)));
    add_stock(content, line, (catalogue, time));
    if !alike.kind.follows() {
        return;
    }
    content.draw_figures = line.draw.and_then(|figures| serde_json::to_string_pretty(figures).ok());
    content.countdown_label = content.own.counts().then_some(if line.next == Some(Next::Line) {
        &*words.until_line
    } else {
        &words.until_open
    });
    let Some(turn) = &line.turn else { return };
    if alike.kind.waits() {
        // Before there is a place nothing of it is true, and nothing can be left.
        if !turn.crowded {
            content.leave_url = Some(format!("{}/leave{}", api(line.room), query(line.line)));
            content.good_to_know = good_to_know(line, catalogue);
        }
        add_turn(content, (line, turn), (catalogue, time));
    } else if alike.kind == PageKind::Closed {
        content.lead = &words.closed_in_line;
    }
}

/// The stock left for the visitor, or the visitor's result.
fn add_stock<'a>(content: &mut Content<'a>, line: &InLine<'_>, (catalogue, time): (&'a Catalogue, Time)) {
    let words = &catalogue.words;
    let said = match line.stock.won {
        // Nobody who has one is to read "sold out" first.
        Some(true) => {
            content.heading = &words.stock_won;
            None
        }
        Some(false) => Some(&words.stock_lost),
        None => line.stock.beyond.then_some(&words.stock_beyond),
    };
    let said = said.map(|text| Markup(escape(text)));
    let results = line
        .stock
        .results
        .map(|at| timed(&words.stock_results, &time(at, true, catalogue)));
    content.notices.extend(said.into_iter().chain(results));
}

fn add_turn<'a>(
    content: &mut Content<'a>,
    (line, turn): (&InLine<'_>, &InTurn<'_>),
    (catalogue, time): (&'a Catalogue, Time),
) {
    let words = &catalogue.words;
    if turn.crowded {
        content.lead = &words.joining_crowded;
    } else {
        let claim = catalogue.span(line.claim_deadline_ms);
        content.claim_text = Some(fill(&words.on_turn, &[("n", &claim)]));
    }
    let notice = turn.notice.map(|notice| notice_text(notice, catalogue, time));
    let lane = turn.lane.map(|lane| fill(&words.lane, &[("lane", lane)]));
    let lane = lane.map(|text| Markup(escape(&text)));
    content.notices.extend(notice.into_iter().chain(lane));
    content.why = turn.stall.map(|stall| why(stall, turn.resumes_secs, catalogue));
}

fn notice_text(notice: Notice, catalogue: &Catalogue, time: Time) -> Markup {
    let words = &catalogue.words;
    match notice {
        Notice::Missed(at) => timed(&words.notice_missed, &time(at, false, catalogue)),
        Notice::Late => Markup(escape(&words.notice_late)),
        Notice::Ended => Markup(escape(&words.notice_ended)),
        Notice::Reset => Markup(escape(&words.notice_reset)),
    }
}

fn why(stall: Stall, resumes_secs: Option<u32>, catalogue: &Catalogue) -> String {
    let why = catalogue.reason(stall);
    let Some(high_secs) = resumes_secs else {
        return why.to_owned();
    };
    let left = estimate_text(Some(Estimate { low_secs: 0, high_secs }), catalogue);
    format!("{why} {}", fill(&catalogue.words.time_left, &[("time", &left)]))
}

fn good_to_know(line: &InLine<'_>, catalogue: &Catalogue) -> Vec<String> {
    let words = &catalogue.words;
    let late = catalogue.span(line.late_window_ms);
    let (session, most) = (catalogue.span(line.session_ms), catalogue.span(line.session_max_ms));
    vec![
        words.on_reload.clone(),
        fill(&words.on_close, &[("n", &late)]),
        fill(&words.on_missed, &[("n", &late)]),
        fill(&words.on_session, &[("n", &session), ("max", &most)]),
    ]
}

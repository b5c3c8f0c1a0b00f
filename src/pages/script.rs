//! Data for the page's script: the facts and the words it needs, as JSON in a block that nothing can break out of.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::addresses::{api, check_url, query};
use super::catalogue::{Catalogue, Forms};
use super::content::{Alike, InLine, Next, countdown_secs, place_texts, reload_secs};
use super::kind::{LineFacts, PageFacts, PageKind, Stall};
use super::lot;
use super::text::{json, json_for_script, path_on_this_host, percent_encode};
use crate::dates::rfc3339;
use crate::room::{Phase, RoomName};

/// The facts of one visitor by their names in `static/page.js`, and by those that a page has: these facts are not compressed.
pub const FACTS: [(&str, &str); 14] = [
    ("check_in", "i"),
    ("check", "c"),
    ("refresh", "f"),
    ("revision", "v"),
    ("reference", "r"),
    ("begins", "b"),
    ("opens", "o"),
    ("place", "p"),
    ("ahead", "a"),
    ("waited", "w"),
    ("low", "l"),
    ("high", "h"),
    ("left", "s"),
    ("text", "t"),
];

/// Its words likewise, apart from the sentences of reasons, which have the reasons' names.
pub(super) const WORDS: [(&str, &str); 17] = [
    ("minutes_range", "mr"),
    ("hours_range", "hr"),
    ("unknown", "u"),
    ("minutes", "m"),
    ("updated", "d"),
    ("offline", "o"),
    ("let_in", "l"),
    ("slower", "w"),
    ("title", "t"),
    ("first", "f"),
    ("ahead", "a"),
    ("hours", "h"),
    ("soon", "s"),
    ("turn", "y"),
    ("back", "b"),
    ("left", "g"),
    ("rest", "r"),
];

/// The page's script with the short names. There a fact is read as `page.name` alone, and a word as `terms.name`, which
/// `scripts/minify` makes `P.name` and `T.name`.
pub(super) fn short_names(script: &str) -> String {
    let facts = FACTS.iter().map(|names| ("P", names));
    let words = WORDS.iter().map(|names| ("T", names));
    facts
        .chain(words)
        .fold(script.to_owned(), |script, (of, (name, short))| {
            script.replace(&format!("{of}.{name}"), &format!("{of}.{short}"))
        })
}

/// Seconds, without a fraction where there is none.
#[derive(Serialize)]
#[serde(transparent)]
struct Secs(#[serde(serialize_with = "crate::pages::status::secs")] u64);

/// Where to go when the ticket that was just given has not come back.
#[derive(Serialize)]
#[serde(untagged)]
enum Check {
    At(String),
    /// To where the gate looks, and then here again: 1. The script knows both.
    Here(u8),
}

/// The fields are read by `static/page.js`, as those of [`common`]; for the names see [`FACTS`].
#[derive(Serialize)]
struct Data<'a> {
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    check: Option<Check>,
    /// Seconds until the first question.
    #[serde(rename = "f")]
    refresh: Secs,
    /// Seconds between check-ins; absent where the stream proves presence.
    #[serde(rename = "i", skip_serializing_if = "Option::is_none")]
    check_in: Option<Secs>,
    #[serde(rename = "v")]
    revision: u64,
    #[serde(rename = "r", skip_serializing_if = "Option::is_none")]
    reference: Option<&'a str>,
    /// When visitors can join, where that lies ahead.
    #[serde(rename = "b", skip_serializing_if = "Option::is_none")]
    begins: Option<String>,
    /// When visitors are called, in a room that is not open yet.
    #[serde(rename = "o", skip_serializing_if = "Option::is_none")]
    opens: Option<String>,
    /// How far the room's draw has come: where it has come further, the page is another one.
    #[serde(skip_serializing_if = "crate::pages::status::is_none")]
    lot: u8,
}

#[derive(Serialize)]
struct Turn<'a> {
    #[serde(rename = "p", skip_serializing_if = "Option::is_none")]
    place: Option<u64>,
    #[serde(rename = "a", skip_serializing_if = "Option::is_none")]
    ahead: Option<u64>,
    /// Seconds since joining.
    #[serde(rename = "w")]
    waited: u64,
    #[serde(rename = "l", skip_serializing_if = "Option::is_none")]
    low: Option<u32>,
    #[serde(rename = "h", skip_serializing_if = "Option::is_none")]
    high: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Stall>,
    /// The sentence for it, where [`common`] has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_text: Option<&'a str>,
    /// Seconds until calls go on, at the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    resumes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    let_in: Option<u64>,
}

/// The facts of one visitor, which end in the middle: [`common`] has the rest. A page of many visitors leads to no address that is too
/// long to be carried.
pub(super) fn data(
    (kind, of_many): (PageKind, bool),
    facts: &PageFacts<'_>,
    line: &LineFacts<'_>,
    (here, catalogue): (&str, &Catalogue),
) -> String {
    let in_phase = |phase| line.opening.filter(|stage| stage.phase == phase);
    let early = in_phase(Phase::Early);
    let way = || {
        if of_many {
            Check::Here(1)
        } else {
            Check::At(check_url(line, here))
        }
    };
    let check = (line.fresh && line.turn.is_some()).then(way);
    let data = json(&Data {
        check,
        refresh: Secs(line.refresh_ms),
        check_in: line.check_in_ms.map(Secs),
        revision: crate::pages::stream::frame::revision(line.revision, line.stock.beyond),
        begins: early.map(|stage| rfc3339(stage.window.begins)),
        opens: early
            .or(in_phase(Phase::Prequeue))
            .map(|stage| rfc3339(stage.window.opens)),
        lot: line.lot | line.stock.mark(),
        reference: line.turn.as_ref().and_then(|turn| turn.reference),
    });
    // Where nobody is called the script has no figures to keep up to date.
    let turn = line.turn.as_ref().filter(|_| kind.waits()).map(|turn| {
        json(&Turn {
            place: turn.place,
            ahead: turn.ahead,
            waited: facts.now.since(turn.joined_at) / 1_000,
            low: turn.estimate.map(|estimate| estimate.low_secs),
            high: turn.estimate.map(|estimate| estimate.high_secs),
            why: turn.stall,
            why_text: turn
                .stall
                .filter(|why| !why.is_in_the_words())
                .map(|why| catalogue.reason(why)),
            resumes: turn.resumes_secs,
            let_in: turn.let_in,
        })
    });
    let open = |json: &str| json.strip_suffix('}').map(json_for_script).unwrap_or_default();
    let mut data = open(&data);
    if let Some(turn) = turn {
        data.push(',');
        data.push_str(open(&turn).trim_start_matches('{'));
    }
    data
}

/// Facts that the script only shows, where the page itself does not say them.
#[derive(Serialize)]
struct Shown<'a> {
    /// The suffix of the gate's addresses.
    #[serde(skip_serializing_if = "str::is_empty")]
    query: &'a str,
    /// Seconds that the countdown begins with.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
    #[serde(rename = "t")]
    text: Texts<'a>,
}

/// By the name of their element.
#[derive(Serialize)]
struct Texts<'a> {
    request: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ahead: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<String>,
}

/// The end of a page of many visitors, behind the text that all have: where a browser without a script goes, and one visitor's
/// facts. The text ends in the address of the first, see [`way_on`], or where it goes later, before its seconds.
pub(super) fn end(kind: PageKind, facts: &PageFacts<'_>, line: &LineFacts<'_>, catalogue: &Catalogue) -> String {
    let here = path_on_this_host(facts.here);
    let data = data((kind, true), facts, line, (here, catalogue));
    // In line, the script says so by the numbers.
    let ahead = line.turn.as_ref().and_then(|turn| turn.ahead);
    let place = ahead
        .filter(|_| kind != PageKind::Waiting)
        .map(|ahead| place_texts(kind, ahead, catalogue));
    let (position, ahead) = place.unzip();
    let query = query(line.line);
    let shown = json(&Shown {
        query: &query,
        left: countdown_secs(line, facts.now),
        text: Texts {
            request: facts.request_id,
            position,
            ahead: ahead.flatten(),
            draw: line.draw.map(|draw| lot::text(draw, catalogue)),
        },
    });
    let query = query.replace('?', "&");
    // Only a page that has just given a ticket leads to where one is asked for.
    let any = if line.fresh && line.turn.is_some() {
        ""
    } else {
        "&ticket=any"
    };
    let later = if facts.leads_on_at_once() {
        String::new()
    } else {
        format!("{};url={}", reload_secs(line, facts.now), way_on(line.room))
    };
    format!(
        "{later}{}{query}{any}\"></noscript><script type=\"text/json\" id=\"data\">{data},{}</script>\n",
        percent_encode(here),
        json_for_script(shown.trim_start_matches('{')),
    )
}

/// The beginning of that address: the path asked for follows, then the line.
pub(super) fn way_on(room: &RoomName) -> String {
    format!("{}/check?reload=bare&to=", api(room))
}

/// The facts that many visitors share.
#[derive(Serialize)]
struct Common<'a> {
    kind: &'static str,
    lang: &'a str,
    api: String,
    query: String,
    /// The page answers a request that must not be repeated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    post: bool,
    words: BTreeMap<&'a str, &'a str>,
}

/// The end of a JSON object with the facts that many visitors share. `words` are those of the language.
pub(super) fn common(alike: &Alike<'_>, line: &InLine<'_>, words: &str) -> String {
    let catalogue = alike.catalogue;
    let undrawn = line.draws && !line.turn.as_ref().is_some_and(|turn| turn.placed);
    // A page has no room for words that it cannot need.
    let mut now = BTreeMap::new();
    if undrawn {
        now.extend([("lot", &*catalogue.words.why_lot), ("draw", &catalogue.words.why_draw)]);
    } else if line.next == Some(Next::Calls) {
        now.insert("prequeue", &*catalogue.words.why_prequeue);
    }
    let comma = if now.is_empty() { "" } else { "," };
    let common = json(&Common {
        kind: alike.kind.name(),
        lang: &alike.catalogue.tag,
        api: api(line.room),
        query: query(line.line),
        post: alike.not_sent,
        words: now,
    });
    let common = json_for_script(common.trim_start_matches('{').trim_end_matches('}'));
    let rest = words.strip_prefix('{').unwrap_or_default();
    format!("{common}{comma}{rest}}}")
}

/// The words that the script puts numbers into; for the names see [`WORDS`].
#[derive(Serialize)]
struct Words<'a> {
    #[serde(rename = "t")]
    title: &'a str,
    #[serde(rename = "f")]
    first: &'a str,
    #[serde(rename = "a")]
    ahead: &'a Forms,
    #[serde(rename = "u")]
    unknown: &'a str,
    #[serde(rename = "s")]
    soon: &'a str,
    #[serde(rename = "m")]
    minutes: &'a Forms,
    #[serde(rename = "mr")]
    minutes_range: &'a Forms,
    #[serde(rename = "h")]
    hours: &'a Forms,
    #[serde(rename = "hr")]
    hours_range: &'a Forms,
    #[serde(rename = "l")]
    let_in: &'a Forms,
    #[serde(rename = "d")]
    updated: &'a str,
    #[serde(rename = "o")]
    offline: &'a str,
    #[serde(rename = "y")]
    turn: &'a str,
    full: &'a str,
    #[serde(rename = "b")]
    back: &'a str,
    #[serde(rename = "w")]
    slower: &'a str,
    #[serde(rename = "g")]
    left: &'a str,
    #[serde(rename = "r")]
    rest: &'a str,
}

/// The script's words of one language, ready for [`data`].
pub(super) fn words(catalogue: &Catalogue) -> String {
    let (words, plurals) = (&catalogue.words, &catalogue.plurals);
    let words = Words {
        title: &catalogue.page(PageKind::Waiting).title,
        first: &words.first,
        ahead: &plurals.ahead,
        unknown: &words.estimate_unknown,
        soon: &words.estimate_soon,
        minutes: &plurals.estimate_minutes,
        minutes_range: &plurals.estimate_minutes_range,
        hours: &plurals.estimate_hours,
        hours_range: &plurals.estimate_hours_range,
        let_in: &plurals.let_in,
        updated: &words.updated,
        offline: &words.offline,
        turn: &words.your_turn,
        full: &words.why_full,
        back: &words.why_back,
        slower: &words.why_slower,
        left: &catalogue.page(PageKind::Left).heading,
        rest: &words.time_left,
    };
    json_for_script(&json(&words))
}

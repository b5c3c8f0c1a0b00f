//! The words of the pages, one catalogue per language.
//!
//! A catalogue is a file in `static/locales/`, compiled in. `CONTRIBUTING.md` says how to add a language. A catalogue without a key, or
//! with one too many, does not parse, and the tests parse them all.

pub(super) mod check;
mod cldr;
mod clock;
mod forms;
#[cfg(test)]
pub(super) mod pseudo;

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::kind::{PageKind, Stall};
use crate::metrics::CodeFate;
use cldr::Cldr;
pub(super) use cldr::has_plural_rules;
pub(super) use forms::Forms;
use ropeline_ids::Wall;

/// The tag (BCP 47) of each language and its catalogue; the first is the default.
const FILES: &[(&str, &str)] = &[
    ("en", include_str!("../../static/locales/en.toml")),
    ("ko", include_str!("../../static/locales/ko.toml")),
    ("ja", include_str!("../../static/locales/ja.toml")),
    ("zh-Hans", include_str!("../../static/locales/zh-Hans.toml")),
    ("zh-Hant", include_str!("../../static/locales/zh-Hant.toml")),
    ("es", include_str!("../../static/locales/es.toml")),
    ("pt-BR", include_str!("../../static/locales/pt-BR.toml")),
    ("pt-PT", include_str!("../../static/locales/pt-PT.toml")),
    ("fr", include_str!("../../static/locales/fr.toml")),
    ("de", include_str!("../../static/locales/de.toml")),
    ("it", include_str!("../../static/locales/it.toml")),
    ("nl", include_str!("../../static/locales/nl.toml")),
    ("pl", include_str!("../../static/locales/pl.toml")),
    ("cs", include_str!("../../static/locales/cs.toml")),
    ("sv", include_str!("../../static/locales/sv.toml")),
    ("da", include_str!("../../static/locales/da.toml")),
    ("nb", include_str!("../../static/locales/nb.toml")),
    ("fi", include_str!("../../static/locales/fi.toml")),
    ("tr", include_str!("../../static/locales/tr.toml")),
    ("uk", include_str!("../../static/locales/uk.toml")),
    ("ru", include_str!("../../static/locales/ru.toml")),
    ("ar", include_str!("../../static/locales/ar.toml")),
    ("he", include_str!("../../static/locales/he.toml")),
    ("hi", include_str!("../../static/locales/hi.toml")),
    ("id", include_str!("../../static/locales/id.toml")),
    ("vi", include_str!("../../static/locales/vi.toml")),
    ("th", include_str!("../../static/locales/th.toml")),
];

/// The tags of all languages.
pub const TAGS: [&str; FILES.len()] = {
    let mut tags = [""; FILES.len()];
    let mut at = 0;
    while at < FILES.len() {
        tags[at] = FILES[at].0;
        at += 1;
    }
    tags
};

static CATALOGUES: LazyLock<Vec<Arc<Catalogue>>> = LazyLock::new(|| {
    let parse = |&(tag, file): &(&str, &str)| {
        Arc::new(Catalogue::parse(tag, file).expect("the catalogues are compiled in and every test run parses them"))
    };
    FILES.iter().map(parse).collect()
});

/// Those that are compiled in, English first.
pub(super) fn built_in() -> &'static [Arc<Catalogue>] {
    &CATALOGUES
}

/// The catalogue of an operator's file, which is whole, or changes words of the built-in one of its tag.
pub(super) fn changed(tag: &str, file: &str) -> Result<Catalogue, toml::de::Error> {
    let own: Table = toml::from_str(file)?;
    let Some((_, built_in)) = FILES.iter().find(|(known, _)| *known == tag) else {
        return Catalogue::of_file(tag, own.try_into()?);
    };
    let mut whole: Table = toml::from_str(built_in)?;
    overlay(&mut whole, own, false);
    Catalogue::of_file(tag, whole.try_into()?)
}

/// Puts values in the place of those of the same keys. The plural forms of a sentence are replaced together.
fn overlay(whole: &mut Table, own: Table, are_sentences: bool) {
    for (key, value) in own {
        match (whole.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(own)) if !are_sentences => overlay(inner, own, key == "plurals"),
            (_, value) => {
                whole.insert(key, value);
            }
        }
    }
}

/// The words of one language, and its rules.
#[derive(Debug)]
pub(super) struct Catalogue {
    /// BCP 47, as `lang` and `Content-Language` carry it.
    pub tag: String,
    /// The language's name in itself.
    pub name: String,
    pub direction: Direction,
    /// A native speaker has read the words.
    pub native_review: bool,
    pages: BTreeMap<PageKind, Heading>,
    pub words: Words,
    pub plurals: Plurals,
    cldr: Cldr,
}

/// The catalogues of one room's pages have different tags.
impl Hash for Catalogue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tag.hash(state);
    }
}

/// A catalogue's file.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    direction: Direction,
    native_review: bool,
    pages: BTreeMap<PageKind, Heading>,
    words: Words,
    plurals: Plurals,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(super) enum Direction {
    Ltr,
    Rtl,
}

impl Direction {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ltr => "ltr",
            Self::Rtl => "rtl",
        }
    }
}

/// The heading of one kind of page.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the catalogues' word for it")]
pub(super) struct Heading {
    pub title: String,
    pub heading: String,
    pub lead: String,
}

/// Sentences and labels. Braces are filled by [`fill`]; the templates see those without any as `words`.
#[derive(Deserialize, Serialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub position: String,
    pub estimate: String,
    pub estimate_unknown: String,
    pub estimate_soon: String,
    pub updated: String,
    pub message: String,
    pub reference: String,
    pub copy: String,
    pub request: String,
    pub leave: String,
    pub leave_sure: String,
    pub leave_yes: String,
    pub check_now: String,
    pub help: String,
    pub imprint: String,
    pub privacy: String,
    pub go_on: String,
    pub afresh: String,
    pub code_use: String,
    pub code_keep: String,
    pub again: String,
    pub join_again: String,
    pub opens: String,
    pub until_line: String,
    pub until_open: String,
    pub days: String,
    pub moves_by_itself: String,
    pub tries_again: String,
    pub reload_stop: String,
    pub reload_start: String,
    pub reload_stopped: String,
    pub your_turn: String,
    pub sound: String,
    pub offline: String,
    pub first: String,
    pub joining_crowded: String,
    pub closed_in_line: String,
    pub notice_missed: String,
    pub notice_late: String,
    pub notice_ended: String,
    pub notice_reset: String,
    pub notice_not_sent: String,
    pub notice_unsure: String,
    pub proof_without: String,
    pub lane: String,
    pub code_unknown: String,
    pub code_other_room: String,
    pub code_not_yet: String,
    pub code_expired: String,
    pub code_no_lane: String,
    pub code_no_bypass: String,
    pub code_spent: String,
    pub code_not_now: String,
    pub code_in_doubt: String,
    pub code_without: String,
    pub why_held: String,
    pub why_prequeue: String,
    pub why_lot: String,
    pub why_draw: String,
    pub why_full: String,
    pub why_busy: String,
    pub why_resting: String,
    pub why_opening: String,
    pub why_healing: String,
    pub why_cut_off: String,
    pub why_back: String,
    pub why_slower: String,
    pub time_left: String,
    pub draw: String,
    pub draw_promised: String,
    pub draw_closed: String,
    pub draw_made: String,
    pub draw_behind: String,
    pub draw_beacon: String,
    pub draw_alone: String,
    pub draw_check: String,
    pub stock_beyond: String,
    pub stock_won: String,
    pub stock_lost: String,
    /// With `{time}`.
    pub stock_results: String,
    pub good_to_know: String,
    pub on_reload: String,
    pub on_close: String,
    pub on_missed: String,
    pub on_turn: String,
    pub on_session: String,
}

/// Texts that depend on a number.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Plurals {
    pub ahead: Forms,
    pub estimate_minutes: Forms,
    pub estimate_minutes_range: Forms,
    pub estimate_hours: Forms,
    pub estimate_hours_range: Forms,
    pub let_in: Forms,
    pub retry: Forms,
    pub seconds: Forms,
    pub minutes: Forms,
    pub hours: Forms,
}

impl Words {
    /// Why a code cannot be used.
    pub fn code(&self, fate: CodeFate) -> &str {
        match fate {
            CodeFate::Accepted | CodeFate::Used | CodeFate::Unknown => &self.code_unknown,
            CodeFate::OtherRoom => &self.code_other_room,
            CodeFate::NotYet => &self.code_not_yet,
            CodeFate::Expired => &self.code_expired,
            CodeFate::NoLane => &self.code_no_lane,
            CodeFate::NoBypass => &self.code_no_bypass,
            CodeFate::Spent => &self.code_spent,
            CodeFate::NotNow => &self.code_not_now,
            CodeFate::InDoubt => &self.code_in_doubt,
        }
    }
}

impl Catalogue {
    /// The catalogue of a whole file, in the language of a tag.
    fn parse(tag: &str, file: &str) -> Result<Self, toml::de::Error> {
        Self::of_file(tag, toml::from_str(file)?)
    }

    fn of_file(tag: &str, file: File) -> Result<Self, toml::de::Error> {
        let File {
            name,
            direction,
            native_review,
            pages,
            words,
            plurals,
        } = file;
        let no_tag = || serde::de::Error::custom(format!("{tag} is no language tag"));
        Ok(Self {
            tag: tag.to_owned(),
            name,
            direction,
            native_review,
            pages,
            words,
            plurals,
            cldr: Cldr::of(tag).ok_or_else(no_tag)?,
        })
    }

    /// The link at the end of a page that has no line.
    pub fn link(&self, kind: PageKind) -> Option<&str> {
        match kind {
            PageKind::SameSiteLink => Some(&self.words.go_on),
            PageKind::Left => Some(&self.words.join_again),
            PageKind::CodeRefused => Some(&self.words.code_without),
            PageKind::CodeUse => Some(&self.words.code_keep),
            PageKind::BadRequest
            | PageKind::TooLarge
            | PageKind::UnknownLine
            | PageKind::TicketOwner
            | PageKind::Proof => None,
            _ if kind.follows() => None,
            _ => Some(&self.words.again),
        }
    }

    /// The text of the button on a page that has one.
    pub fn button(&self, kind: PageKind) -> Option<&str> {
        match kind {
            PageKind::TicketOwner => Some(&self.words.afresh),
            PageKind::CodeUse => Some(&self.words.code_use),
            _ => None,
        }
    }

    pub fn page(&self, kind: PageKind) -> &Heading {
        static NOTHING: LazyLock<Heading> = LazyLock::new(Heading::default);
        self.pages.get(&kind).unwrap_or(&NOTHING)
    }

    /// The sentence that says why no visitor is called, or fewer than could be.
    pub fn reason(&self, stall: Stall) -> &str {
        let words = &self.words;
        match stall {
            Stall::Held => &words.why_held,
            Stall::Prequeue => &words.why_prequeue,
            Stall::Lot => &words.why_lot,
            Stall::Draw => &words.why_draw,
            Stall::Full => &words.why_full,
            Stall::Busy => &words.why_busy,
            Stall::Resting => &words.why_resting,
            Stall::Opening => &words.why_opening,
            Stall::Healing => &words.why_healing,
            Stall::CutOff => &words.why_cut_off,
            Stall::Slower => &words.why_slower,
        }
    }

    /// The form for `n`, braces still to be filled.
    pub fn form<'a>(&self, forms: &'a Forms, n: u64) -> &'a str {
        forms.form(self.cldr.category(n))
    }

    /// A number as the language writes it.
    pub fn number(&self, n: u64) -> String {
        self.cldr.number(n)
    }

    /// A moment, with its zone; none for one that no calendar has.
    pub fn time(&self, at: Wall, with_date: bool) -> Option<String> {
        self.cldr.time(at, with_date)
    }

    /// `n` counted in `forms`: `1,203 people ahead of you`.
    pub fn count(&self, forms: &Forms, n: u64) -> String {
        fill(self.form(forms, n), &[("n", &self.number(n))])
    }

    /// A span in its largest fitting unit: `90 seconds`, `5 minutes`, `2 hours`.
    pub fn span(&self, ms: u64) -> String {
        let secs = ms.div_ceil(1_000);
        match secs {
            0..120 if secs != 60 => self.count(&self.plurals.seconds, secs),
            3_600.. if secs.is_multiple_of(3_600) => self.count(&self.plurals.hours, secs / 3_600),
            _ => self.count(&self.plurals.minutes, secs / 60),
        }
    }
}

/// Puts values where a sentence has their names in braces.
pub(super) fn fill(sentence: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(sentence.len() + 16);
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let value = after
            .split_once('}')
            .and_then(|(name, behind)| Some((lookup(values, name)?, behind)));
        let Some((value, behind)) = value else {
            filled.push('{');
            rest = after;
            continue;
        };
        filled.push_str(value);
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

fn lookup<'a>(values: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    values.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests;

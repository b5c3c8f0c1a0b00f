//! The rules that a catalogue's file has to keep: its keys, the braces of each sentence, plural forms and lengths.
//!
//! A file is compared with the English one. All mistakes are reported at once, each with its line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use icu_plurals::PluralCategory;
use toml::de::{DeTable, DeValue};

use super::FILES;
use super::cldr::Cldr;

/// What is wrong with a file; `line` counts from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    pub line: usize,
    /// As `words.offline`.
    pub key: String,
    pub wrong: String,
    pub right: String,
}

/// Everything that is wrong with a file in the language of `tag`. A `whole` one has every key; another changes some.
pub fn flaws(tag: &str, file: &str, whole: bool) -> Vec<Flaw> {
    let line = |at: usize| 1 + file[..at.min(file.len())].bytes().filter(|&byte| byte == b'\n').count();
    let flaw = |at, key: &str, (wrong, right): (String, String)| Flaw {
        line: line(at),
        key: key.to_owned(),
        wrong,
        right,
    };
    let Some(cldr) = Cldr::of(tag) else {
        return vec![flaw(
            0,
            "",
            said(format!("{tag} is no language tag"), "a BCP 47 tag such as pt-BR"),
        )];
    };
    let table = match DeTable::parse(file) {
        Ok(table) => table,
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            return vec![flaw(at, "", said(error.message(), "TOML as in static/locales/en.toml"))];
        }
    };
    let mut texts = BTreeMap::new();
    flatten("", table.get_ref(), &mut texts);
    let mut flaws: Vec<Flaw> = texts
        .iter()
        .filter_map(|(key, text)| Some(flaw(text.at, key, wrong(key, text, &cldr)?)))
        .collect();
    let present: BTreeSet<&str> = texts.keys().map(|key| sentence(key)).collect();
    for key in present.iter().filter(|key| key.starts_with("plurals.")) {
        let at = texts.range((*key).to_owned()..).next().map_or(0, |(_, text)| text.at);
        flaws.extend(lacking(key, &texts, &cldr).map(|what| flaw(at, key, what)));
    }
    if whole {
        let missing = ENGLISH
            .keys()
            .map(|key| sentence(key))
            .filter(|key| !present.contains(key));
        let missing: BTreeSet<&str> = missing.collect();
        flaws.extend(
            missing
                .into_iter()
                .map(|key| flaw(file.len(), key, said("the key is missing", example(key)))),
        );
    }
    flaws.sort_by(|a, b| (a.line, &a.key).cmp(&(b.line, &b.key)));
    flaws
}

/// A value of a file and the byte where it begins; none if it is not text.
struct Text {
    value: Option<String>,
    kind: Kind,
    at: usize,
}

#[derive(PartialEq, Eq)]
enum Kind {
    Text,
    Flag,
    Other,
}

/// Every value of a table by its whole key.
fn flatten(before: &str, table: &DeTable<'_>, texts: &mut BTreeMap<String, Text>) {
    for (key, value) in table {
        let whole = format!("{before}{}", key.get_ref());
        let (value_of, kind) = match value.get_ref() {
            DeValue::Table(inner) => {
                flatten(&format!("{whole}."), inner, texts);
                continue;
            }
            DeValue::String(text) => (Some(text.to_string()), Kind::Text),
            DeValue::Boolean(_) => (None, Kind::Flag),
            _ => (None, Kind::Other),
        };
        let at = value.span().start;
        texts.insert(
            whole,
            Text {
                value: value_of,
                kind,
                at,
            },
        );
    }
}

/// The texts of the English file.
static ENGLISH: LazyLock<BTreeMap<String, Text>> = LazyLock::new(|| {
    let mut texts = BTreeMap::new();
    if let Ok(table) = DeTable::parse(FILES[0].1) {
        flatten("", table.get_ref(), &mut texts);
    }
    texts
});

/// What stands in the English file for a key.
fn example(key: &str) -> String {
    let english = ENGLISH.get(key).or_else(|| ENGLISH.get(&format!("{key}.other")));
    match english.map(|text| (&text.kind, &text.value)) {
        Some((Kind::Text, Some(text))) => format!("a text, in English {text:?}"),
        _ => "true or false".to_owned(),
    }
}

/// The key of the whole sentence: that of a plural form without its category.
fn sentence(key: &str) -> &str {
    match key.strip_prefix("plurals.").and_then(|rest| rest.split_once('.')) {
        Some((name, _)) => &key[.."plurals.".len() + name.len()],
        None => key,
    }
}

type What = (String, String);

fn said(wrong: impl Into<String>, right: impl Into<String>) -> What {
    (wrong.into(), right.into())
}

/// What is wrong with one value.
fn wrong(key: &str, text: &Text, cldr: &Cldr) -> Option<What> {
    let english = match key.strip_prefix("plurals.").and_then(|rest| rest.split_once('.')) {
        Some((name, _)) => ENGLISH.get(&format!("plurals.{name}.other")),
        None => ENGLISH.get(key),
    };
    let Some(english) = english else {
        return Some(said("there is no such key", "a key of en.toml"));
    };
    if text.kind != english.kind {
        let right = if english.kind == Kind::Flag {
            "true or false"
        } else {
            "text in quotes"
        };
        return Some(said("the value has another kind", right));
    }
    let (value, english) = (text.value.as_ref()?, english.value.as_ref()?);
    let count = value.chars().count();
    if key == "direction" {
        let known = matches!(&**value, "ltr" | "rtl");
        return (!known).then(|| said(format!("{value:?} is no direction"), "\"ltr\" or \"rtl\""));
    }
    if value.trim().is_empty() {
        return Some(said("the text is empty", format!("words such as {english:?}")));
    }
    if let Some(odd) = value.chars().find(|&c| c.is_control() || PRIVATE.contains(&c)) {
        return Some(said(
            format!("the text has the character U+{:04X}", u32::from(odd)),
            "text in one line",
        ));
    }
    if count > most(key) {
        return Some(said(
            format!("the text has {count} characters"),
            format!("at most {}", most(key)),
        ));
    }
    if let Some((_, category)) = key.strip_prefix("plurals.").and_then(|rest| rest.split_once('.')) {
        return wrong_form((key, category), value, english, cldr);
    }
    (braces(value) != braces(english)).then(|| wrong_braces(value, english))
}

/// The private characters that stand for a visitor's facts while a page is cut into pieces.
const PRIVATE: std::ops::RangeInclusive<char> = '\u{e000}'..='\u{f8ff}';

fn wrong_braces(value: &str, english: &str) -> What {
    let shown = |names: Vec<String>| {
        let names: Vec<String> = names.iter().map(|name| format!("{{{name}}}")).collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(" ")
        }
    };
    said(
        format!("the braces of the text are {}", shown(braces(value))),
        shown(braces(english)),
    )
}

/// What is wrong with the form of one category.
fn wrong_form((key, category): (&str, &str), value: &str, english: &str, cldr: &Cldr) -> Option<What> {
    let known =
        PluralCategory::get_for_cldr_string(category).filter(|category| cldr.categories().any(|own| own == *category));
    let Some(category) = known else {
        let own: Vec<&str> = cldr.categories().map(name).collect();
        return Some(said(
            format!("the language has no plural form {category}"),
            own.join(", "),
        ));
    };
    let (mut own, mut needed) = (braces(value), braces(english));
    // `{high}` is what a range is counted by.
    let counted = if needed.iter().any(|name| name == "high") {
        "high"
    } else {
        "n"
    };
    let stands_for = numbers(key, cldr).filter(|&(_, its)| its == category).take(2).count();
    if stands_for == 1 && !own.iter().any(|name| name == counted) {
        needed.retain(|name| name != counted);
    }
    own.sort();
    needed.sort();
    (own != needed).then(|| wrong_braces(value, english))
}

/// The plural forms that a sentence lacks.
fn lacking(key: &str, texts: &BTreeMap<String, Text>, cldr: &Cldr) -> Option<What> {
    let has = |category| texts.contains_key(&format!("{key}.{}", name(category)));
    if UNCOUNTED.contains(&key) && has(PluralCategory::Other) {
        return None;
    }
    let needed: BTreeSet<PluralCategory> = numbers(key, cldr).map(|(_, category)| category).collect();
    let lacking: Vec<&str> = needed
        .into_iter()
        .filter(|&category| !has(category))
        .map(name)
        .collect();
    (!lacking.is_empty()).then(|| {
        said(
            format!("plural forms are missing: {}", lacking.join(", ")),
            "a form for every number",
        )
    })
}

/// The numbers that a sentence is used with, and their categories. No language has one more below a million.
fn numbers(key: &str, cldr: &Cldr) -> impl Iterator<Item = (u64, PluralCategory)> {
    let least = if key.contains("_range") { 2 } else { 0 };
    (least..=1_000).map(|n| (n, cldr.category(n)))
}

/// Sentences that may be worded for all numbers alike, as a label before the number.
const UNCOUNTED: [&str; 1] = ["plurals.let_in"];

fn name(category: PluralCategory) -> &'static str {
    match category {
        PluralCategory::Zero => "zero",
        PluralCategory::One => "one",
        PluralCategory::Two => "two",
        PluralCategory::Few => "few",
        PluralCategory::Many => "many",
        PluralCategory::Other => "other",
    }
}

/// Most characters of a text. What stands in a row or on a button has to fit a small screen.
fn most(key: &str) -> usize {
    match key.split('.').collect::<Vec<_>>()[..] {
        ["pages", _, "title" | "heading"] => 60,
        ["plurals", "ahead" | "let_in" | "retry", _] => 80,
        ["name"] | ["plurals", ..] => 40,
        ["words", word] if LABELS.contains(&word) => 40,
        ["words", word] if BUTTONS.contains(&word) => 60,
        _ => 300,
    }
}

const LABELS: [&str; 22] = [
    "position",
    "estimate",
    "estimate_unknown",
    "estimate_soon",
    "message",
    "reference",
    "copy",
    "request",
    "leave",
    "leave_yes",
    "check_now",
    "help",
    "imprint",
    "privacy",
    "go_on",
    "again",
    "join_again",
    "until_open",
    "days",
    "draw",
    "good_to_know",
    "code_keep",
];

const BUTTONS: [&str; 11] = [
    "afresh",
    "code_use",
    "code_without",
    "reload_stop",
    "reload_start",
    "until_line",
    "updated",
    "opens",
    "draw_check",
    "sound",
    "time_left",
];

/// The names in braces, sorted.
fn braces(sentence: &str) -> Vec<String> {
    let parts = sentence.split('{').skip(1);
    let mut names: Vec<String> = parts
        .map(|part| part.split_once('}').map_or("", |(name, _)| name).to_owned())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys and mistakes of a file that changes some words.
    fn found(tag: &str, file: &str) -> Vec<(String, String)> {
        flaws(tag, file, false)
            .into_iter()
            .map(|flaw| (flaw.key, flaw.wrong))
            .collect()
    }

    fn one(tag: &str, file: &str) -> String {
        let found = found(tag, file);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].1.clone()
    }

    #[test]
    fn every_label_and_button_is_a_key() {
        for word in LABELS.iter().chain(&BUTTONS) {
            assert!(ENGLISH.contains_key(&format!("words.{word}")), "{word}");
        }
    }

    #[test]
    fn every_file_keeps_the_rules() {
        for (tag, file) in FILES {
            assert_eq!(flaws(tag, file, true), [], "{tag}");
        }
    }

    #[test]
    fn a_mistake_has_its_line_and_what_is_right() {
        let flaw = Flaw {
            line: 3,
            key: "words.days".to_owned(),
            wrong: "the braces of the text are {n}".to_owned(),
            right: "{n} {time}".to_owned(),
        };
        assert_eq!(
            flaws("de", "[words]\nagain = \"Nochmal\"\ndays = \"{n} Tage\"\n", false),
            [flaw]
        );
        assert_eq!(flaws("de", "name = \"Deutsch\"\n[words\n", false)[0].line, 2);
    }

    #[test]
    fn a_whole_file_has_every_key_and_a_part_of_one_need_not() {
        let (_, english) = FILES[0];
        let less = english.replacen("offline =", "# offline =", 1);
        let flaws = flaws("en", &less, true);
        assert_eq!((flaws.len(), &*flaws[0].key), (1, "words.offline"));
        assert!(
            flaws[0].right.starts_with("a text, in English \"No connection"),
            "{flaws:?}"
        );
        assert_eq!(found("en", &less), []);
        assert!(super::flaws("en", "", true).len() > 100);
    }

    #[test]
    fn texts_keep_their_braces_and_bounds() {
        assert_eq!(one("de", "[words]\nagain = \"{n}\""), "the braces of the text are {n}");
        assert_eq!(one("de", "[words]\nopens = \"um {\""), "the braces of the text are {}");
        assert_eq!(one("de", "[words]\nagain = \" \""), "the text is empty");
        assert_eq!(
            one("de", "[words]\nagain = \"a\\nb\""),
            "the text has the character U+000A"
        );
        assert_eq!(
            one("de", "[words]\nagain = \"\u{e001}\""),
            "the text has the character U+E001"
        );
        assert_eq!(one("de", "[words]\nagain = 1"), "the value has another kind");
        assert_eq!(one("de", "native_review = \"yes\""), "the value has another kind");
        assert_eq!(one("de", "direction = \"up\""), "\"up\" is no direction");
        assert_eq!(one("de", "[words]\nsurplus = \"x\""), "there is no such key");
        assert_eq!(one("de", "plural = \"one_other\""), "there is no such key");
        for (key, most) in [
            ("words.again", 40),
            ("words.afresh", 60),
            ("words.why_full", 300),
            ("pages.over.title", 60),
            ("pages.over.lead", 300),
            ("name", 40),
        ] {
            let file = |count| format!("{key} = \"{}\"", "é".repeat(count));
            assert_eq!(found("fr", &file(most)), [], "{key}");
            assert_eq!(
                one("fr", &file(most + 1)),
                format!("the text has {} characters", most + 1)
            );
        }
    }

    #[test]
    fn every_form_that_a_whole_number_takes_is_needed_and_no_other_language_s() {
        let file = |forms: &str| {
            let forms = forms.split(' ').map(|form| format!("{form} = \"{{n}} x\"\n"));
            format!("[plurals.hours]\n{}", forms.collect::<String>())
        };
        for (tag, forms) in [
            ("en", "one other"),
            ("ko", "other"),
            ("ru", "one few many"),
            ("ru", "one few many other"),
            ("ar", "zero one two few many other"),
            ("es", "one other"),
            ("fr", "one many other"),
            ("cs", "one few other"),
        ] {
            assert_eq!(found(tag, &file(forms)), [], "{tag}: {forms}");
        }
        assert_eq!(one("ru", &file("one other")), "plural forms are missing: few, many");
        assert_eq!(one("de", &file("other")), "plural forms are missing: one");
        assert_eq!(one("de", &file("one few other")), "the language has no plural form few");
        assert_eq!(
            one("de", &file("one other several")),
            "the language has no plural form several"
        );
        let range = "[plurals.estimate_hours_range]\n";
        assert_eq!(found("en", &format!("{range}other = \"{{low}} {{high}}\"")), []);
        let lacks = one("ru", &format!("{range}other = \"{{low}} {{high}}\""));
        assert_eq!(lacks, "plural forms are missing: one, few, many");
    }

    #[test]
    fn the_number_may_be_left_out_only_where_the_form_is_for_one_number() {
        let hour = |one| format!("[plurals.hours]\none = \"{one}\"\nother = \"{{n}} x\"");
        assert_eq!(found("en", &hour("an hour")), []);
        assert_eq!(one("fr", &hour("une heure")), "the braces of the text are none");
        assert_eq!(one("hi", &hour("x")), "the braces of the text are none");
        assert_eq!(one("en", &hour("{m} hour")), "the braces of the text are {m}");
        assert_eq!(
            one("en", "[plurals.let_in]\nother = \"none\""),
            "the braces of the text are none"
        );
    }

    #[test]
    fn no_number_below_a_million_takes_a_form_that_none_below_a_thousand_takes() {
        for tag in "en ko ja zh es pt pt-PT fr de it nl pl cs sv da nb fi tr uk ru ar he hi id vi th".split(' ') {
            let cldr = Cldr::of(tag).unwrap();
            let few: BTreeSet<_> = numbers("", &cldr).map(|(_, category)| category).collect();
            let many: BTreeSet<_> = (1_000..1_000_000).step_by(7).map(|n| cldr.category(n)).collect();
            assert!(many.is_subset(&few), "{tag}: {many:?}");
        }
    }
}

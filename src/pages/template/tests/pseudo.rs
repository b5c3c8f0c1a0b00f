//! Pages in a language made from English: each English sentence that is left is one that no catalogue has.

use super::*;
use crate::pages::catalogue::{Direction, built_in, changed, pseudo};

fn catalogue(direction: Direction) -> Arc<Catalogue> {
    let (tag, right_to_left) = match direction {
        Direction::Ltr => ("en-XA", false),
        Direction::Rtl => ("ar-XB", true),
    };
    let file = pseudo::file(include_str!("../../../../static/locales/en.toml"), right_to_left);
    Arc::new(changed(tag, &file).unwrap())
}

fn pages(custom: Option<&str>, direction: Direction) -> Pages {
    let english = Arc::clone(&built_in()[0]);
    let languages = Languages::of(vec![english, catalogue(direction)]);
    Pages::in_languages(custom, &Brand::default(), languages).unwrap()
}

const PSEUDO: Language = Language(1);

/// The words of a page that a visitor may see: the text between tags, and attributes that are read out.
fn words(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text += before;
        text.push('\n');
        for attribute in [" title=\"", "aria-label=\"", " alt=\""] {
            let tag = tag.split('>').next().unwrap();
            if let Some((_, value)) = tag.split_once(attribute) {
                text += value.split('"').next().unwrap();
                text.push('\n');
            }
        }
        let (_, behind) = tag.split_once('>').unwrap_or_default();
        // Programs, styles and data are no words.
        rest = ["script", "style"]
            .iter()
            .find(|name| tag.starts_with(**name))
            .map_or(behind, |name| {
                behind.split_once(&format!("</{name}>")).unwrap_or_default().1
            });
    }
    text + rest
}

/// What samples say that operators and visitors wrote, and what no language has.
fn is_no_sentence(word: &str, case: &sample::Case) -> bool {
    let mut own = vec![case.facts.request_id, case.facts.here, case.name];
    own.extend(case.facts.message.map(|message| message.text));
    own.extend(case.facts.host);
    let line = case.facts.line.as_ref();
    own.extend(line.and_then(|line| line.turn.as_ref()?.reference));
    own.extend(line.and_then(|line| line.turn.as_ref()?.lane));
    // CLDR's words of the samples' times.
    matches!(word, "UTC" | "Wednesday" | "October") || own.iter().any(|text| text.contains(word))
}

#[test]
fn no_sentence_of_a_page_is_outside_the_catalogues() {
    let mut left = Vec::new();
    for direction in [Direction::Ltr, Direction::Rtl] {
        let pages = pages(None, direction);
        for case in sample::cases() {
            let page = pages.render(case.kind, &case.facts, PSEUDO);
            let words = words(text(&page));
            assert!(words.contains("[!!! "), "{}", case.name);
            let plain = words.split(|c: char| !c.is_alphabetic());
            let plain = plain.filter(|word| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic()));
            left.extend(
                plain
                    .filter(|word| !is_no_sentence(word, &case))
                    .map(|word| format!("{}: {word}", case.name)),
            );
        }
    }
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_page_from_right_to_left_says_so_and_has_the_numbers_of_its_language() {
    let pages = pages(None, Direction::Rtl);
    let mut cases = sample::cases().into_iter();
    let case = cases.find(|case| case.name == "waiting").unwrap();
    let page = pages.render(case.kind, &case.facts, PSEUDO);
    assert!(text(&page).contains("<html lang=\"ar-XB\" dir=\"rtl\">"));
    assert_eq!(page.headers[header::CONTENT_LANGUAGE], "ar-XB");
}

#[test]
fn a_part_that_a_template_has_for_one_language_is_tried() {
    let languages = || Languages::of(vec![Arc::clone(&built_in()[0]), catalogue(Direction::Ltr)]);
    let own = |part: &str| {
        let template = format!("{{% if lang == 'en-XA' %}}{part}{{% endif %}}<p>{{{{ heading }}}}</p>");
        Pages::in_languages(Some(&template), &Brand::default(), languages())
    };
    assert!(own("{{ position / nothing }}").is_err() && own("<p onclick=\"x\">").is_err());
    assert!(own("{{ heading / 2 }}").is_err());
    let page =
        own("<style>p{color:teal}</style>")
            .unwrap()
            .render(PageKind::Over, &PageFacts::new("r", Wall(0), "/"), PSEUDO);
    let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("style-src 'sha256-"), "{policy}");
}

#[test]
fn the_scripts_words_are_the_catalogues() {
    let pages = pages(None, Direction::Ltr);
    let data: serde_json::Value = serde_json::from_str(&pages.shared[1].script_words).unwrap();
    assert!(all(&data), "{data}");
}

/// Every text is of the language made from English.
fn all(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::String(text) => text.starts_with("[!!! "),
        serde_json::Value::Object(map) => map.values().all(all),
        _ => false,
    }
}

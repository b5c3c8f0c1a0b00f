//! The catalogues that are compiled in.

use super::*;

#[test]
fn every_catalogue_has_every_key_and_every_page() {
    for catalogue in built_in() {
        for kind in PageKind::ALL {
            let Heading { title, heading, lead } = catalogue.page(kind);
            assert!(
                ![title, heading, lead].iter().any(|text| text.is_empty()),
                "{}: {kind:?}",
                catalogue.tag
            );
        }
    }
}

#[test]
fn a_catalogue_without_a_key_or_with_one_too_many_does_not_parse() {
    let (_, whole) = FILES[0];
    let without = whole.replacen("offline =", "# offline =", 1);
    let more = whole.replacen("[words]", "[words]\nsurplus = \"x\"", 1);
    assert!(Catalogue::parse("en", whole).is_ok());
    assert!(Catalogue::parse("en", &without).is_err());
    assert!(Catalogue::parse("en", &more).is_err());
}

#[test]
fn numbers_and_plurals_follow_the_language() {
    let [english, korean] = ["en", "ko"].map(|tag| built_in().iter().find(|one| one.tag == tag).unwrap());
    assert_eq!(english.number(1_234_567), "1,234,567");
    assert_eq!(english.number(12), "12");
    assert_eq!(english.count(&english.plurals.ahead, 1), "1 person ahead of you");
    assert_eq!(english.count(&english.plurals.ahead, 0), "0 people ahead of you");
    assert_eq!(korean.count(&korean.plurals.ahead, 1), "앞에 1명이 있습니다");
    assert_eq!(english.span(90_000), "90 seconds");
    assert_eq!(english.span(60_000), "1 minute");
    assert_eq!(english.span(7_200_000), "2 hours");
    assert_eq!(english.span(5_400_000), "90 minutes");
}

#[test]
fn a_value_that_looks_like_a_brace_is_not_filled_again() {
    assert_eq!(
        fill("{a} and {b} and {c", &[("a", "{b}"), ("b", "2")]),
        "{b} and 2 and {c"
    );
}

//! Checks of a message in several languages.
//!
//! A tag is a language of ISO 639-1, or one of three letters, and may go on as BCP 47 has it. Codes of countries, such as
//! `jp` for `ja`, are the mistake that people make, so languages of two letters are looked up.

use std::collections::BTreeMap;

use crate::room::{MAX_LANGUAGES, MAX_TAG};

/// The texts by their tags as written; mistakes in them are added to `mistakes`.
pub fn checked(texts: BTreeMap<String, Option<String>>, mistakes: &mut Vec<String>) -> BTreeMap<String, String> {
    let mut kept: BTreeMap<String, String> = BTreeMap::new();
    for (tag, text) in texts {
        let Some(text) = text else { continue };
        if let Err(mistake) = super::is_message(&format!("the text for {tag:.40?}"), &text) {
            mistakes.push(mistake);
        } else if text.trim().is_empty() {
            mistakes.push(format!(
                "the text for {tag:.40?} is empty: leave the language out instead"
            ));
        }
        if !is_tag(&tag) {
            mistakes.push(format!(
                "{tag:.40?} is no language's tag: such as \"en\", \"ko\", \"pt-BR\" or \"zh-Hant\""
            ));
        } else if kept.keys().any(|other| other.eq_ignore_ascii_case(&tag)) {
            mistakes.push(format!("{tag:?} is given twice"));
        } else {
            kept.insert(tag, text);
        }
    }
    if kept.len() > MAX_LANGUAGES {
        mistakes.push(format!("{} languages are more than {MAX_LANGUAGES}", kept.len()));
    }
    kept
}

fn is_tag(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    let is_language = language.bytes().all(|byte| byte.is_ascii_alphabetic())
        && match language.len() {
            2 => LANGUAGES.split(' ').any(|known| known.eq_ignore_ascii_case(language)),
            3 => true,
            _ => false,
        };
    let plain = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_language && tag.len() <= MAX_TAG && parts.all(plain)
}

/// ISO 639-1.
const LANGUAGES: &str = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da \
    de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io \
    is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my \
    na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so \
    sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_languages_are_taken_and_others_not() {
        for tag in ["en", "ko", "pt-BR", "zh-Hant-TW", "gsw", "KO-kr", "de-1996"] {
            assert!(is_tag(tag), "{tag}");
        }
        for tag in [
            "",
            "jp",
            "cn",
            "e",
            "english",
            "en-",
            "en_US",
            "en-toolongpart",
            "12",
            "ko kr",
        ] {
            assert!(!is_tag(tag), "{tag}");
        }
    }

    #[test]
    fn every_mistake_is_named() {
        let texts = [
            ("en", Some("Back soon".to_owned())),
            ("EN", Some("again".to_owned())),
            ("jp", Some("x".to_owned())),
            ("ko", Some(" ".to_owned())),
            ("de", Some("\u{7}".to_owned())),
            ("fr", None),
        ];
        let texts = texts.map(|(tag, text)| (tag.to_owned(), text));
        let mut mistakes = Vec::new();
        checked(BTreeMap::from(texts), &mut mistakes);
        assert_eq!(mistakes.len(), 4, "{mistakes:?}");
    }
}

//! The name of the event or shop, for all languages or by language.

use std::collections::BTreeMap;

use crate::pages::language::Language;

/// Most characters of a name.
pub const MAX_NAME: usize = 80;

/// A name, at least in one language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BrandName {
    Same(String),
    ByLanguage(BTreeMap<Language, String>),
}

impl BrandName {
    /// The name on a page in this language: its own, else the English one, else the first. With its language, where it has one.
    #[must_use]
    pub fn in_language(&self, language: Language) -> (Option<Language>, &str) {
        match self {
            Self::Same(name) => (None, name),
            Self::ByLanguage(names) => {
                let of = |language| names.get_key_value(&language);
                let own = of(language).or_else(|| of(Language::ENGLISH));
                own.or_else(|| names.iter().next())
                    .map_or((None, ""), |(language, name)| (Some(*language), name))
            }
        }
    }
}

/// Whether a text can be a name: one line of plain text that is not blank. Markup in it is shown as text.
#[must_use]
pub fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_NAME && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_the_name_of_its_language_or_else_the_english_one() {
        let korean = Language::from_tag("ko").unwrap();
        let both = BTreeMap::from([
            (korean, "마리골드".to_owned()),
            (Language::ENGLISH, "Marigold".to_owned()),
        ]);
        let both = BrandName::ByLanguage(both);
        assert_eq!(both.in_language(korean), (Some(korean), "마리골드"));
        assert_eq!(
            both.in_language(Language::ENGLISH),
            (Some(Language::ENGLISH), "Marigold")
        );
        let only = BrandName::ByLanguage(BTreeMap::from([(korean, "마리골드".to_owned())]));
        assert_eq!(only.in_language(Language::ENGLISH), (Some(korean), "마리골드"));
        let same = BrandName::Same("Marigold".to_owned());
        assert_eq!(same.in_language(korean), (None, "Marigold"));
    }

    #[test]
    fn a_name_is_one_short_line() {
        assert!(is_name("<b>Marigold</b> & Co") && is_name(&"é".repeat(MAX_NAME)));
        for wrong in ["", "  ", "two\nlines", "\u{7}", &"x".repeat(MAX_NAME + 1)] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }
}

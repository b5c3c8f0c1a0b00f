//! The name of the event or shop, for all languages or by language.

use std::collections::BTreeMap;

/// Most characters of a name.
pub const MAX_NAME: usize = 80;

/// A name, at least in one language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BrandName {
    Same(String),
    /// By the language's tag.
    ByLanguage(BTreeMap<String, String>),
}

impl BrandName {
    /// The name on a page in this language: its own, else the English one, else the first. With its language, where it has one.
    #[must_use]
    pub fn in_language(&self, tag: &str) -> (Option<&str>, &str) {
        match self {
            Self::Same(name) => (None, name),
            Self::ByLanguage(names) => {
                let of = |tag| names.get_key_value(tag);
                let own = of(tag).or_else(|| of("en"));
                own.or_else(|| names.iter().next())
                    .map_or((None, ""), |(tag, name)| (Some(tag), name))
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
        let names = |names: &[(&str, &str)]| {
            let names = names.iter().map(|(tag, name)| ((*tag).to_owned(), (*name).to_owned()));
            BrandName::ByLanguage(names.collect())
        };
        let both = names(&[("ko", "마리골드"), ("en", "Marigold")]);
        assert_eq!(both.in_language("ko"), (Some("ko"), "마리골드"));
        for tag in ["en", "tlh"] {
            assert_eq!(both.in_language(tag), (Some("en"), "Marigold"));
        }
        assert_eq!(names(&[("ko", "마리골드")]).in_language("en"), (Some("ko"), "마리골드"));
        let same = BrandName::Same("Marigold".to_owned());
        assert_eq!(same.in_language("ko"), (None, "Marigold"));
    }

    #[test]
    fn a_name_is_one_short_line() {
        assert!(is_name("<b>Marigold</b> & Co") && is_name(&"é".repeat(MAX_NAME)));
        for wrong in ["", "  ", "two\nlines", "\u{7}", &"x".repeat(MAX_NAME + 1)] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }
}

//! The rules of one language, from Unicode's CLDR: which plural form a number takes, and how numbers and times are written.
//!
//! ICU4X carries the data of every language that CLDR has, so a language of an operator's own needs no rule of ours.

use std::fmt::{self, Write as _};

use icu_decimal::DecimalFormatter;
use icu_decimal::input::Decimal;
use icu_locale_core::Locale;
use icu_plurals::{PluralCategory, PluralRules};

use super::clock::Clock;
use ropeline_ids::Wall;

/// The rules of one language. A tag without data of its own has those of its parent, at last one form and Western digits.
pub(in crate::pages) struct Cldr {
    plurals: PluralRules,
    decimals: DecimalFormatter,
    /// Numbers below a thousand are written as Rust writes them.
    western: bool,
    clock: Clock,
}

impl Cldr {
    /// The rules for a BCP 47 tag; `None` if it is none.
    pub fn of(tag: &str) -> Option<Self> {
        let locale: Locale = tag.parse().ok()?;
        let plurals = PluralRules::try_new_cardinal((&locale).into()).ok()?;
        let decimals = DecimalFormatter::try_new(
            (&locale).into(),
            icu_decimal::options::DecimalFormatterOptions::default(),
        )
        .ok()?;
        let western = decimals.format(&Decimal::from(987_u64)).to_string() == "987";
        Some(Self {
            plurals,
            decimals,
            western,
            clock: Clock::of(&locale).ok()?,
        })
    }

    /// A number with the digits of the language, in groups where it has them.
    pub fn number(&self, n: u64) -> String {
        // PERF: most numbers of a page are short, and every page of a join has five.
        if self.western && n < 1_000 {
            return n.to_string();
        }
        let mut text = String::with_capacity(32);
        // Writing to a text does not fail.
        let _ = write!(text, "{}", self.decimals.format(&Decimal::from(n)));
        text
    }

    /// A moment, with or without its date; none for one that no calendar has.
    pub fn time(&self, at: Wall, with_date: bool) -> Option<String> {
        self.clock.shown(at, with_date)
    }

    /// The plural form of a whole number.
    pub fn category(&self, n: u64) -> PluralCategory {
        self.plurals.category_for(n)
    }

    /// All plural forms that the language has, those for fractions included.
    pub fn categories(&self) -> impl Iterator<Item = PluralCategory> {
        self.plurals.categories()
    }
}

/// Whether CLDR has plural rules for a tag.
pub(in crate::pages) fn has_plural_rules(tag: &str) -> bool {
    let language = tag.split('-').next().unwrap_or(tag);
    let is_uncounted = UNCOUNTED.split(' ').any(|one| one.eq_ignore_ascii_case(language));
    is_uncounted || Cldr::of(tag).is_some_and(|cldr| cldr.categories().count() > 1)
}

/// The languages that have one form for all numbers in CLDR, as those have that it does not know.
const UNCOUNTED: &str =
    "bm bo dz hnj id ig ii ja jbo jv kde kea km ko lkt lo ms my nqo osa sah ses sg su th to tpi vi wo yo yue zh";

impl fmt::Debug for Cldr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cldr").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(tag: &str, n: u64) -> String {
        Cldr::of(tag).unwrap().number(n)
    }

    #[test]
    fn numbers_are_grouped_as_the_language_groups_them() {
        for (tag, four, seven) in [
            ("en", "1,234", "1,234,567"),
            ("ko", "1,234", "1,234,567"),
            ("de", "1.234", "1.234.567"),
            ("fr", "1\u{202f}234", "1\u{202f}234\u{202f}567"),
            ("es", "1234", "1.234.567"),
            ("it", "1234", "1.234.567"),
            ("pl", "1234", "1\u{a0}234\u{a0}567"),
            ("pt-PT", "1234", "1\u{a0}234\u{a0}567"),
            ("pt-BR", "1.234", "1.234.567"),
            ("hi", "1,234", "12,34,567"),
            ("zh-Hant", "1,234", "1,234,567"),
        ] {
            assert_eq!(
                (number(tag, 1_234), number(tag, 1_234_567)),
                (four.to_owned(), seven.to_owned()),
                "{tag}"
            );
        }
    }

    #[test]
    fn short_numbers_have_the_digits_of_the_language_too() {
        assert_eq!((number("en", 0), number("de", 999)), ("0".to_owned(), "999".to_owned()));
        assert_eq!((number("fa", 7), number("mr", 42)), ("۷".to_owned(), "४२".to_owned()));
        assert_eq!(number("en", u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn a_tag_without_data_counts_like_its_parent_and_text_that_is_no_tag_is_none() {
        assert_eq!(number("de-DE-1996", 1_234), "1.234");
        assert_eq!(Cldr::of("pt").unwrap().category(0), PluralCategory::One);
        assert_eq!(Cldr::of("tlh").unwrap().category(1), PluralCategory::Other);
        assert_eq!(number("tlh", 12), "12");
        assert!(Cldr::of("a").is_none() && Cldr::of("en_US!").is_none());
        assert!(has_plural_rules("cy") && has_plural_rules("JA") && !has_plural_rules("tlh"));
    }
}

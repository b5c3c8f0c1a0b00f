//! The language of a visitor.
//!
//! The languages are those that have a catalogue: in `static/locales/`, or in an operator's folder. A visitor gets one by
//! `Accept-Language`.

use std::sync::Arc;

use super::catalogue::{self, Catalogue};
use super::wording::Wording;

/// One language of a set, by its place there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Language(pub(super) usize);

/// Most of an `Accept-Language` field that is read, in bytes and in ranges: the rest is ignored.
const MAX_FIELD: usize = 1_000;
const MAX_RANGES: usize = 32;

impl Language {
    /// English among the built-in languages; the first of any others.
    pub const ENGLISH: Self = Self(0);

    /// The best of any tags for an `Accept-Language` field, by the same lookup; `None` where nothing fits.
    #[must_use]
    pub fn best_of<'a>(accept_language: &str, tags: &(impl Iterator<Item = &'a str> + Clone)) -> Option<&'a str> {
        let named = |wanted: &str| tags.clone().find(|tag| tag.eq_ignore_ascii_case(wanted));
        let any = Self::any_of(tags);
        let same = |wanted: &str| tags.clone().find(|tag| is_of(tag, wanted));
        let mut wanted = ranges(accept_language).into_iter();
        wanted.find_map(|range| nearest(range, named, same, any))
    }

    /// For a visitor who reads none of them: an English one, else the first.
    #[must_use]
    pub fn any_of<'a>(tags: &(impl Iterator<Item = &'a str> + Clone)) -> Option<&'a str> {
        tags.clone()
            .find(|tag| is_of(tag, "en"))
            .or_else(|| tags.clone().next())
    }
}

/// The built-in languages, for tests.
#[cfg(test)]
impl Language {
    #[must_use]
    pub fn tag(self) -> String {
        Languages::built_in().tag(self).to_owned()
    }

    pub fn all() -> impl Iterator<Item = Self> {
        Languages::built_in().all()
    }

    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        Languages::built_in().find(tag)
    }
}

/// The languages of some pages, at least one. The first is for visitors who read none of them.
#[derive(Clone, Debug)]
pub struct Languages(Arc<[Arc<Catalogue>]>);

impl Languages {
    /// Those that are compiled in, English first.
    #[must_use]
    pub fn built_in() -> Self {
        Self::of(catalogue::built_in().to_vec())
    }

    /// The same with an operator's words, and then the operator's own languages.
    #[must_use]
    pub fn with(wording: &Wording) -> Self {
        let mut all = catalogue::built_in().to_vec();
        for own in wording.catalogues() {
            match all.iter_mut().find(|built_in| built_in.tag == own.tag) {
                Some(built_in) => *built_in = Arc::clone(own),
                None => all.push(Arc::clone(own)),
            }
        }
        Self::of(all)
    }

    /// At least one.
    pub(super) fn of(catalogues: Vec<Arc<Catalogue>>) -> Self {
        Self(catalogues.into())
    }

    /// Those of these tags, in their order; all where there is none of them.
    #[must_use]
    pub fn only(&self, tags: &[String]) -> Self {
        let found = tags
            .iter()
            .filter_map(|tag| Some(Arc::clone(self.get(self.find(tag)?))));
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            return self.clone();
        }
        Self::of(found)
    }

    pub fn all(&self) -> impl Iterator<Item = Language> + use<> {
        (0..self.0.len()).map(Language)
    }

    /// The BCP 47 tags, as `lang` and `Content-Language` carry them.
    pub fn tags(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|catalogue| &*catalogue.tag)
    }

    #[must_use]
    pub fn tag(&self, language: Language) -> &str {
        &self.get(language).tag
    }

    /// The language's name in itself.
    #[must_use]
    pub fn name(&self, language: Language) -> &str {
        &self.get(language).name
    }

    /// `ltr` or `rtl`.
    #[must_use]
    pub fn direction(&self, language: Language) -> &'static str {
        self.get(language).direction.name()
    }

    /// Whether a native speaker has read its words.
    #[must_use]
    pub fn is_reviewed(&self, language: Language) -> bool {
        self.get(language).native_review
    }

    /// The language of a tag, letter case apart; `None` when it has no catalogue.
    #[must_use]
    pub fn find(&self, tag: &str) -> Option<Language> {
        self.tags().position(|own| own.eq_ignore_ascii_case(tag)).map(Language)
    }

    /// The best for an `Accept-Language` field: ranges by falling quality, each shortened from its end until it fits (the
    /// lookup of RFC 4647, section 3.4), then by what CLDR knows of it, then any tag of the same language. The first where
    /// nothing fits.
    #[must_use]
    pub fn negotiate(&self, accept_language: &str) -> Language {
        let same = |wanted: &str| self.tags().position(|tag| is_of(tag, wanted)).map(Language);
        let default = Some(Language(0));
        let mut wanted = ranges(accept_language).into_iter();
        wanted
            .find_map(|range| nearest(range, |tag| self.find(tag), same, default))
            .unwrap_or(Language(0))
    }

    pub(super) fn get(&self, language: Language) -> &Arc<Catalogue> {
        &self.0[language.0]
    }
}

/// The ranges that are wanted at all, best first; equal ones in the order they were named.
fn ranges(field: &str) -> Vec<&str> {
    let end = (0..=field.len().min(MAX_FIELD))
        .rev()
        .find(|&at| field.is_char_boundary(at))
        .unwrap_or(0);
    let mut wanted: Vec<(u16, &str)> = field[..end].split(',').take(MAX_RANGES).filter_map(weighed).collect();
    wanted.sort_by_key(|&(quality, _)| std::cmp::Reverse(quality));
    wanted.into_iter().map(|(_, range)| range).collect()
}

/// A range with its quality in thousandths; `None` for quality 0 and for text that is no range.
fn weighed(item: &str) -> Option<(u16, &str)> {
    let mut parts = item.split(';');
    let range = parts.next()?.trim();
    let quality = match parts.next().map(str::trim) {
        None => 1_000,
        Some(weight) => thousandths(weight.strip_prefix("q=").or_else(|| weight.strip_prefix("Q="))?)?,
    };
    let plain = !range.is_empty()
        && range
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'*');
    (plain && quality > 0).then_some((quality, range))
}

/// RFC 9110, section 12.4.2: `0` or `1` with up to three decimals.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    let fits = matches!(whole, "0" | "1") && decimals.len() <= 3 && decimals.bytes().all(|b| b.is_ascii_digit());
    let value = fits.then(|| format!("{whole}{decimals:0<3}").parse().ok())??;
    (value <= 1_000).then_some(value)
}

/// The match of a range: by the lookup of RFC 4647, then by the tag that CLDR has for it, then by its language alone.
fn nearest<T>(
    range: &str,
    named: impl Fn(&str) -> Option<T>,
    same: impl Fn(&str) -> Option<T>,
    default: Option<T>,
) -> Option<T> {
    if let Some(found) = shortened(range, &named, default) {
        return Some(found);
    }
    let known = known_as(range);
    let language = language_of(known.unwrap_or(range));
    known
        .and_then(|tag| shortened(tag, &named, None))
        .or_else(|| same(language))
}

/// The tag that a range without a match stands for. Old codes and macrolanguages are those of CLDR's language aliases; scripts
/// and regions, its likely subtags; the Portuguese of Africa, Asia and Europe, its parent locales.
fn known_as(range: &str) -> Option<&'static str> {
    let mut parts = range.split('-');
    let language = parts.next()?.to_ascii_lowercase();
    let region = parts.find(|part| part.len() == 2).map(str::to_ascii_uppercase);
    let is_in = |regions: &str| {
        region
            .as_deref()
            .is_some_and(|region| regions.split(' ').any(|one| one == region))
    };
    let tag = match &*language {
        "iw" => "he",
        "in" => "id",
        "no" | "nn" => "nb",
        "zh" if is_in(TRADITIONAL) => "zh-Hant",
        "zh" => "zh-Hans",
        "pt" if is_in(AS_IN_PORTUGAL) => "pt-PT",
        "pt" => "pt-BR",
        _ => return None,
    };
    Some(tag)
}

/// Regions whose Chinese is written in traditional letters.
const TRADITIONAL: &str = "AU BN GB GF HK ID MO PA PF PH SR TH TW US VN";

/// Regions whose Portuguese has that of Portugal as its parent.
const AS_IN_PORTUGAL: &str = "AO CH CV FR GQ GW LU MO MZ PT ST TL";

/// Whether a tag is of this language, whatever its script and region.
fn is_of(tag: &str, language: &str) -> bool {
    language_of(tag).eq_ignore_ascii_case(language)
}

fn language_of(tag: &str) -> &str {
    tag.split_once('-').map_or(tag, |(language, _)| language)
}

/// The match of a range, which is shortened from its end until there is one.
fn shortened<T>(range: &str, named: &impl Fn(&str) -> Option<T>, default: Option<T>) -> Option<T> {
    if range == "*" {
        return default;
    }
    let mut rest = range;
    loop {
        if let Some(found) = named(rest) {
            return Some(found);
        }
        rest = &rest[..rest.rfind('-')?];
        // A single letter or digit opens an extension and goes with it.
        if let Some((before, last)) = rest.rsplit_once('-')
            && last.len() == 1
        {
            rest = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(field: &str) -> String {
        let languages = two();
        languages.tag(languages.negotiate(field)).to_owned()
    }

    fn two() -> Languages {
        Languages::built_in().only(&["en".to_owned(), "ko".to_owned()])
    }

    #[test]
    fn the_first_range_that_fits_wins() {
        assert_eq!(tag("ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7"), "ko");
        assert_eq!(tag("tlh-CH, tlh;q=0.9, ko;q=0.8, en;q=0.7"), "ko");
        assert_eq!(tag("en;q=0.5, ko;q=0.6"), "ko");
        assert_eq!(tag("KO-kr-x-shop"), "ko");
    }

    #[test]
    fn quality_nought_and_nonsense_have_no_say() {
        assert_eq!(tag("ko;q=0, en;q=0.1"), "en");
        assert_eq!(tag("ko;q=2"), "en");
        assert_eq!(tag("ko;q=0.12345"), "en");
        assert_eq!(tag("ko;level=1"), "en");
        assert_eq!(tag(";;;,,,"), "en");
        assert_eq!(tag(""), "en");
    }

    #[test]
    fn a_star_takes_the_default() {
        assert_eq!(tag("tlh, *;q=0.5, ko;q=0.4"), "en");
        let korean_first = two().only(&["ko".to_owned(), "en".to_owned()]);
        assert_eq!(korean_first.tag(korean_first.negotiate("tlh, *")), "ko");
        assert_eq!(korean_first.tag(korean_first.negotiate("tlh")), "ko");
        assert_eq!(two().only(&["tlh".to_owned()]).tags().collect::<Vec<_>>(), ["en", "ko"]);
    }

    #[test]
    fn tags_without_a_catalogue_are_looked_up_alike() {
        let best = |field: &str, tags: &[&'static str]| Language::best_of(field, &tags.iter().copied());
        assert_eq!(best("pt-BR, fr;q=0.5", &["en", "fr", "pt"]), Some("pt"));
        assert_eq!(best("zh-Hant-TW", &["zh", "zh-hant"]), Some("zh-hant"));
        assert_eq!(best("ja", &["de", "en", "ko"]), None);
        assert_eq!(best("ja, *;q=0.1", &["de", "en-GB", "ko"]), Some("en-GB"));
        assert_eq!(best("ja", &[]), None);
        let any = |tags: &[&'static str]| Language::any_of(&tags.iter().copied());
        assert_eq!(any(&["de", "en-GB", "ko"]), Some("en-GB"));
        assert_eq!(any(&["de", "enm", "ko"]), Some("de"));
    }

    #[test]
    fn a_region_leads_to_its_script_and_an_old_code_to_its_language() {
        let all = ["en", "he", "id", "nb", "pt-BR", "pt-PT", "zh-Hans", "zh-Hant"];
        let best = |field: &str| Language::best_of(field, &all.iter().copied());
        for (field, tag) in [
            ("zh-TW", "zh-Hant"),
            ("zh-hk", "zh-Hant"),
            ("zh-MO", "zh-Hant"),
            ("zh-Hant-CN", "zh-Hant"),
            ("zh", "zh-Hans"),
            ("zh-CN", "zh-Hans"),
            ("zh-SG", "zh-Hans"),
            ("zh-Hans-TW", "zh-Hans"),
            ("pt", "pt-BR"),
            ("pt-US", "pt-BR"),
            ("pt-AO", "pt-PT"),
            ("pt-MZ", "pt-PT"),
            ("zh-Hant-HK", "zh-Hant"),
            ("in-ID", "id"),
            ("pt-pt", "pt-PT"),
            ("no", "nb"),
            ("nn-NO", "nb"),
            ("iw-IL", "he"),
            ("in", "id"),
        ] {
            assert_eq!(best(field), Some(tag), "{field}");
        }
        // No language stands for Tagalog.
        assert_eq!(best("tl-PH"), None);
    }

    #[test]
    fn another_tag_of_the_same_language_is_better_than_another_language() {
        let best = |field: &str, tags: &[&'static str]| Language::best_of(field, &tags.iter().copied());
        assert_eq!(best("pt-PT, en;q=0.5", &["en", "pt-BR"]), Some("pt-BR"));
        assert_eq!(best("zh-TW, en;q=0.5", &["en", "zh-Hans"]), Some("zh-Hans"));
        assert_eq!(best("de, en;q=0.5", &["en", "de-CH"]), Some("de-CH"));
        assert_eq!(best("no", &["nb", "no"]), Some("no"));
        assert_eq!(best("d", &["de"]), None);
    }

    #[test]
    fn only_the_head_of_a_long_field_is_read() {
        assert_eq!(tag(&format!("{}ko", "de,".repeat(MAX_RANGES))), "en");
        assert_eq!(tag(&format!("{}ko", "x".repeat(MAX_FIELD))), "en");
        assert_eq!(tag(&"é".repeat(MAX_FIELD)), "en");
    }
}

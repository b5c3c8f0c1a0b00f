//! A sentence in the plural forms of its language.

use icu_plurals::PluralCategory;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

/// One sentence in its plural forms, by CLDR category. The keys of a catalogue are those names.
#[derive(Deserialize, Debug, Clone, Default)]
#[serde(deny_unknown_fields)]
pub(in crate::pages) struct Forms {
    zero: Option<String>,
    one: Option<String>,
    two: Option<String>,
    few: Option<String>,
    many: Option<String>,
    other: Option<String>,
}

impl Forms {
    /// The form of a category. A missing one gives way to `other`, and this to `many`, the usual form of larger numbers where
    /// `other` is for fractions alone.
    pub fn form(&self, category: PluralCategory) -> &str {
        let own = match category {
            PluralCategory::Zero => &self.zero,
            PluralCategory::One => &self.one,
            PluralCategory::Two => &self.two,
            PluralCategory::Few => &self.few,
            PluralCategory::Many => &self.many,
            PluralCategory::Other => &self.other,
        };
        own.as_deref().unwrap_or_else(|| self.usual())
    }

    fn usual(&self) -> &str {
        self.other.as_ref().or(self.many.as_ref()).map_or("", String::as_str)
    }
}

/// For the page's script: the sentence alone where there is one form only; else the forms that differ from `other`, and
/// `other`.
impl Serialize for Forms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own = [
            ("zero", &self.zero),
            ("one", &self.one),
            ("two", &self.two),
            ("few", &self.few),
            ("many", &self.many),
        ];
        let own: Vec<(&str, &str)> = own
            .into_iter()
            .filter_map(|(name, form)| Some((name, form.as_deref()?)))
            .filter(|(_, form)| *form != self.usual())
            .collect();
        if own.is_empty() {
            return serializer.serialize_str(self.usual());
        }
        let mut forms = serializer.serialize_map(Some(own.len() + 1))?;
        for (name, form) in own {
            forms.serialize_entry(name, form)?;
        }
        forms.serialize_entry("other", self.usual())?;
        forms.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pages::catalogue::cldr::Cldr;

    const RUSSIAN: &str = "one = \"{n} минута\"\nfew = \"{n} минуты\"\nmany = \"{n} минут\"";

    #[test]
    fn a_number_takes_the_form_of_its_category() {
        let (russian, arabic) = (Cldr::of("ru").unwrap(), Cldr::of("ar").unwrap());
        let forms: Forms = toml::from_str(RUSSIAN).unwrap();
        for (n, form) in [
            (1, "{n} минута"),
            (2, "{n} минуты"),
            (5, "{n} минут"),
            (11, "{n} минут"),
            (21, "{n} минута"),
            (0, "{n} минут"),
        ] {
            assert_eq!(forms.form(russian.category(n)), form, "{n}");
        }
        let six = "zero = \"0\"\none = \"1\"\ntwo = \"2\"\nfew = \"3-10\"\nmany = \"11-99\"\nother = \"100\"";
        let forms: Forms = toml::from_str(six).unwrap();
        let chosen = [0, 1, 2, 3, 10, 11, 99, 100, 102].map(|n| forms.form(arabic.category(n)));
        assert_eq!(chosen, ["0", "1", "2", "3-10", "3-10", "11-99", "11-99", "100", "100"]);
    }

    #[test]
    fn a_form_that_is_missing_is_other_or_else_many() {
        let forms: Forms = toml::from_str("one = \"1\"\nother = \"n\"").unwrap();
        assert_eq!(forms.form(PluralCategory::Many), "n");
        let forms: Forms = toml::from_str(RUSSIAN).unwrap();
        assert_eq!(forms.form(PluralCategory::Other), "{n} минут");
    }

    #[test]
    fn the_script_gets_one_sentence_or_other_and_the_forms_that_differ() {
        let forms = |text| serde_json::to_value(toml::from_str::<Forms>(text).unwrap()).unwrap();
        assert_eq!(forms("other = \"n\""), json!("n"));
        assert_eq!(forms("one = \"1\"\nother = \"n\""), json!({ "one": "1", "other": "n" }));
        // `many` is what stands for `other` here.
        let russian = json!({ "one": "{n} минута", "few": "{n} минуты", "other": "{n} минут" });
        assert_eq!(forms(RUSSIAN), russian);
    }
}

//! A room's waiting page as the operator sets it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use toml::de::DeValue;

use crate::config::document::value::{text, wrong};
use crate::config::document::{Node, Read, Section};
use crate::config::keys::Form;
use crate::pages::brand::{Accent, BrandName, LIGHT_LOGO, Link, Logo, MAX_LOGO, MAX_NAME, Unfit, is_name};
use crate::pages::wording::Wording;
use crate::pages::{Brand, Languages, MAX_TEMPLATE, Pages};

/// A room's waiting page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The file and its text; `None` for the built-in page.
    pub template: Option<Template>,
    /// Without JavaScript the page reloads by itself.
    pub refresh: bool,
    /// Tags of languages that there are, at least one; the first is the default.
    pub languages: Vec<String>,
    /// The operator's own words; `None` for the built-in ones.
    pub wording: Option<Wording>,
    pub brand: Brand,
}

impl Page {
    /// The languages of the page with their words.
    #[must_use]
    pub fn spoken(&self) -> Languages {
        known(self.wording.as_ref()).only(&self.languages)
    }
}

/// An operator's template, which compiles and renders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    pub path: PathBuf,
    pub text: String,
}

pub(in crate::config) fn page(section: &Section<'_>) -> Page {
    let wording = section.get_as("wording", |node, form| wording(section, node, form));
    for tag in wording.iter().flat_map(Wording::without_plurals) {
        let wrong = format!("{tag}: CLDR has no plural rules of that language, so every number takes the form other");
        section.warning(
            "wording",
            wrong,
            "texts that fit every number, or the tag of a language that CLDR knows",
        );
    }
    let known = known(wording.as_ref());
    let mut languages = section.list_as("languages", |node, form| language(&known, node, form));
    if !section.is_set("languages") {
        languages = known.tags().map(str::to_owned).collect();
    } else if languages.is_empty() && !section.has_mistake("languages") {
        section.mistake(
            "languages",
            "the page needs a language",
            "at least one, such as [\"en\"]",
        );
    }
    let brand = brand(section, &known);
    let spoken = known.only(&languages);
    Page {
        template: section.get_as("template", |node, form| {
            template(section, (&brand, &spoken), (node, form))
        }),
        brand,
        refresh: section.need("refresh"),
        languages,
        wording,
    }
}

/// The languages that a page may be in.
fn known(wording: Option<&Wording>) -> Languages {
    wording.map_or_else(Languages::built_in, Languages::with)
}

/// The folder with an operator's own words. Every mistake of its files is one of the key.
fn wording(section: &Section<'_>, node: &Node<'_>, form: &Form) -> Read<Wording> {
    let folder = section.file(node, form)?;
    Wording::read(&folder).map_err(|faults| {
        let mistakes = faults.into_iter().filter_map(|fault| {
            let what = format!("{}: {}", fault.place(), fault.wrong);
            wrong::<()>(node, what, fault.right).err()
        });
        mistakes.flatten().collect()
    })
}

fn brand(section: &Section<'_>, languages: &Languages) -> Brand {
    let link = |key, mail| section.get_as(key, |node, form| fits(node, Link::parse(text(node, form)?, mail)));
    let logo = section.get_as("logo", |node, form| logo(section, node, form));
    if let Some(logo) = logo.as_ref().filter(|logo| logo.bytes() > LIGHT_LOGO) {
        let wrong = format!(
            "with a logo of {} bytes the page takes more than one round trip to each visitor",
            logo.bytes()
        );
        section.warning("logo", wrong, format!("at most {LIGHT_LOGO} bytes"));
    }
    Brand {
        name: section.get_as("name", |node, form| name(languages, node, form)),
        logo,
        accent: section.get_as("accent", |node, form| fits(node, Accent::parse(text(node, form)?))),
        help: link("help", true),
        imprint: link("imprint", false),
        privacy: link("privacy", false),
    }
}

fn fits<T>(node: &Node<'_>, value: Result<T, Unfit>) -> Read<T> {
    value.or_else(|unfit| wrong(node, unfit.wrong, unfit.right))
}

fn name(languages: &Languages, node: &Node<'_>, form: &Form) -> Read<BrandName> {
    let DeValue::Table(table) = node.get_ref() else {
        return one_name(node, form).map(BrandName::Same);
    };
    if table.is_empty() {
        return wrong(node, "the name has no language", form);
    }
    let (mut names, mut mistakes) = (BTreeMap::new(), Vec::new());
    for (tag, item) in table {
        let read = match languages.find(tag.get_ref()) {
            Some(language) => one_name(item, form).map(|name| names.insert(languages.tag(language).to_owned(), name)),
            None => wrong(
                item,
                format!("the page does not speak {:?}", tag.get_ref()),
                format!("languages among {}", languages.tags().collect::<Vec<_>>().join(", ")),
            ),
        };
        mistakes.extend(read.err().into_iter().flatten());
    }
    if mistakes.is_empty() {
        Ok(BrandName::ByLanguage(names))
    } else {
        Err(mistakes)
    }
}

fn one_name(node: &Node<'_>, form: &Form) -> Read<String> {
    let name = text(node, form)?;
    if is_name(name) {
        return Ok(name.trim().to_owned());
    }
    let what = match name.chars().count() {
        _ if name.trim().is_empty() => "the name is empty".to_owned(),
        count if count > MAX_NAME => format!("the name has {count} characters"),
        _ => "the name has control characters".to_owned(),
    };
    wrong(node, what, form)
}

fn logo(section: &Section<'_>, node: &Node<'_>, form: &Form) -> Read<Logo> {
    let path = section.file(node, form)?;
    match read_at_most(&path, MAX_LOGO) {
        Ok(file) => fits(node, Logo::new(&file)),
        Err(e) => wrong(node, format!("{} cannot be read ({e})", path.display()), form),
    }
}

fn template(
    section: &Section<'_>,
    (brand, languages): (&Brand, &Languages),
    (node, form): (&Node<'_>, &Form),
) -> Read<Template> {
    let path = section.file(node, form)?;
    let read = read_at_most(&path, MAX_TEMPLATE).and_then(|file| String::from_utf8(file).map_err(io::Error::other));
    let text = match read {
        Ok(text) => text,
        Err(e) => return wrong(node, format!("{} cannot be read ({e})", path.display()), form),
    };
    match Pages::in_languages(Some(&text), brand, languages.clone()) {
        Ok(_) => Ok(Template { path, text }),
        Err(e) => wrong(
            node,
            format!("{}: {e}", path.display()),
            "a template as in docs/guides/page.md",
        ),
    }
}

/// One byte more than can be, so that a longer file is recognised.
fn read_at_most(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let most = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut file = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut file)?;
    Ok(file)
}

/// The tag of a language that has a catalogue.
fn language(languages: &Languages, node: &Node<'_>, form: &Form) -> Read<String> {
    let tag = text(node, form)?;
    let tags: Vec<String> = languages.tags().map(|tag| format!("\"{tag}\"")).collect();
    match languages.find(tag) {
        Some(language) => Ok(languages.tag(language).to_owned()),
        None => wrong(
            node,
            format!("there is no \"{tag}\""),
            format!("one of {}", tags.join(", ")),
        ),
    }
}

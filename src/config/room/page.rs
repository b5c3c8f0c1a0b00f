//! A room's waiting page as the operator sets it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use toml::de::DeValue;

use crate::config::document::value::{one_of, text, wrong};
use crate::config::document::{Node, Read, Section};
use crate::config::keys::Form;
use crate::pages::brand::{Accent, BrandName, LIGHT_LOGO, Link, Logo, MAX_LOGO, MAX_NAME, Unfit, is_name};
use crate::pages::{Brand, Language, MAX_TEMPLATE, Pages, TAGS};

/// A room's waiting page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The file and its text; `None` for the built-in page.
    pub template: Option<Template>,
    /// Without JavaScript the page reloads by itself.
    pub refresh: bool,
    /// Tags of languages that there are, at least one; the first is the default.
    pub languages: Vec<String>,
    pub brand: Brand,
}

/// An operator's template, which compiles and renders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    pub path: PathBuf,
    pub text: String,
}

pub(in crate::config) fn page(section: &Section<'_>) -> Page {
    let mut languages = section.list_as("languages", language);
    if !section.is_set("languages") {
        languages = TAGS.map(str::to_owned).to_vec();
    } else if languages.is_empty() && !section.has_mistake("languages") {
        section.mistake(
            "languages",
            "the page needs a language",
            "at least one, such as [\"en\"]",
        );
    }
    let brand = brand(section);
    Page {
        template: section.get_as("template", |node, form| template(section, &brand, (node, form))),
        brand,
        refresh: section.need("refresh"),
        languages,
    }
}

fn brand(section: &Section<'_>) -> Brand {
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
        name: section.get_as("name", name),
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

fn name(node: &Node<'_>, form: &Form) -> Read<BrandName> {
    let DeValue::Table(table) = node.get_ref() else {
        return one_name(node, form).map(BrandName::Same);
    };
    if table.is_empty() {
        return wrong(node, "the name has no language", form);
    }
    let (mut names, mut mistakes) = (BTreeMap::new(), Vec::new());
    for (tag, item) in table {
        let read = match Language::from_tag(tag.get_ref()) {
            Some(language) => one_name(item, form).map(|name| names.insert(language, name)),
            None => wrong(
                item,
                format!("the page does not speak {:?}", tag.get_ref()),
                format!("languages among {}", TAGS.join(", ")),
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

fn template(section: &Section<'_>, brand: &Brand, (node, form): (&Node<'_>, &Form)) -> Read<Template> {
    let path = section.file(node, form)?;
    let read = read_at_most(&path, MAX_TEMPLATE).and_then(|file| String::from_utf8(file).map_err(io::Error::other));
    let text = match read {
        Ok(text) => text,
        Err(e) => return wrong(node, format!("{} cannot be read ({e})", path.display()), form),
    };
    match Pages::branded(Some(&text), brand) {
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
fn language(node: &Node<'_>, form: &Form) -> Read<String> {
    let Form::Words(all) = form else {
        return wrong(node, "this is no language", form);
    };
    let words: Vec<(&str, &str)> = all.iter().map(|tag| (*tag, *tag)).collect();
    one_of(node, form, &words).map(str::to_owned)
}

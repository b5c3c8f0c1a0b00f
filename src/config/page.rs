//! A room's waiting page as the operator sets it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::reader::{Node, Read, Section};
use super::value::{one_of, wrong, yes_or_no};
use crate::waiting::{Language, MAX_TEMPLATE, Pages};

/// A room's waiting page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The file and its text; `None` for the built-in page.
    pub template: Option<Template>,
    /// Without JavaScript the page reloads by itself.
    pub refresh: bool,
    /// Tags of languages that there are, at least one; the first is the default.
    pub languages: Vec<String>,
}

/// An operator's template, which compiles and renders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    pub path: PathBuf,
    pub text: String,
}

pub(super) fn page(section: &Section<'_>) -> Page {
    let languages = section.list("languages", language);
    if languages.is_empty() && !section.has_mistake("languages") {
        section.mistake(
            "languages",
            "the page needs a language",
            "at least one, such as [\"en\"]",
        );
    }
    Page {
        template: section.get("template", |node| template(section, node)),
        refresh: section.need("refresh", yes_or_no),
        languages,
    }
}

fn template(section: &Section<'_>, node: &Node<'_>) -> Read<Template> {
    let right = format!("the path of a file of at most {MAX_TEMPLATE} bytes that the gate may read");
    let path = section.file(node, &right)?;
    let text = match read_template(&path) {
        Ok(text) => text,
        Err(e) => return wrong(node, format!("{} cannot be read ({e})", path.display()), right),
    };
    match Pages::new(Some(&text)) {
        Ok(_) => Ok(Template { path, text }),
        Err(e) => wrong(
            node,
            format!("{}: {e}", path.display()),
            "a template as in docs/guides/page.md",
        ),
    }
}

/// One byte more than can be, so that what is too long is seen to be.
fn read_template(path: &Path) -> io::Result<String> {
    let most = u64::try_from(MAX_TEMPLATE).unwrap_or(u64::MAX).saturating_add(1);
    let mut text = String::new();
    File::open(path)?.take(most).read_to_string(&mut text)?;
    Ok(text)
}

/// The tag of a language that has a catalogue.
fn language(node: &Node<'_>) -> Read<String> {
    let all: Vec<(&str, &str)> = Language::all()
        .map(|language| (language.tag(), language.tag()))
        .collect();
    one_of(node, &all).map(str::to_owned)
}

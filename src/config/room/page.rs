//! A room's waiting page as the operator sets it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::config::document::value::{one_of, wrong};
use crate::config::document::{Node, Read, Section};
use crate::config::keys::Form;
use crate::pages::{MAX_TEMPLATE, Pages, TAGS};

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
    Page {
        template: section.get_as("template", |node, form| template(section, node, form)),
        refresh: section.need("refresh"),
        languages,
    }
}

fn template(section: &Section<'_>, node: &Node<'_>, form: &Form) -> Read<Template> {
    let path = section.file(node, form)?;
    let text = match read_template(&path) {
        Ok(text) => text,
        Err(e) => return wrong(node, format!("{} cannot be read ({e})", path.display()), form),
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

/// One byte more than can be, so that a longer file is recognised.
fn read_template(path: &Path) -> io::Result<String> {
    let most = u64::try_from(MAX_TEMPLATE).unwrap_or(u64::MAX).saturating_add(1);
    let mut text = String::new();
    File::open(path)?.take(most).read_to_string(&mut text)?;
    Ok(text)
}

/// The tag of a language that has a catalogue.
fn language(node: &Node<'_>, form: &Form) -> Read<String> {
    let Form::Words(all) = form else {
        return wrong(node, "this is no language", form);
    };
    let words: Vec<(&str, &str)> = all.iter().map(|tag| (*tag, *tag)).collect();
    one_of(node, form, &words).map(str::to_owned)
}

//! Every page with sample data, for `ropeline page`.

use std::io;
use std::path::Path;

use bytes::Bytes;

use super::{Page, Pages, sample};
use crate::pages::language::Language;

/// One rendered sample.
#[derive(Clone, Debug)]
pub struct Preview {
    /// `waiting-missed.ko`: the state and the language.
    pub name: String,
    pub page: Page,
}

/// Every page and state in every language.
#[must_use]
pub fn previews(pages: &Pages) -> Vec<Preview> {
    let of_case = |case: sample::Case| {
        pages.languages().all().map(move |language| {
            let name = format!("{}.{}", case.name, pages.languages().tag(language));
            Preview {
                name,
                page: pages.render(case.kind, &case.facts, language),
            }
        })
    };
    sample::cases().into_iter().flat_map(of_case).collect()
}

/// The names of all states, such as `waiting-missed`.
#[must_use]
pub fn states() -> Vec<&'static str> {
    sample::cases().into_iter().map(|case| case.name).collect()
}

/// One state in one language; `None` where there is no such state.
#[must_use]
pub fn preview(pages: &Pages, state: &str, language: Language) -> Option<Page> {
    let case = sample::cases().into_iter().find(|case| case.name == state)?;
    Some(pages.render(case.kind, &case.facts, language))
}

impl Preview {
    /// Writes the page to `folder` as `NAME.html`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        std::fs::write(folder.join(format!("{}.html", self.name)), &self.page.body)
    }
}

/// A page of links to the samples, `NAME.html` each.
#[must_use]
pub fn index(previews: &[Preview]) -> Bytes {
    let links: Vec<String> = previews
        .iter()
        .map(|preview| format!("<li><a href=\"{0}.html\">{0}</a>", preview.name))
        .collect();
    Bytes::from(format!(
        "<!doctype html><meta charset=utf-8><title>Pages</title><h1>Pages</h1><ul>{}</ul>",
        links.concat()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_written_in_every_language_and_linked() {
        let folder = tempfile::tempdir().unwrap();
        let all = previews(&Pages::new(None).unwrap());
        for preview in &all {
            preview.write_to(folder.path()).unwrap();
            let page = std::fs::read_to_string(folder.path().join(format!("{}.html", preview.name))).unwrap();
            assert!(page.starts_with("<!doctype html>"), "{}", preview.name);
        }
        let index = index(&all);
        let index = std::str::from_utf8(&index).unwrap();
        assert_eq!(index.matches("<li>").count(), all.len());
        for kind in crate::pages::PageKind::ALL {
            assert!(sample::cases().iter().any(|case| case.kind == kind), "{kind:?}");
        }
    }
}

//! Every page with sample data, for `anteroom page --preview` and for looking at a template of one's own.

use std::io;
use std::path::Path;

use bytes::Bytes;

use super::language::Language;
use super::pages::{Page, Pages};
use super::sample;

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
        Language::all().map(move |language| {
            let name = format!("{}.{}", case.name, language.tag());
            Preview {
                name,
                page: pages.render(case.kind, &case.facts, language),
            }
        })
    };
    sample::cases().into_iter().flat_map(of_case).collect()
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
    #[ignore = "writes the pages into ANTEROOM_PREVIEW for looking at"]
    fn dump() {
        let all = previews(&Pages::new(None).unwrap());
        for preview in &all {
            preview.write_to(Path::new("/tmp/prev")).unwrap();
        }
        println!("{}", all[0].page.headers["content-security-policy"].to_str().unwrap());
    }
}

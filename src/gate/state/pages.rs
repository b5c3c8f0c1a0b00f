//! A room's pages in the languages it offers; the gate's own in all there are.

use crate::pages::{self, Language, Page, PageFacts, PageKind, TemplateError};

use crate::gate::request::visit::Visit;

/// Pages, and the languages they may be in.
pub struct Pages {
    pages: pages::Pages,
    offered: Vec<Language>,
}

impl Pages {
    /// The built-in page or an operator's template, in these languages; the first is for visitors who ask for none of them.
    pub fn new(template: Option<&str>, offered: Vec<Language>) -> Result<Self, TemplateError> {
        Ok(Self {
            pages: pages::Pages::new(template)?,
            offered,
        })
    }

    /// One page, in the visitor's language.
    #[must_use]
    pub fn render(&self, kind: PageKind, facts: &PageFacts<'_>, visit: &Visit) -> Page {
        self.pages
            .render(kind, facts, Language::negotiate(visit.languages(), &self.offered))
    }
}

//! A room's pages in the languages it offers; the gate's own in all there are.

use crate::config;
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

    /// A room's pages as its operator set them.
    pub fn of_room(page: &config::Page) -> Result<Self, TemplateError> {
        let template = page.template.as_ref().map(|template| template.text.as_str());
        let offered = page.languages.iter().filter_map(|tag| Language::from_tag(tag));
        Ok(Self {
            pages: pages::Pages::branded(template, &page.brand)?,
            offered: offered.collect(),
        })
    }

    /// One page, in the visitor's language and in a coding that the browser takes, with the host that the visitor asked for.
    #[must_use]
    pub fn render(&self, kind: PageKind, facts: &PageFacts<'_>, visit: &Visit) -> Page {
        let facts = PageFacts {
            host: visit.host(),
            ..*facts
        };
        let language = Language::negotiate(visit.languages(), &self.offered);
        self.pages.render_as(visit.codings(), kind, &facts, language)
    }
}

//! A room's pages in the languages it offers; the gate's own in all there are.

use crate::config;
use crate::pages::{self, Language, Page, PageFacts, PageKind, Stall, TemplateError};

use crate::gate::request::visit::Visit;

/// Pages for the gate's visitors.
pub struct Pages {
    pages: pages::Pages,
}

impl Pages {
    /// The built-in page, in every language that is built in.
    pub fn built_in() -> Result<Self, TemplateError> {
        Ok(Self {
            pages: pages::Pages::new(None)?,
        })
    }

    /// A room's pages as its operator set them.
    pub fn of_room(page: &config::Page) -> Result<Self, TemplateError> {
        let template = page.template.as_ref().map(|template| template.text.as_str());
        Ok(Self {
            pages: pages::Pages::in_languages(template, &page.brand, page.spoken())?,
        })
    }

    /// The sentence for a reason, in the visitor's language.
    #[must_use]
    pub fn reason(&self, stall: Stall, visit: &Visit) -> &str {
        self.pages.reason(stall, self.language(visit))
    }

    fn language(&self, visit: &Visit) -> Language {
        self.pages.languages().negotiate(visit.languages())
    }

    /// One page, in the visitor's language and in a coding that the browser takes, with the host that the visitor asked for.
    #[must_use]
    pub fn render(&self, kind: PageKind, facts: &PageFacts<'_>, visit: &Visit) -> Page {
        let facts = PageFacts {
            host: visit.host(),
            ..*facts
        };
        self.pages
            .render_as(visit.codings(), kind, &facts, self.language(visit))
    }
}

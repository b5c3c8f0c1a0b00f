//! Rendering: the built-in page, or an operator's template with the built-in one behind it.
//!
//! A template is proved when it is loaded: every kind and state is rendered in every language. Should one fail later all
//! the same, the visitor gets the built-in page and the log says so.

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior};

use super::content::{Content, Shared, content};
use super::kind::{PageFacts, PageKind};
use super::language::Language;
use super::policy::{self, Inline};
use super::sample;
use super::{catalogue, script, squeeze};
use crate::room::Wall;

/// Most bytes of an operator's template.
pub const MAX_TEMPLATE: usize = 256 * 1024;

/// Most steps that one rendering may take; the built-in page takes about a thousand.
const FUEL: u64 = 50_000;
const RECURSION: usize = 32;
/// Most bytes of a rendered page, so that no template makes a gate send megabytes to everybody in line.
const MAX_PAGE: usize = 512 * 1024;

const BUILT_IN: &str = include_str!("../../static/page.html");
const STYLE: &str = include_str!("../../static/page.css");
const SCRIPT: &str = include_str!("../../static/page.js");

/// Why a template cannot be used; `line` counts from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct TemplateError {
    pub line: Option<usize>,
    pub what: String,
}

/// The pages of one room, or of the gate.
#[derive(Debug)]
pub struct Pages {
    built_in: Template,
    custom: Option<Template>,
    shared: Vec<Shared>,
}

#[derive(Debug)]
struct Template {
    environment: Environment<'static>,
    policy: HeaderValue,
}

impl Pages {
    /// The built-in page, or an operator's template.
    ///
    /// # Errors
    /// When the template does not parse, names a variable that does not exist, fails on any kind of page in any language,
    /// or holds what the page's Content-Security-Policy would refuse.
    pub fn new(custom: Option<&str>) -> Result<Self, TemplateError> {
        let shared: Vec<Shared> = Language::all().map(share).collect();
        let built_in = Template::prove(BUILT_IN, &shared, policy::BUILT_IN)?;
        let custom = custom
            .map(|source| Template::prove(source, &shared, policy::CUSTOM))
            .transpose()?;
        Ok(Self {
            built_in,
            custom,
            shared,
        })
    }

    /// One page. A template that fails is logged and the built-in page shown in its place.
    #[must_use]
    pub fn render(&self, kind: PageKind, facts: &PageFacts<'_>, language: Language) -> Page {
        let content = content(kind, facts, language, &self.shared[language.0]);
        let own = self.custom.as_ref().and_then(|template| {
            let failed = |error: &TemplateError| tracing::error!(%error, page = kind.name(), "own template failed");
            Some((template.render(&content).inspect_err(failed).ok()?, template))
        });
        let (body, template) = own.unwrap_or_else(|| (self.fallback(&content), &self.built_in));
        Page {
            body,
            headers: headers(template.policy.clone(), language),
        }
    }

    /// The built-in page proved itself when this was made, with every kind and state; plain text if it fails even so.
    fn fallback(&self, content: &Content<'_>) -> Bytes {
        let failed = |error: &TemplateError| tracing::error!(%error, page = content.kind, "built-in page failed");
        self.built_in
            .render(content)
            .inspect_err(failed)
            .unwrap_or_else(|_| Bytes::from(content.title.clone()))
    }
}

/// A rendered page with the fields of its answer.
#[derive(Clone, Debug)]
pub struct Page {
    pub body: Bytes,
    /// Content-Type, -Language, -Security-Policy, Cache-Control and the like; status, cookies and `Anteroom-Status` are
    /// the gate's.
    pub headers: HeaderMap,
}

fn share(language: Language) -> Shared {
    let catalogue: &catalogue::Catalogue = language.catalogue();
    Shared {
        words: Value::from(Serde(&catalogue.words)),
        script_words: script::words(catalogue),
    }
}

impl Template {
    /// Compiles a template and renders everything it can be asked for.
    fn prove(source: &str, shared: &[Shared], rules: policy::Rules) -> Result<Self, TemplateError> {
        if source.len() > MAX_TEMPLATE {
            return Err(mistake(format!("the template is longer than {MAX_TEMPLATE} bytes")));
        }
        let mut template = Self {
            environment: environment(source)?,
            policy: HeaderValue::from_static(""),
        };
        template.knows_its_words(shared)?;
        let mut inline = Inline::default();
        for language in Language::all() {
            for case in sample::cases() {
                let body = template.rehearse(&case, language, shared)?;
                inline
                    .add(&body, rules)
                    .map_err(|what| mistake(format!("{what} (page {})", case.name)))?;
            }
        }
        let policy = rules.policy(&inline);
        template.policy = HeaderValue::try_from(policy).map_err(|error| mistake(error.to_string()))?;
        Ok(template)
    }

    /// A name that does not exist is found even where no sample leads.
    fn knows_its_words(&self, shared: &[Shared]) -> Result<(), TemplateError> {
        let facts = PageFacts::new("", Wall(0), "/");
        let content = Value::from(Serde(&content(
            PageKind::Unavailable,
            &facts,
            Language::ENGLISH,
            &shared[0],
        )));
        let template = self.environment.get_template(NAME).map_err(|error| wrong(&error))?;
        let known = |name: &String| {
            content.get_attr(name).is_ok_and(|value| !value.is_undefined())
                || self.environment.globals().any(|(global, _)| global == name)
        };
        let unknown = template
            .undeclared_variables(false)
            .into_iter()
            .filter(|name| !known(name))
            .min();
        unknown.map_or(Ok(()), |name| Err(mistake(format!("there is no variable {name}"))))
    }

    fn rehearse(&self, case: &sample::Case, language: Language, shared: &[Shared]) -> Result<String, TemplateError> {
        let body = self.render(&content(case.kind, &case.facts, language, &shared[language.0]))?;
        String::from_utf8(body.into()).map_err(|error| mistake(error.to_string()))
    }

    fn render(&self, content: &Content<'_>) -> Result<Bytes, TemplateError> {
        let template = self.environment.get_template(NAME).map_err(|error| wrong(&error))?;
        let body = template
            .render(Value::from(Serde(content)))
            .map_err(|error| wrong(&error))?;
        if body.len() > MAX_PAGE {
            return Err(mistake(format!("the page is longer than {MAX_PAGE} bytes")));
        }
        Ok(Bytes::from(body))
    }
}

const NAME: &str = "page";

fn environment(source: &str) -> Result<Environment<'static>, TemplateError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(RECURSION);
    environment.add_global("style", Value::from_safe_string(squeeze::lines(STYLE)));
    environment.add_global("script", Value::from_safe_string(squeeze::script(SCRIPT)));
    environment
        .add_template_owned(NAME, source.to_owned())
        .map_err(|error| wrong(&error))?;
    Ok(environment)
}

fn wrong(error: &minijinja::Error) -> TemplateError {
    let what = match (error.kind(), error.detail()) {
        (ErrorKind::OutOfFuel, _) => "the template takes too many steps".to_owned(),
        (ErrorKind::UndefinedError, None) => "a variable is used that does not exist".to_owned(),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    };
    TemplateError {
        line: error.line(),
        what,
    }
}

fn mistake(what: String) -> TemplateError {
    TemplateError { line: None, what }
}

fn headers(policy: HeaderValue, language: Language) -> HeaderMap {
    let fixed: [(HeaderName, &'static str); 7] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_LANGUAGE, language.tag()),
        (header::CACHE_CONTROL, "no-store, private"),
        (header::VARY, "Accept-Language, Accept, Cookie"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
    ];
    let mut headers: HeaderMap = fixed
        .into_iter()
        .map(|(name, value)| (name, HeaderValue::from_static(value)))
        .collect();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::waiting::preview::previews;

    fn built_in() -> Pages {
        Pages::new(None).unwrap()
    }

    fn refused(template: &str) -> TemplateError {
        Pages::new(Some(template)).unwrap_err()
    }

    fn text(page: &Page) -> &str {
        std::str::from_utf8(&page.body).unwrap()
    }

    #[test]
    fn every_page_is_below_14_kb_as_it_is() {
        for preview in previews(&built_in()) {
            assert!(
                preview.page.body.len() <= 14 * 1_024,
                "{}: {}",
                preview.name,
                preview.page.body.len()
            );
        }
    }

    #[test]
    fn every_page_has_one_heading_a_language_and_nothing_from_outside() {
        for preview in previews(&built_in()) {
            let page = text(&preview.page);
            assert_eq!(page.matches("<h1>").count(), 1, "{}", preview.name);
            let language = preview.name.rsplit('.').next().unwrap();
            assert!(
                page.contains(&format!("<html lang=\"{language}\" dir=\"ltr\">")),
                "{}",
                preview.name
            );
            assert!(
                !page.contains("http://") && !page.contains("https://"),
                "{}",
                preview.name
            );
            assert!(
                !page.contains("undefined") || page.contains("<script>"),
                "{}",
                preview.name
            );
        }
    }

    #[test]
    fn the_policy_allows_just_the_blocks_that_the_page_holds() {
        for preview in previews(&built_in()) {
            let policy = preview.page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert!(
                policy.starts_with("default-src 'none'; script-src 'sha256-"),
                "{policy}"
            );
            assert!(!policy.contains("unsafe") && !policy.contains("img-src"));
            for (open, close) in [("<style>", "</style>"), ("<script>", "</script>")] {
                let Some((_, rest)) = text(&preview.page).split_once(open) else {
                    continue;
                };
                let block = rest.split_once(close).unwrap().0;
                let hash = STANDARD.encode(Sha256::digest(block));
                assert!(policy.contains(&format!("'sha256-{hash}'")), "{}: {open}", preview.name);
            }
        }
    }

    #[test]
    fn no_page_is_stored_indexed_sniffed_or_framed() {
        let page = built_in().render(PageKind::Closed, &PageFacts::new("r", Wall(0), "/"), Language::ENGLISH);
        let expected = [
            ("content-type", "text/html; charset=utf-8"),
            ("content-language", "en"),
            ("cache-control", "no-store, private"),
            ("referrer-policy", "same-origin"),
            ("x-content-type-options", "nosniff"),
            ("x-robots-tag", "noindex, nofollow"),
        ];
        for (name, value) in expected {
            assert_eq!(page.headers[name], value);
        }
        assert!(
            page.headers["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("frame-ancestors 'none'")
        );
    }

    #[test]
    fn what_strangers_write_is_shown_and_does_nothing() {
        const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}</title>&lt;";
        let pages = built_in();
        for case in sample::cases() {
            let mut facts = case.facts;
            facts.message = Some(HOSTILE);
            facts.request_id = HOSTILE;
            facts.here = "/a?\"><script>alert(1)</script>";
            if let Some(turn) = facts.line.as_mut().and_then(|line| line.turn.as_mut()) {
                turn.reference = HOSTILE;
            }
            let page = pages.render(case.kind, &facts, Language::ENGLISH);
            let page = text(&page);
            assert!(
                !page.contains("<script>alert") && !page.contains("<img") && !page.contains("49"),
                "{}",
                case.name
            );
            let mut seen = Inline::default();
            seen.add(page, policy::BUILT_IN)
                .unwrap_or_else(|what| panic!("{}: {what}", case.name));
            assert!(page.contains("&lt;script&gt;alert(1)"), "{}", case.name);
        }
    }

    #[test]
    fn an_address_that_leads_away_is_not_linked() {
        let facts = PageFacts::new("r", Wall(0), "//evil.example/");
        let page = built_in().render(PageKind::SameSiteLink, &facts, Language::ENGLISH);
        assert!(text(&page).contains("<a class=\"button\" href=\"&#x2f;\">"));
        let facts = PageFacts {
            here: "/pay?id=1&x=2",
            ..facts
        };
        let page = built_in().render(PageKind::SameSiteLink, &facts, Language::ENGLISH);
        assert!(text(&page).contains("href=\"&#x2f;pay?id=1&amp;x=2\""));
        assert!(!text(&page).contains("<form"));
    }

    #[test]
    fn mistakes_in_a_template_are_found_with_their_line() {
        let cases = [
            ("a\n{% if %}", Some(2), "syntax error"),
            ("{{ positoin }}", None, "there is no variable positoin"),
            (
                "{% if kind == 'never' %}{{ surprise }}{% endif %}",
                None,
                "there is no variable surprise",
            ),
            ("\n\n{{ words.nothing }}", Some(3), "undefined"),
            ("{{ message.upper.lower }}", Some(1), ""),
            (
                "{% for a in range(9000) %}{% for b in range(9000) %}{% endfor %}{% endfor %}",
                Some(1),
                "too many steps",
            ),
            ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", Some(1), "recursion"),
            ("{% include 'other' %}", Some(1), "template not found"),
            ("<p onclick='x()'>", None, "handler"),
            (
                "<script>var position = {{ position or 0 }}</script>",
                None,
                "no variables",
            ),
        ];
        for (template, line, what) in cases {
            let mistake = refused(template);
            assert_eq!(mistake.line, line, "{template}: {mistake}");
            assert!(mistake.to_string().contains(what), "{template}: {mistake}");
        }
        assert!(refused(&"x".repeat(MAX_TEMPLATE + 1)).to_string().contains("longer"));
    }

    #[test]
    fn a_template_that_fails_for_a_visitor_gives_way_to_the_built_in_page() {
        let pages = Pages::new(Some("own {{ 1 // (request_id|length - 50) }}")).unwrap();
        let show = |request_id: &str| {
            let page = pages.render(
                PageKind::Closed,
                &PageFacts::new(request_id, Wall(0), "/"),
                Language::ENGLISH,
            );
            text(&page).to_owned()
        };
        assert!(show("r").starts_with("own"));
        assert!(show(&"x".repeat(50)).contains("<h1>Closed at the moment</h1>"));
    }

    #[test]
    fn a_template_of_ones_own_may_show_pictures_of_the_site() {
        let pages = Pages::new(Some(include_str!("../../examples/page/page.html"))).unwrap();
        for preview in previews(&pages) {
            let policy = preview.page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert!(policy.contains("img-src 'self' data:"));
            assert!(text(&preview.page).contains("Marigold"), "{}", preview.name);
        }
    }

    #[test]
    fn reloading_without_javascript_can_be_stopped_and_switched_off() {
        let all = previews(&built_in());
        let page = |name: &str| text(&all.iter().find(|preview| preview.name == name).unwrap().page).to_owned();
        assert!(page("waiting.en").contains("<noscript><meta http-equiv=\"refresh\" content=\"30;url="));
        assert!(page("waiting.en").contains("reload=off"));
        assert!(!page("waiting-reload-stopped.en").contains("http-equiv"));
        assert!(page("waiting-reload-stopped.en").contains("reload=on"));
        let off = page("waiting-reload-off.en");
        assert!(!off.contains("http-equiv") && !off.contains("reload=") && off.contains("Check now"));
    }

    #[test]
    fn a_fresh_ticket_is_looked_for_and_an_older_one_trusted() {
        let all = previews(&built_in());
        let page = |name: &str| text(&all.iter().find(|preview| preview.name == name).unwrap().page).to_owned();
        let fresh = page("waiting-line.en");
        let check = "content=\"20;url=&#x2f;.anteroom&#x2f;rooms&#x2f;shop&#x2f;check?line=%3C%C3%A9v";
        assert!(fresh.contains(check), "{fresh}");
        assert!(!page("waiting.en").contains("\"check\":"));
    }
}

//! Rendering: the built-in pages, whole and bare, or an operator's template with the built-in ones behind it.
//!
//! A template is proved when it is loaded: every kind and state is rendered in the first language, and some in each of the
//! others, which differ in words alone. Should one fail later all the same, the visitor gets the built-in page and the log
//! says so.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior};

use super::brand::Brand;
use super::catalogue::Catalogue;
use super::content::{Alike, BrandValues, Content, Piece, Shape, Shared, content, own, spared_secs};
use super::kind::{PageFacts, PageKind, Stall};
use super::language::{Language, Languages};
use super::packed::{self, Coding, Codings};
use super::script;
use beginnings::Beginnings;
use policy::Inline;
use ropeline_ids::Wall;

/// Most bytes of an operator's template.
pub const MAX_TEMPLATE: usize = 256 * 1024;

/// Most steps that one rendering may take; the built-in page takes about a thousand.
const FUEL: u64 = 50_000;
const RECURSION: usize = 32;
/// Most bytes of a rendered page, so that no template makes a gate send megabytes to everybody in line.
const MAX_PAGE: usize = 512 * 1024;

const BUILT_IN: &str = include_str!("../../static/page.html");
const STYLE: &str = include_str!("../../static/page.css");
const BRAND_STYLE: &str = include_str!("../../static/brand.css");
const BARE: &str = include_str!("../../static/bare.html");
const BARE_STYLE: &str = include_str!("../../static/bare.css");
/// Of a page that counts nothing down, and of one that does.
const SCRIPT: &str = include_str!("../../static/small/page.js");
const COUNTING_SCRIPT: &str = include_str!("../../static/small/page-counting.js");
const COUNTDOWN: &str = include_str!("../../static/small/countdown.js");
const GUARD: &str = include_str!("../../static/small/guard.js");

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
    bare: Template,
    custom: Option<Template>,
    /// The same templates where a proof of work is asked for: another script, and a policy that lets it have a worker.
    proof: Template,
    custom_proof: Option<Template>,
    shared: Vec<Shared>,
    languages: Languages,
    beginnings: Beginnings,
}

#[derive(Clone, Debug)]
struct Template {
    environment: Environment<'static>,
    /// Of its answers, for each language.
    headers: Vec<HeaderMap>,
}

impl Pages {
    /// The built-in page, or an operator's template.
    ///
    /// # Errors
    /// If the template does not parse, names a variable that does not exist, fails on any kind of page or in any language, or
    /// contains parts that the page's Content-Security-Policy would refuse.
    pub fn new(custom: Option<&str>) -> Result<Self, TemplateError> {
        Self::branded(custom, &Brand::default())
    }

    /// The same with an operator's brand.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn branded(custom: Option<&str>, brand: &Brand) -> Result<Self, TemplateError> {
        Self::in_languages(custom, brand, Languages::built_in())
    }

    /// The same in these languages.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn in_languages(custom: Option<&str>, brand: &Brand, languages: Languages) -> Result<Self, TemplateError> {
        let shared: Vec<Shared> = share(&languages, brand).collect();
        let style = style(brand);
        let asks = |kind| kind == PageKind::Proof;
        let plain =
            |source, rules, tried| Template::prove((source, &style), &shared, (rules, tried), |kind| !asks(kind));
        let proof = |source, rules: policy::Rules, tried| {
            Template::prove((source, &style), &shared, (rules.with_worker(), tried), asks)
        };
        let whole = squeeze::page(BUILT_IN);
        let whole_rules = policy::BUILT_IN.with_pictures();
        let built_in = plain(&whole, whole_rules, Tried::First)?;
        let mut bare = plain(BARE, policy::BUILT_IN, Tried::First)?;
        bare.headers.iter_mut().for_each(lighten);
        let custom_proof = custom
            .map(|source| proof(source, policy::CUSTOM, Tried::Each))
            .transpose()?;
        let custom = custom
            .map(|source| plain(source, policy::CUSTOM, Tried::Each))
            .transpose()?;
        let proof = proof(&whole, whole_rules, Tried::First)?;
        Ok(Self {
            built_in,
            bare,
            custom,
            proof,
            custom_proof,
            shared,
            languages,
            beginnings: Beginnings::default(),
        })
    }

    /// The languages that they may be in.
    #[must_use]
    pub fn languages(&self) -> &Languages {
        &self.languages
    }

    /// The sentence for a reason, as pages have it.
    #[must_use]
    pub fn reason(&self, stall: Stall, language: Language) -> &str {
        self.shared[language.0].catalogue.reason(stall)
    }

    /// One page as it is.
    #[must_use]
    pub fn render(&self, kind: PageKind, facts: &PageFacts<'_>, language: Language) -> Page {
        self.render_as(Codings::NONE, kind, facts, language)
    }

    /// One page in the best of these codings. A template that fails is logged and the built-in page shown in its place.
    #[must_use]
    pub fn render_as(&self, codings: Codings, kind: PageKind, facts: &PageFacts<'_>, language: Language) -> Page {
        let custom = if kind == PageKind::Proof {
            &self.custom_proof
        } else {
            &self.custom
        };
        let own = custom.as_ref().and_then(|template| {
            let failed = |error: &TemplateError| tracing::error!(%error, page = kind.name(), "own template failed");
            let content = content(kind, facts, &self.shared[language.0]);
            let body = template.render(&content).inspect_err(failed).ok()?;
            Some((Bytes::from(body), Coding::Identity, template))
        });
        let (body, coding, template) = own.unwrap_or_else(|| self.fallback(codings, kind, facts, language));
        let (body, coding) = match coding {
            Coding::Identity => pack(codings, kind, body),
            _ => (body, coding),
        };
        let mut headers = template.headers[language.0].clone();
        headers.extend(coding.name().map(|name| (header::CONTENT_ENCODING, name)));
        let weight = || (on_the_wire(&headers, &body), most_in_an_hour(coding));
        let refresh = refresh(kind, facts, &self.shared[language.0].catalogue, weight);
        headers.extend(refresh.map(|field| (header::REFRESH, field)));
        Page { body, headers }
    }

    /// The built-in page proved itself when this was made, with every kind and state; plain text if it fails even so.
    fn fallback(
        &self,
        codings: Codings,
        kind: PageKind,
        facts: &PageFacts<'_>,
        language: Language,
    ) -> (Bytes, Coding, &Template) {
        let failed = |error: &TemplateError| tracing::error!(%error, page = kind.name(), "built-in page failed");
        let shared = &self.shared[language.0];
        let alike = Alike::of(kind, facts, &shared.catalogue);
        let template = match kind {
            PageKind::Proof => &self.proof,
            _ if alike.bare => &self.bare,
            _ => &self.built_in,
        };
        let of_many = facts.line.as_ref().zip(alike.of_many(facts));
        // PERF: the page that a crowd gets.
        let body = if let Some((line, alike)) = of_many {
            let shape = Shape {
                host: facts.host.is_some(),
                reference: line.turn.as_ref().is_some_and(|turn| turn.reference.is_some()),
            };
            let end = script::end(kind, facts, line, &shared.catalogue);
            let render = || template.render(&Content::of_many(&alike, shape, shared));
            self.beginnings.page(&(&alike, shape), (codings, &end), render)
        } else {
            let page = template.render(&content(kind, facts, shared));
            page.map(|page| (Bytes::from(page), Coding::Identity))
        };
        let heading = || Bytes::from(shared.catalogue.page(kind).heading.clone());
        let (body, coding) = body
            .inspect_err(failed)
            .unwrap_or_else(|_| (heading(), Coding::Identity));
        (body, coding, template)
    }
}

/// A page that is its visitor's alone, compressed while it is sent.
fn pack(codings: Codings, kind: PageKind, body: Bytes) -> (Bytes, Coding) {
    // SECURITY: by its length a compressed page could tell a secret.
    let packs = packed::may_be_packed(kind) && codings.best(false) == Coding::Gzip;
    match packs.then(|| packed::quick(&body)).flatten() {
        Some(gzip) => (gzip, Coding::Gzip),
        None => (body, Coding::Identity),
    }
}

/// The reload of the bare page, and of one that asks for a proof of work: as a field, since a checker of accessibility reports a
/// `meta` that reloads. The whole page of a line has a `meta` in a `noscript`, which leads to the bare page. `weight` is the answer's
/// bytes, and the most of an hour.
fn refresh(
    kind: PageKind,
    facts: &PageFacts<'_>,
    catalogue: &Catalogue,
    weight: impl FnOnce() -> (u64, u64),
) -> Option<HeaderValue> {
    let alike = Alike::of(kind, facts, catalogue);
    if !alike.bare && kind != PageKind::Proof {
        return None;
    }
    let own = own(&alike, facts);
    let (secs, to) = (own.reload_secs?, own.reload_url.plain());
    let secs = match (&secs, &facts.line) {
        (Piece::Number(secs), Some(line)) if alike.bare => spared_secs(line, *secs, weight()).to_string(),
        _ => secs.plain().into_owned(),
    };
    let field = if to == own.here.plain() {
        secs
    } else {
        format!("{secs};url={to}")
    };
    HeaderValue::try_from(field).ok()
}

/// Bytes that the bare pages of an hour may take: with the whole page before them it is 120 KB by gzip, and 270 KB as it is.
fn most_in_an_hour(coding: Coding) -> u64 {
    match coding {
        Coding::Identity => 240_000,
        Coding::Gzip | Coding::Brotli => 105_000,
    }
}

/// The bytes of an answer: the gate's own fields, and those of the server, take some 200 more than these fields.
fn on_the_wire(headers: &HeaderMap, body: &Bytes) -> u64 {
    const OTHERS: usize = 200;
    let fields = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4);
    (fields.sum::<usize>() + OTHERS + body.len()) as u64
}

/// A rendered page with the fields of its answer.
#[derive(Clone, Debug)]
pub struct Page {
    pub body: Bytes,
    /// Content-Type, -Language, -Security-Policy, Cache-Control and the like; status, cookies and `Ropeline-Status` are
    /// the gate's.
    pub headers: HeaderMap,
}

/// What the pages of each language share; its place is the language's.
fn share(languages: &Languages, brand: &Brand) -> impl Iterator<Item = Shared> {
    languages
        .all()
        .map(|language| languages.get(language))
        .map(|catalogue| Shared {
            words: Value::from(Serde(&catalogue.words)),
            script_words: script::words(catalogue),
            brand: BrandValues::of(brand, &catalogue.tag),
            catalogue: Arc::clone(catalogue),
        })
}

/// The languages in which a template is tried with every state. PERF: with every language it would take seconds for each room.
#[derive(Clone, Copy)]
enum Tried {
    /// The first. A built-in template does the same in each, which the tests show.
    First,
    /// The first, and each of the others with [`TRIED_IN_EACH`]: a template of an operator may have a part for one language.
    Each,
}

/// The states that have most of what a template can show: in line, in line without a script, and outside a line.
const TRIED_IN_EACH: [&str; 4] = ["waiting-missed", "waiting-bare", "early", "busy"];

/// The built-in style, with what a brand needs, in its colour.
fn style(brand: &Brand) -> String {
    let accent = brand.accent.map(|accent| accent.style());
    let branded = if *brand == Brand::default() { "" } else { BRAND_STYLE };
    squeeze::style(&[STYLE, branded, accent.as_deref().unwrap_or_default()].concat())
}

impl Template {
    /// Compiles a template and renders everything it can be asked for of these kinds.
    fn prove(
        (source, style): (&str, &str),
        shared: &[Shared],
        (rules, tried): (policy::Rules, Tried),
        kinds: impl Fn(PageKind) -> bool,
    ) -> Result<Self, TemplateError> {
        if source.len() > MAX_TEMPLATE {
            return Err(mistake(format!("the template is longer than {MAX_TEMPLATE} bytes")));
        }
        let mut template = Self {
            environment: environment(source, style)?,
            headers: Vec::new(),
        };
        template.knows_its_words(shared)?;
        let mut inline = Inline::default();
        for (at, shared) in shared.iter().enumerate() {
            let is_tried = |case: &sample::Case| match tried {
                _ if at == 0 => true,
                Tried::First => false,
                Tried::Each => case.kind == PageKind::Proof || TRIED_IN_EACH.contains(&case.name),
            };
            let cases = sample::cases().into_iter().filter(|case| kinds(case.kind));
            for case in cases.filter(is_tried) {
                let body = template.rehearse(&case, shared)?;
                inline
                    .add(&body, rules)
                    .map_err(|what| mistake(format!("{what} (page {})", case.name)))?;
            }
        }
        let policy = rules.policy(&inline);
        let policy = HeaderValue::try_from(policy).map_err(|error| mistake(error.to_string()))?;
        template.headers = shared
            .iter()
            .map(|shared| headers(&policy, &shared.catalogue.tag))
            .collect();
        Ok(template)
    }

    /// A name that does not exist is found even where no sample leads.
    fn knows_its_words(&self, shared: &[Shared]) -> Result<(), TemplateError> {
        let facts = PageFacts::new("", Wall(0), "/");
        let content = Value::from(Serde(&content(PageKind::Unavailable, &facts, &shared[0])));
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

    fn rehearse(&self, case: &sample::Case, shared: &Shared) -> Result<String, TemplateError> {
        self.render(&content(case.kind, &case.facts, shared))
    }

    fn render(&self, content: &Content<'_>) -> Result<String, TemplateError> {
        let template = self.environment.get_template(NAME).map_err(|error| wrong(&error))?;
        let body = template
            .render(Value::from(Serde(content)))
            .map_err(|error| wrong(&error))?;
        if body.len() > MAX_PAGE {
            return Err(mistake(format!("the page is longer than {MAX_PAGE} bytes")));
        }
        Ok(body)
    }
}

const NAME: &str = "page";

/// The styles and scripts that are the same in every room.
static INLINE: LazyLock<[(&str, Value); 5]> = LazyLock::new(|| {
    [
        ("bare_style", squeeze::style(BARE_STYLE)),
        ("script", script::short_names(SCRIPT.trim_end())),
        ("counting_script", script::short_names(COUNTING_SCRIPT.trim_end())),
        ("guard", GUARD.trim_end().to_owned()),
        ("countdown_script", COUNTDOWN.trim_end().to_owned()),
    ]
    .map(|(name, text)| (name, Value::from_safe_string(text)))
});

fn environment(source: &str, style: &str) -> Result<Environment<'static>, TemplateError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(RECURSION);
    environment.add_global("style", Value::from_safe_string(style.to_owned()));
    for (name, text) in INLINE.iter() {
        environment.add_global(*name, text.clone());
    }
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

fn headers(policy: &HeaderValue, tag: &str) -> HeaderMap {
    let fixed: [(HeaderName, &'static str); 6] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store, private"),
        (header::VARY, "Accept-Language, Accept-Encoding, Accept, Cookie"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
    ];
    let mut headers: HeaderMap = fixed
        .into_iter()
        .map(|(name, value)| (name, HeaderValue::from_static(value)))
        .collect();
    // A tag has letters, digits and hyphens.
    headers.extend(HeaderValue::try_from(tag).map(|tag| (header::CONTENT_LANGUAGE, tag)));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    headers
}

/// Leaves out what a bare page needs not: it is sent 80 times an hour, and only for the cookie of a visitor who has seen the whole
/// page. It says its language itself, links to no other site, is loaded as a document only, and no crawler comes to it.
fn lighten(headers: &mut HeaderMap) {
    for name in [header::CONTENT_LANGUAGE, header::REFERRER_POLICY] {
        headers.remove(name);
    }
    headers.remove("x-robots-tag");
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding, Cookie"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

mod beginnings;
mod policy;
pub mod preview;
mod sample;
pub mod squeeze;
#[cfg(test)]
pub(in crate::pages) mod tests;

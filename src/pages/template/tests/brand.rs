//! What an operator's brand adds to the pages.

use super::*;
use crate::pages::brand::{Accent, BrandName, Link, Logo};
use crate::pages::preview;

const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\"><title>'A' & \"B\" {{ kind }}</title></svg>";

fn brand() -> Brand {
    let link = |text| Some(Link::parse(text, true).unwrap());
    let names = [("en", "<b>Marigold</b> & Co"), ("ko", "마리골드")];
    Brand {
        name: Some(BrandName::ByLanguage(
            names.map(|(tag, name)| (tag.to_owned(), name.to_owned())).into(),
        )),
        logo: Some(Logo::new(SVG.replace('&', "&amp;").as_bytes()).unwrap()),
        accent: Some(Accent::parse("#7a3e9d").unwrap()),
        help: link("mailto:help@marigold.example?subject=a&body=b"),
        imprint: link("/legal"),
        privacy: link("https://marigold.example/privacy"),
    }
}

fn shown(pages: &Pages, state: &str, tag: &str) -> String {
    let language = Language::from_tag(tag).unwrap();
    text(&preview(pages, state, language).unwrap()).to_owned()
}

#[test]
fn name_logo_colour_host_and_links_are_on_every_whole_page_of_its_language() {
    let pages = Pages::branded(None, &brand()).unwrap();
    for preview in previews(&pages)
        .iter()
        .filter(|preview| !preview.name.contains("-bare"))
    {
        let page = text(&preview.page);
        let korean = preview.page.headers[header::CONTENT_LANGUAGE] == "ko";
        let name = if korean {
            "마리골드"
        } else {
            "&lt;b&gt;Marigold&lt;&#x2f;b&gt; &amp; Co"
        };
        for part in [
            name,
            "<img src=\"data:image/svg+xml;charset=utf-8,%3Csvg%20",
            "href=\"mailto:help@marigold.example?subject=a&amp;body=b\"",
            "href=\"&#x2f;legal\"",
            "href=\"https:&#x2f;&#x2f;marigold.example&#x2f;privacy\"",
            "}:root{--m:#7a3e9d}@media (prefers-color-scheme:dark){:root{--m:#",
        ] {
            assert!(page.contains(part), "{}: no {part}", preview.name);
        }
        assert!(
            page.contains("<span id=\"host\">shop.example</span>") || page.contains("<span id=\"host\"></span>"),
            "{}: by the script, if not here",
            preview.name
        );
        assert!(!page.contains("<b>Marigold"), "{}", preview.name);
    }
}

#[test]
fn the_policy_allows_the_logo_and_the_style_in_colour_and_nothing_more() {
    let plain = built_in();
    let branded = Pages::branded(None, &brand()).unwrap();
    let without_logo = Pages::branded(None, &Brand { logo: None, ..brand() }).unwrap();
    for preview in previews(&branded) {
        let policy = |page: &Page| {
            page.headers[header::CONTENT_SECURITY_POLICY]
                .to_str()
                .unwrap()
                .to_owned()
        };
        let own = policy(&preview.page);
        let bare = preview.name.contains("-bare");
        assert_eq!(own.ends_with("; img-src data:"), !bare, "{}: {own}", preview.name);
        let (state, tag) = preview.name.rsplit_once('.').unwrap();
        let of = |pages| policy(&crate::pages::preview(pages, state, Language::from_tag(tag).unwrap()).unwrap());
        assert_eq!(own, of(&without_logo), "{}: the icon is a picture too", preview.name);
        assert_eq!(of(&plain) == own, bare, "{}: the style is another", preview.name);
        if let Some((_, rest)) = text(&preview.page).split_once("<style>") {
            let hash = STANDARD.encode(Sha256::digest(rest.split_once("</style>").unwrap().0));
            assert!(own.contains(&format!("'sha256-{hash}'")), "{}", preview.name);
        }
        Inline::default().add(text(&preview.page), policy::BUILT_IN).unwrap();
    }
}

#[test]
fn the_bare_page_has_no_bytes_for_it() {
    let pages = Pages::branded(None, &brand()).unwrap();
    assert_eq!(
        shown(&pages, "waiting-bare", "en"),
        shown(&built_in(), "waiting-bare", "en")
    );
}

#[test]
fn a_template_of_ones_own_shows_what_is_set_and_learns_what_is_not() {
    let own = "{% if brand_logo %}<img src=\"{{ brand_logo }}\" alt=\"\">{% endif %}\
        {{ brand_name or 'nobody' }}|{{ host or 'nowhere' }}|{{ help_url or 'no help' }}<style>{{ style }}</style>";
    let plain = shown(&Pages::new(Some(own)).unwrap(), "waiting", "ko");
    assert!(plain.starts_with("nobody|shop.example|no help<style>"), "{plain}");
    let branded = shown(&Pages::branded(Some(own), &brand()).unwrap(), "waiting", "ko");
    assert!(branded.starts_with("<img src=\"data:image/svg+xml"), "{branded}");
    assert!(
        branded.contains("마리골드|shop.example|mailto:") && branded.contains("--m:#7a3e9d"),
        "{branded}"
    );
}

#[test]
fn visitors_at_other_hosts_get_the_same_beginning_and_their_own_host() {
    let pages = Pages::branded(None, &brand()).unwrap();
    let mut case = sample::cases().into_iter().find(|case| case.name == "waiting").unwrap();
    for host in ["one.example", "two.example", "<three>"] {
        case.facts.host = Some(host);
        let page = pages.render(case.kind, &case.facts, Language::ENGLISH);
        assert!(
            text(&page).contains("<span id=\"host\"></span>"),
            "{host}: the script knows it"
        );
        assert_eq!(pages.beginnings.kinds(), 1);
    }
    case.facts.host = None;
    let page = pages.render(case.kind, &case.facts, Language::ENGLISH);
    assert!(text(&page).contains("Marigold") && !text(&page).contains("id=\"host\""));
}

/// WCAG 2.2, 3.1.2: what an operator wrote in another language than the page's is marked.
#[test]
fn a_message_and_a_name_in_another_language_say_so() {
    let korean = Language::from_tag("ko").unwrap();
    let pages = |names: [(Language, &str); 1]| {
        let names = names.map(|(language, name)| (language.tag(), name.to_owned()));
        let name = Some(BrandName::ByLanguage(names.into()));
        Pages::branded(None, &Brand { name, ..brand() }).unwrap()
    };
    let pages = pages([(korean, "마리골드")]);
    let case = sample::cases().into_iter().find(|case| case.name == "waiting").unwrap();
    let shown = |facts: &PageFacts<'_>, language| text(&pages.render(case.kind, facts, language)).to_owned();
    for (lang, tag) in [(Some("ko"), " lang=\"ko\""), (Some("EN"), ""), (None, "")] {
        let message = crate::pages::Message { text: "문", lang };
        let message = Some(message);
        let facts = PageFacts { message, ..case.facts };
        let whole = shown(&facts, Language::ENGLISH);
        assert!(
            whole.contains(&format!("<p id=\"message\" dir=\"auto\"{tag}>문<")),
            "{whole}"
        );
        let bare = shown(&bare::in_bare(&facts), Language::ENGLISH);
        assert!(bare.contains(&format!("<bdi{tag}>문</bdi>")), "{bare}");
    }
    assert!(shown(&case.facts, Language::ENGLISH).contains("<b lang=\"ko\">마리골드</b>"));
    assert!(shown(&case.facts, korean).contains("<b>마리골드</b>"));
}

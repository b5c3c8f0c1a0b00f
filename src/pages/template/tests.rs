//! The required content of the pages, rendered and read back.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::preview::previews;
use super::*;
use crate::room::Estimate;

mod bare;
mod brand;
pub(in crate::pages) mod node;
mod packed;
mod pseudo;
mod reload;
mod said;

fn built_in() -> Pages {
    Pages::new(None).unwrap()
}

/// The page of a sample in a language, such as `waiting.ko`.
fn page_of(name: &str) -> Page {
    let (pages, (state, tag)) = (built_in_once(), name.split_once('.').unwrap());
    let language = pages.languages().find(tag).unwrap();
    preview::preview(&pages, state, language).unwrap()
}

fn refused(template: &str) -> TemplateError {
    Pages::new(Some(template)).unwrap_err()
}

fn text(page: &Page) -> &str {
    std::str::from_utf8(&page.body).unwrap()
}

#[test]
fn every_page_is_below_20_kb_as_it_is() {
    let sizes = previews(&built_in())
        .into_iter()
        .map(|preview| (preview.page.body.len(), preview.name));
    let mut large: Vec<_> = sizes.filter(|(bytes, _)| *bytes > 20 * 1_024).collect();
    large.sort_unstable();
    assert!(large.is_empty(), "{large:?}");
}

#[test]
fn every_page_has_one_heading_a_language_and_nothing_from_outside() {
    for preview in previews(&built_in()) {
        let page = text(&preview.page);
        assert_eq!(page.matches("<h1>").count(), 1, "{}", preview.name);
        let language = preview.name.rsplit('.').next().unwrap();
        assert!(
            page.contains(&format!("<html lang=\"{language}\" dir=\""))
                || preview.name.contains("-bare") && page.contains(&format!("<html lang=\"{language}\"")),
            "{}",
            preview.name
        );
        // The name of SVG, which nobody loads.
        let page = page.replace("xmlns='http://www.w3.org/2000/svg'", "");
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

/// The facts that the script reads: those that many visitors share, if they stand apart, and the visitor's own.
fn facts(page: &str) -> serde_json::Value {
    let block = |id: &str| {
        let (_, rest) = page.split_once(&format!("<script type=\"text/json\" id=\"{id}\">"))?;
        serde_json::from_str::<serde_json::Value>(rest.split_once("</script>")?.0).ok()
    };
    let mut facts = block("words").unwrap_or_else(|| serde_json::json!({}));
    let own = block("data").unwrap();
    let all = own.as_object().unwrap().clone();
    let named = |(key, value): (String, serde_json::Value)| {
        let name = script::FACTS.iter().find(|(_, short)| *short == key);
        (name.map_or(key, |(name, _)| (*name).to_owned()), value)
    };
    facts.as_object_mut().unwrap().extend(all.into_iter().map(named));
    facts
}

/// Other facts of one visitor, in a page of the same kind.
fn of_another(case: &mut sample::Case) {
    case.facts.request_id = "an & other";
    case.facts.here = "/it's?<\u{e003}>";
    case.facts.now = Wall(case.facts.now.0 + 61_000);
    let Some(line) = &mut case.facts.line else { return };
    line.refresh_ms += 3_000;
    line.revision += 1;
    line.check_in_ms = line.check_in_ms.map(|ms| ms + 1_000);
    line.lot += 1;
    if let Some(turn) = &mut line.turn {
        turn.joined_at = Wall(turn.joined_at.0 - 75_000);
        turn.waiting += 1_240;
        turn.estimate = turn.estimate.map(|estimate| Estimate {
            high_secs: estimate.high_secs + 5_000,
            ..estimate
        });
        turn.ahead = turn.ahead.map(|ahead| ahead + 1_234);
        turn.place = turn.place.map(|place| place + 7);
        turn.reference = turn.reference.map(|_| "AB<C");
    }
}

#[test]
fn pages_of_many_visitors_begin_alike_and_end_with_the_facts_of_each() {
    const DATA: &str = "/check?reload=bare&to=";
    let pages = built_in_once();
    let mut alike = Vec::new();
    for language in Language::all() {
        for mut case in sample::cases() {
            let name = case.name;
            let one = pages.render(case.kind, &case.facts, language);
            let kinds = pages.beginnings.kinds();
            of_another(&mut case);
            let other = pages.render(case.kind, &case.facts, language);
            assert_eq!(pages.beginnings.kinds(), kinds, "{name}: no other page");
            assert_eq!(
                other.body,
                built_in_once().render(case.kind, &case.facts, language).body,
                "{name}"
            );
            let [one, other] = [&one, &other].map(text);
            if !one.contains(" id=\"words\">") {
                continue;
            }
            let [(begins, own), (also, others)] = [one, other].map(|page| page.split_once(DATA).unwrap());
            assert_eq!(begins, also, "{name}");
            assert!(
                !begins.contains('\0') && own != others && others.ends_with("</script>\n"),
                "{name}"
            );
            let facts = facts(other);
            assert_eq!(facts["text"]["request"], "an & other", "{name}");
            let turn = case.facts.line.as_ref().and_then(|line| line.turn.as_ref());
            let reference = turn.and_then(|turn| turn.reference);
            assert_eq!(facts["reference"].as_str(), reference, "{name}");
            if case.kind.waits() {
                assert_eq!(facts["ahead"].as_u64(), turn.and_then(|turn| turn.ahead), "{name}");
            }
            if language == Language::ENGLISH {
                alike.push(name);
            }
        }
    }
    for name in [
        "waiting",
        "waiting-unknown",
        "waiting-prequeue",
        "waiting-lot",
        "joining",
        "early",
        "closed-in-line",
        "over",
        "sold_out",
    ] {
        assert!(alike.contains(&name), "{name} is not in {alike:?}");
    }
}

/// What differs from visitor to visitor, or from second to second, makes no other beginning.
#[test]
fn a_room_keeps_one_beginning_for_all_who_wait() {
    let (pages, mut cases) = (built_in_once(), sample::cases().into_iter());
    let mut case = cases.find(|case| case.name == "waiting").unwrap();
    for n in 0..20 {
        let line = case.facts.line.as_mut().unwrap();
        let name = format!("event {n}");
        let name: &'static crate::room::LineName = Box::leak(Box::new(crate::room::LineName::new(&name).unwrap()));
        line.line = name;
        let turn = line.turn.as_mut().unwrap();
        turn.stall = (n % 2 == 0).then_some(crate::pages::Stall::Healing);
        turn.resumes_secs = (n % 2 == 0).then_some(n);
        let page = pages.render(case.kind, &case.facts, Language::ENGLISH);
        let facts = facts(text(&page));
        assert_eq!(facts["query"], format!("?line=event%20{n}"));
        assert_eq!(facts["resumes"].as_u64(), (n % 2 == 0).then_some(n.into()));
        assert_eq!(pages.beginnings.kinds(), 1);
    }
}

/// The built-in pages; each page is the first one rendered from them.
fn built_in_once() -> Pages {
    static PROVED: std::sync::LazyLock<Pages> = std::sync::LazyLock::new(built_in);
    Pages {
        shared: share(&Languages::built_in(), &Brand::default()).collect(),
        languages: Languages::built_in(),
        beginnings: Beginnings::default(),
        custom: None,
        custom_proof: None,
        built_in: PROVED.built_in.clone(),
        bare: PROVED.bare.clone(),
        proof: PROVED.proof.clone(),
    }
}

#[test]
fn the_policy_allows_just_the_blocks_that_the_page_holds() {
    for preview in previews(&built_in()) {
        let policy = preview.page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        let scripted = policy.contains("script-src 'sha256-");
        assert_eq!(scripted, !preview.name.contains("-bare"), "{}: {policy}", preview.name);
        assert!(!policy.contains("unsafe") && !policy.contains("img-src '"), "{policy}");
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
    const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 777 * 7 }}</title>&lt;";
    let pages = built_in();
    for case in sample::cases() {
        let mut facts = case.facts;
        facts.message = Some(crate::pages::Message {
            text: HOSTILE,
            lang: Some(HOSTILE),
        });
        facts.host = Some(HOSTILE);
        facts.request_id = HOSTILE;
        facts.here = "/a?\"><script>alert(1)</script>";
        if let Some(turn) = facts.line.as_mut().and_then(|line| line.turn.as_mut()) {
            turn.reference = Some(HOSTILE);
        }
        let page = pages.render(case.kind, &facts, Language::ENGLISH);
        let page = text(&page);
        assert!(
            !page.contains("<script>alert") && !page.contains("<img") && !page.contains("5439"),
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
    assert!(show(&"x".repeat(50)).contains("<h1>Closed for now</h1>"));
}

#[test]
fn the_examples_of_templates_work_in_every_state() {
    let examples = [
        include_str!("../../../examples/page/concert.html"),
        include_str!("../../../examples/page/shop.html"),
    ];
    for example in examples {
        let pages = Pages::new(Some(example)).unwrap();
        for preview in previews(&pages) {
            let bare = preview.name.contains("-bare");
            assert_eq!(
                text(&preview.page).contains("<script"),
                text(&preview.page).contains("id=\"data\"")
            );
            assert!(!bare || !text(&preview.page).contains("<script"), "{}", preview.name);
        }
    }
}

#[test]
fn a_template_of_ones_own_may_show_pictures_of_the_site() {
    let pages = Pages::new(Some(include_str!("../../../examples/page/page.html"))).unwrap();
    for preview in previews(&pages) {
        let policy = preview.page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("img-src 'self' data:"));
        assert!(text(&preview.page).contains("Marigold"), "{}", preview.name);
    }
}

/// The pages of the samples by name, without `data` and the words of the script, but with what this only shows.
fn shown(name: &str) -> String {
    let page = page_of(&format!("{name}.en"));
    let page = text(&page);
    let mut rest = page.split("<script");
    let mut shown = rest.next().unwrap().to_owned();
    rest.for_each(|part| shown += part.split_once("</script>").unwrap().1);
    if page.contains("id=\"words\"") {
        let facts = facts(page);
        let texts = facts["text"]
            .as_object()
            .unwrap()
            .values()
            .chain(facts.get("reference"));
        texts.for_each(|text| shown.extend([">", text.as_str().unwrap(), "<"]));
    }
    shown
}

#[test]
fn nobody_is_told_to_wait_for_what_may_not_come() {
    for name in [
        "closed",
        "closed-in-line",
        "over",
        "over-in-line",
        "sold_out",
        "sold_out-in-line",
    ] {
        let page = shown(name);
        assert!(
            !page.contains("Please wait") && !page.contains("Estimated wait"),
            "{page}"
        );
        assert!(
            !page.contains("<progress") && !page.contains("If you are away"),
            "{page}"
        );
    }
    assert!(shown("limited").contains("Please wait 7 seconds"));
}

#[test]
fn those_in_line_of_a_room_that_is_shut_see_where_they_stand_and_others_are_told_plainly() {
    let (closed, in_line) = (shown("closed"), shown("closed-in-line"));
    assert!(closed.contains("Nobody is let in") && !closed.contains("You keep your place"));
    assert!(in_line.contains("You keep your place") && !in_line.contains("Nobody is let in"));
    for page in [&in_line, &shown("over-in-line"), &shown("closed-in-line-bare")] {
        assert!(page.contains(">18<") && page.contains("K74-"), "{page}");
    }
    assert!(in_line.contains("17 people ahead of you"));
    let over = shown("over-in-line");
    assert!(over.contains("Nobody is let in any more"), "{over}");
    assert!(
        !over.contains("ahead of you") && !over.contains("keep your place"),
        "{over}"
    );
    assert!(!over.contains("/leave"), "{over}");
    let sold = shown("sold_out-in-line");
    assert!(sold.contains("K74-") && !sold.contains("Your position"), "{sold}");
}

/// The seconds that a countdown begins with.
fn left(name: &str) -> u64 {
    let case = sample::cases().into_iter().find(|case| case.name == name).unwrap();
    let page = built_in_once().render(case.kind, &case.facts, Language::ENGLISH);
    facts(text(&page))["left"].as_u64().unwrap()
}

/// A page that stands still, which says all itself.
fn still(name: &str) -> String {
    let mut case = sample::cases().into_iter().find(|case| case.name == name).unwrap();
    case.facts.line.as_mut().unwrap().reload = crate::pages::Reload::Off;
    let page = built_in_once().render(case.kind, &case.facts, Language::ENGLISH);
    text(&page).split("<script").next().unwrap().to_owned()
}

#[test]
fn a_countdown_runs_to_the_opening_in_the_line_that_forms_before() {
    let prequeue = shown("waiting-prequeue");
    assert!(
        prequeue.contains("Opens in<p") && prequeue.contains("role=\"timer\""),
        "{prequeue}"
    );
    assert_eq!(left("waiting-prequeue"), 3_180);
    let early = shown("early");
    assert!(early.contains("You can join the line in<p"));
    assert_eq!(left("early"), 1_380);
    assert!(!shown("waiting").contains("countdown") && !shown("closed").contains("countdown"));
}

#[test]
fn a_page_whose_obstacle_passes_tries_again_and_never_what_was_sent() {
    for kind in PageKind::ALL.into_iter().filter(|kind| kind.passes()) {
        let (page, form) = (shown(kind.name()), shown(&format!("{}-not-sent", kind.name())));
        assert!(
            page.contains("tries again automatically") && page.contains("Try again"),
            "{page}"
        );
        assert!(!form.contains("automatically") && !form.contains("Try again"), "{form}");
        let unsure = matches!(kind, PageKind::BadGateway | PageKind::GatewayTimeout);
        assert_eq!(
            form.contains("whether your form or order has arrived"),
            unsure,
            "{form}"
        );
        assert_eq!(form.contains("did not go through"), !unsure, "{form}");
    }
}

#[test]
fn progress_and_the_turns_of_the_last_minutes_are_shown_only_while_known() {
    let (known, unknown) = (still("waiting"), still("waiting-unknown"));
    assert!(known.contains("Called in the last 5 minutes: 41"));
    assert!(
        known.contains("<progress id=\"progress\" max=\"100\" value=\"3"),
        "{known}"
    );
    assert!(known.contains("aria-label=\"Estimated wait\"></progress>"), "{known}");
    assert!(
        unknown.contains("place far\"") && !known.contains("place far"),
        "{unknown}"
    );
    assert!(!unknown.contains("Called in the last"));
    assert!(known.contains("If you are away when it is your turn, you have 90 seconds to come in."));
}

/// WCAG 2.2, 1.4.3: the relative luminance of `#rrggbb` or `#rgb`.
fn luminance(colour: &str) -> f64 {
    let digits = colour.trim_start_matches('#');
    let wide: String = if digits.len() == 3 {
        digits.chars().flat_map(|c| [c, c]).collect()
    } else {
        digits.to_owned()
    };
    let part = |at: usize| {
        let value = f64::from(u8::from_str_radix(&wide[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
}

#[test]
fn text_stands_out_in_both_themes() {
    let themes: Vec<&str> = STYLE
        .split(":root{")
        .skip(1)
        .map(|rest| rest.split('}').next().unwrap())
        .collect();
    assert_eq!(themes.len(), 2);
    for theme in themes {
        let colour = |name: &str| {
            luminance(
                theme
                    .split(&format!("--{name}:"))
                    .nth(1)
                    .unwrap()
                    .split(';')
                    .next()
                    .unwrap(),
            )
        };
        // The outline of the progress bar, and what fills it.
        assert!(STYLE.contains("progress{appearance:none;") && STYLE.contains("border:1px solid var(--soft)"));
        let pairs = [
            ("ink", "bg"),
            ("ink", "card"),
            ("soft", "bg"),
            ("soft", "card"),
            ("mark", "bg"),
            ("mark", "card"),
        ];
        for (text, ground) in pairs {
            let (a, b) = (colour(text), colour(ground));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= 4.5, "{text} on {ground}: {contrast:.2} in {theme}");
        }
    }
}

#[test]
fn whoever_may_not_be_noted_is_promised_neither_that_nor_a_place() {
    let page = |name: &str| text(&page_of(name)).to_owned();
    let (noted, crowded) = (page("joining.en"), page("joining-crowded.en"));
    assert!(noted.contains("Your arrival time is recorded") && noted.contains("The order is kept"));
    assert!(crowded.contains("you are not in line yet") && !crowded.contains("time is recorded"));
    assert!(crowded.contains("id=\"why\"><") && facts(&crowded).get("why").is_none());
    for part in ["id=\"leave\"", "id=\"sound\"", "Good to know"] {
        assert!(noted.contains(part) && !crowded.contains(part), "{part}: {crowded}");
    }
}

/// What is not a whole name of the table stays: a property of something else, a longer name, a text.
#[test]
fn short_names_stand_for_whole_names_of_the_page_and_its_words_alone() {
    for script in [SCRIPT, COUNTING_SCRIPT] {
        for (of, names) in [("P.", &script::FACTS[..]), ("T.", &script::WORDS[..])] {
            for (at, _) in script.match_indices(of) {
                let before = script[..at].chars().next_back().unwrap();
                assert!(
                    !before.is_alphanumeric() && !"_$.'\"".contains(before),
                    "{}",
                    &script[at - 9..at + 9]
                );
                let name = script[at + of.len()..]
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next();
                let name = name.unwrap();
                let replaced = names.iter().find(|(long, _)| name.starts_with(long));
                assert!(replaced.is_none_or(|(long, _)| *long == name), "{name}");
            }
        }
    }
}

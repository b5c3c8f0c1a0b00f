//! Pages as `br` and `gzip`.

use super::*;
use crate::pages::packed::tests::read;
use crate::pages::packed::{may_be_packed, worker};

pub const GZIP: &str = "gzip";
const BROTLI: &str = "br, gzip";

/// The page of a case once it is compressed, if it ever is.
pub fn compressed(
    pages: &Pages,
    accepted: &str,
    (kind, facts): (PageKind, &PageFacts<'_>),
    language: Language,
) -> Page {
    let render = || pages.render_as(Codings::of(accepted), kind, facts, language);
    render();
    worker::settle();
    render()
}

fn coding(page: &Page) -> Coding {
    match page
        .headers
        .get(header::CONTENT_ENCODING)
        .map(|name| name.to_str().unwrap())
    {
        None => Coding::Identity,
        Some("gzip") => Coding::Gzip,
        Some("br") => Coding::Brotli,
        Some(other) => panic!("{other}"),
    }
}

/// At most so many bytes in every state and language. A page with a countdown has a longer script, and one that stands still is
/// not compressed beforehand.
const MOST_BROTLI: usize = 6_280;
const MOST_GZIP: usize = 7_090;
const COUNTDOWN: usize = 140;
/// The waiting page keeps these: 6 KB, and 7 KB by gzip.
const WAITING_BROTLI: usize = 6 * 1_024;
const WAITING_GZIP: usize = 7 * 1_024;

/// Prints the bytes of every page by state, language and coding, for `docs/reports/page-size.md`.
#[test]
fn every_page_in_every_coding_is_small_and_reads_as_it_is() {
    let pages = built_in();
    let mut large = Vec::new();
    for language in Language::all() {
        for case in sample::cases() {
            let name = format!("{}.{}", case.name, language.tag());
            let plain = pages.render(case.kind, &case.facts, language);
            assert_eq!(coding(&plain), Coding::Identity);
            let of_many = text(&plain).contains("id=\"words\"");
            let wanted = |one| {
                if may_be_packed(case.kind) {
                    one
                } else {
                    Coding::Identity
                }
            };
            let best = if of_many { Coding::Brotli } else { wanted(Coding::Gzip) };
            let mut sizes = Vec::new();
            for (accepted, wanted) in [(BROTLI, best), (GZIP, wanted(Coding::Gzip)), ("", Coding::Identity)] {
                let page = compressed(&pages, accepted, (case.kind, &case.facts), language);
                assert_eq!(coding(&page), wanted, "{name} by {accepted:?}");
                assert!(read(wanted, &page.body) == plain.body, "{name} by {accepted:?}");
                assert_eq!(page.headers[header::VARY], plain.headers[header::VARY]);
                sizes.push(page.body.len());
            }
            println!("{name}: {} br, {} gzip, {} as it is", sizes[0], sizes[1], sizes[2]);
            let counts = text(&plain).contains("id=\"countdown\"");
            let more = if counts { COUNTDOWN } else { 0 };
            let (brotli, gzip) = match case.name {
                "waiting" => (WAITING_BROTLI, WAITING_GZIP),
                _ => (MOST_BROTLI + more, MOST_GZIP + more),
            };
            if of_many && (sizes[0] > brotli || sizes[1] > gzip) {
                large.push(format!("{name}: {sizes:?}"));
            }
        }
    }
    assert!(large.is_empty(), "{large:?}");
}

/// BREACH needs a secret and something chosen by a stranger in one compressed answer.
#[test]
fn no_compressed_page_has_a_secret_and_an_address() {
    const ADDRESS: &str = "/a-stranger-chose-this";
    const SECRET: &str = "a-code-or-a-challenge";
    const BUTTON: &str = "/.ropeline/rooms/shop/code?to=%2F&code=a-code-or-a-challenge";
    let pages = built_in();
    let mut both = 0;
    for mut case in sample::cases() {
        case.facts.here = ADDRESS;
        case.facts.button_url = case
            .facts
            .button_url
            .filter(|url| url.contains("code="))
            .map(|_| BUTTON);
        if let Some(proof) = &mut case.facts.proof {
            proof.challenge = SECRET;
        }
        let plain = pages.render(case.kind, &case.facts, Language::ENGLISH);
        if !(text(&plain).contains(SECRET) && text(&plain).contains(&ADDRESS[1..])) {
            continue;
        }
        both += 1;
        for accepted in [GZIP, BROTLI] {
            let page = compressed(&pages, accepted, (case.kind, &case.facts), Language::ENGLISH);
            assert_eq!(coding(&page), Coding::Identity, "{}", case.name);
            assert!(page.body == plain.body, "{}", case.name);
        }
    }
    assert!(both >= 2, "a proof's page and the one about a code");
}

const TRIES: u32 = 1_000;

/// What a stranger puts into the address of a page of the line changes its length by its own length alone.
#[test]
fn an_address_that_repeats_a_fact_takes_as_much_as_any_other() {
    let pages = built_in();
    let mut case = sample::cases().into_iter().find(|case| case.name == "waiting").unwrap();
    for accepted in [GZIP, BROTLI] {
        // Until the beginning is compressed a page is compressed as a whole: other tests may keep the worker busy.
        let stored = |page: &Page| page.body.windows(9).any(|part| part == b"K74-80R-1");
        let lens = ["/K74-T70-C/K74-T70-C", "/Q3Z-9W1-X/Q3Z-9W1-X", "/K74-T70-C/9W1X-0-ZQ"].map(|here| {
            case.facts.here = here;
            let mut pages =
                (0..TRIES).map(|_| compressed(&pages, accepted, (case.kind, &case.facts), Language::ENGLISH));
            pages.find(stored).expect("the facts as they are").body.len()
        });
        assert!(lens.iter().all(|len| *len == lens[0]), "{accepted}: {lens:?}");
    }
}

#[test]
fn an_operators_template_is_compressed_as_it_is_sent() {
    let pages = Pages::new(Some(include_str!("../../../../examples/page/page.html"))).unwrap();
    for case in sample::cases() {
        let plain = pages.render(case.kind, &case.facts, Language::ENGLISH);
        let page = compressed(&pages, BROTLI, (case.kind, &case.facts), Language::ENGLISH);
        let wanted = if may_be_packed(case.kind) {
            Coding::Gzip
        } else {
            Coding::Identity
        };
        assert_eq!(coding(&page), wanted, "{}", case.name);
        assert!(read(wanted, &page.body) == plain.body, "{}", case.name);
    }
}

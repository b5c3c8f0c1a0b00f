//! The bare page: its content, and the cost of an hour of it.

use super::*;
use crate::pages::{LineFacts, Notice, Reload, Stall, TurnFacts};

#[test]
fn the_bare_page_reloads_itself_without_a_script_and_leads_to_the_whole_one() {
    let page = |name: &str| text(&page_of(name)).to_owned();
    let whole = page("waiting.en");
    // Only by the reload, never by a click, which may come from a browser with scripts.
    assert_eq!(whole.matches("reload=bare").count(), 1, "{whole}");
    let way = "url=/.ropeline/rooms/shop/check?reload=bare&to=%2Fevent%2F7%3Fdate%3D2026-11-20%26seats%3D2";
    assert!(whole.contains(&format!("{way}&ticket=any\"></noscript>")), "{whole}");
    assert!(page("waiting-line.en").contains(&format!("{way}&line=%3C%C3%A9v%C3%A9nement%3E%207\"></noscript>")));
    let bare = page("waiting-bare.en");
    assert!(!bare.contains("script") && !bare.contains("progress"), "{bare}");
    // The slowest that the settings allow, and of no address: that it has already.
    assert_eq!(page_of("waiting-bare.en").headers[header::REFRESH], "45");
    assert!(!bare.contains("refresh") && !page_of("waiting.en").headers.contains_key(header::REFRESH));
    for part in [
        "1,204",
        "1,203 people ahead",
        "4 to 7 minutes",
        "Last updated",
        "Doors open",
        "K74-T70-C",
        "Your turn came at",
        "It is full inside",
        "/rooms/shop/leave\"",
        "<b>If you are away when it is your turn, you have 90 seconds to come in.</b>",
        "Check now",
        "reload=off",
    ] {
        assert!(bare.contains(part), "{part}: {bare}");
    }
    // A long address is left to the Referer.
    let facts = sample::cases()
        .into_iter()
        .find(|case| case.name == "waiting")
        .unwrap()
        .facts;
    let long = format!("/{}", "x".repeat(100));
    let facts = in_bare(&PageFacts { here: &long, ..facts });
    let brief = built_in().render(PageKind::Waiting, &facts, Language::ENGLISH);
    assert!(text(&brief).contains("/check?reload=off\"") && !text(&brief).contains(&long));
    // A ticket just given is looked for, on time.
    let fresh = page_of("joining-bare.en").headers[header::REFRESH].clone();
    let fresh = fresh.to_str().unwrap();
    let check = "20;url=/.ropeline/rooms/shop/check?to=";
    assert!(fresh.starts_with(check) && !fresh.contains("reload=bare"), "{fresh}");
}

/// While waiting, as the documents promise: for a browser that takes gzip, the same with the most there is to say, and where pages
/// are sent as they are.
const HOUR: usize = 120_000;
const WORDY_HOUR: usize = 140_000;
const HOUR_AS_IT_IS: usize = 270_000;

/// The fields on the wire, and the server's lines before them: status line, date, length, the gate's status.
fn head(headers: &HeaderMap) -> usize {
    const REST: &str = "HTTP/1.1 200 OK\r\nropeline-status: waiting\r\ncontent-length: 12345\r\n\
                        date: Tue, 28 Oct 2026 13:07:00 GMT\r\n\r\n";
    let line = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + ": \r\n".len();
    REST.len() + headers.iter().map(line).sum::<usize>()
}

/// The wait that a visitor without a script was shown is remembered when it changes: so often in an hour at the most, since it stands
/// within a minute and an eighth of the time left.
const TOLD: &str = "set-cookie: __Host-ropeline-told-a-room-of-the-shop-a1b2c3d4e5=1767225600.1767225600; HttpOnly; \
                    SameSite=Lax; Secure; Path=/\r\n";
const TOLD_ANEW: usize = 20;

/// Everything that a page can have to say, at its longest.
fn wordy<'a>(facts: &PageFacts<'a>, here: &'a str, message: &'a str) -> Vec<PageFacts<'a>> {
    let facts = PageFacts {
        here,
        message: Some(message.into()),
        request_id: "0123456789abcdef",
        ..*facts
    };
    let line = facts.line.expect("a page in a room");
    let Some(turn) = line.turn else { return vec![facts] };
    let notices = [Notice::Missed(Wall(0)), Notice::Late, Notice::Ended, Notice::Reset];
    let stalls = [
        Stall::Held,
        Stall::Prequeue,
        Stall::Lot,
        Stall::Draw,
        Stall::Full,
        Stall::Busy,
        Stall::Resting,
        Stall::Opening,
        Stall::Healing,
        Stall::CutOff,
        Stall::Slower,
    ];
    let all = notices
        .into_iter()
        .flat_map(|notice| stalls.map(|stall| (notice, stall)));
    let say = |(notice, stall)| {
        let turn = TurnFacts {
            notice: Some(notice),
            stall: Some(stall),
            resumes_secs: matches!(stall, Stall::Opening | Stall::Healing).then_some(86_340),
            ..turn
        };
        let line = LineFacts {
            fresh: true,
            turn: Some(turn),
            ..line
        };
        PageFacts {
            line: Some(line),
            ..facts
        }
    };
    all.map(say).collect()
}

pub fn in_bare<'a>(facts: &PageFacts<'a>) -> PageFacts<'a> {
    let line = facts.line.map(|line| LineFacts {
        reload: Reload::Bare,
        fresh: false,
        ..line
    });
    PageFacts { line, ..*facts }
}

/// The seconds that a page reloads after.
fn reload_secs(page: &Page) -> usize {
    let field = page.headers[header::REFRESH].to_str().unwrap();
    field.split(';').next().unwrap().parse().unwrap()
}

#[test]
fn an_hour_without_javascript_stays_small_whatever_there_is_to_say() {
    // The longest address that the bare page's links carry, and the longest that any does.
    let heres = [65, 1_900].map(|more| format!("/event/7?seats={}", "2".repeat(more - 7)));
    let message = "개막".repeat(166);
    let pages = built_in();
    // The way through `check` is taken once; its answer is a head with the address, and less of one than a page's.
    let hour = |whole: &Page, bare: &Page, here: &str| {
        let first = whole.body.len() + 2 * head(&whole.headers) + here.len();
        let each = bare.body.len() + head(&bare.headers);
        first + TOLD_ANEW * TOLD.len() + 3_600_usize.div_ceil(reload_secs(bare)) * each
    };
    let mut most = (0, None);
    for (language, here) in Language::all().flat_map(|language| heres.iter().map(move |here| (language, here))) {
        for case in sample::cases().into_iter().filter(|case| case.kind.follows()) {
            for facts in wordy(&case.facts, here, &message) {
                let whole = pages.render(case.kind, &facts, language);
                let bare = pages.render(case.kind, &in_bare(&facts), language);
                let bytes = hour(&whole, &bare, here);
                if bytes > most.0 {
                    most = (bytes, Some((language, case.kind, facts, bare)));
                }
            }
        }
    }
    let (language, kind, facts, bare) = most.1.unwrap();
    assert!(most.0 <= HOUR_AS_IT_IS, "{} bytes in an hour:\n{}", most.0, text(&bare));
    let packed = |kind, facts: &PageFacts<'_>, language| {
        let [whole, bare] = [*facts, in_bare(facts)]
            .map(|facts| super::packed::compressed(&pages, super::packed::GZIP, (kind, &facts), language));
        hour(&whole, &bare, facts.here)
    };
    let wordy = packed(kind, &facts, language);
    println!(
        "an hour without a script: at most {} bytes as it is, {wordy} by gzip",
        most.0
    );
    assert!(wordy <= WORDY_HOUR, "{wordy} bytes in an hour");
    for language in Language::all() {
        let case = sample::cases().into_iter().find(|case| case.name == "waiting").unwrap();
        let bytes = packed(case.kind, &case.facts, language);
        println!("an hour without a script, {}: {bytes} bytes by gzip", language.tag());
        assert!(bytes <= HOUR, "{bytes} bytes in an hour, {}", language.tag());
    }
}

/// The Thai page takes more than the English one.
#[test]
fn a_large_bare_page_reloads_less_often_only_where_the_turn_is_far() {
    let pages = built_in();
    let case = sample::cases().into_iter().find(|case| case.name == "waiting").unwrap();
    let reload = |ahead, low_secs: Option<u32>, accepted| {
        let mut facts = in_bare(&case.facts);
        let turn = facts.line.as_mut().and_then(|line| line.turn.as_mut()).unwrap();
        turn.ahead = Some(ahead);
        turn.estimate = low_secs.map(|low_secs| crate::room::Estimate {
            low_secs,
            high_secs: low_secs + 60,
        });
        let thai = Language::all().find(|language| language.tag() == "th").unwrap();
        reload_secs(&pages.render_as(Codings::of(accepted), case.kind, &facts, thai))
    };
    let far = reload(9_000, Some(3_600), super::packed::GZIP);
    let usual = reload(3, Some(30), super::packed::GZIP);
    let most = usize::try_from(case.facts.line.unwrap().settings.claim_deadline_ms).unwrap() / 1_500;
    assert!(usual < far && far <= most, "{usual}, {far}");
    // The page's own bytes decide, and its texts differ by some.
    let foreseen = |secs| secs > usual && secs <= most;
    assert!(
        foreseen(reload(9_000, None, super::packed::GZIP)),
        "nothing is foreseen"
    );
    assert_eq!(reload(0, None, super::packed::GZIP), usual, "the next one");
    assert!(foreseen(reload(9, u32::try_from(4 * most).ok(), super::packed::GZIP)));
    assert_eq!(reload(9, u32::try_from(4 * usual - 1).ok(), super::packed::GZIP), usual);
}

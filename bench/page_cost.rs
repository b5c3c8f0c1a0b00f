//! What a page costs: a waiting page is rendered so often, in a coding, for visitors at different places.
//!
//! `valgrind --tool=callgrind page_cost br 20000`, and again with 10000: the difference is of 10,000 pages.

use ropeline::pages::{Codings, Language, LineFacts, PageFacts, PageKind, Pages, Reload, StockFacts, TurnFacts};
use ropeline::room::{Estimate, LineName, RoomName, Settings, Wall};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let accepted = arguments.next().unwrap_or_default();
    let codings = Codings::of(&accepted);
    let count: u32 = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let (pages, settings) = (Pages::new(None).expect("the built-in page"), Settings::default());
    let room = RoomName::new("shop").expect("a name");
    let (mut bytes, mut done) = (0, 0);
    while done < count {
        let ahead = u64::from(done) % 5_000;
        let turn = TurnFacts {
            joined_at: Wall(1_793_192_820_000),
            reference: Some("7K2M-9QX4"),
            place: Some(70_000 + ahead),
            ahead: Some(ahead),
            lane: None,
            waiting: 10_000,
            let_in: Some(41),
            estimate: Some(Estimate {
                low_secs: 100,
                high_secs: 400,
            }),
            notice: None,
            stall: None,
            resumes_secs: None,
            crowded: false,
        };
        let line = LineFacts {
            room: &room,
            line: &LineName::ONLY,
            settings: &settings,
            revision: 1,
            refresh_ms: 20_000,
            reload: Reload::Automatic,
            check_in_ms: None,
            fresh: true,
            lot: 0,
            stock: StockFacts::default(),
            opening: None,
            draw: None,
            turn: Some(turn),
        };
        let facts = PageFacts {
            line: Some(line),
            ..PageFacts::new("0123456789abcdef", Wall(1_793_192_900_000), "/event/7?date=2026-11-20")
        };
        let page = pages.render_as(codings, PageKind::Waiting, &facts, Language::ENGLISH);
        let coded = page.headers.get(http::header::CONTENT_ENCODING);
        bytes = page.body.len();
        // Not before the page is compressed.
        done += u32::from(coded.is_none_or(|coding| *coding == accepted) && coded.is_some() != accepted.is_empty());
    }
    println!("{count} pages, the last of {bytes} bytes");
}

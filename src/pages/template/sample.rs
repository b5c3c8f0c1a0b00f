//! One sample of every page and state, for the checks of a template and for `ropeline page --preview`.

use std::sync::LazyLock;

use crate::pages::kind::{
    LineFacts, Message, Notice, PageFacts, PageKind, ProofFacts, Reload, Stall, StockFacts, TurnFacts,
};
use crate::room::{Drawing, Estimate, LineName, Phase, RoomName, Settings, Stage, Wall, Window};

/// A page with its name, which is the request id too, so that no two samples are equal.
pub struct Case {
    pub name: &'static str,
    pub kind: PageKind,
    pub facts: PageFacts<'static>,
}

static ROOM: LazyLock<RoomName> = LazyLock::new(|| RoomName::new("shop").expect("a lower-case word is a room's name"));
static LINE: LazyLock<LineName> = LazyLock::new(|| LineName::new("<événement> 7").expect("plain text, short enough"));
static ONLY: LineName = LineName::ONLY;
static SETTINGS: LazyLock<Settings> = LazyLock::new(Settings::default);
static DRAWING: LazyLock<Settings> = LazyLock::new(|| Settings {
    draw: Some(Drawing::default()),
    ..Settings::default()
});

/// 28 October 2026, 13:07 UTC.
const NOW: Wall = Wall(1_793_192_820_000);
/// Text of visitors and operators stays text, on every page.
const MESSAGE: &str = "Doors open at 14:00. <b>Nobody</b> loses a place & everyone gets the same chance.\nThank you!";
const HOST: Option<&str> = Some("shop.example");
const HERE: &str = "/event/7?date=2026-11-20&seats=2";

/// Every kind, and the waiting page in every state it knows.
pub fn cases() -> Vec<Case> {
    let mut cases = waiting();
    cases.extend(loaded());
    cases.extend(other_lines());
    cases.extend(shut());
    cases.extend(PageKind::ALL.into_iter().filter(|kind| !kind.follows()).map(plain));
    cases.extend(PageKind::ALL.into_iter().filter(|kind| kind.passes()).map(after_a_form));
    cases
}

/// One that any browser has done at once, and that no gate takes.
const PROOF: ProofFacts<'static> = ProofFacts {
    challenge: "AQFhcHJldmlldw",
    parts: 16,
    most: 1 << 24,
    wait_secs: 12,
};

/// The same for a form, which is not sent again.
fn after_a_form(kind: PageKind) -> Case {
    let name = match kind {
        PageKind::Limited => "limited-not-sent",
        PageKind::Busy => "busy-not-sent",
        PageKind::Returning => "returning-not-sent",
        PageKind::BadGateway => "bad_gateway-not-sent",
        PageKind::GatewayTimeout => "gateway_timeout-not-sent",
        _ => "unavailable-not-sent",
    };
    let plain = plain(kind);
    Case {
        name,
        facts: PageFacts {
            request_id: name,
            not_sent: true,
            again_secs: None,
            ..plain.facts
        },
        ..plain
    }
}

fn plain(kind: PageKind) -> Case {
    let retry_after_secs = match kind {
        PageKind::Limited | PageKind::Busy => Some(7),
        PageKind::Returning => Some(2),
        _ => None,
    };
    let facts = PageFacts {
        retry_after_secs,
        again_secs: kind.passes().then(|| retry_after_secs.unwrap_or(24)),
        button_url: match kind {
            PageKind::TicketOwner => Some("/.ropeline/rooms/shop/afresh?to=%2F"),
            PageKind::CodeUse => Some("/.ropeline/rooms/shop/code?to=%2F&code=AQF"),
            _ => None,
        },
        sign_in: (kind == PageKind::SignIn).then_some("/login"),
        host: HOST,
        ..PageFacts::new(kind.name(), NOW, HERE)
    };
    let with_message = matches!(kind, PageKind::TooManyLines | PageKind::BadGateway);
    let message = with_message.then_some(MESSAGE);
    let line = matches!(kind, PageKind::CookiesRefused | PageKind::Proof).then(|| line(None));
    let proof = (kind == PageKind::Proof).then_some(PROOF);
    Case {
        name: kind.name(),
        kind,
        facts: PageFacts {
            message: message.map(Message::from),
            line,
            proof,
            ..facts
        },
    }
}

fn other_lines() -> Vec<Case> {
    let opening = LineFacts {
        opening: Some(&EARLY),
        ..line(None)
    };
    let pending = TurnFacts {
        place: None,
        ahead: None,
        reference: None,
        ..turn(0, "-", None)
    };
    let joining = LineFacts {
        fresh: true,
        ..line(Some(TurnFacts {
            stall: Some(Stall::CutOff),
            ..pending
        }))
    };
    let crowded = LineFacts {
        fresh: true,
        ..line(Some(TurnFacts {
            crowded: true,
            ..pending
        }))
    };
    vec![
        case("joining", PageKind::Joining, Some(MESSAGE), joining),
        case("joining-crowded", PageKind::Joining, None, crowded),
        case("early", PageKind::Early, Some(MESSAGE), opening),
        case("early-unannounced", PageKind::Early, None, line(None)),
        case(
            "sold_out",
            PageKind::SoldOut,
            Some(MESSAGE),
            over(None, Some(Wall(NOW.0 + 3_180_000))),
        ),
        case("sold_out-won", PageKind::SoldOut, None, over(Some(true), None)),
        case("sold_out-lost", PageKind::SoldOut, None, over(Some(false), None)),
    ]
}

/// A room that calls nobody: for who has just come, and for a visitor in line.
fn shut() -> Vec<Case> {
    let stands = |ahead, reference| {
        line(Some(TurnFacts {
            place: None,
            let_in: None,
            ..turn(ahead, reference, None)
        }))
    };
    let bare = LineFacts {
        reload: Reload::Bare,
        ..stands(17, "K74-XT0-A")
    };
    let sold = TurnFacts {
        ahead: None,
        ..turn(0, "K74-ZC0-8", None)
    };
    let lost = LineFacts {
        turn: Some(TurnFacts { place: None, ..sold }),
        ..over(Some(false), None)
    };
    vec![
        case("closed", PageKind::Closed, Some(MESSAGE), line(None)),
        case(
            "closed-in-line",
            PageKind::Closed,
            Some(MESSAGE),
            stands(17, "K74-XT0-A"),
        ),
        case("closed-in-line-bare", PageKind::Closed, None, bare),
        case("over", PageKind::Over, Some(MESSAGE), line(None)),
        case("over-in-line", PageKind::Over, None, stands(17, "K74-XT0-A")),
        case("sold_out-in-line", PageKind::SoldOut, None, lost),
    ]
}

/// A line that has sold everything.
fn over(won: Option<bool>, results: Option<Wall>) -> LineFacts<'static> {
    let beyond = false;
    LineFacts {
        stock: StockFacts { beyond, won, results },
        ..line(None)
    }
}

/// A place behind the stock left.
fn beyond(turn: TurnFacts<'static>) -> Case {
    let stock = StockFacts {
        beyond: true,
        ..StockFacts::default()
    };
    let line = LineFacts {
        stock,
        ..line(Some(turn))
    };
    case("waiting-beyond", PageKind::Waiting, None, line)
}

/// A line that forms before the opening.
fn forming(turn: TurnFacts<'static>) -> Case {
    let turn = TurnFacts {
        stall: Some(Stall::Prequeue),
        ..turn
    };
    let line = LineFacts {
        opening: Some(&PREQUEUE),
        ..line(Some(turn))
    };
    case("waiting-prequeue", PageKind::Waiting, None, line)
}

/// A line without an order yet: its draw is to come at the opening, or is being made.
fn undrawn(stall: Stall, reference: &'static str) -> LineFacts<'static> {
    let turn = TurnFacts {
        ahead: None,
        stall: Some(stall),
        ..turn(0, reference, None)
    };
    LineFacts {
        settings: &DRAWING,
        opening: (stall == Stall::Lot).then_some(&PREQUEUE),
        ..line(Some(turn))
    }
}

/// What only a room with load control says.
fn loaded() -> Vec<Case> {
    let busy = TurnFacts {
        stall: Some(Stall::Busy),
        ..somewhere(94)
    };
    let resting = TurnFacts {
        stall: Some(Stall::Resting),
        ..turn(95, "K74-4T0-W", None)
    };
    let streamed = LineFacts {
        check_in_ms: Some(60_000),
        fresh: true,
        ..line(Some(resting))
    };
    vec![
        case("waiting-busy", PageKind::Waiting, Some(MESSAGE), line(Some(busy))),
        case("waiting-resting", PageKind::Waiting, None, streamed),
    ]
}

const fn stage(phase: Phase) -> Stage {
    let window = Window {
        begins: Wall(NOW.0 + 1_380_000),
        opens: Wall(NOW.0 + 3_180_000),
        closes: None,
        results: None,
    };
    let next = None;
    Stage { phase, window, next }
}

static EARLY: Stage = stage(Phase::Early);
static PREQUEUE: Stage = stage(Phase::Prequeue);

fn waiting() -> Vec<Case> {
    let some = |low_secs, high_secs| Some(Estimate { low_secs, high_secs });
    let state = |name, turn| case(name, PageKind::Waiting, None, line(Some(turn)));
    let notice = |notice, turn: TurnFacts<'static>| TurnFacts {
        notice: Some(notice),
        ..turn
    };
    let stall = |stall, turn: TurnFacts<'static>| TurnFacts {
        stall: Some(stall),
        ..turn
    };
    let mut cases = vec![
        case(
            "waiting",
            PageKind::Waiting,
            Some(MESSAGE),
            line(Some(turn(1_203, "K74-80R-1", some(260, 410)))),
        ),
        beyond(turn(1_203, "K74-80R-1", None)),
        state("waiting-first", turn(0, "K74-930-G", some(1, 40))),
        state("waiting-one-ahead", turn(1, "K74-A58-0", some(0, 61))),
        state("waiting-hours", turn(1_234_567, "ZZZ-ZZZ-ZZZ-X", some(7_300, 12_000))),
        state("waiting-unknown", turn(17, "K74-C9R-5", None)),
        state(
            "waiting-missed",
            notice(Notice::Missed(Wall(NOW.0 - 180_000)), turn(0, "K74-DC0-C", some(1, 30))),
        ),
        state(
            "waiting-late",
            notice(Notice::Late, turn(840, "K74-EE8-C", some(300, 600))),
        ),
        state(
            "waiting-ended",
            notice(Notice::Ended, turn(841, "K74-FGG-6", some(300, 601))),
        ),
        state(
            "waiting-reset",
            notice(Notice::Reset, turn(12, "K74-GJR-X", some(60, 120))),
        ),
        forming(turn(13, "K74-HN0-W", None)),
        case("waiting-lot", PageKind::Waiting, None, undrawn(Stall::Lot, "K74-JQ8-W")),
        case(
            "waiting-draw",
            PageKind::Waiting,
            None,
            undrawn(Stall::Draw, "K74-KSG-W"),
        ),
        state("waiting-held", stall(Stall::Held, turn(13, "K74-MVR-S", None))),
        state(
            "waiting-full",
            stall(Stall::Full, turn(14, "K74-NY0-G", some(120, 900))),
        ),
        state("waiting-opening", stall(Stall::Opening, turn(15, "K74-Q08-7", None))),
        state("waiting-healing", stall(Stall::Healing, turn(15, "K74-R2G-D", None))),
        state(
            "waiting-healing-long",
            TurnFacts {
                resumes_secs: Some(300),
                ..stall(Stall::Healing, turn(15, "K74-R2G-D", None))
            },
        ),
        state("waiting-cut-off", stall(Stall::CutOff, turn(16, "K74-S4R-D", None))),
    ];
    cases.extend(reloading(stall(
        Stall::Full,
        notice(
            Notice::Missed(Wall(NOW.0 - 180_000)),
            turn(1_203, "K74-T70-C", some(260, 410)),
        ),
    )));
    let of_many = LineFacts {
        line: &LINE,
        check_in_ms: Some(60_000),
        fresh: true,
        ..line(Some(somewhere(90)))
    };
    cases.push(case("waiting-line", PageKind::Waiting, None, of_many));
    let mut post = case("waiting-not-sent", PageKind::Waiting, None, line(Some(somewhere(93))));
    post.facts.not_sent = true;
    cases.push(post);
    cases
}

/// What the browser without a script is to do: reload, or not, or no more; and bare pages, of which `missed` is one.
fn reloading(missed: TurnFacts<'static>) -> [Case; 4] {
    let reloads = |reload, turn| LineFacts {
        reload,
        ..line(Some(turn))
    };
    let fresh = LineFacts {
        fresh: true,
        ..reloads(
            Reload::Bare,
            TurnFacts {
                place: None,
                ahead: None,
                ..turn(0, "K74-V98-9", None)
            },
        )
    };
    let waits = |name, message, line| case(name, PageKind::Waiting, message, line);
    [
        waits("waiting-reload-stopped", None, reloads(Reload::Stopped, somewhere(91))),
        waits("waiting-bare", Some(MESSAGE), reloads(Reload::Bare, missed)),
        case("joining-bare", PageKind::Joining, None, fresh),
        waits("waiting-reload-off", None, reloads(Reload::Off, somewhere(92))),
    ]
}

fn somewhere(ahead: u64) -> TurnFacts<'static> {
    turn(
        ahead,
        "K74-WBG-9",
        Some(Estimate {
            low_secs: 100,
            high_secs: 200,
        }),
    )
}

fn case(name: &'static str, kind: PageKind, message: Option<&'static str>, line: LineFacts<'static>) -> Case {
    Case {
        name,
        kind,
        facts: PageFacts {
            message: message.map(Message::from),
            line: Some(line),
            host: HOST,
            ..PageFacts::new(name, NOW, HERE)
        },
    }
}

fn line(turn: Option<TurnFacts<'static>>) -> LineFacts<'static> {
    LineFacts {
        room: &ROOM,
        line: &ONLY,
        settings: &SETTINGS,
        revision: 1,
        refresh_ms: 20_000,
        reload: Reload::Automatic,
        check_in_ms: None,
        fresh: false,
        opening: None,
        draw: None,
        lot: 0,
        stock: StockFacts::default(),
        turn,
    }
}

fn turn(ahead: u64, reference: &'static str, estimate: Option<Estimate>) -> TurnFacts<'static> {
    TurnFacts {
        joined_at: Wall(NOW.0 - 200_000 - ahead),
        reference: Some(reference),
        place: Some(70_000 + ahead),
        ahead: Some(ahead),
        lane: None,
        waiting: ahead + 2_500,
        estimate,
        let_in: estimate.map(|_| 41),
        notice: None,
        stall: None,
        resumes_secs: None,
        crowded: false,
    }
}

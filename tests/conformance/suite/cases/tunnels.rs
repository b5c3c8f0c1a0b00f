//! Upgrades: granted, refused, and abused to speak HTTP past the proxy.

use crate::suite::case::Check::{
    AnswerField, Body, Closed, Field, Heard, NoField, NoTunnel, NothingAhead, Start, Status, Times, Tunnel,
};
use crate::suite::case::{Case, Check, Expect, HIDDEN, Shop, Step};

const LINES: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                     Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                      Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
const WRONG_ACCEPT: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                            Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n";
const TO_H2C: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
const TO_TLS: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: TLS/1.3\r\n\r\n";
const BARE: &str = "HTTP/1.1 101 Switching Protocols\r\n\r\n";
const NO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno";
const ASK_AGAIN: &str =
    "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nno";

fn ask(lines: &str) -> String {
    format!("GET /ws HTTP/1.1\r\nHost: shop.test\r\n{lines}\r\n")
}

fn case(name: &str, source: &'static str, text: String, shop: Shop, checks: &[Check]) -> Case {
    Case::new(name, source, text, Expect::Passes(checks.to_vec())).shop(shop)
}

/// Hears the 101, says this, and ends its half.
fn talk(case: Case, text: &str) -> Case {
    case.step(Step::Hear("\r\n\r\n"))
        .step(Step::Send(text.into()))
        .step(Step::Finish)
}

/// Hears the 101 and its own word back.
fn chat(case: Case) -> Case {
    let case = case.step(Step::Hear("\r\n\r\n")).step(Step::Send("hello".into()));
    case.step(Step::Hear("HELLO"))
}

pub fn all() -> Vec<Case> {
    let mut cases = granted();
    cases.extend(not_granted());
    cases.extend(abused());
    cases
}

fn granted() -> Vec<Case> {
    vec![
        talk(
            case(
                "granted, both ways, one end after the other",
                "TCP half-close",
                ask(LINES),
                Shop::Switches(SWITCH),
                &[
                    Status(101),
                    Tunnel("hello"),
                    Heard("HELLODONE"),
                    Field("upgrade", "websocket"),
                    Times(1),
                ],
            ),
            "hello",
        ),
        chat(case(
            "granted, with other fields in Connection",
            "6455, 4.1",
            ask(&LINES.replace("Upgrade\r\n", "keep-alive, Upgrade\r\n")),
            Shop::Switches(SWITCH),
            &[Status(101), Heard("HELLO"), NoField("keep-alive")],
        )),
        chat(case(
            "granted, in another case",
            "6455, 4.1",
            ask(&LINES.replace("websocket", "WebSocket")),
            Shop::Switches(SWITCH),
            &[Status(101), Heard("HELLO")],
        )),
        talk(
            case(
                "bytes like HTTP in a tunnel stay bytes",
                "6455, 5",
                ask(LINES),
                Shop::Switches(SWITCH),
                &[Status(101), Tunnel(HIDDEN), Times(1)],
            ),
            HIDDEN,
        ),
        talk(
            case(
                "a head that is refused elsewhere is bytes in a tunnel",
                "6455, 5",
                ask(LINES),
                Shop::Switches(SWITCH),
                &[Status(101), Tunnel("GET /\n\n\0")],
            ),
            "GET /\n\n\0",
        ),
        case(
            "bytes ahead wait for the 101",
            "6455, 4.1",
            ask(LINES) + "ahead",
            Shop::SwitchesLate(SWITCH),
            &[Status(101), Tunnel("ahead"), NothingAhead],
        )
        .step(Step::Hear("AHEAD"))
        .step(Step::Finish),
        talk(
            case(
                "the accept header passes as it is",
                "6455, 4.2.2",
                ask(LINES),
                Shop::Switches(SWITCH),
                &[
                    Status(101),
                    AnswerField("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
                ],
            ),
            "x",
        ),
        // The client fails such a connection (RFC 6455, section 4.1); a proxy may pass it on.
        Case::new(
            "a wrong accept header",
            "6455, 4.1",
            ask(LINES),
            Expect::Either(vec![Status(101)]),
        )
        .shop(Shop::Switches(WRONG_ACCEPT))
        .step(Step::Hear("\r\n\r\n"))
        .step(Step::Finish),
    ]
}

fn not_granted() -> Vec<Case> {
    let hidden = || ask(LINES) + HIDDEN;
    let ok = Shop::Says(NO);
    vec![
        case("refused with 200", "6455, 4.2.2", ask(LINES), ok, &[NoTunnel, Times(1)]),
        case(
            "refused with 426",
            "9110, 15.5.22",
            ask(LINES),
            Shop::Says(ASK_AGAIN),
            &[Status(426), NoTunnel],
        ),
        case(
            "refused, and a request behind it",
            "CVE-2026-2833",
            hidden(),
            ok,
            &[NoTunnel, Start("GET /ws HTTP/1.1"), Times(1), Closed],
        )
        .gate_alone(),
        case(
            "refused late, and a request behind it",
            "CVE-2026-2833",
            hidden(),
            Shop::Early(NO),
            &[NoTunnel, Times(1), Closed],
        )
        .gate_alone(),
        Case::new(
            "a 101 that nobody asked for",
            "9110, 15.2.2",
            "GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n",
            Expect::Passes(vec![Status(502), NoTunnel]),
        )
        .shop(Shop::Switches(SWITCH))
        .gate_alone(),
        Case::new(
            "a 101 to h2c for a websocket",
            "9110, 7.8",
            ask(LINES),
            Expect::Passes(vec![Status(502), NoTunnel]),
        )
        .shop(Shop::Switches(TO_H2C))
        .gate_alone(),
        Case::new(
            "a 101 to nothing",
            "9110, 15.2.2",
            ask(LINES),
            Expect::Passes(vec![Status(502), NoTunnel]),
        )
        .shop(Shop::Switches(BARE))
        .gate_alone(),
    ]
}

/// A tunnel of HTTP would carry requests past the proxy's decisions: the request is forwarded without the upgrade, or
/// refused.
fn abused() -> Vec<Case> {
    let h2c = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n";
    let upgrade = |protocol: &str| format!("Connection: Upgrade\r\nUpgrade: {protocol}\r\n");
    let rows = [
        ("h2c, and a shop that speaks it", ask(h2c)),
        ("h2c without HTTP2-Settings", ask(&upgrade("h2c"))),
        ("H2C in upper case", ask(&upgrade("H2C"))),
        ("h2", ask(&upgrade("h2"))),
        ("HTTP/2.0", ask(&upgrade("HTTP/2.0"))),
        (
            "h2c behind websocket in a list",
            ask(&LINES.replace("websocket", "websocket, h2c")),
        ),
        (
            "h2c before websocket in a list",
            ask(&LINES.replace("websocket", "h2c, websocket")),
        ),
        (
            "h2c on a second line",
            ask(&LINES.replace("Upgrade: websocket\r\n", "Upgrade: websocket\r\nUpgrade: h2c\r\n")),
        ),
    ];
    let mut cases: Vec<Case> = rows
        .into_iter()
        .map(|(name, text)| {
            let case = Case::new(name, "9113, 3.1", text, Expect::Either(vec![Status(502), NoTunnel]));
            case.shop(Shop::Switches(TO_H2C))
        })
        .collect();
    cases.push(
        Case::new(
            "TLS within HTTP",
            "2817, 3",
            ask(&upgrade("TLS/1.3")),
            Expect::Either(vec![Status(502), NoTunnel]),
        )
        .shop(Shop::Switches(TO_TLS)),
    );
    let plain = [
        (
            "a websocket without Connection: Upgrade",
            ask(LINES).replace("Connection: Upgrade\r\n", ""),
        ),
        ("a websocket with HTTP/1.0", ask(LINES).replace("HTTP/1.1", "HTTP/1.0")),
        (
            "a websocket by POST with a body",
            ask(LINES)
                .replace("GET", "POST")
                .replace("\r\n\r\n", "\r\nContent-Length: 2\r\n\r\nok"),
        ),
        (
            "a websocket of version 8",
            ask(LINES).replace("Version: 13", "Version: 8"),
        ),
        (
            "a websocket without a key",
            ask(LINES).replace("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""),
        ),
    ];
    cases.extend(plain.map(|(name, text)| {
        Case::new(
            name,
            "6455, 4.2.1",
            text,
            Expect::Passes(vec![NoField("upgrade"), NoTunnel]),
        )
        .shop(Shop::Says(NO))
        .gate_alone()
    }));
    cases.push(
        Case::new(
            "a body beside Upgrade, then another request",
            "CVE-2026-2833",
            ask(LINES).replace("\r\n\r\n", "\r\nContent-Length: 2\r\n\r\nok") + HIDDEN,
            Expect::Passes(vec![Body("ok"), NoField("upgrade"), Times(1)]),
        )
        .shop(Shop::Says(NO))
        .gate_alone(),
    );
    cases.push(talk(
        Case::new(
            "a tunnel to the protected route",
            "design",
            ask(LINES).replace("/ws", "/seat"),
            Expect::Protected,
        )
        .shop(Shop::Switches(SWITCH)),
        HIDDEN,
    ));
    cases
}

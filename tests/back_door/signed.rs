//! The fields that reach the shop through a running gate, and the gate's answers about a session.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;

use crate::gate::Gate;
use crate::guest::{Guest, PAGE, SCRIPT};
use crate::http::Pool;
use crate::languages::{Case, answers};
use crate::shop::{Seen, Shop};
use crate::vectors::KEY;

/// A gate before `shop` with a room for one, and these lines in `[upstream]`.
async fn gate(shop: SocketAddr, upstream: &str, server: &str) -> Gate {
    let room = "total_active_users = 1\nexcept = [\"/free/*?*\", \"DELETE /free/*\"]";
    let mut gate = Gate::at(shop, room, "");
    gate.amend("[upstream]\n", &format!("[upstream]\n{upstream}\n"));
    gate.amend("[server]\n", &format!("[server]\n{server}\n"));
    gate.start();
    gate.ready().await;
    gate
}

fn signing() -> String {
    format!("signature_key = {{ id = \"{}\", secret = \"{}\" }}", KEY.0, KEY.1)
}

/// As a shop reads it.
fn case(seen: &Seen) -> Case {
    let mut line = seen.line().split(' ');
    let field = |name| seen.request.fields(name).collect::<Vec<_>>();
    let (sessions, signatures) = (field("ropeline-session"), field("ropeline-signature"));
    assert!(sessions.len() <= 1 && signatures.len() == 1, "{}", seen.request.head);
    Case {
        method: line.next().unwrap().to_owned(),
        target: line.next().unwrap().to_owned(),
        session: sessions.first().copied().unwrap_or_default().to_owned(),
        signature: signatures[0].to_owned(),
        now_secs: ropeline::time::wall().0 / 1_000,
    }
}

#[tokio::test]
async fn every_forwarded_request_is_confirmed_and_none_that_differs() {
    let shop = Shop::open(&[]).await;
    let gate = gate(shop.address, &signing(), "").await;
    let pool = Arc::new(Pool::new(gate.address));
    let (mut inside, mut other) = (Guest::new(&pool, 1), Guest::new(&pool, 2));
    let forged = format!("Ropeline-Signature: v1;k=2026-11;t=1;h=0\r\nRopeline_Signature: x\r\n{PAGE}");
    for target in [
        "/",
        "/order?id=5&next=%2Fa%2f%2Fb",
        "/?",
        "/a//b/c;d=e?f#g",
        "/free/\u{d55c}?q=\u{ae00}",
    ] {
        let target = target.split('#').next().unwrap();
        assert!(
            inside.send("GET", target, &forged, "").await.unwrap().is_the_shops(),
            "{target}"
        );
    }
    let answer = inside.send("POST", "/order", SCRIPT, "ticket=1").await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert!(
        other
            .send("DELETE", "/free/basket", &forged, "")
            .await
            .unwrap()
            .is_the_shops()
    );

    let cases: Vec<Case> = shop.seen().iter().map(case).collect();
    assert_eq!(cases.len(), 7);
    assert!(cases.iter().any(|case| case.session.is_empty()) && cases.iter().any(|case| !case.session.is_empty()));
    for (name, answers) in answers(&cases) {
        assert_eq!(answers, [true; 7], "{name}: {cases:#?}");
    }
    let altered: Vec<Case> = cases.iter().flat_map(alterations).collect();
    for (name, answers) in answers(&altered) {
        let taken = answers.iter().zip(&altered).find(|(answer, _)| **answer);
        assert!(taken.is_none(), "{name}: {taken:?}");
    }
}

/// The same signature on something else, or at another time.
fn alterations(case: &Case) -> Vec<Case> {
    let with = |change: fn(&mut Case)| {
        let mut altered = case.clone();
        change(&mut altered);
        altered
    };
    vec![
        with(|case| case.method.push('X')),
        with(|case| case.target.push('x')),
        with(|case| case.session.push('x')),
        with(|case| case.now_secs += 90),
        with(|case| case.now_secs -= 90),
    ]
}

#[tokio::test]
async fn without_a_key_nothing_is_signed_and_no_copy_comes_through() {
    let shop = Shop::open(&[]).await;
    let gate = gate(shop.address, "", "").await;
    let mut guest = Guest::new(&Arc::new(Pool::new(gate.address)), 1);
    let forged = format!("Ropeline-Signature: v1;k=a;t=1;h=0\r\nRopeline_Signature: x\r\n{PAGE}");
    guest.send("GET", "/", &forged, "").await.unwrap();
    let head = shop.seen()[0].request.head.to_ascii_lowercase();
    assert!(!head.contains("signature"), "{head}");
}

/// The gate's answer about a session, asked with this token.
async fn verified(gate: &Gate, session: &str, token: &str) -> (u16, Value) {
    let (host, session) = (gate.admin.address, format!("Ropeline-Session: {session}\r\n"));
    let fields = format!("Host: {host}\r\nAuthorization: Bearer {token}\r\n{session}");
    let request = format!("GET /api/v1/verify HTTP/1.1\r\n{fields}\r\n");
    let answer = gate.admin.ask(request.as_bytes()).await.unwrap();
    (answer.status(), answer.json())
}

#[tokio::test]
async fn a_shop_learns_at_the_order_whether_the_session_still_stands() {
    let shop = Shop::open(&[]).await;
    let token = "the-shops-very-own-token";
    let tokens = format!("admin_token = \"the-operators-own-token\"\nverify_token = \"{token}\"");
    let gate = gate(shop.address, "", &tokens).await;
    let mut guest = Guest::new(&Arc::new(Pool::new(gate.address)), 1);
    assert!(guest.page("/").await.is_the_shops());
    let session = shop.seen()[0].session().unwrap().to_owned();
    let (status, told) = verified(&gate, &session, token).await;
    let state = told["state"].as_str().unwrap();
    // The claim may be on its way to the log.
    assert!(status == 200 && ["called", "inside"].contains(&state), "{told}");
    assert_eq!((&told["room"], &told["line"]), (&"shop".into(), &"".into()));
    assert!(
        told["expires_in_secs"]
            .as_u64()
            .is_some_and(|left| (1..=330).contains(&left)),
        "{told}"
    );

    assert_eq!(verified(&gate, &session, "someone").await.0, 401);
    let (head, last) = session.split_at(session.len() - 1);
    let forged = format!("{head}{}", if last == "A" { 'B' } else { 'A' });
    for nobodys in [forged.as_str(), "x", ""] {
        assert_eq!(
            verified(&gate, nobodys, token).await,
            (200, serde_json::json!({"state": "none"}))
        );
    }
    assert_eq!(guest.own("POST", "leave").await.status(), 200);
    let (_, told) = verified(&gate, &session, token).await;
    assert_eq!(
        (&told["state"], &told["expires_at"]),
        (&"ended".into(), &Value::Null),
        "{told}"
    );
}

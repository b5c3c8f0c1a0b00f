//! Questions about requests with fields that the gate would remove in the request path: the proxy would pass them on, so the
//! answer is no.

use crate::gate::Gate;
use crate::guest::PAGE;
use crate::house::ONE;
use crate::http::{Message, Pool};

const ASKERS: [&str; 5] = ["nginx", "haproxy", "traefik", "caddy", "envoy"];

const ACCOUNTS: &str = "[room.identity]\nfrom = \"header\"\nname = \"X-User\"";

async fn asked(gate: &Gate, asker: &str, fields: &str) -> Message {
    let about = match asker {
        "nginx" | "haproxy" => {
            "Host: gate\r\nX-Original-Method: GET\r\nX-Original-Host: shop.test\r\nX-Original-URI: /static/a\r\n"
        }
        "envoy" => "Host: shop.test\r\n",
        _ => "Host: gate\r\nX-Forwarded-Method: GET\r\nX-Forwarded-Host: shop.test\r\nX-Forwarded-Uri: /static/a\r\n",
    };
    let target = if asker == "envoy" { "envoy/static/a" } else { asker };
    let question = format!(
        "GET /.ropeline/forward/{target} HTTP/1.1\r\n{about}X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: http\r\n\
         Ropeline-Body: none\r\n{PAGE}{fields}\r\n"
    );
    Pool::new(gate.address).ask(question.as_bytes()).await.unwrap()
}

#[tokio::test]
async fn a_request_with_an_alias_of_a_field_or_a_connection_that_names_one_away_may_not_pass() {
    let way = format!("[forward_auth]\nproxies = {ASKERS:?}");
    let mut gate = Gate::configured("embedded:data", &way, &format!("{ONE}\n{ACCOUNTS}"), "");
    gate.start();
    gate.ready().await;
    for asker in ASKERS {
        let refused = if matches!(asker, "nginx" | "haproxy") { 403 } else { 400 };
        for forged in [
            "X_User: ann",
            "X.User: ann",
            "X~User: ann",
            "X*User: ann",
            "Ropeline_Session: a",
            "Ropeline.Session: a",
            "X_Forwarded_For: 192.0.2.9",
            "X-Forwarded.Host: evil",
            "X_Original_URL: /admin",
            "X_Real_IP: 192.0.2.9",
            "Content_Length: 7",
            "Connection: X-User",
            "Connection: close, Cookie",
            "Connection: Ropeline-Session",
        ] {
            let answer = asked(&gate, asker, &format!("X-User: bob\r\n{forged}\r\n")).await;
            assert_eq!(
                (answer.status(), answer.word()),
                (refused, "undescribed"),
                "{asker} {forged}: {}",
                answer.head
            );
        }
        for usual in ["My_App: 1", "Connection: close", "X-User: bob"] {
            let answer = asked(&gate, asker, &format!("{usual}\r\n")).await;
            assert_eq!(
                (answer.status(), answer.word()),
                (200, "pass"),
                "{asker} {usual}: {}",
                answer.head
            );
        }
    }
}

/// Envoy sends the beginning of a body along, and the gate must not take it for the whole.
#[tokio::test]
async fn a_form_that_names_the_account_is_refused_unread() {
    let way = format!("[forward_auth]\nproxies = {ASKERS:?}");
    let form = "[room.identity]\nfrom = \"field\"\nname = \"email\"\non = \"POST /enter\"";
    let mut gate = Gate::configured("embedded:data", &way, &format!("{ONE}\n{form}"), "");
    gate.start();
    gate.ready().await;
    let body = "email=ann";
    let question = format!(
        "POST /.ropeline/forward/envoy/enter HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: 203.0.113.9\r\n\
         X-Forwarded-Proto: http\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n{PAGE}\r\n{body}",
        body.len()
    );
    let answer = Pool::new(gate.address).ask(question.as_bytes()).await.unwrap();
    assert_eq!(
        (answer.status(), answer.word()),
        (415, "unsupported"),
        "{}",
        answer.head
    );
    assert_eq!(gate.room().await["joins"], 0);
}

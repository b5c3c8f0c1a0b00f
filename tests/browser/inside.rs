//! Features of the shop that the gate must not disturb once a visitor is inside, and the treatment of other sites' forms.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use crate::hall;
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::look::Look;

#[tokio::test]
async fn the_shops_stream_and_socket_reach_those_inside() {
    let gate = hall::open(2, "").await;
    let (first, second) = tokio::join!(Browser::start(Look::default()), Browser::start(Look::default()));
    first.open(&gate.at("/seats")).await;
    first.shows("120 seats are free.").await;
    second.open(&gate.at("/seats")).await;
    second.click("#s5 button").await;
    first.shows("119 seats are free.").await;
    second.open(&gate.at("/ticker")).await;
    second.shows("connected").await;
    eventually("a word over the socket", async || {
        second.text().await.contains("119").then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_upload_goes_through_whole() {
    let gate = hall::open(1, "").await;
    let browser = Browser::start(Look::default()).await;
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&vec![7; 3 << 20]).expect("written");
    browser.open(&gate.at("/upload")).await;
    browser.attach("input[type=file]", file.path()).await;
    browser.click("form button").await;
    // The three mebibytes and the form's frame around them.
    let shown = browser.shows("bytes received").await;
    assert!(shown.contains("31458") || shown.contains("31459"), "{shown}");
}

#[tokio::test]
async fn a_form_from_another_site_is_not_sent_again_but_a_link_goes_on() {
    let gate = hall::open(1, "").await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("Choose your seats").await;
    let elsewhere = stranger(&gate.at("/basket"));
    browser.open(&format!("http://{elsewhere}/")).await;
    browser.click("button").await;
    browser.shows("One more step").await;
    browser.screenshot("same-site-link").await;
    browser.click("a.button").await;
    browser.shows("Your basket is empty").await;
    assert_eq!(browser.address().await, gate.at("/basket"));
}

/// Another site, whose page has a form that posts to `target`.
fn stranger(target: &str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound above");
    let page = format!("<!doctype html><form method=post action='{target}'><button>Send</button></form>");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let page = page.clone();
            std::thread::spawn(move || {
                let head = stream.read(&mut [0; 8192]);
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n{page}");
                head.and_then(|_| stream.write_all(answer.as_bytes()))
                    .unwrap_or_default();
            });
        }
    });
    address
}

//! A visitor who reads one page for longer than a called visitor may take to come.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::Value;

use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

/// Each with one slot, and the shortest `claim_deadline` that a configuration takes.
const ROOMS: &str = "[[room]]\nname = \"books\"\nroutes = [\"/product\", \"/product/*\"]\ntotal_active_users = 1\n\
                     claim_deadline = \"4s\"\nsession_duration = \"10 min\"\n\
                     [[room]]\nname = \"order\"\nroutes = [\"/order\"]\ntotal_active_users = 1\nsession_duration = \"4s\"\n\
                     [[room]]\nname = \"clock\"\nroutes = [\"/clock\"]\ntotal_active_users = 1\nclaim_deadline = \"4s\"";

#[tokio::test]
async fn who_reads_a_page_past_the_claim_deadline_goes_on_and_the_next_waits() {
    let (shop, requests) = shop();
    let gate = Gate::start(shop, ROOMS);
    let (reader, next) = tokio::join!(Browser::start(Look::default()), Browser::start(Look::default()));
    reader.open(&gate.at("/product")).await;
    reader.shows("Page one").await;
    next.open(&gate.at("/product")).await;
    next.shows("You are next").await;
    a_turn_is_missed(&gate).await;
    let room = room(&gate, "books").await;
    assert_eq!(
        ["sessions", "called", "waiting", "no_shows"].map(|figure| room[figure].as_u64()),
        [Some(1), Some(0), Some(1), Some(0)],
        "{room}"
    );
    assert_eq!(
        requests.try_iter().collect::<Vec<_>>(),
        ["/product"],
        "nothing but the page"
    );
    reader.click("#more").await;
    reader.shows("Page two").await;
    assert_eq!(reader.address().await, gate.at("/product/2"));
    assert!(next.text().await.contains("You are next"), "{}", next.text().await);
    assert_eq!(requests.try_iter().collect::<Vec<_>>(), ["/product/2"], "nobody else's");
}

/// The browser has kept the page that the form stands in, at the address that the form posts to.
#[tokio::test]
async fn who_has_sent_a_form_in_line_takes_the_turn_with_a_page_that_the_browser_has_kept() {
    let (shop, requests) = shop();
    let gate = Gate::start(shop, ROOMS);
    let browser = Browser::start(Look::default()).await;
    // The answer that sets the pass is not kept.
    for _ in 0..2 {
        browser.open(&gate.at("/order")).await;
        browser.shows("Page two").await;
    }
    let mut other = Guest::new(&gate.address);
    other.join("order").await;
    other.becomes("order", "called").await;
    assert_eq!(other.visit("/order").await.status, 200);
    browser.click("#send").await;
    browser.shows("did not go through").await;
    while requests.try_recv().is_ok() {}
    other.leave("order").await;
    browser.shows("Page two").await;
    assert_eq!(
        requests.try_iter().collect::<Vec<_>>(),
        ["/order"],
        "never what was posted"
    );
    let room = room(&gate, "order").await;
    assert_eq!(
        ["sessions", "called"].map(|figure| room[figure].as_u64()),
        [Some(1), Some(0)],
        "{room}"
    );
}

/// A visitor takes a slot of the other room and never comes: once that turn is over, so is any earlier one.
async fn a_turn_is_missed(gate: &Gate) {
    Guest::new(&gate.address).join("clock").await;
    eventually("a missed turn", async || {
        (room(gate, "clock").await["no_shows"] == 1).then_some(())
    })
    .await;
}

/// The operator's view of a room.
async fn room(gate: &Gate, name: &str) -> Value {
    let mut operator = Guest::new(&format!("http://{}", gate.admin));
    let answer = operator.visit(&format!("/api/v1/rooms/{name}")).await;
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {}", answer.body))
}

/// A shop of two pages that load nothing, and the targets of the requests that it has had, those that send something marked.
fn shop() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound above");
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || serve(stream, &sender).unwrap_or_default());
        }
    });
    (address, requests)
}

fn serve(mut stream: std::net::TcpStream, requests: &Sender<String>) -> std::io::Result<()> {
    let mut head = [0; 8192];
    let length = stream.read(&mut head)?;
    let head = String::from_utf8_lossy(&head[..length]);
    let (method, rest) = head.split_once(' ').unwrap_or_default();
    let target = rest.split(' ').next().unwrap_or_default();
    let title = if target == "/product" { "Page one" } else { "Page two" };
    // A shop that is checked on, by a connection without a request, notes nothing.
    if !target.is_empty() {
        let posted = if method == "GET" { "" } else { "sent to " };
        requests.send(format!("{posted}{target}")).unwrap_or_default();
    }
    let page = format!(
        "<!doctype html><link rel=icon href='data:,'><h1>{title}</h1><a id=more href='/product/2'>More</a>\
                        <form method=post action='/order'><button id=send>Send</button></form>"
    );
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: max-age=600\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{page}",
        page.len()
    )
}

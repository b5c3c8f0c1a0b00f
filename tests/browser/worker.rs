//! A shop whose service worker makes each navigation anew.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use crate::harness::browser::Browser;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

const ROOM: &str = "[[room]]\nname = \"sale\"\nroutes = [\"/tickets\"]\ntotal_active_users = 1";

/// The worker was installed by an earlier visit. A request that it makes anew is not marked as a navigation any more; only
/// its `Accept` remains.
#[tokio::test]
async fn who_comes_through_the_shops_service_worker_waits_as_anybody() {
    let gate = Gate::start(shop(), ROOM);
    let browser = Browser::start(Look::default()).await;
    let home = format!("http://localhost:{}", gate.address.rsplit(':').next().unwrap());
    browser.open(&format!("{home}/home")).await;
    browser.shows("The worker is here").await;
    let mut inside = Guest::new(&gate.address);
    for _ in 0..2 {
        assert_eq!(inside.visit("/tickets").await.gate, None);
    }
    browser.open(&format!("{home}/tickets")).await;
    let page = browser.shows("You are next").await;
    assert!(!page.contains("\"reason\""), "{page}");
    inside.leave("sale").await;
    browser.shows("Tickets, through the worker").await;
}

fn shop() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound above");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream).unwrap_or_default());
        }
    });
    address
}

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = [0; 8192];
    let length = stream.read(&mut head)?;
    let head = String::from_utf8_lossy(&head[..length]).into_owned();
    let (kind, body) = match head.split(' ').nth(1) {
        Some("/home") => ("text/html", HOME),
        Some("/worker.js") => ("text/javascript", WORKER),
        Some("/tickets") if head.to_lowercase().contains("sec-fetch-mode: same-origin") => {
            ("text/html", "<p>Tickets, through the worker</p>")
        }
        _ => ("text/html", "<p>Not through the worker</p>"),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

const HOME: &str = "<p id=\"told\">Wait</p><script>\
navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)\
.then(() => { document.getElementById('told').textContent = 'The worker is here'; });</script>";

const WORKER: &str = "self.addEventListener('install', () => self.skipWaiting());\
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));\
self.addEventListener('fetch', (event) => {\
  if (event.request.mode === 'navigate') {\
    event.respondWith(fetch(new Request(event.request, { redirect: 'follow' })));\
  }\
});";

//! The harness itself: a browser has the properties of its look. Without these the other tests could pass for a wrong reason.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use serde_json::json;

use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::look::Look;

/// Answers every request with a page that shows the request's head, and what a script and its styles make of it.
/// Ends with the process, on a port of its own.
fn mirror() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound above");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A thread for each: Chromium opens connections that it may never use.
            std::thread::spawn(move || reflect(stream));
        }
    });
    address
}

fn reflect(mut stream: TcpStream) {
    let mut head = [0; 8192];
    let read = stream.read(&mut head).unwrap_or(0);
    let page = format!(
        "<!doctype html><meta name=viewport content='width=device-width'><title>mirror</title>\
                 <pre style='white-space: pre-wrap; word-break: break-all'>{}</pre><p id=script>no script</p><script>document.getElementById('script').textContent='script'</script>",
        String::from_utf8_lossy(&head[..read])
    );
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: seen=1; Path=/\r\nConnection: close\r\n\r\n{page}"
    );
    drop(stream.write_all(answer.as_bytes()));
}

#[tokio::test]
async fn a_plain_browser_runs_scripts_keeps_cookies_and_is_light_and_wide() {
    let (browser, mirror) = (Browser::start(Look::default()).await, mirror());
    browser.open(&format!("http://{mirror}/")).await;
    browser.open(&format!("http://{mirror}/again")).await;
    let shown = browser.text().await.to_lowercase();
    assert!(shown.contains("accept-language: en-us,en"), "{shown}");
    assert!(shown.contains("cookie: seen=1"), "{shown}");
    assert!(!shown.contains("no script"), "{shown}");
    assert_eq!(
        browser
            .run("return matchMedia('(prefers-color-scheme: dark)').matches")
            .await,
        json!(false)
    );
    assert!(browser.run("return innerWidth").await.as_u64() > Some(900));
}

#[tokio::test]
async fn a_browser_without_scripts_and_cookies_has_neither() {
    let look = Look {
        scripts: false,
        cookies: false,
        ..Look::default()
    };
    let (browser, mirror) = (Browser::start(look).await, mirror());
    browser.open(&format!("http://{mirror}/")).await;
    browser.open(&format!("http://{mirror}/again")).await;
    let shown = browser.text().await.to_lowercase();
    assert!(shown.contains("no script"), "{shown}");
    assert!(!shown.contains("cookie: seen=1"), "{shown}");
}

#[tokio::test]
async fn a_korean_phone_in_the_dark_is_all_three() {
    let look = Look {
        language: "ko-KR,ko",
        dark: true,
        phone: true,
        ..Look::default()
    };
    let (browser, mirror) = (Browser::start(look).await, mirror());
    browser.open(&format!("http://{mirror}/")).await;
    assert!(
        browser
            .text()
            .await
            .to_lowercase()
            .contains("accept-language: ko-kr,ko")
    );
    assert_eq!(
        browser
            .run("return matchMedia('(prefers-color-scheme: dark)').matches")
            .await,
        json!(true)
    );
    assert_eq!(browser.run("return innerWidth").await, json!(360));
    assert!(browser.screenshot("harness-korean-phone").await.exists());
}

#[tokio::test]
async fn a_dropped_browser_leaves_no_process() {
    let browser = Browser::start(Look::default()).await;
    let profile = browser.profile();
    assert!(processes_naming(&profile) > 1, "Chromium is several processes");
    drop(browser);
    eventually("the end of all its processes", async || {
        (processes_naming(&profile) == 0).then_some(())
    })
    .await;
    assert!(!std::path::Path::new(&profile).exists());
}

/// How many processes have `text` in their command line.
fn processes_naming(text: &str) -> usize {
    let folders = std::fs::read_dir("/proc").expect("Linux").flatten();
    let lines = folders.filter_map(|folder| std::fs::read(folder.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(text))
        .count()
}

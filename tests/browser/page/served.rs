//! A server of finished pages.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Serves these pages until the test ends, and tells all other questions that it does not know.
pub async fn serve(pages: BTreeMap<String, String>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound above");
    let pages = Arc::new(pages);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, Arc::clone(&pages)));
        }
    });
    address
}

async fn answer(mut stream: TcpStream, pages: Arc<BTreeMap<String, String>>) {
    let mut head = [0; 8192];
    let length = stream.read(&mut head).await.unwrap_or_default();
    let head = String::from_utf8_lossy(&head[..length]).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let (status, body) = match pages.get(path) {
        Some(page) => ("200 OK", page.as_str()),
        None => ("503 Service Unavailable", ""),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    // The browser may be gone.
    let _ = stream.write_all(answer.as_bytes()).await;
}

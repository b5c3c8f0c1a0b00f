//! A visitor without a browser: a navigation's headers, a cookie jar, one request per connection. It takes slots and places
//! cheaply where a test is about what another visitor sees.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{PATIENCE, eventually};

/// A visitor with cookies.
pub struct Guest {
    host: String,
    cookies: BTreeMap<String, String>,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    /// The gate's own word on its answer; none on the shop's.
    pub gate: Option<String>,
    pub body: String,
    /// Bytes of head and body on the wire.
    pub bytes: usize,
}

impl Guest {
    /// A visitor of the gate at `address`, such as `http://localhost:8080`.
    pub fn new(address: &str) -> Self {
        let host = address.strip_prefix("http://").expect("no TLS here").to_owned();
        Self {
            host,
            cookies: BTreeMap::new(),
        }
    }

    /// Navigates to a path, as a browser without scripts does.
    pub async fn visit(&mut self, path: &str) -> Answer {
        self.ask("GET", path, "Accept: text/html\r\n").await
    }

    /// Joins a room as an app does, and sends its shop nothing.
    pub async fn join(&mut self, room: &str) {
        let answer = self
            .ask(
                "POST",
                &format!("/.ropeline/rooms/{room}/join"),
                "Accept: application/json\r\n",
            )
            .await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    /// Asks for this visitor's status in a room.
    pub async fn status(&mut self, room: &str) -> Value {
        let answer = self
            .ask(
                "GET",
                &format!("/.ropeline/rooms/{room}/status"),
                "Accept: application/json\r\n",
            )
            .await;
        serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{} {}: {error}", answer.status, answer.body))
    }

    /// Waits until the room says that this visitor's state is `state`; being asked keeps them present.
    pub async fn becomes(&mut self, room: &str, state: &str) {
        let asking = async {
            loop {
                let status = self.status(room).await;
                if status["state"] == state {
                    return;
                }
                // At the gate's own pace, or it would answer 429.
                let pause = status["refresh"].as_u64().unwrap_or(1).clamp(1, 5);
                tokio::time::sleep(Duration::from_secs(pause)).await;
            }
        };
        let came = tokio::time::timeout(PATIENCE, asking).await.is_ok();
        assert!(came, "never {state} but {}", self.status(room).await);
    }

    /// Gives the place or the slot back.
    pub async fn leave(&mut self, room: &str) {
        let answer = self
            .ask(
                "POST",
                &format!("/.ropeline/rooms/{room}/leave"),
                "Accept: application/json\r\n",
            )
            .await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    async fn ask(&mut self, method: &str, path: &str, headers: &str) -> Answer {
        let jar: Vec<String> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}Cookie: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            self.host,
            jar.join("; ")
        );
        let mut stream = eventually("a connection", async || TcpStream::connect(&self.host).await.ok()).await;
        stream.write_all(request.as_bytes()).await.expect("the request is sent");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.expect("the answer ends");
        self.read(&String::from_utf8_lossy(&bytes))
    }

    fn read(&mut self, text: &str) -> Answer {
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head
            .get(9..12)
            .and_then(|code| code.parse().ok())
            .unwrap_or_else(|| panic!("no status: {head}"));
        let mut gate = None;
        for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
            match name.to_ascii_lowercase().as_str() {
                "set-cookie" => self.keep(value),
                "ropeline-status" => gate = Some(value.to_owned()),
                _ => {}
            }
        }
        Answer {
            status,
            gate,
            body: body.to_owned(),
            bytes: text.len(),
        }
    }

    fn keep(&mut self, cookie: &str) {
        let (name, rest) = cookie.split_once('=').expect("a cookie has a name");
        let value = rest.split(';').next().unwrap_or_default();
        if value.is_empty() {
            self.cookies.remove(name);
        } else {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }
}

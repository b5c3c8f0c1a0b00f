//! One request on a connection of its own, and the head of its answer.

use std::time::Duration;

use http::HeaderMap;
use hyper::client::conn::http2::handshake;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::request::Request;
use crate::cli::rehearse::place::Place;

/// The result of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Head(Head),
    /// The connection ended without one.
    Closed,
    /// A server is there, with a certificate that is not trusted for the name.
    Untrusted(String),
    /// There is no connection, or nothing came in time.
    Silent(String),
}

/// The head of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    pub status: u16,
    /// The gate's word on an answer that it made itself. No other can say it: the gate removes it from the upstream's answers.
    pub word: Option<String>,
    pub location: Option<String>,
}

/// Sends the bytes of a request and reads the head of the answer.
pub async fn exchange(place: &Place, request: &[u8]) -> Answer {
    let exchange = async {
        let mut stream = match place.connect().await {
            Ok(stream) => stream,
            Err(error) if error.is_of_certificate() => return Ok(Answer::Untrusted(error.to_string())),
            Err(error) => return Err(error.to_string()),
        };
        // A gate may answer and close before it has read everything.
        let _ = stream.write_all(request).await;
        let _ = stream.flush().await;
        let mut text = Vec::new();
        while text.len() < MOST && !text.windows(4).any(|four| four == b"\r\n\r\n") {
            match stream.read_buf(&mut text).await {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
        Ok(Head::read(&text).map_or(Answer::Closed, Answer::Head))
    };
    in_time(exchange).await
}

/// The same over HTTP/2; `None` where HTTP/2 has no such request. A stream or connection that is reset counts as closed.
pub async fn exchange_http2(place: &Place, request: &Request) -> Option<Answer> {
    let request = request.over_http2(place.scheme())?;
    let exchange = async {
        let stream = place.over_http2().connect().await.map_err(|error| error.to_string())?;
        let Ok((mut sender, connection)) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await else {
            return Ok(Answer::Closed);
        };
        let connection = tokio::spawn(connection);
        let answer = sender.send_request(request).await;
        connection.abort();
        Ok(answer.map_or(Answer::Closed, |answer| {
            Answer::Head(Head::of(answer.status().as_u16(), answer.headers()))
        }))
    };
    Some(in_time(exchange).await)
}

async fn in_time(exchange: impl Future<Output = Result<Answer, String>>) -> Answer {
    match timeout(WITHIN, exchange).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(why)) => Answer::Silent(why),
        Err(_) => Answer::Silent(format!("no answer within {} s", WITHIN.as_secs())),
    }
}

impl Head {
    fn read(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        let mut lines = text.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let mut head = Self {
            status,
            word: None,
            location: None,
        };
        for (name, value) in lines
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.split_once(':'))
        {
            let value = value.trim().to_owned();
            if name.eq_ignore_ascii_case("ropeline-status") {
                head.word = Some(value);
            } else if name.eq_ignore_ascii_case("location") {
                head.location = Some(value);
            }
        }
        Some(head)
    }

    fn of(status: u16, headers: &HeaderMap) -> Self {
        let field = |name: &str| {
            headers
                .get(name)
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        Self {
            status,
            word: field("ropeline-status"),
            location: field("location"),
        }
    }
}

/// How long an answer may take.
const WITHIN: Duration = Duration::from_secs(20);

/// Most bytes of an answer's head.
const MOST: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_an_answer_is_read() {
        let read = |text: &str| Head::read(text.as_bytes());
        assert_eq!(
            read("HTTP/1.1 503 Service Unavailable\r\nRopeline-Status: waiting\r\n\r\nLocation: /x"),
            Some(Head {
                status: 503,
                word: Some("waiting".to_owned()),
                location: None
            })
        );
        let moved = read("HTTP/1.1 303 See Other\r\nlocation: /a\r\n\r\n").expect("a head");
        assert_eq!((moved.word, moved.location.as_deref()), (None, Some("/a")));
        assert_eq!(read(""), None);
        assert_eq!(read("nonsense"), None);
    }
}

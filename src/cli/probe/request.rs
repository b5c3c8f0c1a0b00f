//! A request as an attack makes it, and how it is written in either version of HTTP.

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::uri::Uri;
use http_body_util::Full;

/// One request. Its fields are lines, since some of the attacks are fields that no library would write.
#[derive(Clone, Debug)]
pub struct Request {
    pub host: String,
    pub method: String,
    pub target: String,
    /// Each with its end of line.
    pub fields: String,
    pub body: Vec<u8>,
}

impl Request {
    /// The bytes of HTTP/1.1. A browser's navigation has another `Accept`, so that it never joins.
    pub fn bytes(&self) -> Vec<u8> {
        let Self {
            host,
            method,
            target,
            fields,
            body,
        } = self;
        let head =
            format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{ACCEPT}\r\n{fields}Connection: close\r\n\r\n");
        [head.as_bytes(), body].concat()
    }

    /// The same for HTTP/2; `None` where that has no such request: one that speaks of the connection (RFC 9113, section 8.2.2),
    /// has a length that is not its body's (8.1.1), or a target that is no path (8.3.1).
    pub fn over_http2(&self, scheme: &str) -> Option<http::Request<Full<Bytes>>> {
        let target = Uri::builder()
            .scheme(scheme)
            .authority(self.host.as_str())
            .path_and_query(self.target.starts_with('/').then_some(self.target.as_str())?);
        let mut request = http::Request::builder()
            .method(self.method.as_str())
            .uri(target.build().ok()?);
        let length = self.body.len().to_string();
        for line in std::iter::once(ACCEPT).chain(self.fields.lines()) {
            let (name, value) = line.split_once(':')?;
            let (name, value) = (name.to_ascii_lowercase(), value.trim());
            if OF_CONNECTION.contains(&name.as_str()) || (name == CONTENT_LENGTH.as_str() && value != length) {
                return None;
            }
            request = request.header(name, value);
        }
        request.body(Full::from(self.body.clone())).ok()
    }
}

const ACCEPT: &str = "Accept: application/json";

const OF_CONNECTION: [&str; 3] = ["connection", "transfer-encoding", "upgrade"];

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, target: &str, fields: &str, body: &str) -> Request {
        Request {
            host: "shop.example".to_owned(),
            method: method.to_owned(),
            target: target.to_owned(),
            fields: fields.to_owned(),
            body: body.into(),
        }
    }

    #[test]
    fn a_request_is_written_for_either_version() {
        let post = request("POST", "//a?b", "Host: other\r\nContent-Length: 1\r\n", "x");
        let bytes = String::from_utf8(post.bytes()).expect("text");
        assert_eq!(
            bytes,
            "POST //a?b HTTP/1.1\r\nHost: shop.example\r\nAccept: application/json\r\nHost: other\r\n\
             Content-Length: 1\r\nConnection: close\r\n\r\nx"
        );
        let streamed = post.over_http2("https").expect("a request");
        assert_eq!(streamed.uri(), "https://shop.example//a?b");
        assert_eq!(
            (streamed.headers()["host"].as_bytes(), streamed.method().as_str()),
            (&b"other"[..], "POST")
        );
    }

    #[test]
    fn what_http2_has_no_words_for_is_not_written() {
        for (target, fields) in [
            ("http://shop.example/", ""),
            ("*", ""),
            ("/", "Connection: X-User\r\n"),
            ("/", "Transfer-Encoding: chunked\r\n"),
            ("/", "Content-Length: 5\r\n"),
        ] {
            let odd = request("GET", target, fields, "");
            assert!(odd.over_http2("https").is_none(), "{target} {fields}");
        }
    }
}

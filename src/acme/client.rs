//! Requests to the authority: hyper over the TLS that the gate speaks anyway, with a deadline and a bound on each answer.
//!
//! instant-acme's own client would bring a second set of trusted authorities and no bounds.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{HOST, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Limited};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use jiff::fmt::rfc2822;
use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::proxy::visitors_tls;
use crate::time;
use ropeline_ids::Wall;

/// A client of one authority; clones share what it said last ([`Client::anew`] does not).
#[derive(Clone)]
pub struct Client {
    tls: TlsConnector,
    said: Arc<Mutex<Said>>,
}

/// The last answer, as far as the client library does not pass it on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said {
    pub status: Option<StatusCode>,
    /// Of an answer that is a refusal.
    pub retry_after: Option<Wall>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error("{0} is no https URL")]
    Url(Uri),
    #[error("{host} cannot be reached: {source}")]
    Connect { host: String, source: std::io::Error },
    #[error("{host} does not speak HTTP: {source}")]
    Http { host: String, source: hyper::Error },
    #[error("{host}: its answer broke off, or is longer than {MAX_ANSWER} bytes")]
    Body { host: String },
    #[error("{host}: no answer within {} s", WITHIN.as_secs())]
    Late { host: String },
}

impl Client {
    /// Trusts these authorities, in PEM, or the system's.
    ///
    /// # Errors
    /// The reason why they cannot be used.
    pub fn new(authorities: Option<&[u8]>) -> Result<Self, String> {
        Ok(Self {
            tls: visitors_tls(authorities)?,
            said: Arc::default(),
        })
    }

    /// The same client for an order of its own: what the authority said before has nothing to do with it.
    pub fn anew(&self) -> Self {
        Self {
            tls: self.tls.clone(),
            said: Arc::default(),
        }
    }

    pub fn said(&self) -> Said {
        *self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn exchange(&self, request: Request<BodyWrapper<Bytes>>) -> Result<Response<Bytes>, NoAnswer> {
        let uri = request.uri().clone();
        let host = match uri.host() {
            // SECURITY: URLs come from the authority, and lead nowhere in the clear (RFC 8555, section 6.1).
            Some(host) if uri.scheme_str() == Some("https") => host.to_owned(),
            _ => return Err(NoAnswer::Url(uri)),
        };
        let answer = timeout(WITHIN, self.ask(&uri, &host, request)).await;
        let response = answer.unwrap_or(Err(NoAnswer::Late { host }))?;
        let status = response.status();
        let retry_after = (!status.is_success())
            .then(|| asked_for(response.headers(), time::wall()))
            .flatten();
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Said {
            status: Some(status),
            retry_after,
        };
        Ok(response)
    }

    async fn ask(
        &self,
        uri: &Uri,
        host: &str,
        mut request: Request<BodyWrapper<Bytes>>,
    ) -> Result<Response<Bytes>, NoAnswer> {
        let (named, plain) = (|| host.to_owned(), host.trim_matches(['[', ']']));
        let connect = |source| NoAnswer::Connect { host: named(), source };
        let tcp = TcpStream::connect((plain, uri.port_u16().unwrap_or(443)))
            .await
            .map_err(connect)?;
        let name = ServerName::try_from(plain.to_owned()).map_err(|_| NoAnswer::Url(uri.clone()))?;
        let stream = self.tls.connect(name, tcp).await.map_err(connect)?;
        let http = |source| NoAnswer::Http { host: named(), source };
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(http)?;
        // Ends by itself when the sender is dropped and the answer has come.
        tokio::spawn(connection);
        let authority = uri.authority().and_then(|all| HeaderValue::from_str(all.as_str()).ok());
        if let Some(authority) = authority {
            request.headers_mut().insert(HOST, authority);
        }
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        *request.uri_mut() = target.parse().map_err(|_| NoAnswer::Url(uri.clone()))?;
        let response = sender.send_request(request).await.map_err(http)?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, MAX_ANSWER).collect().await;
        let body = body.map_err(|_| NoAnswer::Body { host: named() })?;
        Ok(Response::from_parts(head, body.to_bytes()))
    }
}

impl HttpClient for Client {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let client = self.clone();
        Box::pin(async move {
            let response = client
                .exchange(request)
                .await
                .map_err(|error| Error::Other(error.into()))?;
            let (parts, body) = response.into_parts();
            Ok(BytesResponse {
                parts,
                body: Box::new(body),
            })
        })
    }
}

/// RFC 9110, section 10.2.3: seconds, or a date.
fn asked_for(headers: &HeaderMap, now: Wall) -> Option<Wall> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(secs) = value.parse::<u64>() {
        return Some(now.plus(secs.saturating_mul(1_000)));
    }
    let date = rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    u64::try_from(date.as_millisecond()).ok().map(Wall)
}

/// For one answer, connecting included.
const WITHIN: Duration = Duration::from_secs(30);
/// Most bytes of an answer: a chain of certificates has some thousand.
const MAX_ANSWER: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_an_authority_asks_for_is_in_seconds_or_a_date() {
        let now = Wall(1_000);
        for (value, time) in [
            ("120", Some(121_000)),
            (" 0 ", Some(1_000)),
            ("99999999999999999999", None),
            ("Fri, 31 Dec 1999 23:59:59 GMT", Some(946_684_799_000)),
            ("soon", None),
            ("-1", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(value))]);
            assert_eq!(asked_for(&headers, now), time.map(Wall), "{value}");
        }
        assert_eq!(asked_for(&HeaderMap::new(), now), None);
    }

    #[tokio::test]
    async fn nothing_is_asked_in_the_clear() {
        let client = Client::new(None).expect("the system has authorities");
        for url in ["http://127.0.0.1:1/", "/directory", "ftp://127.0.0.1/"] {
            let request = Request::builder().uri(url).body(BodyWrapper::default()).unwrap();
            let answer = client.exchange(request).await;
            assert!(matches!(answer, Err(NoAnswer::Url(_))), "{url}");
        }
    }
}

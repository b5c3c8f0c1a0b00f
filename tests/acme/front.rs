//! The proxy before the authority: TLS on both sides, every request passed on as it is, counted, or answered with a fault.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::harness::certificates::{Authority, Issued};
use crate::harness::listen::listen;

pub struct Front {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

/// An answer in the authority's place.
#[derive(Clone, Copy)]
pub enum Fault {
    /// 429, with this `Retry-After`.
    Busy(u32),
    /// 500, and a page.
    Broken,
    /// 200, and nothing that ACME knows.
    Garbage,
    /// A refusal for one host, with this `Retry-After`.
    Limited(u32),
    /// The authority does not know the account.
    NoAccount,
    /// The certificate was revoked before.
    AlreadyRevoked,
    /// The connection ends.
    Cut,
}

#[derive(Default)]
struct State {
    /// Paths and the authority's answers.
    passed: Vec<(String, StatusCode)>,
    /// Requests that were answered here.
    faulted: usize,
    /// For the next requests, one each.
    next: VecDeque<Fault>,
    /// For all that follow.
    always: Option<Fault>,
    /// For orders of these hosts.
    of_hosts: Vec<(&'static str, Fault)>,
    /// For all that follow one of these.
    after: Option<Fault>,
    /// For revocations.
    of_revocations: Option<Fault>,
}

impl Front {
    /// Serves until the test's process ends.
    pub fn open(authority: &Authority, issued: &Issued, behind: SocketAddr) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(issued.server()));
        let connector = TlsConnector::from(authority.shared_client());
        let state = Arc::<Mutex<State>>::default();
        let own = Arc::clone(&state);
        let address = listen(move |client| {
            let (acceptor, connector, own) = (acceptor.clone(), connector.clone(), Arc::clone(&own));
            async move {
                let Ok(client) = acceptor.accept(client).await else {
                    return;
                };
                let service = service_fn(move |request| answer(Arc::clone(&own), connector.clone(), behind, request));
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(client), service)
                    .await;
            }
        });
        Self { address, state }
    }

    /// The next requests get these, one each.
    pub fn next(&self, faults: &[Fault]) {
        self.state.lock().unwrap().next.extend(faults);
    }

    /// All requests get this, or the authority's answers again.
    pub fn always(&self, fault: Option<Fault>) {
        self.state.lock().unwrap().always = fault;
    }

    /// An order of a host gets this, and all requests after it get another.
    pub fn of_host_and_after(&self, host: &'static str, fault: Fault, after: Fault) {
        let mut state = self.state.lock().unwrap();
        (state.of_hosts, state.after) = (vec![(host, fault)], Some(after));
    }

    /// Orders of these hosts get these, and others the authority's answers.
    pub fn of_hosts(&self, faults: &[(&'static str, Fault)]) {
        self.state.lock().unwrap().of_hosts = faults.to_vec();
    }

    /// Revocations get this, or the authority's answers again.
    pub fn of_revocations(&self, fault: Option<Fault>) {
        self.state.lock().unwrap().of_revocations = fault;
    }

    /// Orders that the authority has opened.
    pub fn orders(&self) -> usize {
        let state = self.state.lock().unwrap();
        let is_order = |(path, status): &&(String, StatusCode)| path == "/order-plz" && *status == StatusCode::CREATED;
        state.passed.iter().filter(is_order).count()
    }

    /// Accounts that the authority has made.
    pub fn accounts(&self) -> usize {
        let state = self.state.lock().unwrap();
        let is_account =
            |(path, status): &&(String, StatusCode)| path == "/sign-me-up" && *status == StatusCode::CREATED;
        state.passed.iter().filter(is_account).count()
    }

    /// Requests below this path that the authority took.
    pub fn took(&self, path: &str) -> usize {
        let state = self.state.lock().unwrap();
        let is_taken = |(asked, status): &&(String, StatusCode)| asked.starts_with(path) && *status == StatusCode::OK;
        state.passed.iter().filter(is_taken).count()
    }

    /// Requests that the authority refused.
    pub fn refused(&self) -> usize {
        let state = self.state.lock().unwrap();
        state
            .passed
            .iter()
            .filter(|(_, status)| status.is_client_error())
            .count()
    }

    /// All requests that came, the faulted ones included.
    pub fn asked(&self) -> usize {
        let state = self.state.lock().unwrap();
        state.passed.len() + state.faulted
    }

    /// Requests that got a fault.
    pub fn faulted(&self) -> usize {
        self.state.lock().unwrap().faulted
    }
}

impl Fault {
    /// `None`: there is none.
    fn response(self) -> Option<Response<Full<Bytes>>> {
        let page = || "<html>no ACME here</html>".to_owned();
        let problem = |kind: &str| format!("{{\"type\": \"urn:ietf:params:acme:error:{kind}\"}}");
        let (status, body) = match self {
            Self::Busy(_) => (StatusCode::TOO_MANY_REQUESTS, page()),
            Self::Broken => (StatusCode::INTERNAL_SERVER_ERROR, page()),
            Self::Garbage => (StatusCode::OK, page()),
            Self::Limited(_) => (StatusCode::TOO_MANY_REQUESTS, problem("rateLimited")),
            Self::NoAccount => (StatusCode::BAD_REQUEST, problem("accountDoesNotExist")),
            Self::AlreadyRevoked => (StatusCode::BAD_REQUEST, problem("alreadyRevoked")),
            Self::Cut => return None,
        };
        let mut response = Response::new(Full::from(body));
        *response.status_mut() = status;
        if let Self::Busy(secs) | Self::Limited(secs) = self {
            response.headers_mut().insert(RETRY_AFTER, secs.into());
        }
        Some(response)
    }
}

impl State {
    fn fault(&mut self, path: &str, body: &[u8]) -> Option<Fault> {
        let is_for = |host: &str| path == "/order-plz" && asks_for(body, host);
        let of_host = self.of_hosts.iter().find(|(host, _)| is_for(host));
        let fault = of_host.map(|(_, fault)| *fault);
        if fault.is_some() && self.after.is_some() {
            self.always = self.after;
        }
        let of_revocation = self.of_revocations.filter(|_| path == "/revoke-cert");
        let fault = fault
            .or(of_revocation)
            .or_else(|| self.next.pop_front())
            .or(self.always);
        self.faulted += usize::from(fault.is_some());
        fault
    }
}

/// Whether a signed request (RFC 8555, section 6.2) names the host.
fn asks_for(body: &[u8], host: &str) -> bool {
    let signed: serde_json::Value = serde_json::from_slice(body).unwrap();
    let payload = URL_SAFE_NO_PAD.decode(signed["payload"].as_str().unwrap()).unwrap();
    String::from_utf8(payload).unwrap().contains(host)
}

async fn answer(
    state: Arc<Mutex<State>>,
    connector: TlsConnector,
    behind: SocketAddr,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, io::Error> {
    let path = request.uri().path().to_owned();
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let fault = state.lock().unwrap().fault(&path, &body);
    if let Some(fault) = fault {
        return fault.response().ok_or_else(|| io::ErrorKind::ConnectionReset.into());
    }
    let tcp = TcpStream::connect(behind).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = connector.connect(name, tcp).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let passed = sender
        .send_request(Request::from_parts(head, Full::<Bytes>::from(body)))
        .await
        .unwrap();
    let (head, body) = passed.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    state.lock().unwrap().passed.push((path, head.status));
    Ok(Response::from_parts(head, Full::<Bytes>::from(body)))
}

//! A gate reduced to the proxy: it forwards, `/detached` also for a client that hangs up, answers `/own…` by itself, and turns errors
//! into bare statuses.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use ropeline::proxy::{
    Body, BodyOf, Conn, Detachable, Drained, Forward, ForwardError, Hop, Listener, RequestBody, Server, ServerSettings,
    Stage, Stats, Upstream, UpstreamServers, UpstreamSettings, read_rest, serve,
};
use ropeline::tls::Tls;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::shop::{PATIENCE, Shop};

/// Settings that a test may change before the gate starts.
pub struct Setup {
    pub server: ServerSettings,
    pub upstream: UpstreamSettings,
    /// The shop's servers, where they are there already.
    pub origins: Option<UpstreamServers>,
    pub trusted: Vec<ipnet::IpNet>,
    /// Fields that only a trusted peer may bring.
    pub said: Vec<HeaderName>,
    pub cores: usize,
    /// TLS of the listener, if it is not in the clear.
    pub tls: Option<Arc<Tls>>,
    /// Cancels tunnels.
    pub cancel: CancellationToken,
    /// Bytes of answers without end that were asked for so far.
    pub given: Arc<AtomicUsize>,
    /// Held by every forwarded answer until it ends.
    guard: Arc<()>,
}

pub struct Gate {
    pub server: Option<Server>,
    pub address: SocketAddr,
    pub stats: Arc<Stats>,
    pub origins: UpstreamServers,
    pub cancel: CancellationToken,
    pub given: Arc<AtomicUsize>,
    guards: Arc<()>,
}

impl Gate {
    pub fn new(shop: &Shop) -> Self {
        Self::with(shop.address, |_| {})
    }

    pub fn with(shop: SocketAddr, change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup {
            server: ServerSettings::default(),
            upstream: UpstreamSettings::new(shop.ip().to_string(), shop.port()),
            origins: None,
            trusted: Vec::new(),
            said: Vec::new(),
            cores: 1,
            tls: None,
            cancel: CancellationToken::new(),
            given: Arc::default(),
            guard: Arc::new(()),
        };
        change(&mut setup);
        let listener = setup.server.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = match setup.tls.clone() {
            Some(tls) => Listener::from(listener).secured(tls),
            None => listener.into(),
        };
        let stats = Arc::new(Stats::default());
        let (guards, given) = (Arc::clone(&setup.guard), Arc::clone(&setup.given));
        let (cancel, counted) = (setup.cancel.clone(), Arc::clone(&stats));
        let origins = setup.origins.take();
        let origins = origins.unwrap_or_else(|| UpstreamServers::start(setup.upstream.clone()).unwrap());
        let shared = origins.clone();
        let (settings, cores, setup) = (setup.server.clone(), setup.cores, Arc::new(setup));
        let server = serve(vec![listener], cores, &settings, Arc::clone(&stats), move |_core| {
            let upstream = Upstream::new(shared.clone(), Arc::clone(&counted));
            let setup = Arc::clone(&setup);
            move |conn, request| respond(Arc::clone(&setup), upstream.clone(), conn, request)
        })
        .unwrap();
        Self {
            address: server.addresses()[0],
            server: Some(server),
            stats,
            origins,
            cancel,
            given,
            guards,
        }
    }

    /// That streams all bodies.
    pub fn streaming(shop: &Shop) -> Self {
        Self::with(shop.address, |setup| setup.upstream.request_buffer = 0)
    }

    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// A client at another address of this machine.
    pub fn client_from(&self, own: &str) -> Client {
        Client::from(own.parse().unwrap(), self.address)
    }

    /// Answers and tunnels under way.
    pub fn guards(&self) -> usize {
        // One is ours, one the setup's.
        Arc::strong_count(&self.guards) - 2
    }

    pub fn closing(&self) -> CancellationToken {
        self.server.as_ref().unwrap().closing()
    }

    /// Waits until `condition` holds.
    pub fn until(&self, what: &str, mut condition: impl FnMut(&Self) -> bool) {
        let step = Duration::from_millis(2);
        for _ in 0..PATIENCE.as_millis() / step.as_millis() {
            if condition(self) {
                return;
            }
            std::thread::park_timeout(step);
        }
        panic!("it never came to be: {what}");
    }

    pub fn drain(mut self, patience: Duration) -> Drained {
        self.server.take().unwrap().drain(patience)
    }
}

async fn respond(
    setup: Arc<Setup>,
    upstream: Upstream,
    conn: Arc<Conn>,
    request: Request<RequestBody>,
) -> Response<Body> {
    match request.uri().path() {
        "/own" => return Response::new(Body::from("own")),
        "/own/read" => return Response::new(Body::full(request.into_body().collect().await.unwrap().to_bytes())),
        "/own/stuck" => stand_still(&setup.cancel),
        "/own/endless" => return Response::new(Body::stream(StreamBody::new(endless(setup)))),
        "/detached" => {
            let may = || Some(Box::new(()) as Box<dyn Send>);
            let (hop, whose) = (Arc::clone(conn.hop()), BodyOf::Inside(conn.peer().ip()));
            return Detachable::new(conn.hop(), may, |stage| detached(upstream, hop, whose, request, stage)).await;
        }
        "/own/stream" => return Response::new(Body::stream(StreamBody::new(greet(conn)))),
        _ => {}
    }
    let mut forward = Forward::over(&conn, &setup.trusted);
    let session = [(
        HeaderName::from_static("ropeline-session"),
        HeaderValue::from_static("opaque"),
    )];
    forward.said_by_proxies = &setup.said;
    forward.headers = &session;
    forward.cancel = Some(setup.cancel.clone());
    let heard = OnceLock::new();
    let hear = |_, word: Option<&HeaderValue>| {
        word.inspect(|word| heard.set((*word).clone()).expect("one head"));
    };
    forward.signal = Some(&session[0].0);
    forward.heard = &hear;
    match upstream.forward(Box::new(request), &forward).await {
        Ok(mut response) => {
            if let Some(word) = heard.into_inner() {
                response.headers_mut().insert("x-heard", word);
            }
            response.map(|body| body.hold(Arc::clone(&setup.guard)))
        }
        Err(error) => refuse(error),
    }
}

async fn detached(
    upstream: Upstream,
    hop: Arc<Hop>,
    whose: BodyOf,
    request: Request<RequestBody>,
    stage: Stage,
) -> Response<Body> {
    let forward = Forward {
        hop: &hop,
        whose,
        peer_trusted: false,
        said_by_proxies: &[],
        headers: &[],
        still: &|| true,
        cancel: None,
        signal: None,
        heard: &|_, _| {},
        stage: Some(&stage),
    };
    let mut response = upstream
        .forward(Box::new(request), &forward)
        .await
        .unwrap_or_else(refuse);
    if stage.is_detached() {
        read_rest(response.body_mut()).await;
    }
    response
}

/// Keeps the whole core from turning, as a fault of the program would.
fn stand_still(until: &CancellationToken) {
    while !until.is_cancelled() {
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

fn refuse(error: ForwardError) -> Response<Body> {
    let mut response = Response::new(Body::from(format!("{:?} {:?}", error.fault, error.kind)));
    *response.status_mut() = error.kind.status();
    assert_ne!(response.status(), StatusCode::OK);
    response
}

/// Pieces without end, each counted.
fn endless(setup: Arc<Setup>) -> impl futures_util::Stream<Item = Result<Frame<Bytes>, Infallible>> {
    futures_util::stream::repeat_with(move || {
        setup.given.fetch_add(PIECE.len(), Relaxed);
        Ok(Frame::data(Bytes::from_static(PIECE)))
    })
}

const PIECE: &[u8] = &[b'x'; 8192];

/// Says hello, and goodbye when the server drains.
fn greet(conn: Arc<Conn>) -> impl futures_util::Stream<Item = Result<Frame<Bytes>, Infallible>> {
    let hello = futures_util::stream::once(async { "hello" });
    let bye = futures_util::stream::once(async move {
        conn.closing().cancelled().await;
        "bye"
    });
    hello.chain(bye).map(|text| Ok(Frame::data(Bytes::from(text))))
}

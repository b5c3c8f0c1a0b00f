//! HTTP/2 to the shop: its requests, shared connections, retries, and malicious shops.

mod again;
mod faulty;
pub mod frames;
mod openings;
mod shared;
mod small_frames;
mod speech;
mod tunnels;

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Arc, Condvar, Mutex};

use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Builder, SendResponse};
use http::{HeaderMap, Request, Response};
use ropeline::proxy::{UpstreamHttp2, UpstreamSettings, UpstreamTls};
use rustls::ServerConfig;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio_rustls::TlsAcceptor;

use crate::certificates::Authority;
use crate::gate::{Gate, Setup};
use crate::shop::{OK, PATIENCE};
use ropeline_testkit::harness::listen::listen;

const GET: &str = "GET /a HTTP/1.1\r\nHost: shop.example\r\n\r\n";
const POST: &str = "POST /a HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 5\r\n\r\nhello";

/// A shop by the book: h2's own server.
struct Shop {
    address: SocketAddr,
    record: Arc<Record>,
}

#[derive(Default)]
struct Record {
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    changed: Condvar,
}

/// A request as it came.
struct Seen {
    head: http::request::Parts,
    body: String,
    trailers: Option<HeaderMap>,
}

type Answering = Pin<Box<dyn Future<Output = Option<()>> + Send>>;
type Script = dyn Fn(Asked) -> Answering + Send + Sync;

/// A request under way.
struct Asked {
    request: Request<RecvStream>,
    reply: SendResponse<Bytes>,
    record: Arc<Record>,
}

impl Asked {
    fn path(&self) -> &str {
        self.request.uri().path()
    }

    /// Reads the whole request and records it.
    async fn read(&mut self) -> Option<()> {
        let head = self.head();
        let body = self.request.body_mut();
        let mut whole = Vec::new();
        while let Some(data) = body.data().await {
            let data = data.ok()?;
            body.flow_control().release_capacity(data.len()).ok()?;
            whole.extend_from_slice(&data);
        }
        let trailers = body.trailers().await.ok()?;
        let seen = Seen {
            head,
            body: String::from_utf8(whole).unwrap(),
            trailers,
        };
        self.record.note(seen);
        Some(())
    }

    fn head(&self) -> http::request::Parts {
        let mut copy = Request::new(());
        *copy.method_mut() = self.request.method().clone();
        *copy.uri_mut() = self.request.uri().clone();
        *copy.headers_mut() = self.request.headers().clone();
        if let Some(protocol) = self.request.extensions().get::<h2::ext::Protocol>() {
            copy.extensions_mut().insert(protocol.clone());
        }
        copy.into_parts().0
    }

    /// Answers with this text.
    fn say(&mut self, answer: Response<()>, text: &str) -> Option<()> {
        let mut body = self.reply.send_response(answer, text.is_empty()).ok()?;
        if !text.is_empty() {
            body.send_data(Bytes::copy_from_slice(text.as_bytes()), true).ok()?;
        }
        Some(())
    }
}

impl Record {
    fn note(&self, seen: Seen) {
        self.seen.lock().unwrap().push(seen);
        self.changed.notify_all();
    }
}

async fn hi(mut asked: Asked) -> Option<()> {
    asked.read().await?;
    asked.say(Response::new(()), "hi")
}

impl Shop {
    /// Says hi to every request, in the clear.
    fn new() -> Self {
        Self::with(None, Builder::new(), |asked| Box::pin(hi(asked)))
    }

    fn with(
        tls: Option<ServerConfig>,
        builder: Builder,
        script: impl Fn(Asked) -> Answering + Send + Sync + 'static,
    ) -> Self {
        let record = Arc::new(Record::default());
        let (script, records): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&record));
        let acceptor = tls.map(|tls| TlsAcceptor::from(Arc::new(tls)));
        let address = listen(move |stream| {
            records.connections.fetch_add(1, SeqCst);
            let (script, records) = (Arc::clone(&script), Arc::clone(&records));
            let (builder, acceptor) = (builder.clone(), acceptor.clone());
            async move {
                let Some(acceptor) = acceptor else {
                    speak(stream, builder, script, records).await;
                    return;
                };
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                match stream.get_ref().1.alpn_protocol() {
                    Some(b"h2") => speak(stream, builder, script, records).await,
                    _ => plainly(stream).await,
                };
            }
        });
        Self { address, record }
    }

    fn connections(&self) -> usize {
        self.record.connections.load(SeqCst)
    }

    /// Waits for so many requests, and gives a look at them.
    fn seen<T>(&self, count: usize, look: impl FnOnce(&[Seen]) -> T) -> T {
        let seen = self.record.seen.lock().unwrap();
        let few = |seen: &mut Vec<Seen>| seen.len() < count;
        let (seen, late) = self.record.changed.wait_timeout_while(seen, PATIENCE, few).unwrap();
        assert!(!late.timed_out(), "{} of {count} came", seen.len());
        look(&seen)
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    builder: Builder,
    script: Arc<Script>,
    record: Arc<Record>,
) -> Option<()> {
    let mut connection = builder.handshake::<_, Bytes>(stream).await.ok()?;
    while let Some(request) = connection.accept().await {
        let (request, reply) = request.ok()?;
        tokio::spawn(script(Asked {
            request,
            reply,
            record: Arc::clone(&record),
        }));
    }
    Some(())
}

/// HTTP/1.1, and a WebSocket that answers in capitals.
async fn plainly(stream: impl AsyncRead + AsyncWrite + Unpin) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while stream.read_line(&mut head).await.ok()? > 0 {
        if !head.ends_with("\r\n\r\n") {
            continue;
        }
        if head.to_ascii_lowercase().contains("upgrade: websocket") {
            stream.write_all(crate::upgrades::SWITCH.as_bytes()).await.ok()?;
            loop {
                let mut word = [0; 4];
                stream.read_exact(&mut word).await.ok()?;
                word.make_ascii_uppercase();
                stream.write_all(&word).await.ok()?;
                stream.flush().await.ok()?;
            }
        }
        stream.write_all(OK.as_bytes()).await.ok()?;
        stream.flush().await.ok()?;
        head.clear();
    }
    Some(())
}

/// TLS with a certificate for 127.0.0.1 that chooses from these protocols.
fn secured(protocols: &[&str]) -> (ServerConfig, UpstreamTls) {
    let authority = Authority::new();
    let issued = authority.issue(&["127.0.0.1"]);
    let mut config = issued.server();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let trusting = UpstreamTls {
        authorities: Some(authority.pem().into_bytes()),
        name: None,
        own: None,
    };
    (config, trusting)
}

/// A gate that speaks HTTP/2 to a shop in the clear.
fn gate(shop: SocketAddr) -> Gate {
    gate_with(shop, |_| {})
}

fn gate_with(shop: SocketAddr, change: impl FnOnce(&mut UpstreamSettings)) -> Gate {
    Gate::with(shop, |setup| {
        setup.upstream.http2 = UpstreamHttp2::PriorKnowledge;
        setup.upstream.connect = PATIENCE;
        change(&mut setup.upstream);
    })
}

/// A gate that lets a shop behind TLS choose.
fn gate_by_alpn(shop: SocketAddr, tls: UpstreamTls) -> Gate {
    Gate::with(shop, |Setup { upstream, .. }| {
        upstream.http2 = UpstreamHttp2::Alpn;
        upstream.servers[0].tls = true;
        upstream.tls = Some(tls);
        upstream.connect = PATIENCE;
    })
}

fn connects(gate: &Gate) -> u64 {
    gate.origins.stats().connects.load(Relaxed)
}

fn until_idle(gate: &Gate) {
    gate.until("nothing is in flight", |gate| {
        gate.origins.standing().iter().all(|server| server.in_flight == 0)
    });
}

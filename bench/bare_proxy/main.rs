//! The cost of hyper, rustls and tokio alone: a reverse proxy of nothing else, which `scripts/bench` compares with the gate.
//!
//!     cargo run --release --example bare_proxy -- --listen 127.0.0.1:8080 --upstream 127.0.0.1:9000
//!
//! It removes hop-by-hop fields, forwards over kept HTTP/1.1 connections, and answers `/return` by itself. TLS and hyper's
//! bounds are set as in the gate. It has no deadlines, limits, counters or retries, and none of hyper's deadlines either: the
//! gate turns those off too and has its own. So it is no proxy to use, but a lower bound for the cost of one.

mod forward;

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use clap::Parser;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::server::NoServerSessionStorage;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use self::forward::Proxy;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Forwards every request to one server, and does nothing else.
#[derive(Parser)]
struct Options {
    /// Where HTTP/1.1 is spoken in the clear.
    #[arg(long)]
    listen: SocketAddr,
    /// The server that requests go to, by HTTP/1.1 in the clear.
    #[arg(long)]
    upstream: SocketAddr,
    /// Where TLS is spoken, and within it HTTP/1.1 or HTTP/2.
    #[arg(long, requires = "cert", requires = "key")]
    tls_listen: Option<SocketAddr>,
    /// The certificate chain for it, in PEM.
    #[arg(long)]
    cert: Option<PathBuf>,
    /// The certificate's key, in PEM.
    #[arg(long)]
    key: Option<PathBuf>,
    /// Length of the answer to `/return`.
    #[arg(long, default_value_t = 100)]
    return_bytes: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let own = Bytes::from(vec![b'0'; options.return_bytes]);
    let proxy = Arc::new(Proxy::new(options.upstream, own));
    if let (Some(at), Some(cert), Some(key)) = (options.tls_listen, &options.cert, &options.key) {
        let tls = TlsAcceptor::from(Arc::new(tls(cert, key)?));
        tokio::spawn(accept(TcpListener::bind(at).await?, Some(tls), Arc::clone(&proxy)));
    }
    accept(TcpListener::bind(options.listen).await?, None, proxy).await?;
    Ok(())
}

/// As the gate speaks it: the same provider with its order of ciphers, and sessions resumed by tickets alone.
fn tls(cert: &Path, key: &Path) -> Result<ServerConfig, Box<dyn Error>> {
    let chain = CertificateDer::pem_file_iter(cert)?.collect::<Result<_, _>>()?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.ticketer = aws_lc_rs::Ticketer::new()?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, proxy: Arc<Proxy>) -> io::Result<()> {
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        tokio::spawn(serve(socket, tls.clone(), Arc::clone(&proxy)));
    }
}

async fn serve(socket: TcpStream, tls: Option<TlsAcceptor>, proxy: Arc<Proxy>) {
    let Some(tls) = tls else {
        return serve_http1(socket, proxy).await;
    };
    let Ok(stream) = tls.accept(socket).await else { return };
    match stream.get_ref().1.alpn_protocol() {
        Some(HTTP2) => serve_http2(stream, proxy).await,
        _ => serve_http1(stream, proxy).await,
    }
}

async fn serve_http1<IO>(io: IO, proxy: Arc<Proxy>)
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(|request| proxy.answer(request));
    // A client that leaves is not an error.
    let _ = http1::Builder::new()
        .header_read_timeout(None)
        .max_header_size(HEAD_BYTES)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(io), answer)
        .await;
}

async fn serve_http2<IO>(io: IO, proxy: Arc<Proxy>)
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(move |request| {
        let proxy = Arc::clone(&proxy);
        async move { proxy.answer(request).await }
    });
    let _ = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(u32::try_from(HEAD_BYTES).unwrap_or(u32::MAX))
        .max_send_buf_size(SEND_BYTES)
        .serve_connection(TokioIo::new(io), answer)
        .await;
}

const HTTP2: &[u8] = b"h2";
/// Bounds that the gate sets too (`ServerSettings`, `proxy::http2`).
const HEAD_BYTES: usize = 32 * 1024;
const STREAMS: u32 = 100;
const SEND_BYTES: usize = 16 * 1024;

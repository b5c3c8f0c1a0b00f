//! A TCP proxy between a gate and its store, on real sockets, that can inject faults while connections are open.

use std::io;
use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

/// The effect on the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Toxic {
    Pass,
    /// Each way takes this much longer.
    Delay(Duration),
    /// Requests reach the store, replies are lost. Connections that saw it are closed when that is over.
    Swallow,
    /// This many bytes of the next reply on each connection arrive, then it is closed.
    CutReply(usize),
    /// No bytes arrive on either side until that is over; connections stay open.
    Blackhole,
    /// Open connections are closed, and new ones as soon as they are made.
    Refuse,
}

impl Toxic {
    /// Whether a connection ends here, which may have lost a reply or cannot.
    fn closes(self, swallowed: bool) -> bool {
        self == Toxic::Refuse || (swallowed && self != Toxic::Swallow)
    }
}

/// A running proxy; dropping it closes everything.
pub struct Proxy {
    pub address: SocketAddr,
    toxic: watch::Sender<Toxic>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// A proxy on a separate port before `server`, which need not exist yet. It has a thread of its own, so that the test's
    /// other work does not slow it down.
    pub fn before(server: SocketAddr) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port for the proxy");
        let address = listener.local_addr().expect("a bound listener has an address");
        let (toxic, told) = watch::channel(Toxic::Pass);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime for the proxy").block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = accept(listener, server, told) => {}
                }
            });
        });
        Self {
            address,
            toxic,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// From now on, for open connections too.
    pub fn set(&self, toxic: Toxic) {
        self.toxic.send_replace(toxic);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Bytes, and when they are due at the other end.
type Parcel = (Instant, Vec<u8>);

/// Reads under way on one connection and direction; more makes the sender wait, as a full socket does.
const PARCELS: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Request,
    Reply,
}

async fn accept(listener: std::net::TcpListener, server: SocketAddr, toxic: watch::Receiver<Toxic>) {
    listener.set_nonblocking(true).expect("a socket of this process");
    let listener = TcpListener::from_std(listener).expect("a runtime to listen with");
    while let Ok((client, _)) = listener.accept().await {
        if *toxic.borrow() == Toxic::Refuse {
            continue;
        }
        tokio::spawn(connect(client, server, toxic.clone()));
    }
}

async fn connect(client: TcpStream, server: SocketAddr, toxic: watch::Receiver<Toxic>) -> io::Result<()> {
    let server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    // Whichever ends first ends the connection: both sockets are dropped with the other.
    tokio::select! {
        done = carry(from_client, to_server, toxic.clone(), Way::Request) => done,
        done = carry(from_server, to_client, toxic, Way::Reply) => done,
    }
}

async fn carry(from: OwnedReadHalf, to: OwnedWriteHalf, toxic: watch::Receiver<Toxic>, way: Way) -> io::Result<()> {
    let (parcels, due) = mpsc::channel(PARCELS);
    let (read, written) = tokio::join!(take(from, parcels, toxic, way), deliver(to, due));
    read.and(written)
}

/// Reads until the end, or until the toxic closes the connection.
async fn take(
    mut from: OwnedReadHalf,
    parcels: mpsc::Sender<Parcel>,
    mut toxic: watch::Receiver<Toxic>,
    way: Way,
) -> io::Result<()> {
    let mut swallowed = false;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let now = *toxic.borrow_and_update();
        if now.closes(swallowed) {
            return Ok(());
        }
        swallowed |= now == Toxic::Swallow;
        let read = tokio::select! {
            read = from.read(&mut buffer), if now != Toxic::Blackhole => read?,
            changed = toxic.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return Ok(()),
            },
        };
        let bytes = &buffer[..read];
        // The toxic at this moment decides: it may have come with the bytes, after the read began.
        if toxic.wait_for(|toxic| *toxic != Toxic::Blackhole).await.is_err() {
            return Ok(());
        }
        let now = *toxic.borrow();
        let (delay, bytes) = match (now, way) {
            _ if bytes.is_empty() || now.closes(swallowed) => return Ok(()),
            (Toxic::Delay(delay), _) => (delay, bytes),
            (Toxic::Swallow, Way::Reply) => continue,
            (Toxic::CutReply(most), Way::Reply) => (Duration::ZERO, &bytes[..most.min(read)]),
            _ => (Duration::ZERO, bytes),
        };
        let cut = matches!((now, way), (Toxic::CutReply(_), Way::Reply));
        let sent = parcels.send((Instant::now() + delay, bytes.to_vec())).await;
        if cut || sent.is_err() {
            return Ok(());
        }
    }
}

async fn deliver(mut to: OwnedWriteHalf, mut parcels: mpsc::Receiver<Parcel>) -> io::Result<()> {
    while let Some((due, bytes)) = parcels.recv().await {
        if due > Instant::now() {
            sleep_until(due).await;
        }
        to.write_all(&bytes).await?;
    }
    Ok(())
}

//! One client connection: its peer, its current activity, and the bytes that the kernel has not sent yet.
//!
//! A [`Conn`] is shared by the socket, the connection's loop and the service. It keeps the socket's write half open and
//! counts as a connection as long as any holder lives. Keep it no longer than the request, or keep a `Weak`.

use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::client::framing::Malformed;
use crate::client::hop::Hop;
use crate::client::proto::{Ends, Proto};
use crate::listen::load::Permit;
use crate::listen::transport::WriteHalf;
use crate::lock::held;
use crate::settings::ServerSettings;

/// A client connection.
#[derive(Debug)]
pub struct Conn {
    peer: SocketAddr,
    local: SocketAddr,
    proto: Proto,
    hop: Arc<Hop>,
    write: WriteHalf,
    closing: CancellationToken,
    opened: Instant,
    phase: AtomicU8,
    since_ms: AtomicU64,
    /// Answers under way.
    flights: AtomicU32,
    multiplexed: AtomicBool,
    close: AtomicBool,
    /// Milliseconds after `opened` at which it is closed unless a request comes before; 0 for never.
    parts_ms: AtomicU64,
    tunnelled: AtomicBool,
    /// The socket's send buffer is full.
    full: AtomicBool,
    /// Answers that wait for room.
    waiting: Mutex<Vec<Waker>>,
    stalled: AtomicBool,
    permit: Permit,
    /// Requests that hyper has read.
    requests: AtomicU64,
    /// The index of the request that the guard refused, and the reason.
    refused: OnceLock<(u64, Malformed)>,
}

/// The phase of a connection; each phase but `ANSWERING` has a deadline of its own.
const FRESH: u8 = 0;
const HEAD: u8 = 1;
const ANSWERING: u8 = 2;
const IDLE: u8 = 3;

impl Conn {
    /// The wait for a first byte is counted from `opened`.
    pub(crate) fn new(
        ends: Ends,
        proto: Proto,
        write: WriteHalf,
        permit: Permit,
        (closing, opened): (CancellationToken, Instant),
    ) -> Self {
        let (peer, local) = (canonical(ends.peer), canonical(ends.local));
        Self {
            peer,
            local,
            proto,
            hop: Arc::new(Hop::of(peer, local, proto).at(permit.spot().clone())),
            write,
            closing,
            opened,
            phase: AtomicU8::new(FRESH),
            since_ms: AtomicU64::new(0),
            flights: AtomicU32::new(0),
            multiplexed: AtomicBool::new(false),
            close: AtomicBool::new(false),
            parts_ms: AtomicU64::new(0),
            tunnelled: AtomicBool::new(false),
            full: AtomicBool::new(false),
            waiting: Mutex::default(),
            stalled: AtomicBool::new(false),
            permit,
            requests: AtomicU64::new(0),
            refused: OnceLock::new(),
        }
    }

    /// The other end of the socket; an IPv4-mapped IPv6 address is given as IPv4. Behind a Unix socket it is 127.0.0.1.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Our end of the socket; a Unix socket has the usual port of [`Conn::proto`].
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// How the client reached us.
    #[must_use]
    pub fn proto(&self) -> Proto {
        self.proto
    }

    /// Its part in the requests that come over it.
    #[must_use]
    pub fn hop(&self) -> &Arc<Hop> {
        &self.hop
    }

    /// Cancelled when the server begins to drain: end streams with a retry hint then.
    #[must_use]
    pub fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Asks for the connection to be closed after the answer under way.
    pub fn close(&self) {
        self.close.store(true, Ordering::Relaxed);
    }

    /// Whether the peer's kernel has acknowledged every byte written so far; over a Unix socket, whether the peer has read
    /// them. False when the kernel will not say, so a
    /// reader that is gone never counts as there. One system call.
    #[must_use]
    pub fn acknowledged(&self) -> bool {
        unsent(self.stream()).is_ok_and(|bytes| bytes == 0)
    }

    /// How the connection is counted.
    pub(crate) fn permit(&self) -> &Permit {
        &self.permit
    }

    /// How many bytes lie unread in the kernel, one at most; 0 is their end. One system call.
    pub(crate) fn peek(&self) -> io::Result<usize> {
        socket2::SockRef::from(self.stream()).peek(&mut [MaybeUninit::uninit()])
    }

    /// No request is under way, but bytes have arrived that were not read.
    pub(crate) fn has_unread(&self) -> bool {
        self.idle_since().is_some() && self.peek().is_ok_and(|count| count > 0)
    }

    pub(crate) fn stream(&self) -> &WriteHalf {
        &self.write
    }

    pub(crate) fn closes(&self) -> bool {
        self.close.load(Ordering::Relaxed)
    }

    pub(crate) fn tunnel(&self) {
        self.tunnelled.store(true, Ordering::Relaxed);
    }

    /// The request behind this number of others is refused, whatever its content.
    pub(crate) fn refuse(&self, behind: u64, malformed: Malformed) {
        let _ = self.refused.set((behind, malformed));
    }

    /// Why the request that hyper has just read is refused; counts it.
    pub(crate) fn refused(&self) -> Option<Malformed> {
        let behind = self.requests.fetch_add(1, Ordering::Relaxed);
        let (refused, malformed) = self.refused.get()?;
        (*refused == behind).then_some(*malformed)
    }

    /// No part of a request has been received.
    pub(crate) fn is_between(&self) -> bool {
        matches!(self.phase.load(Ordering::Relaxed), FRESH | IDLE)
    }

    /// A head has begun to come, and is not complete.
    pub(crate) fn is_in_head(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == HEAD
    }

    /// The last write found room in the socket.
    pub(crate) fn has_room(&self) -> bool {
        !self.full.load(Ordering::Relaxed)
    }

    /// Ready while the socket has room. SECURITY: data that a client does not take stays at its source and is not buffered.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.has_room() {
            return Poll::Ready(());
        }
        let mut waiting = held(&self.waiting);
        if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            if waiting.len() >= MOST_WAITING {
                // Most of these were called off meanwhile; the others come again.
                waiting.drain(..).for_each(Waker::wake);
            }
            waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Notes whether the last write found room.
    pub(crate) fn found_room(&self, has_room: bool) {
        // PERF: nearly always nothing changes, and nothing need be written.
        if self.full.load(Ordering::Relaxed) != has_room {
            return;
        }
        let mut waiting = held(&self.waiting);
        self.full.store(!has_room, Ordering::Relaxed);
        if has_room {
            waiting.drain(..).for_each(Waker::wake);
        }
    }

    /// The other end has taken nothing, or acknowledged nothing, for too long.
    pub(crate) fn stalled(&self) {
        self.stalled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Relaxed)
    }

    pub(crate) fn is_tunnel(&self) -> bool {
        self.tunnelled.load(Ordering::Relaxed)
    }

    /// The connection carries many requests at once, so the bytes that its socket has taken do not belong to one of them.
    #[must_use]
    pub fn is_multiplexed(&self) -> bool {
        self.multiplexed.load(Ordering::Relaxed)
    }

    /// From now on requests begin and end on streams of their own, and bytes alone begin none.
    pub(crate) fn multiplex(&self) {
        self.multiplexed.store(true, Ordering::Relaxed);
    }

    /// Bytes came in: between requests they begin a head.
    pub(crate) fn bytes_in(&self) {
        if matches!(self.phase.load(Ordering::Relaxed), FRESH | IDLE) {
            self.enter(HEAD);
        }
    }

    /// A head is complete; the request is the service's until the guard drops.
    pub(crate) fn answering(self: &Arc<Self>) -> Flight {
        let others = self.flights.fetch_add(1, Ordering::Relaxed);
        self.phase.store(ANSWERING, Ordering::Relaxed);
        Flight {
            conn: Arc::clone(self),
            others,
        }
    }

    /// The drain has begun between two requests: the next one, which may be on its way already, is the last.
    pub(crate) fn part(&self) {
        self.close();
        let at = self.opened.elapsed() + LAST_REQUEST;
        let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        self.parts_ms.store(at, Ordering::Relaxed);
    }

    /// Whether [`Conn::part`] was called and no request followed.
    pub(crate) fn has_parted(&self) -> bool {
        self.parts_ms.load(Ordering::Relaxed) > 0
    }

    /// When the wait of this connection ends; none while an answer is under way.
    pub(crate) fn due(&self, settings: &ServerSettings) -> Option<Instant> {
        let phase = self.phase.load(Ordering::Relaxed);
        let patience = match phase {
            FRESH => settings.first_byte,
            HEAD => settings.head,
            IDLE => settings.keep_alive,
            _ => return None,
        };
        let due = self.since() + patience;
        let parts = self.opened + Duration::from_millis(self.parts_ms.load(Ordering::Relaxed));
        Some(if phase != HEAD && self.has_parted() {
            due.min(parts)
        } else {
            due
        })
    }

    /// Since when nothing is under way; none while something is.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        (self.phase.load(Ordering::Relaxed) != ANSWERING).then(|| self.since())
    }

    fn since(&self) -> Instant {
        self.opened + Duration::from_millis(self.since_ms.load(Ordering::Relaxed))
    }

    fn enter(&self, phase: u8) {
        let since = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since_ms.store(since, Ordering::Relaxed);
        self.phase.store(phase, Ordering::Relaxed);
    }
}

/// Twice the answers that one connection may have under way.
const MOST_WAITING: usize = 200;
/// How long a connection without a request is left open when the drain begins: longer than a request may be under way that was
/// sent before its client could know.
const LAST_REQUEST: Duration = Duration::from_secs(1);

/// An answer under way; when the last drops the connection is idle again.
#[derive(Debug)]
pub(crate) struct Flight {
    conn: Arc<Conn>,
    others: u32,
}

impl Flight {
    /// Ready while the client's socket has room.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.conn.poll_room(cx)
    }

    /// Whether nothing else was under way when it began.
    pub(crate) fn is_alone(&self) -> bool {
        self.others == 0
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.conn.flights.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.conn.enter(IDLE);
        }
    }
}

/// An address as IPv4 where it is one, however the socket was opened.
fn canonical(address: SocketAddr) -> SocketAddr {
    let ip: IpAddr = address.ip().to_canonical();
    SocketAddr::new(ip, address.port())
}

/// Bytes written but not yet acknowledged by the peer (`SIOCOUTQ`, tcp(7)), or not yet read by it (unix(7)).
#[expect(unsafe_code, reason = "no crate in use offers SIOCOUTQ as a safe call")]
fn unsent(stream: &WriteHalf) -> rustix::io::Result<std::ffi::c_int> {
    // SAFETY: SIOCOUTQ on a stream socket, TCP or Unix, writes exactly one `int`, which is the type given; the descriptor is
    // borrowed from an open socket for the length of the call.
    unsafe {
        let ask = rustix::ioctl::Getter::<SIOCOUTQ, std::ffi::c_int>::new();
        rustix::ioctl::ioctl(stream, ask)
    }
}

/// `SIOCOUTQ` is `TIOCOUTQ` under another name; its number is that of the older terminal call.
#[cfg(not(any(
    target_arch = "mips",
    target_arch = "mips64",
    target_arch = "powerpc",
    target_arch = "powerpc64"
)))]
const SIOCOUTQ: rustix::ioctl::Opcode = 0x5411;
#[cfg(any(target_arch = "mips", target_arch = "mips64"))]
const SIOCOUTQ: rustix::ioctl::Opcode = 0x7472;
#[cfg(any(target_arch = "powerpc", target_arch = "powerpc64"))]
const SIOCOUTQ: rustix::ioctl::Opcode = 0x4004_7473;

#[cfg(test)]
pub(crate) mod tests;

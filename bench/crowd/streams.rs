//! Thousands of visitors on event streams, each at a separate address: the gate's cost of a stream and of an update for all,
//! and how they come back after a restart.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::house::{Gate, ROOM};
use crate::joins::navigation;
use crate::wire::Wire;

/// The events on all streams.
#[derive(Default)]
pub struct Seen {
    up: AtomicUsize,
    bytes: AtomicU64,
    frames: AtomicU64,
    /// Failed connections and wrong answers, while the gate was up.
    failures: AtomicUsize,
    ends: AtomicUsize,
}

/// Visitors who listen until this is dropped.
pub struct Listeners {
    pub seen: Arc<Seen>,
    _tasks: JoinSet<()>,
}

/// The cost of the streams.
pub struct Cost {
    /// Bytes of the gate's own memory for each: of the first half, and of the second.
    pub memory: [u64; 2],
    /// Processor time of the gate in a second in which nothing happens, for each.
    pub quiet: Duration,
    /// Bytes that each is sent in a minute in which nothing happens.
    pub bytes: u64,
}

impl Listeners {
    /// Joins `count` visitors, some at a time, who listen on the same connection; `gate` is measured at both halves.
    pub async fn gather(gate: &Gate, count: usize) -> (Self, Cost) {
        let seen = Arc::new(Seen::default());
        let mut tasks = JoinSet::new();
        let mut memory = vec![gate.process.memory()];
        for half in 0..2 {
            let all: Vec<usize> = (count / 2 * half..count / 2 * (half + 1)).collect();
            for some in all.chunks(TOGETHER) {
                let joining: JoinSet<_> = some.iter().map(|index| Listener::join(gate.address, *index)).collect();
                for listener in joining.join_all().await {
                    tasks.spawn(listener.expect("a place").listen(Arc::clone(&seen)));
                }
            }
            // The first heartbeats are over by then.
            until(&seen, count / 2 * (half + 1)).await;
            sleep(QUIET).await;
            memory.push(gate.process.memory());
        }
        let listeners = Self { seen, _tasks: tasks };
        let halves = u64::try_from(count / 2).expect("a count");
        let grown = |at: usize| memory[at + 1].saturating_sub(memory[at]) / halves;
        let (cpu, bytes) = (gate.process.cpu(), listeners.seen.bytes.load(Ordering::Relaxed));
        sleep(MINUTE).await;
        let sent = listeners.seen.bytes.load(Ordering::Relaxed) - bytes;
        let used = gate.process.cpu().saturating_sub(cpu);
        let cost = Cost {
            memory: [grown(0), grown(1)],
            quiet: used / u32::try_from(MINUTE.as_secs() * halves * 2).expect("some"),
            bytes: sent / (2 * halves),
        };
        (listeners, cost)
    }

    /// Something changes for all of them: how many frames were sent within a minute, and what processor time each took.
    pub async fn update(&self, gate: &Gate) -> (u64, Duration) {
        let (frames, cpu) = (self.seen.frames.load(Ordering::Relaxed), gate.process.cpu());
        let mut newcomer = Wire::open(gate.address, None).await.expect("a connection");
        let joined = newcomer.ask(navigation("/event", 200_000, "").as_bytes()).await;
        assert_eq!(joined.expect("an answer").word(), "waiting");
        sleep(MINUTE).await;
        let sent = self.seen.frames.load(Ordering::Relaxed) - frames;
        let used = gate.process.cpu().saturating_sub(cpu);
        (sent, used / u32::try_from(sent.max(1)).expect("some"))
    }

    /// Restarts the gate. Returns how long it was gone, how long after that until all listen again, and the failures
    /// meanwhile.
    pub async fn restart(&self, gate: &mut Gate) -> (Duration, Duration, usize) {
        let count = self.seen.up.load(Ordering::Relaxed);
        let ends = self.seen.ends.load(Ordering::Relaxed);
        let failures = self.seen.failures.load(Ordering::Relaxed);
        let gone = gate.restart().await;
        let began = Instant::now();
        while self.seen.ends.load(Ordering::Relaxed) < ends + count {
            assert!(began.elapsed() < PATIENCE, "some never heard of it");
            sleep(STEP).await;
        }
        until(&self.seen, count).await;
        (
            gone,
            began.elapsed(),
            self.seen.failures.load(Ordering::Relaxed) - failures,
        )
    }
}

async fn until(seen: &Seen, count: usize) {
    let began = Instant::now();
    while seen.up.load(Ordering::Relaxed) < count {
        assert!(
            began.elapsed() < PATIENCE,
            "{} of {count} listen",
            seen.up.load(Ordering::Relaxed)
        );
        sleep(STEP).await;
    }
}

/// A visitor with a ticket, and a connection from an address of their own.
struct Listener {
    to: SocketAddr,
    from: IpAddr,
    ticket: String,
    wire: Option<Wire>,
}

impl Listener {
    /// Asks for the page as a browser does.
    async fn join(to: SocketAddr, index: usize) -> io::Result<Self> {
        let own = u32::from_be_bytes([127, 1, 0, 0]) + u32::try_from(index).expect("an address for each");
        let from = IpAddr::V4(Ipv4Addr::from(own));
        let mut wire = Wire::open(to, Some(from)).await?;
        let answer = wire.ask(navigation("/event", index, "").as_bytes()).await?;
        let ticket = answer.cookie("ropeline-ticket-").unwrap_or_default().to_owned();
        assert_eq!(answer.word(), "waiting", "{}", answer.head);
        Ok(Self {
            to,
            from,
            ticket,
            wire: Some(wire),
        })
    }

    /// Listens forever; when the stream ends it reconnects as the stream requires.
    async fn listen(mut self, seen: Arc<Seen>) {
        loop {
            let retry = self.once(&seen).await.unwrap_or(RETRY);
            self.wire = None;
            sleep(retry).await;
        }
    }

    /// One stream to its end, and when to come back.
    async fn once(&mut self, seen: &Seen) -> io::Result<Duration> {
        let mut wire = match self.wire.take() {
            Some(wire) => wire,
            // Refused while the gate does not listen: the browser comes again.
            None => Wire::open(self.to, Some(self.from)).await?,
        };
        let request = format!(
            "GET /.ropeline/rooms/{ROOM}/events HTTP/1.1\r\nHost: shop.test\r\nAccept: text/event-stream\r\nCookie: {}\r\n\r\n",
            self.ticket
        );
        wire.stream.write_all(request.as_bytes()).await?;
        let answer = wire.head().await?;
        if answer.word() != "stream" {
            seen.failures.fetch_add(1, Ordering::Relaxed);
            return Ok(RETRY);
        }
        seen.up.fetch_add(1, Ordering::Relaxed);
        let mut last = Vec::new();
        while let Ok(bytes) = wire.next().await {
            seen.bytes
                .fetch_add(u64::try_from(bytes.len()).expect("few"), Ordering::Relaxed);
            let frames = memchr::memmem::find_iter(&bytes, b"event: status").count();
            seen.frames
                .fetch_add(u64::try_from(frames).expect("few"), Ordering::Relaxed);
            last = bytes;
        }
        seen.up.fetch_sub(1, Ordering::Relaxed);
        seen.ends.fetch_add(1, Ordering::Relaxed);
        Ok(hinted(&last).unwrap_or(RETRY))
    }
}

/// The last `retry:` field received.
fn hinted(bytes: &[u8]) -> Option<Duration> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find_map(|line| line.strip_prefix("retry: "))?;
    line.trim().parse().ok().map(Duration::from_millis)
}

/// How soon a browser reconnects by default.
const RETRY: Duration = Duration::from_secs(3);
const STEP: Duration = Duration::from_millis(20);
/// Joins at once.
const TOGETHER: usize = 100;
const QUIET: Duration = Duration::from_secs(20);
const MINUTE: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(120);

//! A shop made of raw sockets that records every byte, in order and by connection, and answers as a case says.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use socket2::SockRef;

use super::case::{OK, SERVED, Shop as Manner};
use super::faults::{End, Faulty};
use super::message;

/// How long the shop takes to agree late.
const LATE: Duration = Duration::from_millis(150);
/// Between two bytes that come one by one.
const DRIP: Duration = Duration::from_millis(5);
/// How long a proxy is given to notice that its connections have ended.
const NOTICE: Duration = Duration::from_millis(300);

/// A running shop.
pub struct Shop {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    manner: Option<Manner>,
    /// Grows with each case: connections of an earlier one record nothing any more.
    case: usize,
    lines: Vec<Line>,
}

struct Line {
    /// Gone once the shop itself has ended it.
    stream: Option<TcpStream>,
    seen: Seen,
    open: bool,
}

/// The bytes of one connection.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub bytes: Vec<u8>,
    /// The request that asked for another protocol ends here, and so many bytes had come when that was granted.
    pub switched: Option<(usize, usize)>,
}

impl Shop {
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&accepting);
                let Ok(own) = stream.try_clone() else { continue };
                let _ = stream.set_nodelay(true);
                let mut state = shared.state();
                let place = (state.case, state.lines.len());
                let Some(manner) = state.manner else { continue };
                state.lines.push(Line {
                    stream: Some(own),
                    seen: Seen::default(),
                    open: true,
                });
                drop(state);
                thread::spawn(move || {
                    // An error is the proxy's way to end a connection.
                    let _ = serve(stream, manner, place, &shared);
                    shared.with(place, |line| (line.stream, line.open) = (None, false));
                });
            }
        });
        Ok(Self { address, shared })
    }

    /// From here on everything belongs to a new case.
    pub fn begin(&self, manner: Manner) {
        let mut state = self.shared.state();
        state.manner = Some(manner);
        state.case += 1;
        state.lines.clear();
    }

    /// Waits until no byte has come for `quiet`, ends all connections, and returns the bytes of each.
    pub fn end(&self, quiet: Duration) -> Vec<Seen> {
        let mut state = self.shared.state();
        loop {
            let (next, late) = self.shared.wait(state, quiet);
            state = next;
            if late {
                break;
            }
        }
        let seen = state.lines.iter().map(|line| line.seen.clone()).collect();
        for stream in state.lines.iter().filter_map(|line| line.stream.as_ref()) {
            let _ = stream.shutdown(Shutdown::Write);
        }
        while state.lines.iter().any(|line| line.open) {
            let (next, late) = self.shared.wait(state, NOTICE);
            state = next;
            if late {
                break;
            }
        }
        for stream in state.lines.drain(..).filter_map(|line| line.stream) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        seen
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, patience: Duration) -> (MutexGuard<'a, State>, bool) {
        let (state, late) = self
            .changed
            .wait_timeout(state, patience)
            .unwrap_or_else(PoisonError::into_inner);
        (state, late.timed_out())
    }

    fn with(&self, (case, at): (usize, usize), change: impl FnOnce(&mut Line)) {
        let mut state = self.state();
        if state.case == case
            && let Some(line) = state.lines.get_mut(at)
        {
            change(line);
        }
        self.changed.notify_all();
    }
}

/// One connection: reads, records, and answers each request.
fn serve(mut stream: TcpStream, manner: Manner, place: (usize, usize), shared: &Shared) -> io::Result<()> {
    let mut ahead = Vec::new();
    let mut gone = 0;
    let mut buffer = vec![0; 64 * 1024];
    let mut heads_answered = 0;
    if let Manner::Faulty(Faulty { bytes, end: End::Ahead }) = manner
        && place.1 == 0
    {
        stream.write_all(bytes.as_bytes())?;
    }
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        ahead.extend_from_slice(&buffer[..count]);
        shared.with(place, |line| line.seen.bytes.extend_from_slice(&buffer[..count]));
        while let Some(head) = head_end(&ahead) {
            if heads_answered == 0 {
                heads_answered = 1;
                match manner {
                    Manner::Early(answer) => stream.write_all(answer.as_bytes())?,
                    Manner::Continues if expects(&ahead[..head]) => {
                        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
                    }
                    _ => {}
                }
            }
            let Some(end) = whole(&ahead, head) else { break };
            match manner {
                Manner::Switches(answer) => {
                    return switch(&mut stream, (answer, gone + end), &ahead[end..], place, shared);
                }
                Manner::SwitchesLate(answer) => {
                    thread::park_timeout(LATE);
                    return switch(&mut stream, (answer, gone + end), &ahead[end..], place, shared);
                }
                Manner::Says(answer) if ahead.starts_with(b"HEAD ") => stream.write_all(head_of(answer))?,
                Manner::Says(answer) => stream.write_all(answer.as_bytes())?,
                Manner::Serves(answer) => {
                    let is_other = String::from_utf8_lossy(&ahead[..head]).contains(SERVED);
                    stream.write_all(if is_other { OK } else { answer }.as_bytes())?;
                }
                Manner::Faulty(_) if String::from_utf8_lossy(&ahead[..head]).contains(SERVED) => {
                    stream.write_all(OK.as_bytes())?;
                }
                Manner::Faulty(faulty) => faulty_answer(&mut stream, faulty)?,
                Manner::Continues => stream.write_all(OK.as_bytes())?,
                Manner::Early(_) => {}
            }
            ahead.drain(..end);
            gone += end;
            heads_answered = 0;
        }
    }
}

/// Answers as no shop should; an error where the connection is to end.
fn faulty_answer(stream: &mut TcpStream, Faulty { bytes, end }: Faulty) -> io::Result<()> {
    match end {
        End::Ahead => Ok(()),
        End::Drips => bytes.as_bytes().chunks(1).try_for_each(|byte| {
            thread::park_timeout(DRIP);
            stream.write_all(byte)
        }),
        End::Repeats => loop {
            stream.write_all(bytes.repeat(100).as_bytes())?;
        },
        End::Holds => stream.write_all(bytes.as_bytes()),
        End::Closes | End::Resets => {
            stream.write_all(bytes.as_bytes())?;
            if end == End::Resets {
                // Written bytes must arrive before the reset discards them.
                thread::park_timeout(DRIP);
                SockRef::from(&*stream).set_linger(Some(Duration::ZERO))?;
            }
            Err(io::ErrorKind::ConnectionAborted.into())
        }
    }
}

fn head_of(answer: &str) -> &[u8] {
    let end = answer.find("\r\n\r\n").map_or(answer.len(), |end| end + 4);
    &answer.as_bytes()[..end]
}

fn expects(head: &[u8]) -> bool {
    String::from_utf8_lossy(head)
        .to_ascii_lowercase()
        .contains("\r\nexpect:")
}

/// Grants another protocol and speaks it.
fn switch(
    stream: &mut TcpStream,
    (answer, at): (&str, usize),
    ahead: &[u8],
    place: (usize, usize),
    shared: &Shared,
) -> io::Result<()> {
    shared.with(place, |line| line.seen.switched = Some((at, line.seen.bytes.len())));
    stream.write_all(answer.as_bytes())?;
    stream.write_all(&ahead.to_ascii_uppercase())?;
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            stream.write_all(b"DONE")?;
            return stream.shutdown(Shutdown::Write);
        }
        shared.with(place, |line| line.seen.bytes.extend_from_slice(&buffer[..count]));
        stream.write_all(&buffer[..count].to_ascii_uppercase())?;
    }
}

/// Where a head ends, however its lines do.
fn head_end(bytes: &[u8]) -> Option<usize> {
    let crlf = bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
    crlf.or_else(|| bytes.windows(2).position(|two| two == b"\n\n").map(|at| at + 2))
}

/// Where the request ends whose head ends at `head`; lenient, so that an ambiguous one has an answer too.
fn whole(bytes: &[u8], head: usize) -> Option<usize> {
    let lines = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let value = |name: &str| {
        lines
            .lines()
            .find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))
    };
    if value("transfer-encoding:").is_some_and(|coding| coding.contains("chunked")) {
        return message::body_end(&bytes[head..]).map(|end| head + end);
    }
    let length: usize = value("content-length:")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    let end = head.checked_add(length)?;
    (bytes.len() >= end).then_some(end)
}

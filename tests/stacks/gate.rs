//! The gate before a recording shop: the forwarded requests, and the line and account that the gate read.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ropeline::accounts::Identity;
use ropeline::room::{LineName, RoomName, Tag};
use ropeline::token::{Key, KeyId, Keyring, Secret, SessionName, Ticket, account_tags, ticket_cookie};

use super::case::{Case, Thing};

/// A process that ends with its guard.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Fails only where it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How the gate read a request, or that it kept it from the shop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Answered by the gate, with this status.
    Refused(u16),
    Forwarded {
        /// As the shop gets it, without what differs from run to run.
        bytes: Vec<u8>,
        /// The line of the session; empty in a room with one line, none without a session.
        line: Option<String>,
        account: Option<Tag>,
    },
}

/// A running gate.
pub struct Gate {
    address: SocketAddr,
    recorded: Recorded,
    keyring: Keyring,
    _process: Process,
}

type Recorded = Arc<Mutex<HashMap<u64, Vec<u8>>>>;

/// Tells cases apart at the recording shop.
const NUMBER: &str = "case-number";

const SECRET: &str = "a secret for readings, as long as rings want";

impl Gate {
    /// Starts `program` before a recording shop, with its data below `folder`.
    pub fn start(program: &Path, folder: &Path) -> io::Result<Self> {
        let recorded = Recorded::default();
        let shop = record(Arc::clone(&recorded))?;
        fs::create_dir_all(folder)?;
        fs::write(folder.join("config.toml"), config(shop))?;
        let mut child = Command::new(program)
            .args(["run", "--first-start", "--config", "config.toml"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let address = first_line(&mut child, |line| {
            let (_, fields) = line.split_once("serving")?;
            port_in(fields.split_once("listen")?.1)
        });
        let process = Process(child);
        let key = Key {
            id: KeyId::new("readings").expect("an id"),
            secret: Secret::new(SECRET.as_bytes()),
        };
        Ok(Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, address?)),
            recorded,
            keyring: Keyring::new(vec![key]).map_err(io::Error::other)?,
            _process: process,
        })
    }

    /// Sends the request on a connection of its own.
    pub fn ask(&self, case: &Case, number: u64) -> io::Result<Outcome> {
        let request = Case::with(&case.bytes, &format!("{NUMBER}: {number}\r\nConnection: close"));
        let answer = exchange(self.address, number, &request)?;
        let status = status_of(&answer).unwrap_or_default();
        let recorded = self
            .recorded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&number);
        let Some(bytes) = recorded else {
            return Ok(Outcome::Refused(status));
        };
        let line = field(&bytes, "ropeline-session")
            .and_then(|name| SessionName::read(&name))
            .map(|name| name.line.as_str().to_owned());
        let account = line.as_deref().and_then(|line| self.account(case.thing, line, &answer));
        Ok(Outcome::Forwarded {
            bytes: lasting(&bytes),
            line,
            account,
        })
    }

    /// The tag of an account in the room of `thing`.
    pub fn tag(&self, thing: Thing, account: &str) -> Option<Tag> {
        let room = RoomName::new(thing.room()).expect("a room");
        account_tags(&self.keyring, &room, &Identity::new(account)?)
            .first()
            .copied()
    }

    /// The account of the ticket that the answer sets.
    fn account(&self, thing: Thing, line: &str, answer: &[u8]) -> Option<Tag> {
        let (room, line) = (RoomName::new(thing.room())?, LineName::new(line)?);
        let name = format!("{}=", ticket_cookie(&room, &line));
        let head = String::from_utf8_lossy(answer);
        let mut set = head
            .lines()
            .filter_map(|line| line.split_once(": ").map(|(_, value)| value));
        let token = set.find_map(|value| value.strip_prefix(&name)?.split(';').next())?;
        Ticket::read(&self.keyring, &room, &line, token)?.identity
    }
}

fn config(shop: SocketAddr) -> String {
    let mut text = format!(
        "[server]\nlisten = [\"127.0.0.1:0\"]\nadmin_listen = \"127.0.0.1:0\"\ntrusted_proxies = [\"127.0.0.0/8\"]\n\
         [upstream]\nurl = \"http://{shop}\"\n[store]\nurl = \"embedded:data\"\n\
         [tokens]\nkeys = [{{ id = \"readings\", secret = \"{SECRET}\" }}]\n\
         [limits]\njoin = {{ requests = 1000000, window = \"1 min\" }}\n"
    );
    for (thing, rest) in [
        (
            Thing::Event,
            "routes = [\"/event/{id}\", \"/event/{id}/*\"]\nper = \"{id}\"",
        ),
        (Thing::Id, "routes = [\"/buy\"]\nper = \"?id\""),
        (Thing::EventId, "routes = [\"/book\"]\nper = \"?event_id\""),
        (
            Thing::User,
            "routes = [\"/member\"]\n[room.identity]\nfrom = \"header\"\nname = \"X-User\"",
        ),
        (
            Thing::Sid,
            "routes = [\"/basket\"]\n[room.identity]\nfrom = \"cookie\"\nname = \"sid\"",
        ),
        (
            Thing::Email,
            "routes = [\"/enter\"]\n[room.identity]\nfrom = \"field\"\nname = \"email\"\non = \"POST /enter\"",
        ),
    ] {
        let room = thing.room();
        text += &[
            "[[room]]\nname = \"",
            room,
            "\"\ntotal_active_users = 1000000\n",
            rest,
            "\n",
        ]
        .concat();
    }
    text
}

/// A shop that keeps each request by its number, and answers 200.
fn record(recorded: Recorded) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let recorded = Arc::clone(&recorded);
            // Ends with the gate's connection.
            thread::spawn(move || drop(keep(&stream, &recorded)));
        }
    });
    Ok(address)
}

fn keep(stream: &TcpStream, recorded: &Recorded) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(request) = message(&mut reader)? {
        if let Some(number) = field(&request, NUMBER).and_then(|text| text.parse().ok()) {
            recorded
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(number, request);
        }
        (&mut &*stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
    }
    Ok(())
}

/// The next request, framed as the gate frames it: by one length, or in chunks.
fn message(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut request = Vec::new();
    if !block(reader, &mut request)? {
        return Ok(None);
    }
    if field(&request, "transfer-encoding").is_some() {
        loop {
            let from = request.len();
            reader.read_until(b'\n', &mut request)?;
            let size = String::from_utf8_lossy(&request[from..]);
            let size = u64::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            if size == 0 {
                block(reader, &mut request)?;
                return Ok(Some(request));
            }
            reader.take(size + 2).read_to_end(&mut request)?;
        }
    }
    let length: u64 = field(&request, "content-length")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    reader.take(length).read_to_end(&mut request)?;
    Ok(Some(request))
}

/// Reads lines to the empty one.
fn block(reader: &mut impl BufRead, to: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        let from = to.len();
        if reader.read_until(b'\n', to)? == 0 {
            return Ok(false);
        }
        if to[from..] == *b"\r\n" {
            return Ok(true);
        }
    }
}

/// Without the fields that differ from run to run, or that are the harness's own.
fn lasting(request: &[u8]) -> Vec<u8> {
    const OWN: [&str; 4] = [NUMBER, "ropeline-session", "x-forwarded-port", "x-request-id"];
    let text_end = request
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .map_or(request.len(), |at| at + 2);
    let (head, rest) = request.split_at(text_end);
    let is_own = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        OWN.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
            || name.to_ascii_lowercase().starts_with(b"x-forwarded-")
    };
    let lines = head.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_own(line));
    let mut kept: Vec<u8> = lines.flatten().copied().collect();
    kept.extend_from_slice(rest);
    kept
}

/// The first value of a field of a head.
pub fn field(message: &[u8], name: &str) -> Option<String> {
    let head = message
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .map_or(message, |at| &message[..at]);
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let at = line.iter().position(|byte| *byte == b':')?;
        let is_it = line[..at].eq_ignore_ascii_case(name.as_bytes());
        is_it.then(|| String::from_utf8_lossy(line[at + 1..].trim_ascii()).into_owned())
    })
}

pub fn status_of(answer: &[u8]) -> Option<u16> {
    std::str::from_utf8(answer.get(9..12)?).ok()?.parse().ok()
}

/// Sends `request` from an address of its own, so that no pair of ports is used again too soon, and reads to the end.
pub fn exchange(to: SocketAddr, number: u64, request: &[u8]) -> io::Result<Vec<u8>> {
    let [.., second, third] = number.to_be_bytes();
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 9, second, third.max(1)), 0)).into())?;
    socket.connect(&to.into())?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut stream = TcpStream::from(socket);
    stream.write_all(request)?;
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        // A gate that refuses a request before it has read all of it resets the connection behind its answer.
        Err(error) if answer.is_empty() => Err(error),
        _ => Ok(answer),
    }
}

const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for a line of the process's output that `pick` takes something from; both outputs are read to their ends.
pub fn first_line<T: Send + 'static>(child: &mut Child, pick: fn(&str) -> Option<T>) -> io::Result<T> {
    let (sender, found) = mpsc::channel();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let boxed = |stream: Box<dyn Read + Send>| stream;
    let streams = [out.map(|out| boxed(Box::new(out))), err.map(|err| boxed(Box::new(err)))];
    for stream in streams.into_iter().flatten() {
        let sender = sender.clone();
        thread::spawn(move || {
            for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                if let Some(picked) = pick(&String::from_utf8_lossy(&line)) {
                    let _ = sender.send(picked);
                }
            }
        });
    }
    found.recv_timeout(START).map_err(io::Error::other)
}

/// How long a process may take to come up.
pub const START: Duration = Duration::from_secs(60);

/// The port of an address on 127.0.0.1 that a line names.
pub fn port_in(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once("127.0.0.1:")?;
    rest.split(|other: char| !other.is_ascii_digit()).next()?.parse().ok()
}

//! A gate without its visitors' side: a replica over a log in a temporary folder, and the admin listener on a free port.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use ropeline::admin::{AdminServer, Handles, Options, Readiness, Reloads, StartError, serve};
use ropeline::metrics::Metrics;
use ropeline::proxy::{Stats, UpstreamServers, UpstreamSettings};
use ropeline::replica::{self, Arrival, JoinOutcome, Note, Replica, ReplicaThread};
use ropeline::room::{
    Change, Effects, Encoded, LaneId, LineName, LineView, Number, RoomName, Settings, Standing, State, Visitor,
};
use ropeline::store::redis::{self, RedisLog};
use ropeline::store::{self, Embedded, Log};
use ropeline::token::{Key, KeyId, Keyring, Reference, Secret};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::breaking::Breaking;

/// Long enough for a busy machine: a test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Gate {
    pub replica: Replica,
    pub metrics: Metrics,
    pub readiness: Readiness,
    pub address: SocketAddr,
    admin: Option<AdminServer>,
    thread: Option<ReplicaThread>,
    folder: Arc<TempDir>,
    runtime: Runtime,
}

impl Gate {
    /// Two rooms: `main` with a capacity of one, and `events` with lines.
    pub fn start() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        Self::on(folder, options, "127.0.0.1:0").expect("starts")
    }

    /// A gate with one room, `main`, of these settings.
    pub fn of_room(settings: Settings) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let log = Embedded::open(folder.path(), store::Options::default()).expect("a log");
        let rooms = vec![(room_name("main"), settings)];
        let parts = with_rooms(Box::new(log), rooms, State::apply);
        Self::of(folder, parts, Options::default(), "127.0.0.1:0").expect("starts")
    }

    /// A gate that freezes at an operator's message of this text.
    pub fn poisoned_by_the_word_poison() -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let parts = open(&folder, poisoned);
        Self::of(folder, parts, Options::default(), "127.0.0.1:0").expect("starts")
    }

    /// A gate that shares the store at `url`, and applies entries like this.
    pub fn sharing(url: &str, apply: fn(&mut State, &Encoded) -> Effects) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let url = url.parse().expect("a store's URL");
        let log = RedisLog::open(&url, redis::Options::default()).expect("a log");
        let parts = begin(Box::new(log), apply);
        Self::of(folder, parts, Options::default(), "127.0.0.1:0").expect("starts")
    }

    /// A gate whose log brings out a fault of the program, in the replica's thread, as soon as the flag is up.
    pub fn with_a_log_that_breaks() -> (Self, Arc<AtomicBool>) {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let log = Embedded::open(folder.path(), store::Options::default()).expect("a log");
        let fault = Arc::new(AtomicBool::new(false));
        let log = Breaking {
            log,
            fault: Arc::clone(&fault),
        };
        let parts = begin(Box::new(log), State::apply);
        let gate = Self::of(folder, parts, Options::default(), "127.0.0.1:0").expect("starts");
        (gate, fault)
    }

    pub fn on(folder: Arc<TempDir>, options: Options, listen: &str) -> Result<Self, StartError> {
        let parts = open(&folder, State::apply);
        Self::of(folder, parts, options, listen)
    }

    fn of(
        folder: Arc<TempDir>,
        (replica, thread): (Replica, ReplicaThread),
        options: Options,
        listen: &str,
    ) -> Result<Self, StartError> {
        let (metrics, readiness) = (Metrics::new(), Readiness::new());
        let handles = Handles {
            tls: None,
            acme: None,
            replica: replica.clone(),
            metrics: metrics.clone(),
            proxy: Arc::new(Stats::default()),
            origins: vec![UpstreamServers::start(UpstreamSettings::new("127.0.0.1", 3000)).expect("nothing to read")],
            readiness: readiness.clone(),
            keyring: keyring(),
            reloads: Reloads::new().0,
        };
        let listener = TcpListener::bind(listen).expect("a free port");
        let admin = serve(listener, handles, options)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let address = SocketAddr::from(([127, 0, 0, 1], admin.address().port()));
        Ok(Self {
            replica,
            metrics,
            readiness,
            address,
            admin: Some(admin),
            thread: Some(thread),
            folder,
            runtime,
        })
    }

    /// The same folder, after an orderly end.
    pub fn restart(mut self) -> Self {
        self.admin.take().expect("running").stop();
        self.thread.take().expect("running").stop();
        Self::on(Arc::clone(&self.folder), Options::default(), "127.0.0.1:0").expect("starts again")
    }

    pub fn join(&self, room: &str, line: &str) -> Visitor {
        let (room, line) = (room_name(room), line_name(line));
        let joining = async {
            loop {
                match self.replica.join(&room, &line, LaneId(0), Arrival::first()).await {
                    JoinOutcome::Numbered(_, number) => return number,
                    JoinOutcome::Later => {}
                    JoinOutcome::Refused => panic!("the room is open to all"),
                }
            }
        };
        let number: Number = self.wait(joining);
        Visitor {
            room,
            line,
            lane: LaneId(0),
            number,
            rehearsal: None,
        }
    }

    /// Brings the visitor inside: waits for the call and claims it.
    pub fn enter(&self, visitor: &Visitor) {
        self.until("called", || matches!(self.standing(visitor), Standing::Called(_)));
        let claim = self.replica.record(visitor.clone(), Note::Claim { carried: true });
        self.wait(claim).expect("recorded");
        assert!(
            matches!(self.standing(visitor), Standing::Inside(_)),
            "{:?}",
            self.standing(visitor)
        );
    }

    pub fn standing(&self, visitor: &Visitor) -> Standing {
        let line = self.line(visitor);
        line.map_or(Standing::Ended, |line| {
            line.standing(visitor.lane, visitor.number, self.replica.now())
        })
    }

    fn line(&self, visitor: &Visitor) -> Option<Arc<LineView>> {
        self.replica.view().rooms[&visitor.room].line(&visitor.line).cloned()
    }

    /// Keeps all waiting visitors checked in and checks with each view until `condition` holds.
    pub fn until(&self, what: &str, condition: impl Fn() -> bool) {
        let mut views = self.replica.subscribe();
        let seen = async {
            while !condition() {
                let _ = tokio::time::timeout(Duration::from_secs(1), views.changed()).await;
            }
        };
        let patience = async { tokio::time::timeout(PATIENCE, seen).await };
        self.runtime
            .block_on(patience)
            .unwrap_or_else(|_| panic!("waited in vain: {what}"));
    }

    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let patience = async { tokio::time::timeout(PATIENCE, future).await };
        self.runtime.block_on(patience).expect("answered in time")
    }

    pub fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[("host", "localhost")], "")
    }

    pub fn delete(&self, target: &str) -> Answer {
        self.ask("DELETE", target, &[("host", "localhost")], "")
    }

    pub fn post(&self, target: &str, body: &str) -> Answer {
        let headers = [("host", "localhost"), ("content-type", "application/json")];
        self.ask("POST", target, &headers, body)
    }

    pub fn patch(&self, room: &str, body: &str) -> Answer {
        let headers = [("host", "localhost"), ("content-type", "application/json")];
        self.ask("PATCH", &format!("/api/v1/rooms/{room}"), &headers, body)
    }

    pub fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let request = Request::builder().method(method).uri(target);
        let request = headers
            .iter()
            .fold(request, |request, (name, value)| request.header(*name, *value));
        let request = request.body(Full::from(body.to_owned())).expect("a request");
        self.wait(exchange(self.address, request))
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        drop(self.admin.take());
        if let Some(thread) = self.thread.take() {
            thread.stop();
        }
    }
}

/// The gate's keys.
pub fn keyring() -> Keyring {
    let key = Key {
        id: KeyId::new("test").expect("a key id"),
        secret: Secret::new([7; 32]),
    };
    Keyring::new(vec![key]).expect("a ring")
}

pub fn room_name(name: &str) -> RoomName {
    RoomName::new(name).expect("a room's name")
}

pub fn line_name(name: &str) -> LineName {
    LineName::new(name).expect("a line's name")
}

/// The path of a visitor in the API.
pub fn path_of(visitor: &Visitor) -> String {
    format!("/api/v1/rooms/{}/visitors/{}", visitor.room, Reference::of(visitor))
}

/// A fault in the machine that one entry brings out.
fn poisoned(state: &mut State, entry: &Encoded) -> Effects {
    let message = |change: &Change| match change {
        Change::Override(overrides) => overrides.message.as_deref() == Some("poison"),
        _ => false,
    };
    assert!(!entry.batch.rooms.iter().any(|room| message(&room.change)), "poison");
    state.apply(entry)
}

fn open(folder: &TempDir, apply: fn(&mut State, &Encoded) -> Effects) -> (Replica, ReplicaThread) {
    let log = Embedded::open(folder.path(), store::Options::default()).expect("a log");
    begin(Box::new(log), apply)
}

fn begin(log: Box<dyn Log>, apply: fn(&mut State, &Encoded) -> Effects) -> (Replica, ReplicaThread) {
    let main = Settings {
        capacity: 1,
        ..Settings::default()
    };
    let events = Settings {
        capacity: 5,
        max_lines: 100,
        ..Settings::default()
    };
    with_rooms(
        log,
        vec![(room_name("main"), main), (room_name("events"), events)],
        apply,
    )
}

fn with_rooms(
    log: Box<dyn Log>,
    rooms: Vec<(RoomName, Settings)>,
    apply: fn(&mut State, &Encoded) -> Effects,
) -> (Replica, ReplicaThread) {
    let options = replica::Options {
        keyring: Some(keyring()),
        first_start: true,
        ..replica::Options::default()
    };
    Replica::start_with(log, rooms, options, apply).expect("a replica")
}

async fn exchange(address: SocketAddr, request: Request<Full<bytes::Bytes>>) -> Answer {
    let stream = tokio::net::TcpStream::connect(address).await.expect("connects");
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .expect("HTTP");
    let driving = tokio::spawn(connection);
    let response = sender.send_request(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a whole answer").to_bytes();
    driving.abort();
    Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        text: String::from_utf8(body.to_vec()).expect("text"),
    }
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The JSON of an answer that must be 200.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        assert_eq!(self.headers["content-type"], "application/json");
        assert_eq!(self.headers["cache-control"], "no-store");
        self.json()
    }

    /// The detail of a refusal that must have this status.
    pub fn refused(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["status"], status);
        problem["detail"].as_str().expect("a reason").to_owned()
    }
}

/// A change asked for from another thread, with a runtime of its own; its status.
pub fn patch_from_elsewhere(address: SocketAddr, room: &str, body: &'static str) -> u16 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let request = Request::patch(format!("/api/v1/rooms/{room}"))
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::from(body))
        .expect("a request");
    runtime.block_on(exchange(address, request)).status
}

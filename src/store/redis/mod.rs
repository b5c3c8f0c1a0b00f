//! The log of gates that share a store: a Redis or Valkey server, a cluster, or a server watched by sentinels.
//!
//! The store gives the order: each entry is set by a short script that refuses a gate of another history. A history ends with
//! the server's replication id, so with every restart or promotion, whether or not entries were lost. One connection, to the
//! server that has the keys; a call without an answer is [`Unavailable`], never "empty". Retries and their pauses are the
//! caller's. `docs/guides/redis.md` lists the keys.

mod check;
mod entries;
mod examine;
mod fault;
mod keys;
mod link;
mod look;
mod percent;
mod route;
mod script;
mod url;
mod vault;
mod wire;

use std::time::Duration;

use ::redis::{Cmd, Value, cmd};

use self::entries::id;
use self::fault::Fault;
use self::keys::Keys;
use self::link::Dial;
use self::route::Route;
use self::script::{By, Script};
use self::wire::{Looks, Wire};
use super::{
    Append, Beginning, Begun, Exchanged, Loaded, Log, Occasion, READ_MAX_ENTRIES, Skips, Snapshot, Trouble, Unavailable,
};
use crate::room::{Position, StateHash, Wall};

pub use self::examine::{Examined, NOTE_LASTS, examine, leave_note};
pub use self::url::{RedisUrl, UrlError};
pub use self::vault::RedisVault;

/// The log in a shared store.
pub struct RedisLog {
    wire: Wire,
    /// Entries to ask for at once, so that an answer stays below about [`READ_MAX_BYTES`].
    count: usize,
}

/// How a shared log is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// The prefix of the names of the keys: 1 to 64 of letters, digits, `-`, `_`, `.` and `:`.
    pub prefix: String,
    /// With TLS: authorities in PEM that the server's certificate must come from; the system's when `None`.
    pub ca: Option<Vec<u8>>,
    /// Until a connection stands, for each address that the name has.
    pub connect_timeout: Duration,
    /// Until the whole answer to a call has arrived.
    pub response_timeout: Duration,
}

impl Default for Options {
    /// A second to connect and three to answer, so that a store that takes two for each call is slow and not gone.
    fn default() -> Self {
        Self {
            prefix: "ropeline".into(),
            ca: None,
            connect_timeout: Duration::from_secs(1),
            response_timeout: Duration::from_secs(3),
        }
    }
}

impl Options {
    fn dial(self, url: &RedisUrl) -> Dial {
        Dial {
            tls: url.tls,
            ca: self.ca,
            connect_timeout: self.connect_timeout,
            response_timeout: self.response_timeout,
        }
    }
}

/// Why a store cannot be used for the log, as it is or by the gate's configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url} cannot be used: {reason}")]
pub struct OpenError {
    /// Without its password.
    pub url: String,
    /// The problem, and the setting that mends it.
    pub reason: String,
}

/// The result of one round trip of an exchange.
enum Answer {
    Whole(Exchanged),
    /// Entries that follow the position are gone; the kept snapshot is of this sequence.
    Gap {
        saved: u64,
    },
}

impl RedisLog {
    /// Opens the log. A store that does not answer is looked at when it does: a gate may start before its store.
    pub fn open(url: &RedisUrl, options: Options) -> Result<Self, OpenError> {
        Self::opened(url, options, Looks::First)
    }

    /// Opens the log to read it, with any settings of the store, and tries nothing that writes. To be used with
    /// [`RedisLog::read`] and [`RedisLog::origin`] only, for which the rights to `HMGET` and `XRANGE` are enough.
    pub fn open_to_read(url: &RedisUrl, options: Options) -> Result<Self, OpenError> {
        Self::opened(url, options, Looks::Never)
    }

    fn opened(url: &RedisUrl, options: Options, looks: Looks) -> Result<Self, OpenError> {
        let mut wire = wire(url, options, looks)?;
        match wire.connect() {
            Ok(()) => {}
            Err(Fault::Refused(reason)) => return Err(refused(url, reason)),
            Err(fault) => {
                let Unavailable { reason, .. } = fault.into();
                tracing::warn!(store = %url, reason, "the store cannot be reached yet");
            }
        }
        Ok(Self {
            wire,
            count: FIRST_COUNT,
        })
    }

    /// Warnings about the store's settings, for the operator; none before it was reached. They are in the gate's log too.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        self.wire.checked().map_or(&[], |checked| &checked.warnings)
    }

    /// The server and its version, such as `Redis 7.0.15`; `None` before it was reached.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        self.wire.checked().map(|checked| checked.server.as_str())
    }

    /// One round trip of an exchange.
    fn once(&mut self, at: Position, append: Option<&Append>) -> Result<Answer, Unavailable> {
        let batch = append.map(|append| append.batch.encode());
        let after = Position {
            sequence: at.sequence.saturating_add(1),
            ..at
        };
        let count = self.count;
        let replies = self.wire.call(|scripts, keys, by| {
            let mut script = scripts.exchange.on(by, &[&keys.head, &keys.log]);
            script.arg(at.epoch).arg(at.sequence);
            if let (Some(append), Some(batch)) = (append, &batch) {
                entry(&mut script, append, batch);
            }
            let mut read = cmd("XRANGE");
            // An end without a sequence is the epoch's.
            read.arg(&keys.log).arg(id(after)).arg(at.epoch).arg("COUNT").arg(count);
            vec![script, read]
        });
        let mut replies = match replies {
            Ok(replies) => replies.into_iter(),
            Err(Fault::Full(why)) => return Err(self.make_room(why)),
            Err(fault) => return Err(fault.into()),
        };
        let (fits, epoch, tail, bytes, saved): (bool, u64, u64, u64, u64) = parse(replies.next())?;
        if !fits {
            return Ok(Answer::Whole(Exchanged::Broken { epoch }));
        }
        let raw = entries::raw(replies.next().unwrap_or(Value::Nil))?;
        self.pace(&raw);
        let read = entries::read(at, tail, bytes, raw)?;
        Ok(read.map_or(Answer::Gap { saved }, Answer::Whole))
    }

    /// Drops entries that the kept snapshot covers, once they are too old or too many.
    fn trim(&mut self, age: Duration, bytes: u64) -> Result<(), Fault> {
        let call = |script: &Script, keys: &Keys, by| trimming(script, keys, by, age, bytes);
        self.wire
            .call(|scripts, keys, by| vec![call(&scripts.trim, keys, by)])
            .map(drop)
    }

    /// A full store accepts only commands that free memory, so entries that are no longer needed are trimmed; the append
    /// comes again.
    fn make_room(&mut self, why: String) -> Unavailable {
        if let Err(fault) = self.trim(Duration::ZERO, 0) {
            return fault.into();
        }
        Fault::Full(why).into()
    }

    /// Lets an answer of these entries decide how many are asked for next.
    fn pace(&mut self, raw: &[entries::Raw]) {
        if raw.is_empty() {
            return;
        }
        let sizes = raw.iter().flat_map(|entry| &entry.1).map(Vec::len);
        let average = sizes.sum::<usize>() / raw.len();
        self.count = (READ_MAX_BYTES / average.max(1)).clamp(FIRST_COUNT, READ_MAX_ENTRIES);
    }
}

impl Log for RedisLog {
    fn alone(&self) -> bool {
        false
    }

    fn exchange(&mut self, at: Position, append: Option<&Append>) -> Result<Exchanged, Unavailable> {
        // Entries that the kept snapshot does not cover are never trimmed, so a gap there is a loss: unless a snapshot came
        // between the two halves of the call, which shows when it is repeated.
        for append in [append, None] {
            match self.once(at, append)? {
                Answer::Whole(exchanged) => return Ok(exchanged),
                Answer::Gap { saved } if at.sequence < saved => return Ok(Exchanged::Moved),
                Answer::Gap { .. } => {}
            }
        }
        Ok(Exchanged::Broken { epoch: at.epoch })
    }

    fn save(&mut self, snapshot: Snapshot, occasion: Occasion) -> Result<(), Unavailable> {
        let bytes = snapshot.encode();
        if occasion == Occasion::Root {
            let hash = snapshot.hash();
            let set = |_: &_, keys: &Keys, _| vec![written(&keys.root(&hash), &bytes, ROOT_SECS)];
            return Ok(self.wire.call(set).map(drop)?);
        }
        let at = snapshot.position;
        self.wire.call(|scripts, keys, by| {
            let mut save = scripts.save.on(by, &[&keys.head, &keys.snapshot, &keys.saving]);
            save.arg(at.epoch).arg(at.sequence);
            vec![
                written(&keys.saving, &bytes, SAVING_SECS),
                save,
                trimming(&scripts.trim, keys, by, LONGEST_AGE, MOST_BYTES),
            ]
        })?;
        Ok(())
    }

    fn load(&mut self) -> Result<Loaded, Unavailable> {
        let replies = self.wire.call(|_, keys, _| {
            let [epoch, skips] = asking_for_skips(keys);
            let snapshot = cmd("GET").arg(&keys.snapshot).to_owned();
            vec![epoch, skips, snapshot, cmd("TIME")]
        })?;
        let mut replies = replies.into_iter();
        let Skips { epoch, positions } = skips(&mut replies)?;
        let snapshot = parse::<Option<Vec<u8>>>(replies.next())?.and_then(|bytes| decoded(&bytes));
        let (secs, micros): (u64, u64) = parse(replies.next())?;
        let kept = snapshot.as_ref().map_or(0, |snapshot| snapshot.position.epoch);
        Ok(Loaded {
            epoch,
            last_known: epoch.max(kept),
            // Another gate may be at work: nothing is lost by starting from where the log is.
            clean: epoch != 0,
            torn: false,
            time: Wall(secs.saturating_mul(1_000).saturating_add(micros / 1_000)),
            skips: positions,
            snapshots: snapshot.into_iter().collect(),
        })
    }

    fn root(&mut self, hash: &StateHash) -> Result<Option<Snapshot>, Unavailable> {
        let replies = self
            .wire
            .call(|_, keys, _| vec![cmd("GET").arg(keys.root(hash)).to_owned()])?;
        let bytes: Option<Vec<u8>> = parse(replies.into_iter().next())?;
        Ok(bytes
            .and_then(|bytes| decoded(&bytes))
            .filter(|snapshot| snapshot.hash() == *hash))
    }

    fn begin(&mut self, seen: u64, beginning: &Beginning) -> Result<Begun, Unavailable> {
        let Beginning::First { epoch, append } = beginning else {
            return Err(Unavailable::new(
                Trouble::Odd,
                "a log that gates share begins without its root",
            ));
        };
        let batch = append.batch.encode();
        let replies = self.wire.call(|scripts, keys, by| {
            let mut script = scripts.begin.on(by, &[&keys.head, &keys.log, &keys.skips]);
            entry(script.arg(seen).arg(epoch), append, &batch);
            vec![script]
        })?;
        match parse(replies.into_iter().next())? {
            (true, _) => Ok(Begun::Begun),
            (false, epoch) => Ok(Begun::Lost { epoch }),
        }
    }

    fn skip(&mut self, position: Position) -> Result<(), Unavailable> {
        self.wire.call(|scripts, keys, by| {
            let mut script = scripts.skip.on(by, &[&keys.skips]);
            vec![script.arg(id(position)).arg(MOST_SKIPS).to_owned()]
        })?;
        Ok(())
    }

    fn skips(&mut self) -> Result<Skips, Unavailable> {
        let replies = self.wire.call(|_, keys, _| asking_for_skips(keys).to_vec())?;
        skips(&mut replies.into_iter())
    }

    fn connections(&self) -> u64 {
        self.wire.connections()
    }
}

/// Without a connection yet.
fn wire(url: &RedisUrl, options: Options, looks: Looks) -> Result<Wire, OpenError> {
    let refused = |reason: String| refused(url, reason);
    if url.lacks_password() {
        return Err(refused(
            "there is a user and no password: [store] password, or user:password@".into(),
        ));
    }
    if !Keys::fits(&options.prefix) {
        return Err(refused(
            "the prefix is not 1 to 64 of letters, digits, -, _, . and :".into(),
        ));
    }
    let own = getrandom::u64().map_err(|error| refused(format!("the system gives no randomness ({error})")))?;
    let keys = Keys::new(&options.prefix, own);
    let route = Route::new(url.clone(), options.dial(url), keys.head.clone());
    Ok(Wire::new(route, keys, looks))
}

fn refused(url: &RedisUrl, reason: String) -> OpenError {
    OpenError {
        url: url.to_string(),
        reason,
    }
}

fn asking_for_skips(keys: &Keys) -> [Cmd; 2] {
    let epoch = cmd("HGET").arg(&keys.head).arg("epoch").to_owned();
    [epoch, cmd("SMEMBERS").arg(&keys.skips).to_owned()]
}

fn skips(replies: &mut impl Iterator<Item = Value>) -> Result<Skips, Unavailable> {
    let epoch = parse::<Option<u64>>(replies.next())?.unwrap_or(0);
    let ids: Vec<String> = parse(replies.next())?;
    Ok(Skips {
        epoch,
        positions: ids.iter().filter_map(|id| entries::position(id)).collect(),
    })
}

/// The arguments of a script that are the entry's own.
fn entry(script: &mut Cmd, append: &Append, batch: &[u8]) {
    script
        .arg(entries::gate(append.gate))
        .arg(append.serial)
        .arg(append.version);
    script.arg(&append.nonce[..]).arg(batch);
}

fn trimming(script: &Script, keys: &Keys, by: By, age: Duration, bytes: u64) -> Cmd {
    let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
    let mut trim = script.on(by, &[&keys.head, &keys.log]);
    trim.arg(age).arg(bytes).to_owned()
}

fn written(key: &str, bytes: &[u8], secs: u64) -> Cmd {
    cmd("SET").arg(key).arg(bytes).arg("EX").arg(secs).to_owned()
}

fn decoded(bytes: &[u8]) -> Option<Snapshot> {
    let snapshot = Snapshot::decode(bytes);
    snapshot
        .inspect_err(|error| tracing::error!(%error, "a snapshot in the store cannot be read"))
        .ok()
}

fn parse<T: ::redis::FromRedisValue>(reply: Option<Value>) -> Result<T, Unavailable> {
    let parsed = ::redis::from_redis_value(reply.unwrap_or(Value::Nil));
    parsed.map_err(|error| Unavailable::new(Trouble::Odd, format!("the store's answer is none: {error}")))
}

/// About the most bytes of entries that one exchange reads.
const READ_MAX_BYTES: usize = 4 << 20;

/// Entries read at once as long as their size is not known, and at least: together no more than 8 MiB.
const FIRST_COUNT: usize = 64;

/// Entries younger than this stay, so that a gate that lags a little need not load a snapshot …
const LONGEST_AGE: Duration = Duration::from_secs(60);

/// … unless there are more bytes of them.
const MOST_BYTES: u64 = 8 << 20;

/// How long a root can be loaded: an hour is promised.
const ROOT_SECS: u64 = 3_600;

/// How long a snapshot may take from being written to taking the kept one's place: both are in one round trip.
const SAVING_SECS: u64 = 60;

/// Most entries of one log that operators may have skipped.
const MOST_SKIPS: usize = 1_000;

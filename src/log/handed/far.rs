//! The log as a process sees it that has given it away: every call goes to the process that has it now.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::frames::Frames;
use super::words::{Call, Reply};
use crate::log::{Append, Beginning, Begun, Exchanged, Loaded, Log, Occasion, Skips, Snapshot, Trouble, Unavailable};
use crate::room::{Position, StateHash};

/// One end of the socket to the process that has the log. A call waits for five seconds at most; while the other opens the
/// file nobody answers, and calls wait.
pub struct Far {
    frames: Frames,
    number: u64,
    /// The other end is gone, or speaks another language: nothing will come any more.
    gone: Option<String>,
}

impl Far {
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        Ok(Self {
            frames: Frames::new(stream)?,
            number: 0,
            gone: None,
        })
    }

    fn ask(&mut self, call: &Call) -> Result<Reply, Unavailable> {
        if let Some(reason) = &self.gone {
            return Err(Unavailable::new(Trouble::Unreachable, reason.clone()));
        }
        self.number += 1;
        let sent = self.frames.send(self.number, &call.encode(), CALL_WITHIN);
        let answered = sent.and_then(|()| self.answer());
        match answered.map(|bytes| Reply::decode(&bytes)) {
            Ok(Some(Reply::Unavailable(reason))) => Err(reason),
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(odd()),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Unavailable::new(
                Trouble::Timeout,
                "the process that has the log now does not answer",
            )),
            Err(error) => {
                let reason = format!("the process that has the log now is gone: {error}");
                self.gone = Some(reason.clone());
                Err(Unavailable::new(Trouble::Unreachable, reason))
            }
        }
    }

    /// The answer to the last call; those to earlier ones, which came too late, are passed over.
    fn answer(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let (number, bytes) = self.frames.receive(Some(CALL_WITHIN))?;
            if number == self.number {
                return Ok(bytes);
            }
        }
    }
}

fn odd() -> Unavailable {
    Unavailable::new(
        Trouble::Odd,
        "the process that has the log now answers another question",
    )
}

impl Log for Far {
    /// As [`super::Relay`], whose log it is.
    fn alone(&self) -> bool {
        true
    }

    fn exchange(&mut self, at: Position, append: Option<&Append>) -> Result<Exchanged, Unavailable> {
        let append = append.cloned().map(Box::new);
        match self.ask(&Call::Exchange { at, append })? {
            Reply::Exchanged(exchanged) => Ok(exchanged),
            _ => Err(odd()),
        }
    }

    fn save(&mut self, snapshot: Snapshot, occasion: Occasion) -> Result<(), Unavailable> {
        self.done(&Call::Save { snapshot, occasion })
    }

    fn load(&mut self) -> Result<Loaded, Unavailable> {
        match self.ask(&Call::Load)? {
            Reply::Loaded(loaded) => Ok(loaded),
            _ => Err(odd()),
        }
    }

    fn root(&mut self, hash: &StateHash) -> Result<Option<Snapshot>, Unavailable> {
        match self.ask(&Call::Root(*hash))? {
            Reply::Root(root) => Ok(root),
            _ => Err(odd()),
        }
    }

    fn begin(&mut self, seen: u64, beginning: &Beginning) -> Result<Begun, Unavailable> {
        let beginning = beginning.clone();
        match self.ask(&Call::Begin { seen, beginning })? {
            Reply::Begun(begun) => Ok(begun),
            _ => Err(odd()),
        }
    }

    fn skip(&mut self, position: Position) -> Result<(), Unavailable> {
        self.done(&Call::Skip(position))
    }

    fn skips(&mut self) -> Result<Skips, Unavailable> {
        match self.ask(&Call::Skips)? {
            Reply::Skips(skips) => Ok(skips),
            _ => Err(odd()),
        }
    }
}

impl Far {
    fn done(&mut self, call: &Call) -> Result<(), Unavailable> {
        match self.ask(call)? {
            Reply::Done => Ok(()),
            _ => Err(odd()),
        }
    }
}

/// How long a call waits to be sent, and then for its answer. Above what opening the file takes; a gate tells newcomers that
/// it is cut off after two seconds, and repeats what had no answer.
const CALL_WITHIN: Duration = Duration::from_secs(5);

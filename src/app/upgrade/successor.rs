//! The new process, as the old one sees it: is started, gets the sockets and the store, and gives them back if it fails.

use std::io;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::channel::{After, Before, Channel, FORMAT, Hello, TAKE_WITHIN};
use super::parent::Parent;
use super::program::Program;
use crate::app::reload::Patience;
use crate::app::service::Service;
use crate::app::systemd::Supervisor;
use crate::replica::Replica;
use crate::time;

/// The sockets and the store that this process passes on, and how.
pub struct Given {
    pub program: Program,
    /// `None` for a process that has taken over: the one that watched the process before has heard of this one, or does not mind.
    pub starter: Option<Parent>,
    pub service: Arc<Service>,
    /// How long this process may take to drain.
    pub drain: Patience,
    /// How long the next may take until it serves.
    pub deadline: Duration,
    pub supervisor: Arc<Supervisor>,
    pub replica: Replica,
}

impl Given {
    /// Why this process is not upgraded in place.
    pub fn refusal(&self) -> Option<&'static str> {
        let starter = self.starter.as_ref()?;
        starter.refusal(self.supervisor.hears())
    }
}

/// The process that serves from here on. While the value lives it counts this one as not ended.
#[derive(Debug)]
pub struct Successor {
    pub pid: u32,
    pub version: String,
    /// The supervisor, if there is one, has been notified of it.
    pub is_told: bool,
    child: Child,
    line: Channel,
}

impl Successor {
    /// Leaves it alone; as its parent, this process would be the first to notice its end. If a supervisor starts the gate
    /// anew, this process is in the way, and ends at once. Keep the returned channel as long as this process lives.
    pub fn leave(self, supervisor: &Supervisor, flush: impl FnOnce() + Send + 'static) -> Channel {
        let Self {
            mut child, line, pid, ..
        } = self;
        let is_supervised = supervisor.hears();
        let waits = move || {
            let Ok(status) = child.wait() else { return };
            tracing::error!(pid, %status, "the next process has ended before this one");
            if is_supervised {
                flush();
                std::process::exit(1);
            }
        };
        if let Err(error) = thread::Builder::new().name("next".into()).spawn(waits) {
            tracing::warn!(%error, "nobody will tell should the next process end");
        }
        line
    }
}

/// A handing over that is under way.
struct Handing<'a> {
    given: &'a Given,
    line: Channel,
    pid: u32,
    until: Duration,
    /// This process has stopped accepting, and closed its store.
    lent: bool,
    /// The supervisor, if there is one, knows of the next process.
    is_told: bool,
}

/// Starts the next process and passes everything on, over `line`, whose other end is `theirs`; blocks until that process is
/// in charge, or has ended and everything is as before.
///
/// # Errors
/// Why the next process does not serve.
pub fn hand_over(given: &Given, line: Channel, theirs: UnixStream) -> Result<Successor, NotUpgraded> {
    let path = given.program.path();
    let until = time::uptime() + given.deadline;
    let started = given.program.start(theirs);
    let mut child = started.map_err(|error| NotUpgraded::as_before(format!("{path} cannot be started: {error}")))?;
    let pid = child.id();
    tracing::info!(pid, path, "an upgrade: the next process is started");
    let mut handing = Handing {
        given,
        line,
        pid,
        until,
        lent: false,
        is_told: true,
    };
    let reason = match handing.run() {
        Ok(version) => {
            let is_told = handing.is_told;
            return Ok(Successor {
                pid,
                version,
                is_told,
                child,
                line: handing.line,
            });
        }
        Err(reason) => reason,
    };
    // It must do nothing more with the sockets that are taken back.
    let _ = child.kill();
    let status = child.wait();
    let (took_back, is_lost) = handing.take_back();
    let reason = match (reason, status) {
        (Failed::Said(reason), _) => format!("{path} does not start: {reason}{took_back}"),
        (Failed::Late, _) if handing.lent => {
            let seconds = TAKE_WITHIN.as_secs();
            format!("{path} did not serve within {seconds} s of getting the store, and was ended{took_back}")
        }
        (Failed::Late, _) => {
            let seconds = given.deadline.as_secs_f32();
            format!("{path} was not ready within {seconds} s, and was ended{took_back}")
        }
        (Failed::Channel(_), Ok(status)) => format!("{path} ended ({status}) before it was ready{took_back}"),
        (Failed::Channel(error), Err(_)) => format!("{path} cannot be talked to: {error}{took_back}"),
    };
    Err(NotUpgraded { reason, is_lost })
}

/// An upgrade that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotUpgraded {
    /// For the operator.
    pub reason: String,
    /// This process cannot serve any more either.
    pub is_lost: bool,
}

impl NotUpgraded {
    /// This process goes on as if nothing had been asked.
    pub fn as_before(reason: String) -> Self {
        Self { reason, is_lost: false }
    }
}

enum Failed {
    /// Reported by the next process.
    Said(String),
    /// It did not say anything in time.
    Late,
    /// It is gone, or is no gate.
    Channel(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::TimedOut {
            Self::Late
        } else {
            Self::Channel(error)
        }
    }
}

impl Handing<'_> {
    /// The next process's version, when it is in charge.
    fn run(&mut self) -> Result<String, Failed> {
        self.greet()?;
        loop {
            match self.line.hear(self.until)? {
                After::WantsStore => self.lend()?,
                After::Ready { version, kept } => {
                    self.leave(&kept)?;
                    return Ok(version);
                }
                After::Failed { reason } => return Err(Failed::Said(reason)),
            }
        }
    }

    fn greet(&mut self) -> Result<(), Failed> {
        let service = &self.given.service;
        let sockets = service.sockets();
        let hello = Before::Hello(Hello {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            folder: service.folder().map(real),
            sockets: sockets.names(),
        });
        let descriptors: Vec<_> = sockets.descriptors().collect();
        Ok(self.line.say_with(&hello, &descriptors)?)
    }

    /// Stops accepting and closes the store. From here on visitors wait for the next process.
    fn lend(&mut self) -> Result<(), Failed> {
        if self.given.service.folder().is_none() {
            return Err(Failed::Said("it asks for a store that is not here".to_owned()));
        }
        self.lent = true;
        let released = self.given.service.release(self.given.drain.now());
        released.map_err(|error| Failed::Said(format!("the store cannot be handed over: {error}")))?;
        self.until = self.until.min(time::uptime() + TAKE_WITHIN);
        Ok(self.line.say(&Before::StoreClosed)?)
    }

    /// Leaves the field to the next process.
    fn leave(&mut self, kept: &[usize]) -> Result<(), Failed> {
        let Given {
            service, supervisor, ..
        } = self.given;
        let sockets = service.sockets();
        sockets.give_up(kept);
        if let Err(error) = self.line.say(&Before::Go) {
            sockets.take_back(kept);
            return Err(error.into());
        }
        // Not before: of a process that is gone the supervisor would take the end for the gate's.
        self.is_told = supervisor.main_process(self.pid);
        Ok(())
    }

    /// Serves visitors again, from the store if that was closed; reports the failure if that did not work.
    fn take_back(&self) -> (String, bool) {
        match self.lent.then(|| self.given.service.resume()) {
            Some(Err(error)) => (format!("; and this process cannot serve again: {error}"), true),
            _ => (String::new(), false),
        }
    }
}

fn real(folder: &std::path::Path) -> String {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    real.display().to_string()
}

//! The process before: starts the next one, hands everything over, and takes it back when that does not serve.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::line::{After, Before, FORMAT, Hello, Line};
use super::program::Program;
use super::sockets::Held;
use super::starter::Starter;
use crate::cli::reload::Patience;
use crate::cli::systemd::Supervisor;
use crate::log::{Far, Hand};
use crate::replica::Replica;
use crate::time;

/// What is handed over, and how.
#[derive(Debug)]
pub struct Given {
    pub program: Program,
    /// `None` for a process that has taken over: whoever watched the one before was told of this one, or does not mind.
    pub starter: Option<Starter>,
    pub sockets: Held,
    /// Of an embedded log.
    pub log: Option<Hand>,
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
pub struct Next {
    pub pid: u32,
    pub version: String,
    /// The supervisor, if there is one, knows of it.
    pub is_told: bool,
    child: Child,
    line: Line,
}

impl Next {
    /// Leaves it alone; this process, whose child it is, would be the first to know of its end. Where a supervisor starts the gate
    /// anew this one is in the way then, and ends at once. What is given back is to be kept for as long as this process lives.
    pub fn leave(self, supervisor: &Supervisor, flush: impl FnOnce() + Send + 'static) -> Line {
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
    line: Line,
    log: Option<UnixStream>,
    pid: u32,
    until: Duration,
    /// The log's file is closed here.
    lent: bool,
    /// The supervisor, if there is one, knows of the next process.
    is_told: bool,
}

/// Starts the next process and hands it everything, over `line`, whose other end is `theirs`; blocks until that process is in
/// charge, or has ended and everything is as it was.
///
/// # Errors
/// Why the next process did not come to serve, for the operator.
pub fn hand_over(given: &Given, line: Line, theirs: UnixStream) -> Result<Next, String> {
    let path = given.program.path();
    let until = time::uptime() + given.deadline;
    let started = given.program.start(theirs);
    let mut child = started.map_err(|error| format!("{path} cannot be started: {error}"))?;
    let pid = child.id();
    tracing::info!(pid, path, "an upgrade: the next process is started");
    let mut handing = Handing {
        given,
        line,
        log: None,
        pid,
        until,
        lent: false,
        is_told: true,
    };
    let reason = match handing.run() {
        Ok(version) => {
            let is_told = handing.is_told;
            return Ok(Next {
                pid,
                version,
                is_told,
                child,
                line: handing.line,
            });
        }
        Err(reason) => reason,
    };
    // Whatever it does still, it does not with what is taken back.
    let _ = child.kill();
    let status = child.wait();
    let took_back = handing.take_back();
    Err(match (reason, status) {
        (Failed::Said(reason), _) => format!("{path} does not start: {reason}{took_back}"),
        (Failed::Late, _) => {
            let seconds = given.deadline.as_secs_f32();
            format!("{path} was not ready within {seconds} s, and was ended{took_back}")
        }
        (Failed::Line(_), Ok(status)) => format!("{path} ended ({status}) before it was ready{took_back}"),
        (Failed::Line(error), Err(_)) => format!("{path} cannot be talked to: {error}{took_back}"),
    })
}

enum Failed {
    /// It said so.
    Said(String),
    /// It did not say anything in time.
    Late,
    /// It is gone, or is no gate.
    Line(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::TimedOut {
            Self::Late
        } else {
            Self::Line(error)
        }
    }
}

impl Handing<'_> {
    /// The next process's version, when it is in charge.
    fn run(&mut self) -> Result<String, Failed> {
        self.greet()?;
        loop {
            match self.line.hear(self.until)? {
                After::WantsLog => self.lend()?,
                After::HasLog => {}
                After::Ready { version, kept } => {
                    self.leave(&kept)?;
                    return Ok(version);
                }
                After::Failed { reason } => return Err(Failed::Said(reason)),
            }
        }
    }

    fn greet(&mut self) -> Result<(), Failed> {
        let sockets = &self.given.sockets;
        let far = self.far_end()?;
        let hello = Before::Hello(Hello {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            drain_secs: self.given.drain.now().as_secs(),
            folder: self.given.log.as_ref().map(|log| real(log.folder())),
            sockets: sockets.names(),
        });
        let log = far.as_ref().map(|far| far.as_fd());
        let descriptors: Vec<_> = log.into_iter().chain(sockets.descriptors()).collect();
        Ok(self.line.say_with(&hello, &descriptors)?)
    }

    /// The next process's end of the socket for the log, where there is a log to hand over; this one's is kept.
    fn far_end(&mut self) -> io::Result<Option<UnixStream>> {
        if self.given.log.is_none() {
            return Ok(None);
        }
        let (ours, theirs) = UnixStream::pair()?;
        self.log = Some(ours);
        Ok(Some(theirs))
    }

    /// Closes the log's file. From here on this gate's calls wait for the next process to open it, which it says within
    /// [`OPEN_WITHIN`].
    fn lend(&mut self) -> Result<(), Failed> {
        let (Some(log), Some(socket)) = (&self.given.log, self.log.take()) else {
            return Err(Failed::Said("it asks for a log that is not here".to_owned()));
        };
        let lent = log.give(Far::new(socket)?);
        lent.map_err(|reason| Failed::Said(format!("the log cannot be handed over: {}", reason.reason)))?;
        self.lent = true;
        self.line.say(&Before::LogClosed)?;
        let open_by = time::uptime() + OPEN_WITHIN;
        match self.line.hear(self.until.min(open_by)) {
            Ok(After::HasLog) => Ok(()),
            Ok(After::Failed { reason }) => Err(Failed::Said(reason)),
            Ok(_) => Err(Failed::Line(io::ErrorKind::InvalidData.into())),
            Err(error) if error.kind() == io::ErrorKind::TimedOut && open_by < self.until => {
                let seconds = OPEN_WITHIN.as_secs();
                Err(Failed::Said(format!(
                    "it did not open the log within {seconds} s, and was ended"
                )))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Leaves the field to the next process.
    fn leave(&mut self, kept: &[usize]) -> Result<(), Failed> {
        let Given {
            sockets, supervisor, ..
        } = self.given;
        sockets.give_up(kept);
        if let Err(error) = self.line.say(&Before::Go) {
            sockets.take_back(kept);
            return Err(error.into());
        }
        // Not before: of a process that is gone the supervisor would take the end for the gate's.
        self.is_told = supervisor.main_process(self.pid);
        Ok(())
    }

    /// Opens the log again; says what became of that where it did not work.
    fn take_back(&self) -> String {
        let Some(log) = self.given.log.as_ref().filter(|_| self.lent) else {
            return String::new();
        };
        match log.take_back() {
            Ok(()) => String::new(),
            Err(error) => format!("; and the log cannot be opened again for now: {error}"),
        }
    }
}

fn real(folder: &std::path::Path) -> String {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    real.display().to_string()
}

/// How long the next process may take to open the log: meanwhile nobody is called, and after two seconds newcomers are told
/// that the gate is cut off from its store.
const OPEN_WITHIN: Duration = Duration::from_secs(5);

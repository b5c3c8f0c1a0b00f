//! The old process, as the new one sees it: it passes on its sockets and its store, and is notified when the new one serves.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use tokio::sync::watch;

use super::channel::{After, Before, Channel, FORMAT, Hello};
use super::sockets::{Held, Inherited};
use crate::config::{Store, StoreKind};
use crate::time;

/// The process before, which serves until this one does.
#[derive(Debug)]
pub struct Predecessor {
    line: Channel,
    folder: Option<PathBuf>,
    pub sockets: Inherited,
}

/// Why this process cannot take over.
#[derive(Debug, thiserror::Error)]
pub enum TakeOverError {
    #[error("the process before, which was to hand over, is gone or cannot be understood: {0}")]
    Channel(#[from] io::Error),
    #[error(
        "the process before is of version {version} and hands over in another way ({format}, here {FORMAT}): stop it and start this one"
    )]
    Format { version: String, format: u16 },
    #[error(
        "[store] url is not the running gate's ({had}): its visitors would lose their places; stop the gate to give it another store"
    )]
    Store { had: String },
}

impl Predecessor {
    /// `None` for a process that was started in the usual way.
    pub fn find(env: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, TakeOverError> {
        if env(VARIABLE).as_deref() != Some(STDIN) {
            return Ok(None);
        }
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let mut line = Channel::new(UnixStream::from(input));
        let Before::Hello(hello) = line.hear(time::uptime() + HEAR_WITHIN)? else {
            return Err(strange().into());
        };
        let descriptors = line.received();
        Self::greeted(line, hello, descriptors).map(Some)
    }

    fn greeted(line: Channel, hello: Hello, descriptors: Vec<std::os::fd::OwnedFd>) -> Result<Self, TakeOverError> {
        let mut former = Self {
            line,
            folder: hello.folder.map(PathBuf::from),
            sockets: Inherited::default(),
        };
        if hello.format != FORMAT {
            let (version, format) = (hello.version, hello.format);
            let error = TakeOverError::Format { version, format };
            former.failed(&error.to_string());
            return Err(error);
        }
        former.sockets = Inherited::new(hello.sockets, descriptors);
        Ok(former)
    }

    /// A shared store is not passed on. A different store cannot be continued with.
    ///
    /// # Errors
    /// When the process before has its rooms elsewhere.
    pub fn check_store(&self, store: &Store) -> Result<(), TakeOverError> {
        let same = match (&store.kind, &self.folder) {
            (StoreKind::Redis(_), None) => true,
            (StoreKind::Embedded { folder }, Some(had)) => is_same(folder, had),
            _ => false,
        };
        let had = || match &self.folder {
            Some(folder) => format!("embedded:{}", folder.display()),
            None => "a Redis".to_owned(),
        };
        if same {
            Ok(())
        } else {
            Err(TakeOverError::Store { had: had() })
        }
    }

    /// Has the process before close its embedded store; returns when this one may open it.
    pub fn ask_for_store(&mut self) -> Result<(), TakeOverError> {
        self.line.say(&After::WantsStore)?;
        match self.line.hear(time::uptime() + HEAR_WITHIN)? {
            Before::StoreClosed => Ok(()),
            _ => Err(strange().into()),
        }
    }

    /// Reports that this process serves; returns when it is in charge, with a receiver that shows when the process before has
    /// ended.
    ///
    /// # Errors
    /// If the process before does not answer.
    pub fn ready(mut self, held: &Held) -> Result<watch::Receiver<bool>, TakeOverError> {
        let (give, taken) = sync_channel::<Channel>(1);
        let (tell, gone) = watch::channel(false);
        // Before: later nothing may fail any more.
        std::thread::Builder::new().name("before".into()).spawn(move || {
            let Ok(line) = taken.recv() else { return };
            line.until_gone();
            tracing::info!("the process before has ended");
            tell.send_replace(true);
        })?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let kept = std::mem::take(&mut self.sockets).kept();
        let said = self.line.say(&After::Ready { version, kept });
        match said.and_then(|()| self.line.hear(time::uptime() + HEAR_WITHIN)) {
            Ok(Before::Go) => {}
            Ok(_) => return Err(strange().into()),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(error.into()),
            // It has died; one process has to serve.
            Err(error) => tracing::warn!(%error, "the process before is gone before its time"),
        }
        held.take();
        // It waits only for this.
        let _ = give.send(self.line);
        Ok(gone)
    }

    /// Says why this process does not take over.
    fn failed(&mut self, reason: &str) {
        let reason = reason.chars().take(MAX_REASON).collect();
        // Where the message does not arrive, the end of this process says enough.
        let _ = self.line.say(&After::Failed { reason });
    }
}

/// Tells the process before, if there is one, why this process does not take over.
pub fn failed(former: Option<&mut Predecessor>, reason: &str) {
    if let Some(former) = former {
        former.failed(reason);
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    real(one).is_some_and(|path| Some(path) == real(other))
}

fn strange() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it says something else")
}

/// Says that standard input is the line to the process before.
pub const VARIABLE: &str = "ROPELINE_HANDED_OVER";
pub const STDIN: &str = "stdin";
/// The process before waits for requests under way, and writes its snapshot.
const HEAR_WITHIN: Duration = Duration::from_secs(30);
/// Letters of a reason.
const MAX_REASON: usize = 4_000;

//! Appending for the process before, until it has drained: its calls in their turn among those of this process's own gate.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::frames::Frames;
use super::words::{Call, Reply};
use super::{Desk, Hand, Own};
use crate::log::{Loaded, Log, Occasion, Trouble, Unavailable};

impl Hand {
    /// Serves the process at the other end of `stream` on a thread of its own, until that process ends; it may take
    /// `patience`, counted from the moment when this one has said its last word.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn serve(&self, stream: UnixStream, patience: Duration) -> io::Result<JoinHandle<()>> {
        let frames = Frames::new(stream)?;
        let guest = Guest::new(&self.0, patience);
        thread::Builder::new()
            .name("log-before".into())
            .spawn(move || guest.serve(frames))
    }

    /// Whether a process before this one is served still.
    #[must_use]
    pub fn serves(&self) -> bool {
        self.0.lock().guests > 0
    }
}

/// A process that is served, for as long as the value lives.
struct Guest(Arc<Desk>);

impl Guest {
    fn new(desk: &Arc<Desk>, patience: Duration) -> Self {
        let mut place = desk.lock();
        place.guests += 1;
        place.patience = patience;
        drop(place);
        Self(Arc::clone(desk))
    }

    fn serve(self, mut frames: Frames) {
        while let Ok((number, bytes)) = frames.receive(None) {
            let reply = match Call::decode(&bytes) {
                Some(call) => self.answer(call).unwrap_or_else(Reply::Unavailable),
                None => Reply::Unavailable(Unavailable::new(
                    Trouble::Odd,
                    "what the process before asks cannot be read: its version is another",
                )),
            };
            if let Err(error) = frames.send(number, &reply.encode(), SEND_WITHIN) {
                tracing::warn!(%error, "the process before takes no answer: nothing is appended for it any more");
                return;
            }
        }
    }

    fn answer(&self, call: Call) -> Result<Reply, Unavailable> {
        let mut place = self.0.lock();
        if let Call::Save {
            snapshot,
            occasion: Occasion::Last,
        } = call
        {
            // While this process's gate goes on something follows still, and what it waits to say may be of a later entry.
            if place.own == Own::Nothing {
                self.0.call(&mut place, |log| log.save(snapshot, Occasion::Last))?;
                place.ended = true;
            } else {
                place.last = Some(snapshot);
            }
            return Ok(Reply::Done);
        }
        self.0.call(&mut place, |log| carry_out(log, call))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.lock().guests -= 1;
        self.0.changed.notify_all();
    }
}

fn carry_out(log: &mut dyn Log, call: Call) -> Result<Reply, Unavailable> {
    Ok(match call {
        Call::Exchange { at, append } => Reply::Exchanged(log.exchange(at, append.as_deref())?),
        Call::Save { snapshot, occasion } => {
            log.save(snapshot, occasion)?;
            Reply::Done
        }
        Call::Load => {
            let loaded = log.load()?;
            // Its life is not over, whatever it reads anew for.
            let clean = loaded.clean || loaded.incarnation != 0;
            Reply::Loaded(Loaded { clean, ..loaded })
        }
        Call::Root(hash) => Reply::Root(log.root(&hash)?),
        Call::Begin { seen, beginning } => Reply::Begun(log.begin(seen, &beginning)?),
        Call::Skip(position) => {
            log.skip(position)?;
            Reply::Done
        }
        Call::Skips => Reply::Skips(log.skips()?),
    })
}

/// How long the process before may take to read an answer.
const SEND_WITHIN: Duration = Duration::from_secs(10);

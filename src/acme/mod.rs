//! Certificates by themselves: the gates get them from an authority by ACME (RFC 8555) and renew them.
//!
//! Account, certificates and pauses lie in the store beside the log, sealed (`seal`). Every gate looks there once a second, shows new
//! certificates and answers challenges. A gate that finds something due (`plan`) takes a lease, so that one of them orders
//! (`order`). Where the store is away, nobody does.

mod answers;
mod client;
mod known;
mod order;
mod plan;
mod record;
mod records;
mod seal;
mod worker;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use arc_swap::ArcSwap;

use crate::config;
use crate::store::Vault;
use crate::tls::Certificates;
use crate::token::Key;
use ropeline_ids::Wall;

use worker::{Word, Worker};

pub use answers::Answers;

/// The thread that looks after certificates; clones are the same.
#[derive(Clone, Debug)]
pub struct Acme {
    words: SyncSender<Word>,
    answers: Arc<Answers>,
    hosts: Arc<ArcSwap<Vec<Host>>>,
}

/// What a configuration says about it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `None`: no authority is asked.
    pub acme: Option<config::Acme>,
    /// The keys under which records are sealed.
    pub keys: Vec<Key>,
}

/// A host as operators see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    pub name: String,
    /// `None`: there is no certificate yet.
    pub expires: Option<Wall>,
    /// When the certificate is to be renewed.
    pub renews: Option<Wall>,
    /// Orders that failed in a row, the authority's own failures included.
    pub failures: u32,
    /// Why the last of them did.
    pub said: String,
    /// No order before this time, since orders failed.
    pub again: Option<Wall>,
}

impl Acme {
    /// Reads the certificates that the store has and shows them, then goes on in a thread of its own.
    pub fn start(certificates: Arc<Certificates>, vault: Box<dyn Vault>, settings: Settings) -> io::Result<Self> {
        let (words, heard) = sync_channel(MAX_WORDS);
        let (answers, hosts) = (Arc::<Answers>::default(), Arc::<ArcSwap<Vec<Host>>>::default());
        let mut worker = Worker::new((certificates, Arc::clone(&answers), Arc::clone(&hosts)), vault)?;
        worker.set(settings);
        std::thread::Builder::new()
            .name("acme".to_owned())
            .spawn(move || worker.run(&heard))?;
        Ok(Self { words, answers, hosts })
    }

    /// Answers to challenges over HTTP.
    #[must_use]
    pub fn answers(&self) -> Arc<Answers> {
        Arc::clone(&self.answers)
    }

    /// The hosts of the configuration.
    #[must_use]
    pub fn hosts(&self) -> Arc<Vec<Host>> {
        self.hosts.load_full()
    }

    /// Goes on by another configuration.
    pub fn set(&self, settings: Settings) {
        // The thread may be in an order, and reads it then. It is gone only where the gate stops.
        let _ = self.words.send(Word::Set(Box::new(settings)));
    }

    /// Orders nothing more; an order under way is left.
    pub fn stop(&self) {
        let _ = self.words.try_send(Word::Stop);
    }
}

/// Reloads that may wait for a moment.
const MAX_WORDS: usize = 16;

//! An upstream's servers, as all cores see them: which there are, which are well, how busy each is, and which is next.
//!
//! A server is chosen as the less busy of two that are drawn by weight. One that failed is passed over for a while, and
//! never are all of them. Figures are atomics and the list is swapped whole, so that no request waits for another's
//! choice; each core keeps its own connections. Names are looked up, and servers checked, on one thread for each upstream that has any.

mod bound;
mod budget;
mod check;
mod choice;
mod dial;
mod error;
mod examine;
mod health;
mod key;
mod names;
mod protocol;
mod stream;
mod succession;
mod target;
mod tls;
mod wait;

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::error::Kind;
use crate::lock::held;
use crate::settings::{Place, UpstreamSettings};
use crate::stats::UpstreamStats;
use crate::upstream::pool::{Idle, Stash};
use crate::upstream::uploads::Uploads;
use dial::Dial;
use health::now_ms;
use names::Names;

pub(crate) use bound::{Bound, Permit};
pub(crate) use budget::Budget;
pub use error::UpstreamError;
pub use examine::{Examined, Found, NotFound, examine};
pub use health::Health;
pub(crate) use key::Key;
pub(crate) use protocol::Protocol;
pub(crate) use stream::UpstreamStream;
pub use target::Standing;
pub(crate) use target::{Busy, Target};
pub use tls::{check_authorities, check_name, visitors_tls};

/// The upstream's servers; clones are the same ones. The thread that looks after them ends with the last clone.
#[derive(Clone)]
pub struct UpstreamServers(Arc<Inner>);

struct Inner {
    settings: Arc<UpstreamSettings>,
    dial: Dial,
    targets: ArcSwap<Vec<Arc<Target>>>,
    /// The bounds on request bodies.
    uploads: ArcSwap<Uploads>,
    /// Wakes the look-up of names before its time.
    wanted: Arc<Notify>,
    /// Look-ups done.
    looked_up: watch::Sender<u64>,
    /// Started when these are put in force.
    waits: Mutex<Option<Waits>>,
    /// Ends the thread.
    stop: CancellationToken,
    /// Held while servers that may be shared are changed, and while that right is ended.
    charge: Mutex<()>,
    /// Each core's idle connections, to be closed when their servers are gone.
    idle: Mutex<Vec<Weak<Idle>>>,
}

struct Waits {
    names: Names,
    /// Lets the thread begin, if there is anything to do for it.
    thread: Option<oneshot::Sender<Names>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Whether a server can be reached. Failures of requests at reachable servers do not count, because any visitor could cause
/// them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outlook {
    /// One that is, as far as is known.
    Well,
    /// Servers that were not, of which one is due for its trial.
    Trial,
    /// None: checks or connections to all fail, all weigh nothing, or none has an address.
    Nothing,
}

impl fmt::Debug for UpstreamServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.targets.load().iter().map(ToString::to_string))
            .finish()
    }
}

impl UpstreamServers {
    /// Reads certificates, and starts the thread that resolves names and checks servers if there is anything to do for it.
    pub fn start(settings: UpstreamSettings) -> Result<Self, UpstreamError> {
        let servers = Self::make(settings)?;
        servers.begin(&[], &[]);
        Ok(servers)
    }

    /// Without servers yet, and with a thread that waits: nothing is looked up, checked or changed until they begin.
    fn make(settings: UpstreamSettings) -> Result<Self, UpstreamError> {
        let settings = Arc::new(settings);
        let names = Names::of(&settings);
        let is_busy = names.any() || settings.check.is_some();
        let (thread, begun) = oneshot::channel();
        let inner = Arc::new(Inner {
            dial: Dial::new(&settings)?,
            targets: ArcSwap::default(),
            uploads: ArcSwap::from_pointee(Uploads::new(&settings, None)),
            wanted: Arc::default(),
            looked_up: watch::Sender::new(0),
            waits: Mutex::new(Some(Waits {
                names,
                thread: is_busy.then_some(thread),
            })),
            stop: CancellationToken::new(),
            charge: Mutex::default(),
            idle: Mutex::default(),
            settings,
        });
        if is_busy {
            look_after(Arc::downgrade(&inner), begun, inner.stop.clone())?;
        }
        Ok(Self(inner))
    }

    /// Takes the addresses of `known` until names are looked up, and the servers of `kept` where they are the same.
    fn begin(&self, known: &[Arc<Target>], kept: &[Arc<Target>]) {
        let Some(Waits { mut names, thread }) = held(&self.0.waits).take() else {
            return;
        };
        names.learn(known);
        self.0.targets.store(Arc::new(names.targets(kept, known)));
        // Without a thread, or after its end, no resolver runs.
        let _ = thread.map(|thread| thread.send(names));
    }

    /// The name of the upstream, where there are several.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.settings.name.as_deref()
    }

    /// The counts of this upstream, which go on under other settings.
    #[must_use]
    pub fn stats(&self) -> Arc<UpstreamStats> {
        Arc::clone(self.uploads().stats())
    }

    /// Changes the weight of a server, by its configured place; with 0 it finishes its requests and gets no new ones.
    pub fn weigh(&self, place: &Place, weight: u32) {
        for target in self.0.targets.load().iter().filter(|target| target.place() == place) {
            target.weigh(weight);
        }
    }

    /// How every server stands now.
    #[must_use]
    pub fn standing(&self) -> Vec<Standing> {
        self.0.targets.load().iter().map(|target| target.standing()).collect()
    }

    pub(crate) fn outlook(&self) -> Outlook {
        let (targets, now_ms) = (self.0.targets.load(), now_ms());
        let asked = || targets.iter().filter(|target| target.weight() > 0);
        match () {
            () if asked().any(|target| target.is_reached()) => Outlook::Well,
            () if asked().any(|target| target.may_be_reached(now_ms)) => Outlook::Trial,
            () => Outlook::Nothing,
        }
    }

    pub(crate) fn settings(&self) -> &Arc<UpstreamSettings> {
        &self.0.settings
    }

    pub(crate) fn uploads(&self) -> Arc<Uploads> {
        self.0.uploads.load_full()
    }

    pub(crate) fn dial(&self) -> &Dial {
        &self.0.dial
    }

    /// Whether a request may find another server than its first.
    pub(crate) fn are_many(&self) -> bool {
        self.0.targets.load().len() > 1
    }

    /// The next server for a request that has tried `tried`, among those that are not out.
    pub(crate) fn next(&self, tried: &[Arc<Target>]) -> Option<Arc<Target>> {
        let targets = self.0.targets.load();
        // PERF: a single server is used directly, without counting, drawing or reading a clock.
        if let [only] = &targets[..] {
            return (tried.is_empty() && only.weight() > 0).then(|| Arc::clone(only));
        }
        choice::among_the_well(&targets, tried, now_ms())
    }

    /// As [`next`](Self::next) where all are out: a guess is better than a refusal.
    pub(crate) fn any(&self, tried: &[Arc<Target>]) -> Option<Arc<Target>> {
        choice::among_all(&self.0.targets.load(), tried)
    }

    /// Waits for a connection to `full`, or to another server that may have the request, whichever is free first. `None`
    /// where none of them is to be given anything any more.
    pub(crate) async fn free(
        &self,
        full: Arc<Target>,
        tried: &[Arc<Target>],
        client: IpAddr,
        deadline: Option<Instant>,
    ) -> Result<Option<Busy>, Kind> {
        let mut servers = choice::all_well(&self.0.targets.load(), tried, now_ms());
        if !servers.iter().any(|target| Arc::ptr_eq(target, &full)) {
            servers.push(full);
        }
        wait::first_free(&servers, client, |target| self.0.lists(target), deadline).await
    }

    /// The same for `full` alone.
    pub(crate) async fn free_at(
        &self,
        full: Arc<Target>,
        client: IpAddr,
        deadline: Option<Instant>,
    ) -> Result<Option<Busy>, Kind> {
        wait::first_free(&[full], client, |target| self.0.lists(target), deadline).await
    }

    /// Waits for names to be looked up where none has an address yet; whether there is one now.
    pub(crate) async fn found(&self, patience: Duration) -> bool {
        let mut rounds = self.0.looked_up.subscribe();
        self.0.wanted.notify_one();
        let _ = timeout(patience, rounds.changed()).await;
        !self.0.targets.load().is_empty()
    }

    /// Closes idle connections that `keep` does not want, where the cores share them.
    pub(crate) fn sweep(&self, keep: impl Fn(&Stash)) {
        for target in self.0.targets.load().iter() {
            target.stash().into_iter().for_each(&keep);
        }
    }

    /// Has this core's connections closed when their servers are gone.
    pub(crate) fn fill(&self, idle: &Arc<Idle>) {
        let mut idle_of_cores = held(&self.0.idle);
        idle_of_cores.retain(|of_core| of_core.strong_count() > 0);
        idle_of_cores.push(Arc::downgrade(idle));
    }

    /// A connection to `target` failed: its name may have moved.
    pub(crate) fn missed(&self, target: &Target) {
        if target.is_by_name() {
            self.0.wanted.notify_one();
        }
    }
}

impl Inner {
    fn lists(&self, target: &Arc<Target>) -> bool {
        self.targets.load().iter().any(|one| Arc::ptr_eq(one, target))
    }

    /// Runs an action that only the servers in force may do; not once others have replaced them.
    fn in_charge(&self, act: impl FnOnce()) {
        let _held = held(&self.charge);
        if !self.stop.is_cancelled() {
            act();
        }
    }

    /// The cores' idle connections.
    fn idle(&self) -> Vec<Arc<Idle>> {
        held(&self.idle).iter().filter_map(Weak::upgrade).collect()
    }
}

/// Runs the look-ups and checks, once they begin, until the last [`UpstreamServers`] is gone or others are in force.
fn look_after(inner: Weak<Inner>, begun: oneshot::Receiver<Names>, stop: CancellationToken) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let work = async move {
        let Ok(names) = begun.await else { return };
        tokio::join!(names::look_up_again(inner.clone(), names), check::all(inner));
    };
    let body = move || {
        runtime.block_on(async {
            tokio::select! {
                () = stop.cancelled() => {}
                () = work => {}
            }
        });
        // A look-up that hangs is not waited for.
        runtime.shutdown_background();
    };
    std::thread::Builder::new().name("servers".to_owned()).spawn(body)?;
    Ok(())
}

//! Takes the replica's entries, cuts them into ranges, and has a thread write the files.
//!
//! The replica never waits for the folder. Memory for a slow or full folder is bounded: beyond that, ranges are dropped, counted
//! and logged, and the archive has a gap.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::cutter::{Cut, Cutter};
use super::filer::{Filer, Order};
use super::folder::{Filed, Folder};
use super::segment::Segment;
use crate::room::{Encoded, GateId, State};

/// Where and how a gate archives.
#[derive(Clone, Debug)]
pub struct Options {
    /// Made if it is not there; may be shared by gates, or be each gate's own.
    pub folder: PathBuf,
    pub gate: GateId,
    /// Most bytes held for a folder that does not take them.
    pub most_bytes: u64,
    /// How long another gate may take to file a range that was its turn.
    pub patience: Duration,
}

/// The replica's end; dropping it leaves unfiled entries to other gates.
#[derive(Debug)]
pub struct Archiver {
    options: Options,
    /// `None` until the first state is known.
    cutter: Option<Cutter>,
    orders: Sender<Order>,
    counts: Arc<Counts>,
    /// Entries are being dropped, and that was logged.
    dropping: bool,
    ended: Receiver<()>,
}

/// Counts of ranges by result, for metrics.
#[derive(Debug, Default)]
pub struct Counts {
    /// Files written by this gate.
    pub filed: AtomicU64,
    /// Ranges that another gate had filed.
    pub found: AtomicU64,
    /// Times that the folder failed.
    pub failures: AtomicU64,
    /// Entries dropped because too much waited for the folder.
    pub dropped: AtomicU64,
    /// Bytes waiting for the folder.
    pub waiting_bytes: AtomicU64,
}

impl Counts {
    /// A range is in the folder.
    pub(super) fn settled(&self, segment: &Segment, filed: Filed) {
        let count = match filed {
            Filed::Now => &self.filed,
            Filed::Before => &self.found,
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.waiting_bytes.fetch_sub(segment.bytes(), Ordering::Relaxed);
    }
}

impl Options {
    /// At most 64 MB held, and a minute and a half for others to file ranges that were their turn.
    #[must_use]
    pub fn new(folder: PathBuf, gate: GateId) -> Self {
        Self {
            folder,
            gate,
            most_bytes: 64 << 20,
            patience: Duration::from_secs(90),
        }
    }
}

impl Archiver {
    /// Starts the thread. A folder that cannot be used is logged and tried again; no gate stops for it.
    pub fn start(options: &Options) -> io::Result<Self> {
        let counts = Arc::<Counts>::default();
        let (orders, ended) = start_filer(options, &counts)?;
        Ok(Self {
            options: options.clone(),
            cutter: None,
            orders,
            counts,
            dropping: false,
            ended,
        })
    }

    /// Starts the thread again after [`Archiver::stop`].
    pub fn restart(&mut self) -> io::Result<()> {
        (self.orders, self.ended) = start_filer(&self.options, &self.counts)?;
        Ok(())
    }

    /// The replica goes on from `state`: after a start, a reload, and where a new log begins.
    pub fn begin(&mut self, state: &State) {
        let Some(cutter) = &mut self.cutter else {
            self.cutter = Some(Cutter::new(self.options.gate, state));
            return;
        };
        let cut = cutter.begin(state);
        self.hand_over(cut, state);
    }

    /// The replica has applied `entry`, which made `state`. Cost: a copy of the entry's bytes; an encoding of the state once an hour.
    pub fn applied(&mut self, entry: &Encoded, state: &State) {
        self.take(entry, false, state);
    }

    /// The replica has passed `entry` over ([`crate::store::Log::skip`]).
    pub fn passed_over(&mut self, entry: &Encoded, state: &State) {
        self.take(entry, true, state);
    }

    /// For metrics; goes on counting.
    #[must_use]
    pub fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    /// The gate stops. Entries in no file yet are filed before this returns, or `within` is over: gates that stay may have begun
    /// to read the log behind it.
    pub fn stop(&mut self, within: Duration) {
        if let Some(segment) = self.cutter.take().and_then(Cutter::end) {
            self.order(segment, false);
        }
        if self.orders.send(Order::End).is_ok() && self.ended.recv_timeout(within) == Err(RecvTimeoutError::Timeout) {
            tracing::warn!("the archive's folder is slow: the last entries may not be in it");
        }
    }

    fn take(&mut self, entry: &Encoded, passed_over: bool, state: &State) {
        let Some(cutter) = &mut self.cutter else {
            return self.begin(state);
        };
        let cut = cutter.applied(entry, passed_over, state);
        self.hand_over(cut, state);
    }

    fn hand_over(&mut self, cut: Option<Cut>, state: &State) {
        let Some(Cut { segment, mine }) = cut else { return };
        if !self.order(segment, mine)
            && let Some(cutter) = &mut self.cutter
        {
            cutter.lost(state);
        }
    }

    /// False when too much is waiting already, and the range is dropped.
    fn order(&mut self, segment: Segment, mine: bool) -> bool {
        let waiting = self.counts.waiting_bytes.load(Ordering::Relaxed);
        if waiting > 0 && waiting + segment.bytes() > self.options.most_bytes {
            self.counts.dropped.fetch_add(segment.count(), Ordering::Relaxed);
            if !std::mem::replace(&mut self.dropping, true) {
                tracing::warn!(
                    from = segment.first,
                    "too much waits for the archive's folder: entries are dropped"
                );
            }
            // Other gates may have archived ranges that wait here, so that there is room for the next.
            let _ = self.orders.send(Order::Look);
            return false;
        }
        self.dropping = false;
        self.counts.waiting_bytes.fetch_add(segment.bytes(), Ordering::Relaxed);
        // A thread that has ended has logged why.
        let _ = self.orders.send(Order::File(Box::new(segment), mine));
        true
    }
}

fn start_filer(options: &Options, counts: &Arc<Counts>) -> io::Result<(Sender<Order>, Receiver<()>)> {
    let (orders, taken) = channel();
    let (end, ended) = channel();
    let filer = Filer::new(
        Folder::new(&options.folder),
        options.gate,
        options.patience,
        Arc::clone(counts),
    );
    thread::Builder::new().name("archive".into()).spawn(move || {
        filer.run(&taken);
        // There is no listener any more where the replica was let go of.
        let _ = end.send(());
    })?;
    Ok((orders, ended))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::folder::Name;
    use super::*;
    use crate::room::Batch;
    use crate::room::testing::Hand;

    /// A log from the beginning of time.
    fn log() -> Hand {
        let mut log = Hand::new(GateId(9));
        log.time = 0;
        log
    }

    /// Runs this many entries, a second apart.
    fn run(log: &mut Hand, archiver: &mut Archiver, entries: u64) {
        for _ in 0..entries {
            let (entry, _) = log.say(1_000, Batch::default());
            archiver.applied(&entry.clone().into(), &log.state);
        }
    }

    fn options(folder: &Path, gate: u64) -> Options {
        Options::new(folder.to_owned(), GateId(gate))
    }

    fn filed(folder: &Path) -> Vec<(u64, u64)> {
        let names = Folder::new(folder).names().unwrap();
        names.iter().map(|Name { first, last, .. }| (*first, *last)).collect()
    }

    #[test]
    fn the_last_gate_files_everything_when_it_stops() {
        let dir = tempfile::tempdir().unwrap();
        let mut archiver = Archiver::start(&options(dir.path(), 9)).unwrap();
        let mut log = log();
        archiver.begin(&log.state);
        run(&mut log, &mut archiver, 150);
        let counts = archiver.counts();
        archiver.stop(Duration::from_secs(60));
        let filed = filed(dir.path());
        assert_eq!(filed.first().map(|(first, _)| *first), Some(1));
        assert_eq!(filed.last().map(|(_, last)| *last), Some(150));
        assert!(filed.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{filed:?}");
        assert_eq!(counts.filed.load(Ordering::Relaxed), filed.len() as u64);
        assert_eq!(counts.waiting_bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_gate_that_is_not_the_last_files_what_is_in_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut gates = [8, 9].map(|gate| Archiver::start(&options(dir.path(), gate)).unwrap());
        let mut log = log();
        for archiver in &mut gates {
            archiver.begin(&log.state);
        }
        for _ in 0..150 {
            let (entry, _) = log.say(1_000, Batch::default());
            for archiver in &mut gates {
                archiver.applied(&entry.clone().into(), &log.state);
            }
        }
        let [mut not_listed, mut last] = gates;
        not_listed.stop(Duration::from_secs(60));
        let before = filed(dir.path());
        assert_eq!((before.first().unwrap().0, before.last().unwrap().1), (1, 150));
        last.stop(Duration::from_secs(60));
        assert_eq!(filed(dir.path()), before, "it is there");
    }

    #[test]
    fn what_another_gate_has_filed_is_held_no_longer() {
        let dir = tempfile::tempdir().unwrap();
        let mut gates = [8, 9].map(|gate| Archiver::start(&options(dir.path(), gate)).unwrap());
        let mut log = log();
        for archiver in &mut gates {
            archiver.begin(&log.state);
        }
        // No visitor is about: a file for each hour.
        for _ in 0..11_000 {
            let (entry, _) = log.say(1_000, Batch::default());
            for archiver in &mut gates {
                archiver.applied(&entry.clone().into(), &log.state);
            }
            // The gate of the roster files while the other looks on.
            let [_, filer] = &gates;
            while filer.counts.waiting_bytes.load(Ordering::Relaxed) > 0 {
                thread::yield_now();
            }
        }
        let [held, filer] = gates.map(|archiver| {
            let counts = archiver.counts();
            drop(archiver.orders);
            archiver.ended.recv_timeout(Duration::from_secs(60)).unwrap();
            counts
        });
        assert_eq!(filer.filed.load(Ordering::Relaxed), 4);
        assert_eq!(held.found.load(Ordering::Relaxed), 3, "all but the last");
    }

    #[test]
    fn a_folder_that_takes_nothing_costs_a_bounded_memory_and_a_gap_that_a_replay_can_leap() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("archive");
        fs::write(&folder, "in the way").unwrap();
        let most = Options {
            most_bytes: 1,
            ..options(&folder, 9)
        };
        let mut archiver = Archiver::start(&most).unwrap();
        let mut log = log();
        archiver.begin(&log.state);
        // An hour: a range in the first minute, one held until the hour, and one dropped.
        run(&mut log, &mut archiver, 3_700);
        let counts = archiver.counts();
        assert_eq!(counts.dropped.load(Ordering::Relaxed), 3_540);
        fs::remove_file(&folder).unwrap();
        archiver.stop(Duration::from_secs(60));
        assert_eq!(filed(&folder), [(1, 61)]);
        assert_eq!(counts.dropped.load(Ordering::Relaxed), 3_540 + 99);
    }
}

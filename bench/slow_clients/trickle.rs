//! Readers over HTTP/2 that ask for large files and take a little of them every few seconds.

use std::io::Read as _;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::good::Both;
use crate::house::House;
use crate::readers::{WIDE, slow_reader};

/// They read until this drops.
pub struct Trickle {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Trickle {
    /// Opens this many connections, with this many streams on each.
    pub fn start(house: &Arc<House>, connections: usize, streams: usize) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let part = |index: usize| {
            let (house, stop) = (Arc::clone(house), Arc::clone(&stop));
            let count = connections / THREADS + usize::from(index < connections % THREADS);
            thread::spawn(move || take_slowly(&house, (count, streams), &stop))
        };
        let threads = (0..THREADS).map(part).collect();
        Self { stop, threads }
    }
}

impl Drop for Trickle {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn take_slowly(house: &House, (count, streams): (usize, usize), stop: &AtomicBool) {
    let begun = (0..count).take_while(|_| !stop.load(Ordering::Relaxed));
    // Refused clients are left out: that the slow ones are connected is checked from outside.
    let mut readers: Vec<_> = begun
        .filter_map(|_| slow_reader(house, true, Some((streams, WIDE)), Ipv4Addr::LOCALHOST).ok())
        .collect();
    let mut taken = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(100));
        if taken.elapsed() > PAUSE {
            taken = Instant::now();
            // A connection that the gate has given up ends, and is closed here too.
            readers
                .retain_mut(|reader: &mut Box<dyn Both>| reader.read(&mut [0; A_LITTLE]).is_ok_and(|count| count > 0));
        }
    }
}

const THREADS: usize = 8;
const A_LITTLE: usize = 1_024;
const PAUSE: Duration = Duration::from_secs(5);

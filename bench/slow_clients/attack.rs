//! slowhttptest in each of its modes, and readers over HTTP/2, while good clients ask.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::good::{Good, Served};
use crate::house::House;
use crate::trickle::Trickle;

/// A way to be slow.
pub struct Attack {
    pub name: &'static str,
    how: How,
    target: &'static str,
    is_secured: bool,
    /// Its slow ones may hold connections of the shop's: they read from it.
    reaches_the_shop: bool,
}

enum How {
    /// The arguments of slowhttptest.
    Program(&'static [&'static str]),
    /// Readers of our own over HTTP/2, so many streams on each connection.
    Streams(usize),
}

const HEADERS: How = How::Program(&["-H", "-i", "5", "-x", "24"]);
const BODY: How = How::Program(&["-B", "-i", "5", "-s", "8192", "-x", "10"]);
const RANGE: How = How::Program(&["-R", "-a", "10", "-b", "3000"]);
const READ: How = How::Program(&["-X", "-w", "512", "-y", "1024", "-n", "5", "-z", "32", "-k", "3"]);

pub const ATTACKS: [Attack; 9] = [
    Attack::new("slow headers (-H)", HEADERS, "/page", false),
    Attack::new("slow body (-B)", BODY, "/order", false),
    Attack::new("ranges (-R)", RANGE, "/large", false),
    Attack::new("slow read (-X)", READ, "/large", false),
    Attack::new("slow headers (-H), TLS", HEADERS, "/page", true),
    Attack::new("slow body (-B), TLS", BODY, "/order", true),
    Attack::new("slow read (-X), TLS", READ, "/large", true),
    Attack::new("slow read, HTTP/2", How::Streams(1), "/large", true),
    Attack::new(
        "slow read, HTTP/2, 100 on a connection",
        How::Streams(100),
        "/large",
        true,
    ),
];

impl Attack {
    const fn new(name: &'static str, how: How, target: &'static str, is_secured: bool) -> Self {
        Self {
            name,
            how,
            target,
            is_secured,
            reaches_the_shop: matches!(target.as_bytes(), b"/large"),
        }
    }

    /// Connections per client: the default, and a bound that accepts all of them; over TLS only the second.
    pub fn bounds(&self) -> Vec<usize> {
        if self.is_secured {
            vec![10_000]
        } else {
            vec![2_000, 10_000]
        }
    }

    /// Its row of the table, and its faults.
    pub fn run(
        &self,
        house: &Arc<House>,
        bound: usize,
        (connections, time): (usize, Duration),
    ) -> (String, Vec<String>) {
        let time = self.lasts(time);
        let good = Good::start(house, self.is_secured);
        thread::sleep(Duration::from_secs(3));
        let (before, open_before) = (house.memory(), house.descriptors());
        let seen = self.attacked(house, (connections, time));
        let open = settled(house, open_before);
        let at_the_shop = house.at_the_shop();
        let served = good.stop();
        let row = format!(
            "| {} | {bound} | {} of {} | {} ms | {}, {}, {} MB | {}, {open} | {}, {at_the_shop} |",
            self.name,
            served.answered,
            served.asked,
            served.p99.as_millis(),
            before >> 20,
            seen.second >> 20,
            seen.last >> 20,
            seen.open,
            seen.at_the_shop
        );
        let wrong = self.judge(
            &served,
            &seen,
            (connections, bound.min(connections), time),
            (before, open_before),
            (open, at_the_shop),
        );
        (row, wrong)
    }

    fn judge(
        &self,
        served: &Served,
        seen: &Seen,
        (connections, held, time): (usize, usize, Duration),
        (before, open_before): (u64, usize),
        (open, at_the_shop): (usize, usize),
    ) -> Vec<String> {
        let each = if self.is_secured { SECURED_BYTES } else { CLEAR_BYTES };
        let most = before + held as u64 * each + SLACK_BYTES;
        let wrong = [
            (
                served.answered * 100 < served.asked * 99,
                "fewer than 99 of 100 good requests were answered",
            ),
            (seen.memory > most, "more memory than so many connections may have"),
            (
                have_come(connections, time) && !seen.is_flat(),
                "memory grows with time",
            ),
            (open > open_before + FEW, "connections stay open"),
            (
                !self.reaches_the_shop && seen.at_the_shop > FEW,
                "connections of the shop's are held",
            ),
            (at_the_shop > FEW, "connections of the shop's stay"),
            (
                self.stays() && seen.open < open_before + held / self.a_connection() / 2,
                "the slow ones were not there",
            ),
        ];
        let wrong = wrong.into_iter().filter(|(is_wrong, _)| *is_wrong);
        wrong.map(|(_, what)| format!("{}: {what}", self.name)).collect()
    }

    /// Whether its clients hold their connections: ranges are answered at once.
    fn stays(&self) -> bool {
        !matches!(self.how, How::Program(["-R", ..]))
    }

    /// Slow ones on each connection.
    fn a_connection(&self) -> usize {
        match self.how {
            How::Program(_) => 1,
            How::Streams(streams) => streams,
        }
    }

    /// The gate ends slow bodies and readers over HTTP/2 all at once, and they come again all at once: what that leaves is only
    /// seen after a wave or two, of 30 to 40 s each.
    fn lasts(&self, time: Duration) -> Duration {
        let comes_in_waves = matches!(self.how, How::Program(["-B", ..]) | How::Streams(_));
        if comes_in_waves { time * WAVES } else { time }
    }

    /// Keeps at it until the time is over, and looks every second.
    fn attacked(&self, house: &Arc<House>, (connections, time): (usize, Duration)) -> Seen {
        let began = Instant::now();
        let mut seen = Seen::default();
        let mut under_way = Under::None;
        while began.elapsed() < time {
            if under_way.is_over() {
                let left = time.saturating_sub(began.elapsed()).as_secs().max(5);
                under_way = self.begin(house, connections, left);
            }
            thread::sleep(Duration::from_secs(1));
            seen.look(house, began.elapsed(), time);
        }
        seen
    }

    fn begin(&self, house: &Arc<House>, connections: usize, seconds: u64) -> Under {
        let arguments = match self.how {
            How::Program(arguments) => arguments,
            How::Streams(streams) => {
                return Under::Readers {
                    _held: Trickle::start(house, connections / streams, streams),
                    until: Instant::now() + READERS_TIME,
                };
            }
        };
        let (scheme, address) = if self.is_secured {
            ("https", house.secured)
        } else {
            ("http", house.clear)
        };
        let child = Command::new("slowhttptest")
            .args(arguments)
            .args([
                "-c",
                &connections.to_string(),
                "-r",
                &A_SECOND.to_string(),
                "-p",
                "5",
                "-v",
                "0",
            ])
            .args(["-l", &seconds.to_string()])
            .args(["-u", &format!("{scheme}://{address}{}", self.target)])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Under::Program(child.unwrap())
    }
}

/// An attack under way.
enum Under {
    None,
    Program(Child),
    /// Held until then; by then the gate has given them up.
    Readers {
        _held: Trickle,
        until: Instant,
    },
}

impl Under {
    fn is_over(&mut self) -> bool {
        match self {
            Self::None => true,
            Self::Program(child) => child.try_wait().unwrap().is_some(),
            Self::Readers { until, .. } => Instant::now() > *until,
        }
    }
}

impl Drop for Under {
    fn drop(&mut self) {
        if let Self::Program(child) = self {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The most of everything.
#[derive(Default)]
struct Seen {
    looks: u32,
    memory: u64,
    /// In the second third of the time, and in the last.
    second: u64,
    last: u64,
    open: usize,
    at_the_shop: usize,
}

impl Seen {
    fn look(&mut self, house: &House, at: Duration, time: Duration) {
        let memory = house.memory();
        self.looks += 1;
        self.memory = self.memory.max(memory);
        if at * 3 > time * 2 {
            self.last = self.last.max(memory);
        } else if at * 3 > time {
            self.second = self.second.max(memory);
        }
        self.open = self.open.max(house.descriptors());
        self.at_the_shop = self.at_the_shop.max(house.at_the_shop());
        if self.looks.is_multiple_of(10) {
            eprintln!("    {} s: {} MB, {} descriptors", at.as_secs(), memory >> 20, self.open);
        }
    }

    /// Flat: in the first third of the time the connections come; from then on memory stays where it is, so that the last third
    /// sees no more of it than the second did, and a tenth.
    fn is_flat(&self) -> bool {
        self.last <= self.second + self.second / 10 + FLAT_BYTES
    }
}

/// Whether so many connections come within the first third of the time.
fn have_come(connections: usize, time: Duration) -> bool {
    connections as u64 <= A_SECOND * (time / 3).as_secs()
}

/// Descriptors that are open once they are no more than before, or a minute and a half later.
fn settled(house: &House, before: usize) -> usize {
    let began = Instant::now();
    while house.descriptors() > before + FEW && began.elapsed() < Duration::from_secs(90) {
        thread::sleep(Duration::from_millis(500));
    }
    house.descriptors()
}

/// The most for each connection that is held.
const CLEAR_BYTES: u64 = 96 * 1024;
const SECURED_BYTES: u64 = 128 * 1024;
/// Variation by good clients that come and go.
const SLACK_BYTES: u64 = 16 << 20;
/// Variation of a small gate's memory.
const FLAT_BYTES: u64 = 8 << 20;
/// Connections that good clients and the shop's pool have.
const FEW: usize = 100;
/// Longer than the gate has patience with who takes nothing.
const READERS_TIME: Duration = Duration::from_secs(40);
/// How much longer the gate is watched where its slow clients come in waves.
const WAVES: u32 = 3;
/// Connections that slowhttptest begins in a second.
const A_SECOND: u64 = 1_000;

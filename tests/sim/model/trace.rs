//! The events of a run, as one number: the same seed gives the same. `SIM_TRACE=1` prints them line by line.

use std::fmt::Arguments;

use super::world::Time;
use crate::chance::number;

/// FNV-1a over every line (Fowler, Noll and Vo): it need only tell runs apart.
pub struct Trace {
    hash: u64,
    lines: u64,
    print: bool,
}

impl Trace {
    pub fn new() -> Self {
        Self {
            hash: 0xCBF2_9CE4_8422_2325,
            lines: 0,
            print: number("SIM_TRACE").is_some(),
        }
    }

    pub fn note(&mut self, now: Time, what: Arguments<'_>) {
        use std::fmt::Write as _;
        self.lines += 1;
        if self.print {
            println!("{:>12.3} {what}", Seconds(now));
        }
        self.fold(&now.to_le_bytes());
        let _ = write!(Sink(self), "{what}");
    }

    /// Hash and number of lines.
    pub fn sum(&self) -> (u64, u64) {
        (self.hash, self.lines)
    }

    fn fold(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
}

struct Sink<'a>(&'a mut Trace);

impl std::fmt::Write for Sink<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.fold(text.as_bytes());
        Ok(())
    }
}

struct Seconds(Time);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

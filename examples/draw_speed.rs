//! How long a draw takes: making the order, and every place of it both ways.
//!
//!     cargo run --release --example draw_speed

#![allow(clippy::disallowed_methods, reason = "a clock is what this is for")]

use std::time::Instant;

use anteroom::draw::Permutation;

fn main() {
    println!(
        "{:>12} {:>12} {:>14} {:>14}",
        "drawn", "made in ms", "ns a place", "ns a number"
    );
    for count in [1_000, 1_000_000, 10_000_000, 100_000_000, u32::MAX] {
        measure(count);
    }
}

/// At most ten million places of it, evenly spread.
fn measure(count: u32) {
    let start = Instant::now();
    let order = Permutation::new(&[7; 32], count);
    let made = start.elapsed();
    let numbers = || (0..count).step_by(usize::try_from(count / 10_000_000).unwrap_or(1).max(1));
    let asked = u32::try_from(numbers().count()).unwrap_or(u32::MAX);
    let start = Instant::now();
    let places = numbers()
        .filter_map(|number| order.place(number))
        .fold(0_u32, u32::wrapping_add);
    let there = start.elapsed();
    let start = Instant::now();
    let back = numbers()
        .filter_map(|place| order.number(place))
        .fold(0_u32, u32::wrapping_add);
    let here = start.elapsed();
    println!(
        "{count:>12} {:>12.2} {:>14} {:>14}",
        made.as_secs_f64() * 1_000.0,
        (there / asked).as_nanos(),
        (here / asked).as_nanos(),
    );
    // Keeps the work from being left out.
    assert!(places != 1 || back != 1);
}

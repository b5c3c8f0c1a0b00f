//! The log's cost for its store: figures for `docs/guides/redis.md`, measured on request.
//!
//!     cargo test --test store shared::cost -- --ignored --nocapture

use ropeline::room::{Batch, LaneId, LineName, RoomName, Section, Wall};
use ropeline::store::{Append, Exchanged, Log, Occasion};

use super::{open, server, snapshot};
use crate::contract::{after, append, begin};
use crate::harness::redis::Server;

/// CPU time of the server's process so far, in microseconds; all of it, the network's part too.
fn cpu(server: &Server) -> f64 {
    let spent = |field| server.info("cpu", field).unwrap().parse::<f64>().unwrap();
    1e6 * (spent("used_cpu_sys_main_thread") + spent("used_cpu_user_main_thread"))
}

/// Microseconds that the server counts for a command, without the network's part.
fn command(server: &Server, name: &str) -> String {
    let stat = server
        .info("commandstats", &format!("cmdstat_{name}"))
        .unwrap_or_default();
    stat.split(',')
        .find_map(|part| part.strip_prefix("usec_per_call="))
        .unwrap_or("none")
        .to_owned()
}

fn memory(server: &Server, key: &str) -> u64 {
    server
        .ask::<Option<u64>>(&format!("MEMORY USAGE {key} SAMPLES 0"))
        .unwrap_or(0)
}

/// A batch of a gate in a rush: joins, and marks of visitors who wait.
fn rush(joins: u32, marks: u32) -> Append {
    let mut section = Section::new(RoomName::new("shop").unwrap(), LineName::ONLY);
    section.joins = vec![(LaneId(0), joins)];
    let epoch = ropeline::room::Epoch(30_118_332_803_842_056);
    section.marks = (0..marks)
        .map(|n| (LaneId(0), ropeline::room::Number { epoch, n: n * 7 }))
        .collect();
    let batch = Batch {
        sections: vec![section],
        ..Batch::default()
    };
    Append { batch, ..append(1) }
}

fn measure(name: &str, batch: Option<&Append>, readers: u64) {
    let server = server();
    let mut log = open(&server.url());
    let mut at = begin(&mut log);
    let mut others: Vec<_> = (0..readers).map(|_| open(&server.url())).collect();
    let before = cpu(&server);
    let _: () = server.ask("CONFIG RESETSTAT");
    for _ in 0..COUNT {
        let Exchanged::Entries { entries, .. } = log.exchange(at, batch).unwrap() else {
            panic!("no entries")
        };
        for other in &mut others {
            other.exchange(at, None).unwrap();
        }
        at = after(at, entries.len() as u64);
    }
    let spent = (cpu(&server) - before) / f64::from(COUNT);
    let bytes = batch.map_or(0, |append| append.batch.encoded_len());
    println!(
        "{name}: batch {bytes} B; store {spent:.1} us, of it EVALSHA {} us, XRANGE {} us; log {} B an entry",
        command(&server, "evalsha"),
        command(&server, "xrange"),
        memory(&server, "{ropeline}:log") / u64::from(COUNT)
    );
}

#[test]
#[ignore = "prints figures; it holds nothing to them"]
fn an_exchange() {
    measure("reading, nothing new", None, 0);
    measure("a tick", Some(&append(1)), 0);
    measure("100 joins", Some(&rush(100, 0)), 0);
    measure("1,000 joins and 1,000 marks", Some(&rush(1_000, 1_000)), 0);
    measure("a tick read by 10 gates more", Some(&append(1)), 10);
}

#[test]
#[ignore = "prints figures; it holds nothing to them"]
fn a_snapshot_and_the_trimming_behind_it() {
    let server = server();
    let mut log = open(&server.url());
    let mut at = begin(&mut log);
    for _ in 0..60_000 {
        log.exchange(at, Some(&append(1))).unwrap();
        at = after(at, 1);
    }
    for size in [100_000, 4_000_000] {
        let before = cpu(&server);
        let _: () = server.ask("CONFIG RESETSTAT");
        let mut kept = snapshot(after(at, 0), &vec![7; size]);
        kept.position.sequence -= 4_000_000_u64.saturating_sub(size as u64).min(30_000);
        kept.time = Wall(0);
        log.save(kept, Occasion::Checkpoint).unwrap();
        println!(
            "a snapshot of {size} B with 60,000 entries: store {:.0} us, of it SET {} us, EVALSHA {} us each of two; {} B kept",
            cpu(&server) - before,
            command(&server, "set"),
            command(&server, "evalsha"),
            memory(&server, "{ropeline}:snapshot")
        );
    }
    println!(
        "head: {} B; log of 60,000 ticks: {} B",
        memory(&server, "{ropeline}:head"),
        memory(&server, "{ropeline}:log")
    );
}

const COUNT: u32 = 20_000;

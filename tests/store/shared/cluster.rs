//! The log in a cluster: it follows its slot.

use ropeline::store::{Exchanged, Log};

use super::{open, until_answered};
use crate::contract::{after, append, begin, exchange, fill};
use crate::harness::redis::Cluster;
use crate::harness::redis::Options;

#[test]
fn a_moved_slot_is_followed_on_its_way_and_when_it_is_there() {
    let cluster = Cluster::start(&Options::default());
    let mut log = open(&cluster.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 3);
    let (slot, from) = cluster.home("{ropeline}:head");
    let to = (from + 1) % cluster.nodes.len();
    cluster.start_move(slot, from, to);
    // The new node is another history: its replication id is its own.
    let broken = Exchanged::Broken { epoch: end.epoch };
    assert_eq!(until_answered(&mut log, end, Some(&append(4))), broken, "on the way");
    cluster.end_move(slot, to);
    assert_eq!(until_answered(&mut log, end, None), broken, "there");
    let next = crate::contract::beginning(&log, end.epoch + 1);
    log.begin(end.epoch, &next).unwrap();
    let (start, _) = crate::contract::start(&next);
    assert_eq!(fill(&mut log, start, 3), after(start, 3));
    assert_eq!(
        exchange(&mut open(&cluster.url()), start, None).len(),
        3,
        "for whoever comes new, too"
    );
}

#[test]
fn any_node_leads_to_the_one_that_has_the_log() {
    let cluster = Cluster::start(&Options::password("hush"));
    let start = begin(&mut open(&cluster.url()));
    for node in &cluster.nodes {
        let mut log = open(&node.url().replace("redis:", "redis+cluster:"));
        assert_eq!(exchange(&mut log, start, None), []);
    }
}

#[test]
fn a_dead_node_is_passed_over() {
    let mut cluster = Cluster::start(&Options::default());
    let start = begin(&mut open(&cluster.url()));
    let (_, home) = cluster.home("{ropeline}:head");
    let url = cluster.url();
    let dead = (home + 1) % cluster.nodes.len();
    cluster.nodes[dead].kill();
    let mut log = open(&url);
    assert_eq!(
        until_answered(&mut log, start, None),
        Exchanged::Entries {
            more: false,
            entries: vec![],
            log_bytes: match log.exchange(start, None) {
                Ok(Exchanged::Entries { log_bytes, .. }) => log_bytes,
                other => panic!("{other:?}"),
            },
            newer: None,
        }
    );
}

//! The log on a master that sentinels watch.

use ropeline::store::{Begun, Exchanged, Log, Occasion};

use super::{open, refusal, snapshot, until_answered, why};
use crate::contract::{append, begin, beginning, exchange, fill, start};
use crate::harness::redis::{Options, Sentinel, until};

#[test]
fn the_log_goes_on_from_the_promoted_replica_as_a_new_one() {
    let mut stores = Sentinel::start(&Options::password("hush"));
    stores.until_in_sync();
    let mut log = open(&stores.url());
    let at = begin(&mut log);
    let end = fill(&mut log, at, 5);
    log.save(snapshot(end, b"x"), Occasion::Checkpoint).unwrap();
    stores.until_in_sync();
    stores.servers[0].kill();
    assert!(why(log.exchange(end, Some(&append(6)))).contains("127.0.0.1"));
    stores.until_promoted(1);
    let broken = Exchanged::Broken { epoch: end.epoch };
    assert_eq!(until_answered(&mut log, end, Some(&append(6))), broken);
    let loaded = log.load().unwrap();
    assert_eq!((loaded.epoch, loaded.snapshots.len()), (end.epoch, 1));
    let next = beginning(&log, end.epoch + 1);
    assert_eq!(log.begin(end.epoch, &next), Ok(Begun::Begun));
    let (at, _) = start(&next);
    fill(&mut log, at, 3);

    // The dead master comes back, as the sentinels' replica of the other: no gate takes it for the log.
    stores.servers[0].restart();
    stores.until_in_sync();
    assert_eq!(exchange(&mut open(&stores.url()), at, None).len(), 3);
}

#[test]
fn a_dead_sentinel_and_a_wrong_name_are_told_apart() {
    let mut stores = Sentinel::start(&Options::default());
    let url = stores.url();
    stores.sentinels[0].kill();
    let mut log = open(&url);
    begin(&mut log);
    let mut nobody = open(&url.replace("/shop", "/shoop"));
    assert!(why(nobody.load()).contains("no master \"shoop\""));
}

#[test]
fn sentinels_may_have_a_password_of_their_own() {
    let stores = Sentinel::start(&Options::password("hush"));
    for sentinel in &stores.sentinels {
        let _: () = sentinel.ask("ACL SETUSER default resetpass >whisper");
    }
    let refused = refusal(&stores.url());
    assert!(refused.contains("asks for a password"), "{refused}");
    begin(&mut open(&format!("{}?sentinel_password=whisper", stores.url())));
}

#[test]
fn who_is_master_in_a_sentinels_memory_only_is_not_taken_for_it() {
    let mut stores = Sentinel::start(&Options::default());
    let url = stores.url();
    // One alone cannot change its own state.
    stores.sentinels[1].kill();
    stores.sentinels[2].kill();
    let _: () = stores.servers[1].ask("REPLICAOF NO ONE");
    let _: () = stores.servers[0].ask(&format!("REPLICAOF 127.0.0.1 {}", stores.servers[1].port()));
    assert_eq!(stores.master(), 0, "so it says");
    let mut log = open(&url);
    let mut said = String::new();
    until("the one that is left to be asked", || {
        said = why(log.load());
        said.contains("not yet master")
    });
}

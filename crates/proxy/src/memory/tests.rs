use std::net::Ipv4Addr;

use futures_util::FutureExt;

use super::*;

fn client(last: u8) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, last).into()
}

/// Room for 64 KiB, of which each client has eight.
fn memory() -> (Arc<Memory>, Arc<UpstreamStats>) {
    (Memory::new(64 * KIB), Arc::default())
}

const SHARE: usize = 8 * 1024;

fn inside(memory: &Arc<Memory>, last: u8, stats: &Arc<UpstreamStats>) -> Ration {
    memory.ration(BodyOf::Inside(client(last)), stats)
}

fn stranger(memory: &Arc<Memory>, last: u8, stats: &Arc<UpstreamStats>) -> Ration {
    memory.ration(BodyOf::Stranger(client(last)), stats)
}

/// Whether it grew without a wait, and without the right to overdraw anything.
fn grows(ration: &mut Ration, bytes: usize) -> bool {
    ration.grow_at_once(bytes)
}

/// Whether it grew without a wait for others.
fn grows_somehow(ration: &mut Ration, bytes: usize) -> bool {
    ration.grow(bytes).now_or_never().is_some()
}

#[test]
fn a_client_waits_for_its_own_bodies_and_nobody_else_does() {
    let (memory, stats) = memory();
    let [mut first, mut second] = [0; 2].map(|_| inside(&memory, 1, &stats));
    assert!(grows(&mut first, SHARE));
    assert!(grows(&mut second, 1024), "a small one is charged to nobody");
    assert!(!grows(&mut second, 1025));
    let mut other = inside(&memory, 2, &stats);
    assert!(grows(&mut other, 2048));
    assert_eq!(stats.buffered_kib.load(Ordering::Relaxed), 8 + 1 + 2);
    drop(first);
    assert!(grows(&mut second, 1025));
    assert_eq!(second.charged[0], 2, "its first bytes with the others");
    drop((second, other));
    assert_eq!(stats.buffered_kib.load(Ordering::Relaxed), 0);
    assert!(memory.clients().is_empty(), "who holds nothing is forgotten");
}

#[test]
fn all_together_have_no_more_than_there_is_beyond_the_first_of_each() {
    let (memory, stats) = memory();
    let mut rations: Vec<_> = (0..17).map(|last| inside(&memory, last, &stats)).collect();
    let mut last = rations.pop().unwrap();
    for ration in &mut rations {
        assert!(grows(ration, SHARE));
    }
    assert!(!grows(&mut last, FIRST * 1024 + 1));
    assert!(grows(&mut last, FIRST * 1024), "a small body takes nothing of it");
    rations.pop();
    assert!(grows(&mut last, SHARE));
    drop((rations, last));
    assert_eq!(memory.free.available_permits(), 64, "all is given back");
}

#[test]
fn strangers_together_have_half() {
    let (memory, stats) = memory();
    let mut strangers: Vec<_> = (0..9).map(|last| stranger(&memory, last, &stats)).collect();
    let mut late = strangers.pop().unwrap();
    for ration in &mut strangers {
        assert!(grows(ration, SHARE));
    }
    assert!(!grows(&mut late, SHARE), "who waits takes nothing of the other half");
    let mut others: Vec<_> = (100..108).map(|last| inside(&memory, last, &stats)).collect();
    for ration in &mut others {
        assert!(grows(ration, SHARE));
    }
    assert!(!grows(&mut inside(&memory, 108, &stats), SHARE));
    drop(others);
    assert!(!grows(&mut late, SHARE));
    strangers.pop();
    assert!(grows(&mut late, SHARE));
    drop((strangers, late));
    assert_eq!(memory.strangers.available_permits(), 32, "all is given back");
}

#[test]
fn a_body_is_never_charged_more_than_its_client_may_have() {
    let (memory, stats) = memory();
    let mut ration = inside(&memory, 1, &stats);
    assert!(grows(&mut ration, 1 << 20));
    assert_eq!(ration.kib, 8);
    assert!(grows(&mut ration, 1 << 20), "it has all it may have");
}

#[test]
fn one_body_of_a_client_overdraws_its_share_so_that_none_waits_for_another_that_waits() {
    let (memory, stats) = memory();
    let mut bodies: Vec<_> = (0..4).map(|_| inside(&memory, 1, &stats)).collect();
    for body in &mut bodies {
        assert!(grows(body, SHARE / 4));
    }
    assert!(
        bodies.iter_mut().all(|body| !grows(body, SHARE)),
        "each waits for the others"
    );
    while let Some(mut first) = bodies.pop() {
        assert!(grows_somehow(&mut first, SHARE / 2), "{} are left", bodies.len());
        assert!(grows_somehow(&mut first, SHARE), "it need not wait again");
        let is_alone = bodies.len() < 3;
        assert!(bodies.iter_mut().all(|body| is_alone || !grows_somehow(body, SHARE)));
    }
    assert!(memory.clients().is_empty());
    assert_eq!(memory.free.available_permits(), 64, "all is given back");
}

#[test]
fn one_body_of_strangers_and_one_of_all_others_overdraw_the_memory_for_all() {
    let (memory, stats) = memory();
    let mut strangers: Vec<_> = (0..20).map(|last| stranger(&memory, last, &stats)).collect();
    let mut others: Vec<_> = (100..120).map(|last| inside(&memory, last, &stats)).collect();
    for body in strangers.iter_mut().chain(&mut others) {
        while body.kib < 7 && grows(body, (body.kib + 1) * 1024) {}
    }
    assert_eq!(memory.free.available_permits(), 0);
    let [mut stranger, mut other] = [&mut strangers, &mut others].map(|bodies| bodies.pop().unwrap());
    assert!(grows_somehow(&mut stranger, SHARE));
    assert!(grows_somehow(&mut other, SHARE));
    assert!(
        !strangers
            .iter_mut()
            .chain(&mut others)
            .any(|body| grows_somehow(body, SHARE))
    );
    drop(stranger);
    assert!(
        !others.iter_mut().any(|body| grows_somehow(body, SHARE)),
        "a stranger's right is no other's"
    );
    drop(other);
    for bodies in [&mut strangers, &mut others] {
        while let Some(mut first) = bodies.pop() {
            assert!(grows_somehow(&mut first, SHARE), "{} are left", bodies.len());
        }
    }
    assert_eq!(memory.free.available_permits(), 64, "all is given back");
    assert_eq!(memory.strangers.available_permits(), 32);
}

#[test]
fn who_overdraws_the_memory_for_all_never_waits_for_its_own_client() {
    let (memory, stats) = memory();
    let mut all: Vec<_> = (0..16).map(|last| inside(&memory, last, &stats)).collect();
    assert!(all.iter_mut().all(|body| grows(body, SHARE)));
    let [mut first, mut second] = [0; 2].map(|_| inside(&memory, 100, &stats));
    assert!(
        grows(&mut first, SHARE / 2) && grows(&mut second, SHARE / 2),
        "its share is used up"
    );
    assert!(grows_somehow(&mut second, SHARE / 2 + 1));
    assert_eq!(second.overdraws, Overdraws::All);
    assert!(!grows_somehow(&mut first, SHARE));
    assert!(grows_somehow(&mut second, SHARE));
    drop(second);
    assert!(grows_somehow(&mut first, SHARE));
}

#[test]
fn a_wait_that_is_given_up_holds_nothing() {
    let (memory, stats) = memory();
    let mut full = inside(&memory, 1, &stats);
    assert!(grows(&mut full, SHARE));
    let mut first = inside(&memory, 1, &stats);
    assert!(grows_somehow(&mut first, SHARE));
    let mut second = inside(&memory, 1, &stats);
    assert!(!grows_somehow(&mut second, SHARE));
    drop(first);
    assert!(grows_somehow(&mut second, SHARE));
    drop((second, full));
    assert_eq!(memory.free.available_permits(), 64);
    assert!(memory.clients().is_empty());
}

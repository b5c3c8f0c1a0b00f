//! The known addresses, on a clock that only the test moves.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

fn at(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn key(n: u32) -> Key {
    (IpAddr::from(Ipv4Addr::from_bits(n << 8)), 0)
}

fn known() -> Known {
    Known::new(100, 10)
}

fn standing(known: &mut Known, key: Key, now: Duration) -> Verification {
    known.ask(key, now).0
}

/// Everything that waits is looked up, and this found.
fn all(known: &mut Known, found: Found, mut now: Duration) -> usize {
    let mut count = 0;
    loop {
        match known.next(now) {
            Next::LookUp(key) => {
                known.learn(key, found, now);
                count += 1;
            }
            Next::In(wait) => now += wait,
            Next::Nothing => return count,
        }
    }
}

#[test]
fn the_first_request_is_unknown_and_an_address_is_looked_up_once() {
    let mut known = known();
    assert_eq!(known.next(at(0)), Next::Nothing);
    assert_eq!(known.ask(key(1), at(0)), (Verification::Unknown, Asked::Queued));
    assert_eq!(known.ask(key(1), at(0)), (Verification::Unknown, Asked::Known));
    assert_eq!(known.next(at(0)), Next::LookUp(key(1)));
    assert_eq!(
        known.ask(key(1), at(1)),
        (Verification::Unknown, Asked::Known),
        "under way"
    );
    assert_eq!(known.next(at(1)), Next::Nothing);
    known.learn(key(1), Found::Verified(HOUR), at(2));
    assert_eq!(known.ask(key(1), at(2)), (Verification::Verified, Asked::Known));
    let other = (key(1).0, 1);
    assert_eq!(
        standing(&mut known, other, at(2)),
        Verification::Unknown,
        "another crawler's name"
    );
}

#[test]
fn what_dns_says_holds_as_long_as_dns_says_within_bounds() {
    let ends = |found: fn(Duration) -> Found, ttl: Duration, right: Verification| {
        let mut known = known();
        known.learn(key(1), found(ttl), at(0));
        let mut holds = 0;
        while standing(&mut known, key(1), at(holds)) == right {
            holds += 60;
        }
        holds
    };
    let verified = |ttl| ends(Found::Verified, ttl, Verification::Verified);
    assert_eq!([at(0), HOUR, HOUR * 100].map(verified), [600, 3_600, 24 * 3_600]);
    let refuted = |ttl| ends(Found::Refuted, ttl, Verification::Refuted);
    assert_eq!([at(0), HOUR / 2, HOUR * 100].map(refuted), [300, 1_800, 3_600]);
    let mut known = known();
    known.learn(key(1), Found::Failed, at(0));
    assert_eq!(known.ask(key(1), at(59)), (Verification::Unknown, Asked::Known));
    assert_eq!(known.ask(key(1), at(60)), (Verification::Unknown, Asked::Queued));
}

#[test]
fn a_verified_address_is_looked_up_again_before_its_time_is_over_and_before_others() {
    let mut known = known();
    known.learn(key(1), Found::Verified(HOUR), at(0));
    assert_eq!(known.ask(key(2), at(2_700)), (Verification::Unknown, Asked::Queued));
    assert_eq!(known.ask(key(1), at(2_699)), (Verification::Verified, Asked::Known));
    assert_eq!(known.ask(key(1), at(2_700)), (Verification::Verified, Asked::Queued));
    assert_eq!(known.next(at(2_700)), Next::LookUp(key(1)));
    known.learn(key(1), Found::Failed, at(2_701));
    assert_eq!(known.ask(key(1), at(2_760)), (Verification::Verified, Asked::Known));
    assert_eq!(known.ask(key(1), at(3_599)), (Verification::Verified, Asked::Queued));
    assert_eq!(known.ask(key(1), at(3_600)), (Verification::Unknown, Asked::Known));
    known.learn(key(1), Found::Failed, at(3_601));
    assert_eq!(
        (known.verified(), standing(&mut known, key(1), at(3_602))),
        (0, Verification::Unknown)
    );
}

#[test]
fn a_verified_address_that_is_refuted_is_so_at_once() {
    let mut known = known();
    known.learn(key(1), Found::Verified(HOUR), at(0));
    known.learn(key(1), Found::Refuted(HOUR), at(10));
    assert_eq!(
        (known.verified(), standing(&mut known, key(1), at(10))),
        (0, Verification::Refuted)
    );
    known.learn(key(1), Found::Verified(HOUR), at(20));
    assert_eq!(standing(&mut known, key(1), at(20)), Verification::Verified);
}

#[test]
fn a_flood_of_made_up_addresses_pushes_no_verified_one_out_and_is_bounded() {
    let mut known = known();
    for n in 0..50 {
        known.learn(key(n), Found::Verified(HOUR * 24), at(0));
    }
    let mut now = at(0);
    for n in 100..50_100 {
        known.ask(key(n), now);
        if n % 10 == 0 {
            let wait = all(
                &mut known,
                [Found::Refuted(HOUR), Found::Failed][n as usize / 10 % 2],
                now,
            );
            now += known.every * u32::try_from(wait).unwrap();
        }
        assert!(known.first.len() <= QUEUE && known.asked.len() <= 2 * QUEUE);
        assert!(known.others.young.len() <= 100 && known.others.old.len() <= 100);
    }
    assert!(now < HOUR * 18);
    for n in 0..50 {
        assert_eq!(standing(&mut known, key(n), now), Verification::Verified);
    }
}

#[test]
fn who_was_refuted_of_late_is_known_for_it() {
    let mut known = known();
    for n in 0..150 {
        known.learn(key(n), Found::Refuted(HOUR), at(0));
    }
    assert_eq!(standing(&mut known, key(0), at(1)), Verification::Refuted);
    for n in 200..350 {
        known.learn(key(n), Found::Refuted(HOUR), at(1));
    }
    assert_eq!(standing(&mut known, key(0), at(2)), Verification::Unknown);
    assert_eq!(standing(&mut known, key(349), at(2)), Verification::Refuted);
}

#[test]
fn a_full_table_of_verified_ones_forgets_the_one_whose_time_is_over_first() {
    let mut known = known();
    for n in 0..100 {
        known.learn(key(n), Found::Verified(HOUR + at(u64::from(n))), at(0));
    }
    known.learn(key(7), Found::Verified(HOUR), at(1));
    assert_eq!(known.verified(), 100, "known already");
    known.learn(key(200), Found::Verified(HOUR), at(2));
    assert_eq!(known.verified(), 100);
    assert_eq!(standing(&mut known, key(0), at(2)), Verification::Unknown);
    let stay = [1, 7, 99, 200].map(|n| standing(&mut known, key(n), at(2)));
    assert_eq!(stay, [Verification::Verified; 4]);
}

#[test]
fn lookups_begin_evenly_and_no_faster_than_they_may() {
    let mut known = known();
    for n in 0..30 {
        known.ask(key(n), at(0));
    }
    let (mut now, mut begun) = (at(0), Vec::new());
    while now < at(2) {
        match known.next(now) {
            Next::LookUp(key) => begun.push((now, key)),
            Next::In(wait) => now += wait,
            Next::Nothing => break,
        }
    }
    assert_eq!(begun.len(), 20, "ten a second");
    assert!(
        begun
            .windows(2)
            .all(|two| two[1].0 >= two[0].0 + Duration::from_millis(100))
    );
    assert_eq!(known.next(HOUR), Next::LookUp(key(20)), "the first come, first");
    assert!(matches!(known.next(HOUR), Next::In(_)), "nothing is saved up");
}

#[test]
fn a_network_has_a_few_places_in_the_queue_and_the_queue_has_an_end() {
    let mut known = known();
    let of = |n: u8, host: u8| (IpAddr::from([192, 0, n, host]), 0);
    let asked: Vec<Asked> = (0..10).map(|host| known.ask(of(2, host), at(0)).1).collect();
    assert_eq!(asked[..8], [Asked::Queued; 8]);
    assert_eq!(asked[8..], [Asked::Dropped; 2]);
    assert_eq!(known.ask(of(3, 1), at(0)).1, Asked::Queued);
    let v6 = |last: u16| (IpAddr::from(Ipv6Addr::new(0x2001, 0xdb8, 7, last, 0, 0, 0, 1)), 0);
    let asked: Vec<Asked> = (0..9).map(|last| known.ask(v6(last), at(0)).1).collect();
    assert_eq!((asked[7], asked[8]), (Asked::Queued, Asked::Dropped), "a /48");
    for n in 0..1_000 {
        known.ask(key(n), at(0));
    }
    assert_eq!(known.first.len(), QUEUE);
    assert_eq!(known.ask(key(5_000), at(0)), (Verification::Unknown, Asked::Dropped));
    known.learn(key(6_000), Found::Verified(HOUR), at(0));
    assert_eq!(
        known.ask(key(6_000), at(3_000)).1,
        Asked::Queued,
        "has a queue of its own"
    );
    assert_eq!(known.next(at(3_000)), Next::LookUp(key(6_000)));
}

#[test]
fn a_network_has_a_place_in_the_queue_again_once_one_of_its_addresses_is_looked_up() {
    let mut known = known();
    let of = |host: u8| (IpAddr::from([192, 0, 2, host]), 0);
    (0..8).for_each(|host| assert_eq!(known.ask(of(host), at(0)).1, Asked::Queued));
    assert_eq!(known.next(at(0)), Next::LookUp(of(0)));
    assert_eq!(known.ask(of(8), at(0)).1, Asked::Queued);
    assert_eq!(known.ask(of(9), at(0)).1, Asked::Dropped);
}

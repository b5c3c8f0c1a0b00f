//! The limit's laws, on a clock that only the test moves.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use governor::clock::FakeRelativeClock;
use proptest::prelude::*;

use super::*;

fn limiter(requests: u32, window: Duration, clients: usize) -> (Limiter<FakeRelativeClock>, FakeRelativeClock) {
    let clock = FakeRelativeClock::default();
    let requests = NonZeroU32::new(requests).expect("some requests");
    (Limiter::with_clock(requests, window, clients, clock.clone()), clock)
}

fn client(n: u32) -> ClientKey {
    IpAddr::from(Ipv4Addr::from_bits(n)).into()
}

fn passes(limiter: &Limiter<FakeRelativeClock>, key: ClientKey) -> bool {
    matches!(limiter.check(key), Decision::Allowed { .. })
}

const TEN_SECONDS: Duration = Duration::from_secs(10);

#[test]
fn the_sixth_request_at_once_is_refused_and_one_is_back_every_two_seconds() {
    let (limiter, clock) = limiter(5, TEN_SECONDS, 10);
    for used in 1..=5 {
        let reset = Duration::from_secs(2 * u64::from(used));
        assert_eq!(
            limiter.check(client(1)),
            Decision::Allowed {
                remaining: 5 - used,
                reset
            }
        );
    }
    assert_eq!(
        limiter.check(client(1)),
        Decision::Refused {
            retry_after: Duration::from_secs(2)
        }
    );
    clock.advance(Duration::from_millis(1_500));
    assert_eq!(
        limiter.check(client(1)),
        Decision::Refused {
            retry_after: Duration::from_millis(500)
        }
    );
    clock.advance(Duration::from_millis(500));
    assert_eq!(
        limiter.check(client(1)),
        Decision::Allowed {
            remaining: 0,
            reset: TEN_SECONDS
        }
    );
    assert_eq!(
        limiter.check(client(1)),
        Decision::Refused {
            retry_after: Duration::from_secs(2)
        }
    );
    clock.advance(TEN_SECONDS);
    assert_eq!((0..9).filter(|_| passes(&limiter, client(1))).count(), 5);
}

#[test]
fn clients_do_not_share_a_bucket() {
    let (limiter, _clock) = limiter(1, TEN_SECONDS, 10);
    assert!(passes(&limiter, client(1)));
    assert!(passes(&limiter, client(2)));
    assert!(!passes(&limiter, client(1)));
}

#[test]
fn extreme_settings_are_taken_as_the_nearest_possible() {
    let (limiter, _clock) = limiter(u32::MAX, Duration::ZERO, 0);
    assert!(passes(&limiter, client(1)));
    assert!(
        passes(&limiter, client(2)),
        "room for one, and the first is not over its limit"
    );
    assert_eq!(limiter.clients(), 1);
    let (limiter, _clock) = self::limiter(1, Duration::MAX, 1);
    assert!(passes(&limiter, client(1)));
    assert_eq!(
        limiter.check(client(1)),
        Decision::Refused {
            retry_after: MAX_WINDOW
        }
    );
}

#[test]
fn a_flood_of_addresses_takes_a_fixed_memory() {
    let (limiter, clock) = limiter(5, TEN_SECONDS, 4_096);
    let mut most = 0;
    for n in 0..ADDRESSES {
        limiter.check(client(n));
        if n % 65_536 == 0 {
            clock.advance(Duration::from_millis(1));
            most = most.max(limiter.store.bytes());
            assert!(limiter.clients() <= 4_096);
        }
    }
    assert_eq!(limiter.clients(), 4_096);
    assert!(most < 4_096 * 200, "{most} bytes");
}

/// A tenth without optimisation, where ten million take half a minute.
const ADDRESSES: u32 = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };

#[test]
fn a_full_table_never_forgets_who_is_over_its_limit() {
    let (limiter, clock) = limiter(5, TEN_SECONDS, 50);
    let greedy = client(1);
    while passes(&limiter, greedy) {}
    for n in 100..10_100 {
        limiter.check(client(n));
        clock.advance(Duration::from_micros(100));
        assert!(!passes(&limiter, greedy), "after {n}");
    }
    clock.advance(Duration::from_secs(1));
    assert!(passes(&limiter, greedy));
}

#[test]
fn a_full_table_forgets_who_has_the_most_back() {
    let (limiter, _clock) = limiter(5, TEN_SECONDS, 3);
    for (n, requests) in [(1, 4), (2, 1), (3, 2)] {
        for _ in 0..requests {
            assert!(passes(&limiter, client(n)));
        }
    }
    assert!(passes(&limiter, client(4)), "takes the place of the second");
    assert_eq!(limiter.clients(), 3);
    assert!(
        matches!(limiter.check(client(1)), Decision::Allowed { remaining: 0, .. }),
        "the first is remembered"
    );
    assert!(
        matches!(limiter.check(client(3)), Decision::Allowed { remaining: 2, .. }),
        "so is the third"
    );
}

#[test]
fn newcomers_share_their_networks_bucket_when_all_are_over_their_limit() {
    let (limiter, clock) = limiter(2, TEN_SECONDS, 3);
    for n in 1..=3 {
        while passes(&limiter, client(n)) {}
    }
    let in_network = |network: u8, n: u8| ClientKey::from(IpAddr::from([10, network, 0, n]));
    assert!(passes(&limiter, in_network(1, 1)));
    assert!(passes(&limiter, in_network(1, 2)));
    assert!(!passes(&limiter, in_network(1, 3)), "the /16 has had its two");
    for other in 2..=9 {
        assert!(passes(&limiter, in_network(other, 1)), "another /16 has its own");
    }
    let in_prefix =
        |prefix: u16, n: u16| ClientKey::from(IpAddr::from(Ipv6Addr::new(0x2001, 0xdb8, prefix, n, 0, 0, 0, 1)));
    assert!(passes(&limiter, in_prefix(1, 1)));
    assert!(passes(&limiter, in_prefix(1, 2)));
    assert!(!passes(&limiter, in_prefix(1, 3)), "the /48 has had its two");
    assert!(!passes(&limiter, client(1)), "nobody was forgotten");
    clock.advance(Duration::from_secs(5));
    assert!(
        passes(&limiter, in_network(1, 3)),
        "a place is free, and a newcomer has a burst of its own"
    );
    assert!(passes(&limiter, in_network(1, 3)));
    assert_eq!(limiter.clients(), 3);
}

#[test]
fn idle_clients_are_forgotten_after_ten_minutes_and_no_others() {
    let (limiter, clock) = limiter(5, TEN_SECONDS, 100);
    for n in 0..50 {
        limiter.check(client(n));
    }
    clock.advance(Duration::from_secs(540));
    limiter.check(client(7));
    // One request is back after two seconds.
    clock.advance(Duration::from_millis(61_999));
    limiter.forget_idle();
    assert_eq!(limiter.clients(), 50);
    clock.advance(Duration::from_millis(1));
    limiter.forget_idle();
    assert_eq!(limiter.clients(), 1, "all but the seventh, who came back");
}

#[test]
fn newcomers_sweep_out_the_idle() {
    let (limiter, clock) = limiter(5, TEN_SECONDS, 100);
    for n in 0..50 {
        limiter.check(client(n));
    }
    clock.advance(IDLE + Duration::from_secs(2));
    for n in 100..125 {
        limiter.check(client(n));
    }
    assert_eq!(limiter.clients(), 25);
}

#[test]
fn idleness_forgives_nobody_in_a_window_longer_than_it() {
    let (limiter, clock) = limiter(2, Duration::from_secs(7_200), 100);
    while passes(&limiter, client(1)) {}
    clock.advance(IDLE * 2);
    limiter.forget_idle();
    assert!(!passes(&limiter, client(1)));
    clock.advance(Duration::from_secs(7_200) + IDLE);
    limiter.forget_idle();
    assert_eq!(limiter.clients(), 0);
}

/// As one that a reload makes.
#[test]
fn a_limit_that_begins_late_forgives_nobody_either() {
    let clock = FakeRelativeClock::default();
    clock.advance(Duration::from_secs(7_200));
    let two = NonZeroU32::new(2).expect("two");
    let limiter = Limiter::with_clock(two, Duration::from_secs(7_200), 100, clock.clone());
    while passes(&limiter, client(1)) {}
    clock.advance(IDLE * 2);
    limiter.forget_idle();
    assert!(!passes(&limiter, client(1)));
    clock.advance(IDLE);
    for n in 100..110 {
        limiter.check(client(n));
    }
    assert!(!passes(&limiter, client(1)), "nor do newcomers sweep it out");
    clock.advance(Duration::from_secs(7_200) + IDLE);
    limiter.forget_idle();
    assert_eq!(limiter.clients(), 0);
}

#[test]
fn cores_that_check_at_once_never_allow_one_too_many() {
    let (limiter, _clock) = limiter(1_000, TEN_SECONDS, 4);
    for n in 1..=4 {
        while passes(&limiter, client(n)) {}
    }
    let newcomer = ClientKey::from(IpAddr::from([10, 1, 0, 1]));
    let (known, shared): (usize, usize) = std::thread::scope(|scope| {
        let limiter = &limiter;
        let core = || (0..600).filter(|_| passes(limiter, newcomer)).count();
        let cores: Vec<_> = (0..4).map(|_| scope.spawn(core)).collect();
        let shared = cores.into_iter().map(|core| core.join().expect("no panic")).sum();
        ((1..=4).filter(|n| passes(limiter, client(*n))).count(), shared)
    });
    assert_eq!((known, shared), (0, 1_000));
}

/// The rule as a leaking bucket, which shares nothing with governor's algorithm.
struct Bucket {
    water: u64,
    at: u64,
}

impl Bucket {
    fn passes(&mut self, now: u64, drop: u64, most: u64) -> bool {
        self.water = self.water.saturating_sub(now - self.at);
        self.at = now;
        let fits = self.water + drop <= most * drop;
        self.water += if fits { drop } else { 0 };
        fits
    }
}

proptest! {
    #[test]
    fn it_decides_as_a_leaking_bucket_does(
        requests in 1_u32..20, refill_ms in 1_u64..5_000, steps in prop::collection::vec((0_u64..3_000, 0_u32..5), 1..300),
    ) {
        let (limiter, clock) = limiter(requests, Duration::from_millis(refill_ms) * requests, 10);
        let mut model: HashMap<u32, Bucket> = HashMap::new();
        let mut now = 0;
        for (wait_ms, who) in steps {
            clock.advance(Duration::from_millis(wait_ms));
            now += wait_ms;
            let bucket = model.entry(who).or_insert(Bucket { water: 0, at: now });
            prop_assert_eq!(passes(&limiter, client(who)), bucket.passes(now, refill_ms, requests.into()));
        }
    }

    /// With room for three among thirty: a client that was refused for its own requests stays refused until its time has
    /// come.
    #[test]
    fn a_refusal_stands_whoever_else_comes(
        requests in 1_u32..6, steps in prop::collection::vec((0_u64..400, 0_u32..30), 1..400),
    ) {
        let (limiter, clock) = limiter(requests, TEN_SECONDS, 3);
        let mut refused_until: HashMap<u32, Duration> = HashMap::new();
        let mut now = Duration::ZERO;
        for (wait_ms, who) in steps {
            clock.advance(Duration::from_millis(wait_ms));
            now += Duration::from_millis(wait_ms);
            let key = ClientKey::from(IpAddr::from([10, 0, 0, u8::try_from(who).expect("below 30")]));
            let known = limiter.store.knows(key);
            let (seen, looked) = (limiter.clients(), limiter.look(key));
            prop_assert_eq!((limiter.clients(), limiter.store.knows(key)), (seen, known), "a look changes nothing");
            let decision = limiter.check(key);
            prop_assert_eq!(looked, decision);
            if let Some(until) = refused_until.get(&who).filter(|until| now < **until) {
                prop_assert_eq!(decision, Decision::Refused { retry_after: until.saturating_sub(now) });
            }
            if let (true, Decision::Refused { retry_after }) = (known, decision) {
                refused_until.insert(who, now + retry_after);
            }
            prop_assert!(limiter.clients() <= 3);
        }
    }
}

#[test]
fn a_request_that_one_limit_refuses_is_counted_by_none() {
    let clock = FakeRelativeClock::default();
    let of = |requests| {
        let requests = NonZeroU32::new(requests).expect("some requests");
        Limiter::with_clock(requests, TEN_SECONDS, 10, clock.clone())
    };
    let (narrow, wide) = (of(2), of(3));
    let together = Together::default();
    let passes = |who| together.check(&[(&narrow, client(who)), (&wide, client(9))]);
    assert!(passes(1).is_ok() && passes(2).is_ok() && passes(2).is_ok());
    for _ in 0..10 {
        let refused = passes(1).expect_err("the wide one is empty");
        assert_eq!((refused.at, refused.retry_after), (1, TEN_SECONDS / 3));
        assert_eq!(passes(2).expect_err("and the second's own before it").at, 0);
    }
    clock.advance(TEN_SECONDS / 3 + Duration::from_nanos(1));
    assert!(
        passes(2).is_err() && passes(1).is_ok(),
        "nothing of the first's was taken, nor by the second"
    );
    assert!(
        narrow.look(client(3)) == narrow.look(client(3)) && narrow.clients() == 2,
        "a look remembers nobody"
    );
}

#[test]
fn cores_that_share_several_limits_take_of_all_as_much_as_the_tightest_allows() {
    let (narrow, _clock) = limiter(1_000, TEN_SECONDS, 10);
    let (wide, _clock) = limiter(1_500, TEN_SECONDS, 10);
    let together = Together::default();
    let core = |who| {
        let limits = [(&narrow, client(who)), (&wide, client(9))];
        (0..1_200).filter(|_| together.check(&limits).is_ok()).count()
    };
    let passed: Vec<usize> = std::thread::scope(|scope| {
        let core = &core;
        let cores: Vec<_> = [1, 2, 1, 2].map(|who| scope.spawn(move || core(who))).into();
        cores.into_iter().map(|core| core.join().expect("no panic")).collect()
    });
    let left = |who| (0..1_000).take_while(|_| passes(&narrow, client(who))).count();
    assert_eq!(passed.iter().sum::<usize>(), 1_500);
    assert_eq!(left(1) + left(2), 500, "what was refused is still there");
}

//! Laws of the permutation, tests of its randomness, answers from an independent program, and every change of figures.

use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::*;

fn key(seed: u32) -> [u8; 32] {
    Sha256::digest(seed.to_le_bytes()).into()
}

/// Every place once, and back from each to its number.
fn is_a_bijection(order: &Permutation) -> bool {
    let mut seen = vec![false; usize::try_from(order.count()).unwrap()];
    for number in 0..order.count() {
        let place = order.place(number).unwrap();
        let taken = std::mem::replace(&mut seen[usize::try_from(place).unwrap()], true);
        if taken || order.number(place) != Some(number) {
            return false;
        }
    }
    seen.iter().all(|seen| *seen)
}

#[test]
fn every_number_has_a_place_of_its_own_and_every_place_a_number() {
    let sizes = [
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 97, 99, 100, 101, 4_095, 4_096, 4_097, 1_000_003,
    ];
    for count in sizes {
        let order = Permutation::new(&key(count), count);
        assert!(is_a_bijection(&order), "{count}");
        assert_eq!((order.place(count), order.number(count)), (None, None), "{count}");
    }
}

#[test]
fn the_smallest_and_the_largest_count_are_drawn_too() {
    let none = Permutation::new(&key(0), 0);
    assert_eq!((none.place(0), none.number(0)), (None, None));
    let all = Permutation::new(&[0; 32], u32::MAX);
    let last = u32::MAX - 1;
    let placed = [0, 1, last].map(|number| all.place(number).unwrap());
    // As tests/draw/draw.py has them, which counts from one.
    assert_eq!(
        placed,
        [2_896_630_492, 3_699_370_953, 1_818_692_278].map(|place: u32| place - 1)
    );
    assert_eq!(placed.map(|place| all.number(place).unwrap()), [0, 1, last]);
    assert_eq!(all.place(u32::MAX), None);
}

proptest! {
    #[test]
    fn whatever_key_and_count_it_is_a_bijection(key: [u8; 32], count in 0_u32..3_000) {
        prop_assert!(is_a_bijection(&Permutation::new(&key, count)));
    }

    #[test]
    fn in_a_draw_of_any_size_a_place_leads_back(key: [u8; 32], count in 1_u32..100_000, share: u32) {
        let order = Permutation::new(&key, count);
        let number = share % count;
        prop_assert_eq!(order.place(number).and_then(|place| order.number(place)), Some(number));
    }

    #[test]
    fn no_text_is_read_as_figures_with_a_panic(bytes: Vec<u8>) {
        prop_assert!(Figures::parse(&bytes).is_err());
    }
}

/// Whether chi-square of counts that should be equal is within four standard deviations of its mean.
fn is_even(counts: &[u32]) -> bool {
    let cells = i128::try_from(counts.len()).unwrap();
    let (free, total) = (cells - 1, i128::from(counts.iter().sum::<u32>()));
    let squares: i128 = counts.iter().map(|count| i128::from(*count).pow(2)).sum();
    // Chi-square is cells·squares/total - total, its mean the degrees of freedom, its variance twice that.
    let off = cells * squares - total.pow(2) - free * total;
    off.pow(2) < 16 * 2 * free * total.pow(2)
}

#[test]
fn the_measure_itself_sees_what_is_uneven() {
    assert!(is_even(&[500, 510, 490, 500]));
    assert!(!is_even(&[500, 600, 400, 500]));
    assert!(!is_even(&[0, 0, 0, 500]));
}

/// The seeds are fixed, so this passes always or never.
#[test]
fn small_draws_give_every_order_equally_often() {
    for (count, orders, each) in [
        (2_u32, 2_usize, 500_u32),
        (3, 6, 300),
        (4, 24, 100),
        (5, 120, 50),
        (6, 720, 20),
    ] {
        let mut counts = vec![0; orders];
        for seed in 0..u32::try_from(orders).unwrap() * each {
            let order = Permutation::new(&key(seed), count);
            let places: Vec<u32> = (0..count).map(|number| order.place(number).unwrap()).collect();
            counts[rank(&places)] += 1;
        }
        assert!(is_even(&counts), "{count}: {counts:?}");
    }
}

#[test]
fn a_pair_of_a_larger_draw_stands_anywhere_equally_often() {
    let (count, each) = (14_u32, 40_u32);
    let mut counts = vec![0; usize::try_from(count * (count - 1)).unwrap()];
    for seed in 0..count * (count - 1) * each {
        let order = Permutation::new(&key(seed), count);
        let (first, second) = (order.place(4).unwrap(), order.place(5).unwrap());
        let second = if second > first { second - 1 } else { second };
        counts[usize::try_from(first * (count - 1) + second).unwrap()] += 1;
    }
    assert!(is_even(&counts), "{counts:?}");
}

/// The place of an order among all orders of as many.
fn rank(places: &[u32]) -> usize {
    places.iter().enumerate().fold(0, |rank, (i, place)| {
        let smaller = places[i + 1..].iter().filter(|later| *later < place).count();
        rank * (places.len() - i) + smaller
    })
}

/// Computed by `tests/draw/draw.py`: a draw published today must be checkable with every later version.
#[test]
fn the_order_of_a_key_is_fixed() {
    let known: [(u32, &[u32]); 6] = [
        (1, &[1]),
        (2, &[1, 2]),
        (3, &[2, 3, 1]),
        (5, &[3, 4, 5, 2, 1]),
        (7, &[3, 6, 1, 7, 4, 2, 5]),
        (97, &[83, 71, 90, 23, 4, 19, 75, 53, 8, 72, 36, 29]),
    ];
    for (count, places) in known {
        let order = Permutation::new(&[0; 32], count);
        for (number, place) in (0..).zip(places) {
            assert_eq!(order.place(number), Some(place - 1), "{number} of {count}");
        }
    }
}

fn parsed(figures: &Value) -> Result<Figures, FiguresError> {
    Figures::parse(figures.to_string().as_bytes())
}

/// A draw of fourteen, as `tests/draw/draw.py` makes it.
fn fourteen() -> Value {
    json!({
        "draw": 1, "room": "drop", "line": "été", "lane": 1, "edition": 0, "begins_ms": 5, "opens_ms": 7,
        "commitment": "c6c93422eeedb32d39b59112901c1da3e46adf611f984e7d2bd4227c3de8ef7d",
        "count": 14, "closed_ms": 9,
        "closing": "9ed0e578bc5cfc29d60ff262b3468e7a5d164ef36ec451f5ad1eb3d2616bc54f",
        "secret": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "seal": "16f281f92bfd8ce270b58c9240b6fd409b77b92a756c2fb1077f687c2010efbe",
    })
}

/// Figures of a draw with a beacon.
fn with_beacon() -> Value {
    let value = &"cafe".repeat(16);
    let draw = Draw {
        order: AdmissionOrder::default(),
        room: "drop",
        line: "",
        edition: 3,
        lane: 0,
        begins_ms: 10,
        opens_ms: 20,
        closed_ms: 30,
        count: 1_000,
        secret: Hash([7; 32]),
        beacon: Some(Beacon {
            name: "drand round 5",
            value,
        }),
    };
    let closing = draw.closing(draw.commitment());
    let published = Published {
        draw: 1,
        room: "drop".to_owned(),
        line: String::new(),
        lane: 0,
        edition: 3,
        begins_ms: 10,
        opens_ms: 20,
        beacon: Some("drand round 5".to_owned()),
        commitment: draw.commitment(),
        count: Some(1_000),
        closed_ms: Some(30),
        closing: Some(closing),
        beacon_value: Some(value.clone()),
        secret: Some(draw.secret),
        seal: Some(draw.seal(closing)),
    };
    serde_json::to_value(published).unwrap()
}

#[test]
fn the_figures_of_a_draw_are_fixed() {
    let figures = parsed(&fourteen()).unwrap();
    assert_eq!(figures.faults(), []);
    let order = figures.order();
    let places: Vec<u32> = (0..14).map(|number| order.place(number).unwrap() + 1).collect();
    assert_eq!(places, [7, 3, 5, 11, 9, 12, 8, 6, 4, 13, 1, 14, 10, 2]);
}

#[test]
fn each_change_is_told_by_what_was_changed() {
    let other = "d1".repeat(32);
    let changes = [
        ("secret", json!(other), vec![Fault::Secret]),
        ("room", json!("dropp"), vec![Fault::Secret]),
        ("line", json!("1"), vec![Fault::Count]),
        ("edition", json!(4), vec![Fault::Secret]),
        ("beacon", json!("drand round 6"), vec![Fault::Secret]),
        ("count", json!(1_001), vec![Fault::Count]),
        ("lane", json!(1), vec![Fault::Count]),
        ("beacon_value", json!("caff".repeat(16)), vec![Fault::Beacon]),
        ("begins_ms", json!(11), vec![Fault::Secret]),
        ("opens_ms", json!(21), vec![Fault::Secret]),
        ("opens_ms", json!(31), vec![Fault::Secret, Fault::Early(1)]),
        ("closed_ms", json!(31), vec![Fault::Count]),
        ("seal", json!(other), vec![Fault::Beacon]),
        ("closing", json!(other), vec![Fault::Count, Fault::Beacon]),
        ("commitment", json!(other), vec![Fault::Secret, Fault::Count]),
    ];
    assert_eq!(parsed(&with_beacon()).unwrap().faults(), []);
    for (name, value, faults) in changes {
        let mut figures = with_beacon();
        figures[name] = value;
        assert_eq!(parsed(&figures).unwrap().faults(), faults, "{name}");
    }
}

#[test]
fn every_fact_makes_another_order() {
    let draw = Draw {
        order: AdmissionOrder::default(),
        room: "a",
        line: "b",
        edition: 1,
        lane: 1,
        begins_ms: 1,
        opens_ms: 2,
        closed_ms: 3,
        count: 9,
        secret: Hash([1; 32]),
        beacon: Some(Beacon { name: "n", value: "v" }),
    };
    let beacon = |name, value| Some(Beacon { name, value });
    let others = [
        Draw {
            room: "ab",
            line: "",
            ..draw
        },
        Draw {
            room: "",
            line: "ab",
            ..draw
        },
        Draw { edition: 2, ..draw },
        Draw { lane: 2, ..draw },
        Draw { count: 10, ..draw },
        Draw {
            secret: Hash([2; 32]),
            ..draw
        },
        Draw {
            beacon: beacon("nv", ""),
            ..draw
        },
        Draw {
            beacon: beacon("", "nv"),
            ..draw
        },
        Draw { beacon: None, ..draw },
    ];
    let mut keys: Vec<Hash> = others.iter().chain([&draw]).map(Draw::key).collect();
    keys.sort_by_key(|key| key.0);
    keys.dedup();
    assert_eq!(keys.len(), others.len() + 1);
}

#[test]
fn a_kept_fingerprint_shows_figures_that_were_made_anew() {
    let figures = parsed(&fourteen()).unwrap();
    for name in ["commitment", "closing", "seal"] {
        let kept = Hash::parse(fourteen()[name].as_str().unwrap()).unwrap();
        assert_eq!(figures.expects(kept), None, "{name}");
    }
    let other = Hash([9; 32]);
    assert_eq!(figures.expects(other), Some(Fault::Unknown(other)));
}

#[test]
fn what_is_no_draw_is_refused_with_its_reason() {
    let without = |name: &str| {
        let mut figures = with_beacon();
        figures.as_object_mut().unwrap().remove(name);
        figures
    };
    let with = |name: &str, value: Value| {
        let mut figures = with_beacon();
        figures[name] = value;
        figures
    };
    let cases = [
        (
            without("seal"),
            "the draw has not been made: the seal is not published yet",
        ),
        (
            without("secret"),
            "the draw has not been made: the secret is not published yet",
        ),
        (
            without("count"),
            "the draw has not been made: the count is not published yet",
        ),
        (
            without("beacon_value"),
            "the draw has not been made: the beacon's value is not published yet",
        ),
        (without("beacon"), "a beacon's value without the name of a beacon"),
        (without("room"), "not the figures of a draw: missing field `room`"),
        (
            with("draw", json!(99)),
            "figures of form 99, and this program knows form 1",
        ),
        (with("room", json!("")), "\"\" cannot be the name of a room"),
        (with("line", json!("a\nb")), "\"a\\nb\" cannot be the value of a line"),
        (with("lane", json!(256)), "not the figures of a draw: invalid value"),
        (with("beacon", json!("")), "a beacon's name is 1 to 200 bytes long"),
        (
            with("beacon_value", json!("cafe".repeat(17))),
            "a beacon's value is 64 or 128 hexadecimal digits in small letters",
        ),
        (
            with("beacon_value", json!("CAFE".repeat(16))),
            "a beacon's value is 64 or 128 hexadecimal digits in small letters",
        ),
        (
            with("count", json!(4_294_967_296_u64)),
            "not the figures of a draw: invalid value",
        ),
        (with("count", json!(-1)), "not the figures of a draw: invalid value"),
        (
            with("secret", json!("00")),
            "not the figures of a draw: 64 hexadecimal digits are wanted",
        ),
        (
            with("room", json!("a".repeat(20_000))),
            "more than 16384 bytes: not the figures of a draw",
        ),
        (json!([]), "not the figures of a draw: invalid"),
    ];
    for (figures, reason) in cases {
        let told = parsed(&figures).expect_err(reason).to_string();
        assert!(told.starts_with(reason), "{told}\nnot {reason}");
    }
}

#[test]
fn a_hash_is_read_back_and_nothing_else_is() {
    let hash = Hash::over("label", &[b"field"]);
    assert_eq!(Hash::parse(&hash.to_string()), Some(hash));
    assert_eq!(Hash::parse(&hash.to_string().to_uppercase()), Some(hash));
    for other in ["", "00", &"g".repeat(64), &"0".repeat(63), &"é".repeat(32)] {
        assert_eq!(Hash::parse(other), None, "{other}");
    }
}

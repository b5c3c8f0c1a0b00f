use std::collections::{BTreeMap, BTreeSet};

use super::*;
use ropeline_ids::{LineName, RoomName};

fn varied(value: u64) -> Vec<u8> {
    let mut w = Writer::default();
    w.var(value);
    w.bytes
}

#[test]
fn variable_integers_round_trip_at_their_edges() {
    for value in [
        0,
        1,
        127,
        128,
        16_383,
        16_384,
        u64::from(u32::MAX),
        u64::MAX - 1,
        u64::MAX,
    ] {
        assert_eq!(Reader::new(&varied(value), "number").var(), Ok(value));
    }
}

#[test]
fn longer_forms_and_overflows_of_variable_integers_are_refused() {
    let too_long = [0x81, 0x00];
    let too_large = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
    let endless = [0x80; 11];
    for bytes in [&too_long[..], &too_large, &endless] {
        assert!(Reader::new(bytes, "number").var().is_err(), "{bytes:?}");
    }
}

#[test]
fn a_count_of_more_than_the_bytes_left_is_refused_before_allocating() {
    let mut bytes = varied(u64::MAX);
    bytes.push(0);
    let list = |bytes: &[u8]| Reader::new(bytes, "list").get::<Vec<u8>>();
    assert_eq!(list(&bytes), Err(DecodeError { what: "list", at: 10 }));
    assert_eq!(list(&[2, 7, 8]), Ok(vec![7, 8]));
    assert_eq!(list(&[3, 7, 8]), Err(DecodeError { what: "list", at: 1 }));
}

#[test]
fn an_error_says_where_it_stood() {
    let mut r = Reader::new(&[0x81, 1, 9], "thing");
    assert_eq!(r.get::<u16>(), Ok(129));
    assert_eq!(r.get::<bool>(), Err(DecodeError { what: "thing", at: 3 }));
    assert!(Reader::new(&[0], "thing").finish().is_err());
}

#[test]
fn names_that_cannot_be_are_refused() {
    for text in ["", "Upper", "a b"] {
        let mut w = Writer::default();
        w.text(text);
        assert!(Reader::new(&w.bytes, "name").get::<RoomName>().is_err());
    }
    let mut w = Writer::default();
    w.text("a\nb");
    assert!(Reader::new(&w.bytes, "name").get::<LineName>().is_err());
}

#[derive(Debug, PartialEq)]
struct Sparse {
    always: u8,
    few: u32,
    more: Vec<u8>,
}

codec! {
    struct Sparse { always } sparse { few, more };
}

#[test]
fn a_part_with_its_default_is_not_there() {
    let sparse = |few, more: &[u8]| Sparse {
        always: 9,
        few,
        more: more.to_vec(),
    };
    for (value, bytes) in [
        (sparse(0, &[]), &[9, 0][..]),
        (sparse(5, &[]), &[9, 1, 5]),
        (sparse(0, &[7]), &[9, 2, 1, 7]),
        (sparse(5, &[7]), &[9, 3, 5, 1, 7]),
    ] {
        let mut w = Writer::default();
        w.put(&value);
        assert_eq!(w.bytes, bytes);
        assert_eq!(Reader::new(bytes, "parts").get(), Ok(value));
    }
    for (bytes, why) in [
        (&[9, 1, 0][..], "a default that is there"),
        (&[9, 2, 0], "an empty list that is there"),
        (&[9, 4, 5], "a part that it does not have"),
    ] {
        assert!(Reader::new(bytes, "parts").get::<Sparse>().is_err(), "{why}");
    }
}

#[test]
fn maps_and_sets_rise() {
    let map = |bytes: &[u8]| Reader::new(bytes, "map").get::<BTreeMap<u8, u8>>().is_ok();
    let set = |bytes: &[u8]| Reader::new(bytes, "set").get::<BTreeSet<u8>>().is_ok();
    assert!(map(&[2, 1, 0, 2, 0]) && !map(&[2, 1, 0, 1, 0]) && !map(&[2, 2, 0, 1, 0]));
    assert!(set(&[2, 1, 2]) && !set(&[2, 1, 1]) && !set(&[2, 2, 1]));
}

#[test]
fn an_integer_is_read_within_its_width() {
    let read = |value: u64| Reader::new(&varied(value), "number").get::<u32>();
    assert_eq!(read(u64::from(u32::MAX)), Ok(u32::MAX));
    assert!(read(u64::from(u32::MAX) + 1).is_err());
}

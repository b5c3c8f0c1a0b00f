use super::*;

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
    assert!(Reader::new(&bytes, "list").list(1, Reader::u8).is_err());
    assert_eq!(Reader::new(&[2, 7, 8], "list").list(1, Reader::u8), Ok(vec![7, 8]));
    assert!(Reader::new(&[3, 7, 8], "list").list(1, Reader::u8).is_err());
}

#[test]
fn an_error_says_where_it_stood() {
    let mut r = Reader::new(&[1, 0, 9], "thing");
    assert_eq!(r.u16(), Ok(1));
    assert_eq!(r.flag(), Err(DecodeError { what: "thing", at: 3 }));
    assert!(Reader::new(&[0], "thing").finish().is_err());
}

#[test]
fn names_that_cannot_be_are_refused() {
    for text in ["", "Upper", "a b"] {
        let mut w = Writer::default();
        w.text(text);
        assert!(Reader::new(&w.bytes, "name").room_name().is_err());
    }
    let mut w = Writer::default();
    w.text("a\nb");
    assert!(Reader::new(&w.bytes, "name").line_name().is_err());
}

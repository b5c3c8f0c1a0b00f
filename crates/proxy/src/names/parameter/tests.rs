use proptest::prelude::*;

use super::super::spelling::tests::{raw, stacks, wanted};
use super::*;

#[test]
fn a_value_is_read_where_all_stacks_read_the_same() {
    let of = |text: &str| value_of(text.as_bytes(), "id").map(|value| value.map(|value| value.bytes));
    let is = |value: &str| Ok(Some(value.as_bytes().to_vec()));
    assert_eq!(of("x=1&id=a%2Db+c"), is("a-b c"));
    assert_eq!(of("ID=5&id=5"), is("5"));
    assert_eq!(of("id"), is(""));
    for none in [
        "",
        "x=1",
        "ids=1&x[id]=2",
        "x=%26id%3D7",
        "x=[id]",
        "=ids=1",
        "==",
        "x==id=7",
    ] {
        assert_eq!(of(none), Ok(None), "{none}");
    }
    for doubtful in [
        "id=5&%20id=7",
        "id=5&id%00x=7",
        "id[]=7",
        "[id]=7",
        "id=1&id=2",
        "id&id=2",
        "x=1;id=2&id=1",
        "id=1;x=2",
        "x;id=7",
        "id==7",
        "=id=7",
        "id=7&==id=8",
        "x=1&=%69d=7",
        "=id",
        "id=abc[x]=7",
        "id=abc[x%5D=7",
        "id=100%",
        "id=%00",
        "id=%0A",
    ] {
        assert_eq!(of(doubtful), Err(Doubtful), "{doubtful}");
    }
    let padded = |pairs: usize| format!("{}id=5", "a=1&".repeat(pairs));
    assert_eq!(of(&padded(MAX_PAIRS - 1)), is("5"));
    assert_eq!(of(&padded(MAX_PAIRS)), Err(Doubtful));
    let often = |times| ["id=5"].repeat(times).join("&");
    assert_eq!(
        (of(&often(MAX_TIMES)), of(&often(MAX_TIMES + 1))),
        (is("5"), Err(Doubtful))
    );
}

#[test]
fn empty_pairs_say_nothing_and_a_thousand_of_them_are_refused_before_any_more_is_read() {
    let of = |text: &str| value_of(text.as_bytes(), "id").map(|value| value.map(|value| value.bytes));
    for ordinary in ["&id=5", "a=1&&id=5&", "id=5&&id=5", "id=5&&"] {
        assert_eq!(of(ordinary), Ok(Some(b"5".to_vec())), "{ordinary}");
    }
    for separator in ["&", ";", "&;"] {
        let text = separator.repeat(MAX_PAIRS / separator.len());
        let (most, more) = (&text[1..], format!("{text}{separator}"));
        assert_eq!((of(most), of(&more)), (Ok(None), Err(Doubtful)), "{separator}");
    }
    // A form that an upstream gives out may have as many fields as it likes.
    assert_eq!(of(&"a=1&".repeat(2 * MAX_PAIRS)), Ok(None));
}

#[test]
fn a_query_of_more_pairs_than_every_stack_reads_is_doubtful_whatever_they_say() {
    let of = |text: &str| value_in_query(text, "id").map(|value| value.map(|value| value.bytes));
    assert_eq!(of("a=1&&id=5&"), Ok(Some(b"5".to_vec())));
    for pair in ["a=1", "_", ""] {
        let pairs = |count: usize| vec![pair; count].join("&");
        assert_eq!(
            (of(&pairs(MAX_PAIRS)), of(&pairs(MAX_PAIRS + 1))),
            (Ok(None), Err(Doubtful)),
            "{pair:?}"
        );
    }
    assert_eq!(of(&";".repeat(MAX_PAIRS)), Err(Doubtful));
}

proptest! {
    #[test]
    fn a_value_that_is_read_is_what_every_stack_reads(pairs in prop::collection::vec((raw(), "[a-c1;\\[\\]=%]{0,4}"), 0..4), wanted in wanted()) {
        let text = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
        let Ok(value) = value_of(text.as_bytes(), wanted) else { return Ok(()) };
        for pair in text.split('&') {
            let (name, own) = pair.split_once('=').unwrap_or((pair, ""));
            let name = percent::decode_leniently(&spaced(name.as_bytes()));
            for stack in stacks::ALL {
                if stack(&name).eq_ignore_ascii_case(&stack(wanted.as_bytes())) {
                    prop_assert_eq!(decoded(own.as_bytes()), value.clone().map(|value| value.bytes), "{} in {}", wanted, text);
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(text: Vec<u8>) {
        let _ = value_of(&text, "id");
        let _ = value_of(&text, "a[b]");
    }
}

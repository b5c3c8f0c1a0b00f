//! Pages of random facts, read by decoders.

use std::io::Read;

use proptest::prelude::*;

use super::*;

/// The text of a page that was sent like this.
pub fn read(coding: Coding, bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    match coding {
        Coding::Identity => text.extend_from_slice(bytes),
        Coding::Gzip => {
            let mut decoder = flate2::bufread::GzDecoder::new(bytes);
            decoder.read_to_end(&mut text).unwrap();
            assert!(decoder.into_inner().is_empty(), "one member");
        }
        Coding::Brotli => {
            let mut decoder = brotli::Decompressor::new(bytes, 4_096);
            decoder.read_to_end(&mut text).unwrap();
        }
    }
    text
}

const TEXT: &str = concat!(
    include_str!("../../../static/page.css"),
    include_str!("../../../static/small/page.js")
);

/// The page is read as it is in both codings.
fn check(packed: &Packed, text: &str, facts: &str) {
    for coding in [Coding::Gzip, Coding::Brotli] {
        let bytes = packed.page(coding, facts).unwrap();
        assert!(
            read(coding, &bytes) == [text, facts].concat().as_bytes(),
            "{coding:?}: {facts:?}"
        );
    }
}

#[test]
fn facts_of_every_length_and_byte_are_read_as_they_are() {
    let every: String = (0..=255_u8)
        .map(char::from)
        .chain("𐀀한국어\u{10ffff}".chars())
        .collect();
    for text in ["", "a", TEXT] {
        let packed = Packed::new(text).unwrap();
        for len in [1, 255, 256, 65_535, 65_536, 65_537, 131_070, 131_071] {
            check(&packed, text, &"x".repeat(len));
        }
        check(&packed, text, &every.repeat(900));
        let mut runner = proptest::test_runner::TestRunner::default();
        let tried = runner.run(&prop_oneof!["\\PC{1,400}", "[a-z0-9/&;=%]{1,9000}"], |facts| {
            check(&packed, text, &facts);
            Ok(())
        });
        tried.unwrap();
    }
}

/// Facts that repeat each other or the text take as much as any others.
#[test]
fn what_a_fact_takes_depends_on_nothing_but_its_length() {
    let packed = Packed::new(TEXT).unwrap();
    for coding in [Coding::Gzip, Coding::Brotli] {
        let facts = [
            "7f3a9c51e0d84b26 7f3a9c51e0d84b26",
            "7f3a9c51e0d84b26 62b48d0e15c9a3f7",
            &TEXT[..33],
        ];
        let lens = facts.map(|facts| packed.page(coding, facts).unwrap().len());
        assert!(lens.iter().all(|len| *len == lens[0]), "{coding:?}: {lens:?}");
    }
}

#[test]
fn a_page_is_compressed_at_once_if_it_gets_smaller() {
    assert_eq!(quick(b""), None);
    assert_eq!(quick(b"<p>short"), None);
    let random: Vec<u8> = (0..4_000_u32)
        .flat_map(|n| (n.wrapping_mul(0x9e37_79b9) ^ (n << 7)).to_le_bytes())
        .collect();
    for page in [
        TEXT.as_bytes(),
        &random,
        &TEXT.as_bytes()[..300],
        &random[..300],
        &[b'a'; 300],
    ] {
        if let Some(gzip) = quick(page) {
            assert!(gzip.len() + FIELD <= page.len());
            assert!(read(Coding::Gzip, &gzip) == page);
        }
    }
    assert!(quick(TEXT.as_bytes()).is_some_and(|gzip| gzip.len() < TEXT.len() / 2));
}

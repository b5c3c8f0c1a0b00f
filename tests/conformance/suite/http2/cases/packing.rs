//! Field blocks: every way to say a field, and every way to say it wrong (RFC 7541).

use crate::suite::case::Check;
use crate::suite::http2::case::{Case, Expect, LESS_TELLING, passes};
use crate::suite::http2::wire::{
    COMPRESSION, WHOLE, block, coded, field, get, head, headers, indexed, integer, string,
};

/// Strings in Huffman's code, as RFC 7541, appendix C.4, has them.
const CUSTOM_KEY: &[u8] = &[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f];
const CUSTOM_VALUE: &[u8] = &[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xb8, 0xe8, 0xb4, 0xbf];
const NO_CACHE: &[u8] = &[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf];
/// Places in the table of RFC 7541, appendix A, and the first of one's own.
const CACHE_CONTROL: usize = 24;
const FIRST: usize = 62;

pub fn all() -> Vec<Case> {
    let mut cases = sound();
    cases.extend(broken());
    cases.extend(bounds());
    cases
}

/// A GET with this behind its pseudo-fields.
fn with(bytes: &[u8]) -> Vec<u8> {
    headers(WHOLE, 1, &[head("GET", "/", &[]), bytes.to_vec()].concat())
}

fn sound() -> Vec<Case> {
    let is = |name: &str, source, bytes: &[u8], field, value| {
        Case::new(
            name,
            source,
            with(bytes),
            Expect::Passes(vec![Check::Field(field, value)]),
        )
    };
    let cached = |first, bits, value: Vec<u8>| [integer(first, bits, CACHE_CONTROL), value].concat();
    let named = |first: u8, name: Vec<u8>, value: Vec<u8>| [vec![first], name, value].concat();
    let plain = || string("no-cache");
    let (key, value) = (|| string("custom-key"), || string("custom-value"));
    let (own, other) = ("custom-key", "custom-value");
    vec![
        is(
            "an indexed field",
            "7541, 6.1",
            &[0x90],
            "accept-encoding",
            "gzip, deflate",
        )
        .listed("generic 5, 1"),
        is(
            "indexed, a known name",
            "7541, 6.2.1",
            &cached(0x40, 6, plain()),
            "cache-control",
            "no-cache",
        )
        .listed("generic 5, 2"),
        is(
            "indexed, a known name, Huffman",
            "7541, 6.2.1",
            &cached(0x40, 6, coded(NO_CACHE)),
            "cache-control",
            "no-cache",
        )
        .listed("generic 5, 3"),
        is(
            "indexed, a new name",
            "7541, 6.2.1",
            &named(0x40, key(), value()),
            own,
            other,
        )
        .listed("generic 5, 4"),
        is(
            "indexed, a new name, Huffman",
            "7541, 6.2.1",
            &named(0x40, coded(CUSTOM_KEY), coded(CUSTOM_VALUE)),
            own,
            other,
        )
        .listed("generic 5, 5"),
        is(
            "not indexed, a known name",
            "7541, 6.2.2",
            &cached(0, 4, plain()),
            "cache-control",
            "no-cache",
        )
        .listed("generic 5, 6"),
        is(
            "not indexed, a known name, Huffman",
            "7541, 6.2.2",
            &cached(0, 4, coded(NO_CACHE)),
            "cache-control",
            "no-cache",
        )
        .listed("generic 5, 7"),
        is(
            "not indexed, a new name",
            "7541, 6.2.2",
            &named(0, key(), value()),
            own,
            other,
        )
        .listed("generic 5, 8"),
        is(
            "not indexed, a new name, Huffman",
            "7541, 6.2.2",
            &named(0, coded(CUSTOM_KEY), coded(CUSTOM_VALUE)),
            own,
            other,
        )
        .listed("generic 5, 9"),
        is(
            "never indexed, a known name",
            "7541, 6.2.3",
            &cached(0x10, 4, plain()),
            "cache-control",
            "no-cache",
        )
        .listed("generic 5, 10"),
        is(
            "never indexed, a known name, Huffman",
            "7541, 6.2.3",
            &cached(0x10, 4, coded(NO_CACHE)),
            "cache-control",
            "no-cache",
        )
        .listed("generic 5, 11"),
        is(
            "never indexed, a new name",
            "7541, 6.2.3",
            &named(0x10, key(), value()),
            own,
            other,
        )
        .listed("generic 5, 12"),
        is(
            "never indexed, a new name, Huffman",
            "7541, 6.2.3",
            &named(0x10, coded(CUSTOM_KEY), coded(CUSTOM_VALUE)),
            own,
            other,
        )
        .listed("generic 5, 13"),
        Case::new(
            "a change of the table's size",
            "7541, 6.3",
            headers(WHOLE, 1, &[integer(0x20, 5, 128), head("GET", "/", &[])].concat()),
            passes(),
        )
        .listed("generic 5, 14"),
        Case::new(
            "two changes of the table's size",
            "7541, 4.2",
            headers(
                WHOLE,
                1,
                &[integer(0x20, 5, 128), integer(0x20, 5, 4096), head("GET", "/", &[])].concat(),
            ),
            passes(),
        )
        .listed("generic 5, 15"),
        is(
            "a field from the table, in the same block",
            "7541, 2.3.2",
            &[indexed("x-a", "b"), integer(0x80, 7, FIRST)].concat(),
            "accept",
            "",
        )
        .expect(Expect::Passes(vec![Check::Times(1)])),
        Case::new(
            "a field from the table, in the next request",
            "7541, 2.3.2",
            [
                with(&indexed("x-a", "b")),
                headers(WHOLE, 3, &[head("GET", "/next", &[]), integer(0x80, 7, FIRST)].concat()),
            ]
            .concat(),
            Expect::Passes(vec![Check::Field("x-a", "b")]),
        )
        .streams(&[1, 3]),
        is(
            "a field that is larger than the table empties it",
            "7541, 4.4",
            &[indexed("x-a", "b"), indexed("x-large", "y".repeat(5_000))].concat(),
            "x-a",
            "b",
        ),
        is("an empty value", "7541, 5.2", &field("x-a", ""), "x-a", ""),
    ]
}

fn broken() -> Vec<Case> {
    let broken = |name: &str, source, block: Vec<u8>| {
        Case::new(
            name,
            source,
            headers(WHOLE, 1, &block),
            Expect::Connection(&[COMPRESSION]),
        )
        .known(LESS_TELLING)
    };
    let behind = |name: &str, source, bytes: Vec<u8>| broken(name, source, [head("GET", "/", &[]), bytes].concat());
    let coded_value = |bytes: &[u8]| [vec![0], string("x-test"), coded(bytes)].concat();
    let said = |first: u8, bytes: &[u8]| [&[first], bytes].concat();
    vec![
        broken("a block that ends in its field", "9113, 4.3", vec![0x40]).listed("http2 4.3, 1"),
        behind("an index beyond the table", "7541, 2.3.3", integer(0x80, 7, 70)).listed("hpack 2.3.3, 1"),
        behind(
            "a name's index beyond the table",
            "7541, 2.3.3",
            [integer(0x40, 6, 70), string("empty")].concat(),
        )
        .listed("hpack 2.3.3, 2"),
        behind(
            "a change of the table's size at the end",
            "7541, 4.2",
            integer(0x20, 5, 1),
        )
        .listed("hpack 4.2, 1"),
        behind(
            "a change of the table's size in the middle",
            "7541, 4.2",
            [integer(0x20, 5, 1), field("x-a", "b")].concat(),
        ),
        behind(
            "Huffman with more than 7 bits of padding",
            "7541, 5.2",
            coded_value(&[0x50, 0xc4, 0x9f, 0xff]),
        )
        .listed("hpack 5.2, 1"),
        behind(
            "Huffman padded with zeros",
            "7541, 5.2",
            coded_value(&[0x50, 0xc4, 0x90]),
        )
        .listed("hpack 5.2, 2"),
        behind(
            "Huffman with the end's sign in it",
            "7541, 5.2",
            coded_value(&[0x50, 0xc4, 0x9f, 0xff, 0xff, 0xfe, 0x50, 0xff]),
        )
        .listed("hpack 5.2, 3"),
        behind("Huffman that ends in a letter", "7541, 5.2", coded_value(&[0xff, 0xc7])),
        behind("index 0", "7541, 6.1", vec![0x80]).listed("hpack 6.1, 1"),
        broken(
            "a table larger than was allowed",
            "7541, 6.3",
            [integer(0x20, 5, 4_097), head("GET", "/", &[])].concat(),
        )
        .listed("hpack 6.3, 1"),
        broken(
            "a table of 4 GiB",
            "7541, 6.3",
            [said(0x3f, &[0xff, 0xff, 0xff, 0xff, 0x0f]), head("GET", "/", &[])].concat(),
        ),
        behind("an integer without end", "7541, 5.1", said(0xff, &[0xff; 20])),
        behind(
            "an integer past 64 bits",
            "7541, 5.1",
            said(0xff, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]),
        ),
        behind("an integer cut off", "7541, 5.1", said(0xff, &[0x80])),
        behind(
            "a name longer than the block",
            "7541, 5.2",
            [&[0, 100][..], b"x-a"].concat(),
        ),
        behind(
            "a value longer than the block",
            "7541, 5.2",
            [vec![0], string("x-a"), vec![100], b"b".to_vec()].concat(),
        ),
        behind(
            "a field that has left the table",
            "7541, 4.4",
            [
                indexed("x-a", "b"),
                indexed("x-large", "y".repeat(5_000)),
                integer(0x80, 7, FIRST),
            ]
            .concat(),
        ),
        behind(
            "a field of an emptied table",
            "7541, 4.3",
            [indexed("x-a", "b"), integer(0x80, 7, FIRST + 1)].concat(),
        ),
        behind(
            "the table's first place while it is empty",
            "7541, 2.3.3",
            integer(0x80, 7, FIRST),
        ),
    ]
}

/// The bounds of a head.
fn bounds() -> Vec<Case> {
    let bomb = |times: usize| {
        let entry = indexed("x-filler", "y".repeat(3_000));
        with(&[entry, integer(0x80, 7, FIRST).repeat(times)].concat())
    };
    let many = |count: usize| {
        let fields: Vec<u8> = (0..count).flat_map(|at| field(format!("x-{at}"), "b")).collect();
        with(&fields)
    };
    let refused = |name: &str, source, bytes| Case::new(name, source, bytes, Expect::Malformed);
    vec![
        refused("3 KB that unpack to 12 MB", "7541, 7.3", bomb(4_000)),
        refused("3 KB that unpack to 300 KB", "7541, 7.3", bomb(100)),
        refused("a head of 1,000 fields", "9113, 10.5.1", many(1_000)),
        refused("a field of 100 KB", "9113, 10.5.1", {
            let large = block(&[("x-a", &"b".repeat(100_000))]);
            let whole = [head("GET", "/", &[]), large].concat();
            let mut parts = whole.chunks(16_384).peekable();
            let first = headers(1, 1, parts.next().unwrap_or_default());
            let mut all = first;
            while let Some(part) = parts.next() {
                let end = if parts.peek().is_none() { 4 } else { 0 };
                all.extend(crate::suite::http2::wire::continuation(end, 1, part));
            }
            all
        }),
        Case::new("90 fields", "9113, 10.5.1", many(90), passes()),
        Case::new(
            "a path of 4,000 bytes",
            "9110, 4.1",
            get(1, &format!("/{}", "a".repeat(4_000)), &[]),
            passes(),
        ),
    ]
}

use super::*;

fn bits(places: &[u64]) -> Bits {
    let mut bits = Bits::default();
    for place in places {
        bits.set(Place(*place));
    }
    bits
}

fn places(bits: &Bits) -> Vec<u64> {
    let mut at = Place(0);
    std::iter::from_fn(|| {
        let found = bits.first_from(at)?;
        at = Place(found.0 + 1);
        Some(found.0)
    })
    .collect()
}

#[test]
fn set_and_clear_say_whether_they_changed_anything() {
    let mut bits = bits(&[7]);
    assert!(!bits.set(Place(7)));
    assert!(bits.set(Place(1 << 50)));
    assert!(bits.clear(Place(7)));
    assert!(!bits.clear(Place(7)));
    assert_eq!(places(&bits), [1 << 50]);
}

#[test]
fn ranks_are_exact_at_word_page_and_chunk_edges() {
    let set = [0, 63, 64, 4_095, 4_096, 262_143, 262_144, 1 << 52];
    let bits = bits(&set);
    for place in set.iter().flat_map(|p| [*p, p + 1]) {
        let naive = set.iter().filter(|p| **p < place).count();
        assert_eq!(bits.count_below(Place(place)), u64::try_from(naive).unwrap(), "{place}");
    }
}

#[test]
fn a_range_covers_exactly_its_places() {
    for (from, to) in [(5, 5), (0, 1), (63, 65), (4_090, 8_200), (4_096, 8_192)] {
        let mut bits = Bits::default();
        bits.set_range(Place(from), Place(to));
        assert_eq!(places(&bits), (from..to).collect::<Vec<_>>());
    }
}

#[test]
fn only_marked_bits_of_the_range_are_kept() {
    let mut all = Bits::default();
    all.set_range(Place(0), Place(10_000));
    all.keep_marked(
        Place(10),
        Place(9_990),
        [&bits(&[5, 10, 5_000]), &bits(&[9_989, 9_990])],
    );
    let expected: Vec<u64> = (0..10).chain([10, 5_000, 9_989]).chain(9_990..10_000).collect();
    assert_eq!(places(&all), expected);
}

#[test]
fn dropping_is_exact_within_a_page() {
    let mut bits = bits(&[3, 4_100, 4_101, 9_000]);
    bits.drop_below(Place(4_101));
    assert_eq!(places(&bits), [4_101, 9_000]);
}

#[test]
fn every_form_of_page_comes_back_as_it_was() {
    let mut all = bits(&[1, 2, 300, (1 << 52) + 9]);
    all.set_range(Place(8_192), Place(12_288));
    all.set_range(Place(20_000), Place(21_000));
    let mut w = Writer::default();
    w.put(&all);
    let back = Reader::new(&w.bytes, "bits").get::<Bits>().unwrap();
    assert_eq!(places(&back), places(&all));
    assert_eq!(back.total(), all.total());
}

#[test]
fn a_page_that_does_not_change_stays_shared() {
    let mut all = bits(&[1, 5_000]);
    let seen = all.clone();
    all.keep_marked(Place(0), Place(9_000), [&seen, &Bits::default()]);
    assert!(std::ptr::eq(all.page(1).unwrap(), seen.page(1).unwrap()));
}

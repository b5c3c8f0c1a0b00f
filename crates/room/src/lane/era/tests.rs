use super::*;

fn number(era: u64, n: u32) -> Number {
    Number { era: Era(era), n }
}

fn base_of(eras: &Eras, era: u64) -> u64 {
    eras.spans.iter().find(|span| span.era == Era(era)).unwrap().base
}

#[test]
fn numbers_of_all_eras_rise_on_one_axis() {
    let mut eras = Eras::new(Era(10), 5);
    assert_eq!(eras.issue(3), Some(number(10, 5)));
    eras.open(Era(20));
    assert_eq!(eras.issue(2), Some(number(20, 0)));
    let place = |(era, n)| match eras.find(number(era, n)) {
        Found::Issued(place) => place,
        other => panic!("{era} {n}: {other:?}"),
    };
    assert!(
        [(10, 5), (10, 6), (10, 7), (20, 0), (20, 1)]
            .map(place)
            .is_sorted_by(|a, b| a < b)
    );
    assert_eq!(place((10, 5)), Place(FIRST_BASE + 5));
    let back = [(10, 7), (20, 1)].map(|(era, n)| eras.number(place((era, n))));
    assert_eq!(back, [Some(number(10, 7)), Some(number(20, 1))]);
    assert_eq!(eras.number(Place(FIRST_BASE - 1)), None);
}

#[test]
fn what_was_not_issued_is_told_apart() {
    let mut eras = Eras::new(Era(10), 5);
    eras.issue(3);
    assert_eq!(eras.find(number(10, 4)), Found::Late);
    assert_eq!(eras.find(number(10, 8)), Found::Ahead);
    assert_eq!(eras.find(number(11, 0)), Found::Ahead);
    assert_eq!(eras.find(number(9, 0)), Found::Lost);
    eras.open(Era(20));
    assert_eq!(eras.find(number(10, 8)), Found::Gap(Place(FIRST_BASE + 8)));
    assert_eq!(eras.find(number(10, 3 << 20)), Found::Late);
}

#[test]
fn a_new_era_lies_behind_a_whole_gap() {
    let mut eras = Eras::new(Era(10), 0);
    eras.issue(100);
    eras.open(Era(20));
    assert!(eras.next().0 >= FIRST_BASE + 100 + GAP);
    assert_eq!(eras.next().0 % ALIGN, 0);
}

#[test]
fn lost_eras_find_their_order_below_and_between() {
    let mut eras = Eras::new(Era(10), 0);
    eras.issue(100);
    eras.open(Era(20));
    for era in [5, 15, 7, 2, 17] {
        assert!(eras.insert(Era(era), 0, Place(0)).is_some(), "{era}");
        assert!(eras.insert(Era(era), 0, Place(0)).is_none(), "{era}");
    }
    assert_eq!(
        eras.known().map(|era| era.0).collect::<Vec<_>>(),
        [2, 5, 7, 10, 15, 17, 20]
    );
    assert!(eras.spans.windows(2).all(|pair| pair[0].limit <= pair[1].base));
    assert!(
        eras.insert(Era(30), 0, Place(0)).is_none(),
        "an era above the issuing one is not lost"
    );
}

#[test]
fn a_lost_era_keeps_clear_of_places_already_given_back() {
    let mut eras = Eras::new(Era(10), 0);
    eras.open(Era(20));
    let given = Place(FIRST_BASE + GAP - 10);
    eras.give_back(given);
    let base = eras.insert(Era(15), 0, Place(0));
    assert!(base.is_none_or(|base| base > given));
    assert_eq!(
        eras.find(number(10, u32::try_from(GAP - 10).unwrap())),
        Found::Gap(given)
    );
}

#[test]
fn a_lost_era_keeps_its_floor_and_revives_nothing_that_the_horizon_passed() {
    let mut eras = Eras::new(Era(10), 0);
    eras.issue(100);
    let horizon = Place(FIRST_BASE + 40);
    let base = eras.insert(Era(5), 7, horizon).unwrap();
    assert!(base < horizon);
    assert_eq!(eras.find(number(5, 6)), Found::Late);
    assert_eq!(eras.find(number(5, 7)), Found::Gap(Place(base.0 + 7)));
    let void = [0, 39, 40, 99].map(|n| eras.is_void(Place(FIRST_BASE + n)));
    assert_eq!((void, eras.is_void(base)), ([true, true, false, false], false));
}

#[test]
fn lost_eras_without_room_are_late() {
    let mut eras = Eras::new(Era(1_000), 0);
    let fitted = (0..999)
        .rev()
        .take_while(|era| eras.insert(Era(*era), 0, Place(0)).is_some())
        .count();
    assert!((30..60).contains(&fitted), "{fitted}");
    assert_eq!(eras.find(number(1, 0)), Found::Late);
}

#[test]
fn eras_below_the_horizon_are_forgotten_and_late() {
    let mut eras = Eras::new(Era(10), 0);
    eras.issue(100);
    eras.open(Era(20));
    assert_eq!(eras.drop_below(Place(base_of(&eras, 20) - 1)), []);
    assert_eq!(eras.drop_below(Place(u64::MAX)), [(Era(10), 100)]);
    assert_eq!(eras.known().collect::<Vec<_>>(), [Era(20)]);
    assert_eq!(eras.find(number(10, 50)), Found::Late);
    assert_eq!(eras.find(number(9, 50)), Found::Late);
    assert_eq!(eras.insert(Era(9), 0, Place(0)), None);
}

#[test]
fn a_full_table_drops_its_oldest_era() {
    let mut eras = Eras::new(Era(0), 0);
    for era in 1..=1_000 {
        eras.open(Era(era));
    }
    assert_eq!((eras.known().count(), eras.find(number(0, 0))), (MAX_ERAS, Found::Late));
}

#[test]
fn an_era_that_has_issued_every_number_issues_no_more() {
    let mut eras = Eras::new(Era(10), u32::MAX - 2);
    assert_eq!(eras.issue(2), Some(number(10, u32::MAX - 2)));
    assert_eq!(eras.issue(1), None);
}

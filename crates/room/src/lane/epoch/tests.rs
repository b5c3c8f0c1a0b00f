use super::*;

fn number(epoch: u64, n: u32) -> Number {
    Number { epoch: Epoch(epoch), n }
}

fn base_of(epochs: &Epochs, epoch: u64) -> u64 {
    epochs
        .spans
        .iter()
        .find(|span| span.epoch == Epoch(epoch))
        .unwrap()
        .base
}

#[test]
fn numbers_of_all_epochs_rise_on_one_axis() {
    let mut epochs = Epochs::new(Epoch(10), 5);
    assert_eq!(epochs.issue(3), Some(number(10, 5)));
    epochs.open(Epoch(20));
    assert_eq!(epochs.issue(2), Some(number(20, 0)));
    let place = |(epoch, n)| match epochs.find(number(epoch, n)) {
        Found::Issued(place) => place,
        other => panic!("{epoch} {n}: {other:?}"),
    };
    assert!(
        [(10, 5), (10, 6), (10, 7), (20, 0), (20, 1)]
            .map(place)
            .is_sorted_by(|a, b| a < b)
    );
    assert_eq!(place((10, 5)), Place(FIRST_BASE + 5));
    let back = [(10, 7), (20, 1)].map(|(epoch, n)| epochs.number(place((epoch, n))));
    assert_eq!(back, [Some(number(10, 7)), Some(number(20, 1))]);
    assert_eq!(epochs.number(Place(FIRST_BASE - 1)), None);
}

#[test]
fn what_was_not_issued_is_told_apart() {
    let mut epochs = Epochs::new(Epoch(10), 5);
    epochs.issue(3);
    assert_eq!(epochs.find(number(10, 4)), Found::Late);
    assert_eq!(epochs.find(number(10, 8)), Found::Ahead);
    assert_eq!(epochs.find(number(11, 0)), Found::Ahead);
    assert_eq!(epochs.find(number(9, 0)), Found::Lost);
    epochs.open(Epoch(20));
    assert_eq!(epochs.find(number(10, 8)), Found::Gap(Place(FIRST_BASE + 8)));
    assert_eq!(epochs.find(number(10, 3 << 20)), Found::Late);
}

#[test]
fn a_new_epoch_lies_behind_a_whole_gap() {
    let mut epochs = Epochs::new(Epoch(10), 0);
    epochs.issue(100);
    epochs.open(Epoch(20));
    assert!(epochs.next().0 >= FIRST_BASE + 100 + GAP);
    assert_eq!(epochs.next().0 % ALIGN, 0);
}

#[test]
fn lost_epochs_find_their_order_below_and_between() {
    let mut epochs = Epochs::new(Epoch(10), 0);
    epochs.issue(100);
    epochs.open(Epoch(20));
    for epoch in [5, 15, 7, 2, 17] {
        assert!(epochs.insert(Epoch(epoch), 0, Place(0)).is_some(), "{epoch}");
        assert!(epochs.insert(Epoch(epoch), 0, Place(0)).is_none(), "{epoch}");
    }
    assert_eq!(
        epochs.known().map(|epoch| epoch.0).collect::<Vec<_>>(),
        [2, 5, 7, 10, 15, 17, 20]
    );
    assert!(epochs.spans.windows(2).all(|pair| pair[0].limit <= pair[1].base));
    assert!(
        epochs.insert(Epoch(30), 0, Place(0)).is_none(),
        "an epoch above the issuing one is not lost"
    );
}

#[test]
fn a_lost_epoch_keeps_clear_of_places_already_given_back() {
    let mut epochs = Epochs::new(Epoch(10), 0);
    epochs.open(Epoch(20));
    let given = Place(FIRST_BASE + GAP - 10);
    epochs.give_back(given);
    let base = epochs.insert(Epoch(15), 0, Place(0));
    assert!(base.is_none_or(|base| base > given));
    assert_eq!(
        epochs.find(number(10, u32::try_from(GAP - 10).unwrap())),
        Found::Gap(given)
    );
}

#[test]
fn a_lost_epoch_keeps_its_floor_and_revives_nothing_that_the_horizon_passed() {
    let mut epochs = Epochs::new(Epoch(10), 0);
    epochs.issue(100);
    let horizon = Place(FIRST_BASE + 40);
    let base = epochs.insert(Epoch(5), 7, horizon).unwrap();
    assert!(base < horizon);
    assert_eq!(epochs.find(number(5, 6)), Found::Late);
    assert_eq!(epochs.find(number(5, 7)), Found::Gap(Place(base.0 + 7)));
    let void = [0, 39, 40, 99].map(|n| epochs.is_void(Place(FIRST_BASE + n)));
    assert_eq!((void, epochs.is_void(base)), ([true, true, false, false], false));
}

#[test]
fn lost_epochs_without_room_are_late() {
    let mut epochs = Epochs::new(Epoch(1_000), 0);
    let fitted = (0..999)
        .rev()
        .take_while(|epoch| epochs.insert(Epoch(*epoch), 0, Place(0)).is_some())
        .count();
    assert!((30..60).contains(&fitted), "{fitted}");
    assert_eq!(epochs.find(number(1, 0)), Found::Late);
}

#[test]
fn epochs_below_the_horizon_are_forgotten_and_late() {
    let mut epochs = Epochs::new(Epoch(10), 0);
    epochs.issue(100);
    epochs.open(Epoch(20));
    assert_eq!(epochs.drop_below(Place(base_of(&epochs, 20) - 1)), []);
    assert_eq!(epochs.drop_below(Place(u64::MAX)), [(Epoch(10), 100)]);
    assert_eq!(epochs.known().collect::<Vec<_>>(), [Epoch(20)]);
    assert_eq!(epochs.find(number(10, 50)), Found::Late);
    assert_eq!(epochs.find(number(9, 50)), Found::Late);
    assert_eq!(epochs.insert(Epoch(9), 0, Place(0)), None);
}

#[test]
fn a_full_table_drops_its_oldest_epoch() {
    let mut epochs = Epochs::new(Epoch(0), 0);
    for epoch in 1..=1_000 {
        epochs.open(Epoch(epoch));
    }
    assert_eq!(
        (epochs.known().count(), epochs.find(number(0, 0))),
        (MAX_EPOCHS, Found::Late)
    );
}

#[test]
fn an_epoch_that_has_issued_every_number_issues_no_more() {
    let mut epochs = Epochs::new(Epoch(10), u32::MAX - 2);
    assert_eq!(epochs.issue(2), Some(number(10, u32::MAX - 2)));
    assert_eq!(epochs.issue(1), None);
}

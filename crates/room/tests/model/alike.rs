//! Worlds of one form behave alike: whatever comes next, their forms stay equal.

use std::sync::LazyLock;

use proptest::prelude::*;

use crate::search::{Bound, Search, Way, again, go};
use crate::world::{Broken, Faults, Size};
use crate::{ACTIVE, FAULTS, NO_FAULTS, SMALL};

/// Worlds that were reached in two ways, from a world without faults and from one with all of them.
static TWINS: LazyLock<Vec<(Size, Way, Way)>> = LazyLock::new(|| {
    let faults = [NO_FAULTS, Faults { log: 0, ..FAULTS }, Faults { log: 1, ..NO_FAULTS }];
    let mut all = Vec::new();
    let sizes = faults.into_iter().flat_map(|faults| {
        [SMALL, ACTIVE].map(|size| Size {
            faults,
            joins: 1,
            ..size
        })
    });
    for size in sizes {
        let mut search = Search::new(size, Broken::Nothing);
        search.twins_wanted = 100;
        let bound = Bound {
            states: 4_000,
            ..Bound::NONE
        };
        search.run(bound, || true).unwrap();
        all.extend(search.twins.into_iter().map(|(one, other)| (size, one, other)));
    }
    all
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_has_one_form_goes_on_alike(
        which in any::<prop::sample::Index>(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
    ) {
        let (size, one, other) = which.get(&TWINS);
        let (mut one, mut other) = (go(one, *size), go(other, *size));
        for choice in choices {
            let steps = one.steps();
            prop_assert_eq!(&steps, &other.steps());
            if steps.is_empty() {
                break;
            }
            let step = *choice.get(&steps);
            one.take(step);
            other.take(step);
            let (ones, others) = (one.plain(), other.plain());
            prop_assert_eq!(ones.1, others.1, "after {:?}", step);
            (one, other) = (again(ones.0), again(others.0));
        }
    }
}

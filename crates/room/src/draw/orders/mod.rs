//! Orders of admission: the order in which the visitors who joined before an opening are called. Without one, and for all later
//! visitors, it is the order of arrival.
//!
//! To add an order, add a file here with an [`Arrangement`] and a line in `ORDERS`. Configuration, log, snapshots, reports
//! and `verify-draw` take it from that line.

mod random;
#[cfg(any(test, feature = "testing"))]
mod reversed;

use std::fmt::Debug;
use std::sync::Arc;

use crate::codec::{Codec, Read, Reader, Writer};

pub use random::Permutation;

/// The places of a draw: a bijection between arrivals and turns, both from 0 to the count. The same on every machine.
pub trait Arrangement: Debug + Send + Sync {
    /// The number of drawn visitors.
    fn count(&self) -> u32;

    /// The place of an arrival; `None` at or above the count.
    fn place(&self, number: u32) -> Option<u32>;

    /// The arrival that has a place; `None` at or above the count.
    fn number(&self, place: u32) -> Option<u32>;
}

/// An order's names, and its constructor.
struct Registered {
    /// The form of its figures and of all that is hashed; never another order's.
    form: u32,
    /// As `queueing_method` names it.
    name: &'static str,
    /// Makes the places of this many visitors from the key of their draw.
    arrange: fn(&[u8; 32], u32) -> Arc<dyn Arrangement>,
}

/// All orders; at most 256. An order is encoded as its index, in one byte.
const ORDERS: [Registered; 1] = [Registered {
    form: 1,
    name: "random",
    arrange: |key, count| Arc::new(Permutation::new(key, count)),
}];

/// What tests draw by beside `ORDERS`, so that none of them can pass by taking one order for another. No room can be configured
/// with it.
#[cfg(any(test, feature = "testing"))]
const FOR_TESTS: &[Registered] = &[Registered {
    form: 1_001,
    name: "reversed",
    arrange: |_, count| Arc::new(reversed::Reversed { count }),
}];
#[cfg(not(any(test, feature = "testing")))]
const FOR_TESTS: &[Registered] = &[];

/// An order that a room may draw by: where it stands among `ORDERS`, and behind them those for tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, std::hash::Hash, Debug, Default)]
pub struct AdmissionOrder(u8);

impl AdmissionOrder {
    /// All that a room can be configured with.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::known().take(ORDERS.len())
    }

    /// As [`AdmissionOrder::all`], and behind them those for tests.
    #[cfg(feature = "testing")]
    pub fn all_with_tests() -> impl Iterator<Item = Self> {
        Self::known()
    }

    fn known() -> impl Iterator<Item = Self> {
        (0..).map(AdmissionOrder).take(ORDERS.len() + FOR_TESTS.len())
    }

    /// The order that publishes figures of this form.
    #[must_use]
    pub fn of_form(form: u32) -> Option<Self> {
        Self::known().find(|order| order.form() == form)
    }

    /// As `queueing_method` names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.registered().name
    }

    /// The form of its figures and of all that is hashed.
    #[must_use]
    pub fn form(self) -> u32 {
        self.registered().form
    }

    /// The places of this many visitors, from the key of their draw.
    #[must_use]
    pub fn arrange(self, key: &[u8; 32], count: u32) -> Arc<dyn Arrangement> {
        (self.registered().arrange)(key, count)
    }

    fn registered(self) -> &'static Registered {
        const { &ORDERS }
            .iter()
            .chain(FOR_TESTS)
            .nth(usize::from(self.0))
            .expect("an order is made from those that are registered")
    }
}

impl Codec for AdmissionOrder {
    fn write(&self, w: &mut Writer) {
        w.u8(self.0);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let at = r.u8()?;
        let order = Self::known().find(|order| order.0 == at);
        order.map_or_else(|| r.wrong(), Ok)
    }
}

/// Values of `queueing_method`: arrival, and the orders.
pub const METHODS: [&str; ORDERS.len() + 1] = {
    let mut methods = [ARRIVAL; ORDERS.len() + 1];
    let mut at = 0;
    while at < ORDERS.len() {
        methods[at + 1] = ORDERS[at].name;
        at += 1;
    }
    methods
};

/// As `queueing_method` names the order of arrival.
pub const ARRIVAL: &str = "fifo";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_order_is_a_bijection_with_a_name_and_a_form_of_its_own() {
        let orders: Vec<AdmissionOrder> = AdmissionOrder::known().collect();
        for order in &orders {
            for count in [0, 1, 2, 999, 1_000, 1_001, 2_500] {
                let arranged = order.arrange(&[7; 32], count);
                let places: BTreeSet<u32> = (0..count).filter_map(|number| arranged.place(number)).collect();
                assert!(places.iter().copied().eq(0..count), "{order:?}");
                let back = |number| arranged.place(number).and_then(|place| arranged.number(place));
                assert!((0..count).all(|number| back(number) == Some(number)), "{order:?}");
                assert_eq!((arranged.count(), arranged.place(count)), (count, None));
            }
        }
        let names: BTreeSet<&str> = METHODS.into_iter().collect();
        let forms: BTreeSet<u32> = orders.iter().map(|order| order.form()).collect();
        assert_eq!((names.len(), forms.len()), (METHODS.len(), orders.len()));
        assert!(orders.len() > 1 && FOR_TESTS.iter().all(|order| !names.contains(order.name)));
    }

    #[test]
    fn an_order_comes_back_from_its_byte_and_no_other_byte_is_one() {
        for byte in 0..=u8::MAX {
            let read = Reader::new(&[byte], "an order").get::<AdmissionOrder>();
            let known = usize::from(byte) < ORDERS.len() + FOR_TESTS.len();
            assert_eq!(read.map(|order| order.0).ok(), known.then_some(byte));
        }
    }
}

//! The hall: 120 seats, who holds them, and the orders. Time is an argument.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Seats of the hall, numbered from 1; ten rows of twelve.
pub(super) const SEATS: usize = 120;
pub(super) const ROW: usize = 12;

/// Seats that one customer may hold at once.
pub(super) const MAX_BASKET: usize = 6;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Seat {
    Free,
    Held {
        by: String,
        until: Instant,
    },
    /// Sold seats come back too, so that the demo never runs out.
    Sold {
        until: Instant,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Order {
    pub id: String,
    pub customer: String,
    /// Seat numbers.
    pub seats: Vec<usize>,
    pub paid: bool,
}

impl Order {
    /// In whole euros.
    pub(super) fn total(&self) -> u64 {
        self.seats.iter().map(|seat| price(*seat)).sum()
    }
}

/// Why a seat is not taken, or an order not paid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    NoSuchSeat,
    Taken,
    BasketFull,
    NoSuchOrder,
    /// The hold ran out before the payment came, and another customer has a seat of the order.
    SeatsGone,
}

pub(super) struct Hall {
    seats: Vec<Seat>,
    /// The newest [`MAX_ORDERS`], oldest first.
    orders: VecDeque<Order>,
}

impl Hall {
    pub(super) fn new() -> Self {
        Self {
            seats: vec![Seat::Free; SEATS],
            orders: VecDeque::new(),
        }
    }

    /// Seat by seat, from the first.
    pub(super) fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// Takes seat `number` for `customer`, or puts it back.
    pub(super) fn toggle(&mut self, number: usize, customer: &str, now: Instant) -> Result<(), Refusal> {
        let full = self.basket(customer).len() >= MAX_BASKET;
        let seat = number
            .checked_sub(1)
            .and_then(|at| self.seats.get_mut(at))
            .ok_or(Refusal::NoSuchSeat)?;
        *seat = match seat {
            Seat::Held { by, .. } if by == customer => Seat::Free,
            Seat::Free if full => return Err(Refusal::BasketFull),
            Seat::Free => Seat::Held {
                by: customer.to_owned(),
                until: now + HOLD,
            },
            Seat::Held { .. } | Seat::Sold { .. } => return Err(Refusal::Taken),
        };
        Ok(())
    }

    /// The numbers of the seats that `customer` holds.
    pub(super) fn basket(&self, customer: &str) -> Vec<usize> {
        let holds = |seat: &Seat| matches!(seat, Seat::Held { by, .. } if by == customer);
        (1..)
            .zip(&self.seats)
            .filter(|(_, seat)| holds(seat))
            .map(|(number, _)| number)
            .collect()
    }

    pub(super) fn clear(&mut self, customer: &str) {
        for number in self.basket(customer) {
            self.seats[number - 1] = Seat::Free;
        }
    }

    /// Makes the basket an order, and holds its seats anew while the customer pays; `None` when it is empty.
    pub(super) fn order(&mut self, customer: &str, id: String, now: Instant) -> Option<&Order> {
        let seats = self.basket(customer);
        if seats.is_empty() {
            return None;
        }
        for number in &seats {
            self.seats[number - 1] = Seat::Held {
                by: customer.to_owned(),
                until: now + HOLD,
            };
        }
        if self.orders.len() == MAX_ORDERS {
            self.orders.pop_front();
        }
        self.orders.push_back(Order {
            id,
            customer: customer.to_owned(),
            seats,
            paid: false,
        });
        self.orders.back()
    }

    /// Sells the seats of an order; again is the same as once.
    pub(super) fn pay(&mut self, id: &str, now: Instant) -> Result<(), Refusal> {
        let order = self
            .orders
            .iter_mut()
            .find(|order| order.id == id)
            .ok_or(Refusal::NoSuchOrder)?;
        if order.paid {
            return Ok(());
        }
        let theirs = |seat: &Seat| match seat {
            Seat::Free => true,
            Seat::Held { by, .. } => *by == order.customer,
            Seat::Sold { .. } => false,
        };
        if !order.seats.iter().all(|number| theirs(&self.seats[number - 1])) {
            return Err(Refusal::SeatsGone);
        }
        for number in &order.seats {
            self.seats[number - 1] = Seat::Sold { until: now + SOLD };
        }
        order.paid = true;
        Ok(())
    }

    pub(super) fn paid_order(&self, id: &str) -> Option<&Order> {
        self.orders.iter().find(|order| order.id == id && order.paid)
    }

    /// Frees the seats whose hold has expired; true if there were any.
    pub(super) fn let_holds_run_out(&mut self, now: Instant) -> bool {
        let mut changed = false;
        for seat in &mut self.seats {
            if matches!(seat, Seat::Held { until, .. } | Seat::Sold { until } if *until <= now) {
                *seat = Seat::Free;
                changed = true;
            }
        }
        changed
    }
}

/// In whole euros: the three rows in front cost more.
pub(super) fn price(number: usize) -> u64 {
    if number <= 3 * ROW { 60 } else { 40 }
}

/// `C7`: row and seat.
pub(super) fn label(number: usize) -> String {
    let rows = "ABCDEFGHIJ";
    let at = number.saturating_sub(1);
    format!("{}{}", rows.chars().nth(at / ROW).unwrap_or('?'), at % ROW + 1)
}

const MAX_ORDERS: usize = 1_000;
const HOLD: Duration = Duration::from_secs(600);
const SOLD: Duration = Duration::from_secs(1_200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_one_customers_at_a_time() {
        let (mut hall, now) = (Hall::new(), Instant::now());
        assert_eq!(hall.toggle(7, "ann", now), Ok(()));
        assert_eq!(hall.toggle(7, "bob", now), Err(Refusal::Taken));
        assert_eq!(hall.toggle(7, "ann", now), Ok(()), "puts it back");
        assert_eq!(hall.toggle(7, "bob", now), Ok(()));
        assert_eq!(hall.basket("bob"), [7]);
        for number in [0, SEATS + 1, usize::MAX] {
            assert_eq!(hall.toggle(number, "ann", now), Err(Refusal::NoSuchSeat));
        }
    }

    #[test]
    fn a_basket_holds_six_seats() {
        let (mut hall, now) = (Hall::new(), Instant::now());
        for number in 1..=MAX_BASKET {
            assert_eq!(hall.toggle(number, "ann", now), Ok(()));
        }
        assert_eq!(hall.toggle(50, "ann", now), Err(Refusal::BasketFull));
        hall.clear("ann");
        assert!(hall.basket("ann").is_empty());
    }

    #[test]
    fn holds_run_out_and_a_late_payment_does_not_take_others_seats() {
        let (mut hall, now) = (Hall::new(), Instant::now());
        assert_eq!(hall.toggle(7, "ann", now), Ok(()));
        assert!(hall.order("ann", "first".into(), now).is_some());
        assert!(!hall.let_holds_run_out(now));
        assert!(hall.let_holds_run_out(now + HOLD));
        assert_eq!(hall.toggle(7, "bob", now + HOLD), Ok(()));
        assert_eq!(hall.pay("first", now + HOLD), Err(Refusal::SeatsGone));
        assert_eq!(hall.paid_order("first"), None);
    }

    #[test]
    fn an_order_is_paid_once() {
        let (mut hall, now) = (Hall::new(), Instant::now());
        assert!(hall.order("ann", "empty".into(), now).is_none());
        assert_eq!(hall.toggle(1, "ann", now), Ok(()));
        assert_eq!(hall.toggle(120, "ann", now), Ok(()));
        let total = hall.order("ann", "first".into(), now).map(Order::total);
        assert_eq!(total, Some(100));
        assert_eq!(hall.paid_order("first"), None);
        assert_eq!((hall.pay("first", now), hall.pay("first", now)), (Ok(()), Ok(())));
        assert!(hall.paid_order("first").is_some());
        assert_eq!(hall.pay("second", now), Err(Refusal::NoSuchOrder));
        assert_eq!(hall.toggle(1, "ann", now), Err(Refusal::Taken));
    }

    #[test]
    fn orders_are_bounded() {
        let (mut hall, now) = (Hall::new(), Instant::now());
        assert_eq!(hall.toggle(1, "ann", now), Ok(()));
        for id in 0..=MAX_ORDERS {
            assert!(hall.order("ann", id.to_string(), now).is_some());
        }
        assert_eq!(hall.orders.len(), MAX_ORDERS);
        assert_eq!(hall.pay("0", now), Err(Refusal::NoSuchOrder));
    }

    #[test]
    fn seats_have_names() {
        assert_eq!([label(1), label(12), label(13), label(120)], ["A1", "A12", "B1", "J12"]);
    }
}

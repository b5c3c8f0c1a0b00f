//! The proof of work that a room asks of newcomers before they join.

use crate::config::document::Section;
use crate::config::document::value::pair;

/// A price that follows the joins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proof {
    /// Hashes while few join, and while very many do.
    pub price: (u32, u32),
    /// Joins a minute at one gate: up to the first the least price holds, from the second on the highest.
    pub joins_per_minute: (u32, u32),
}

pub(in crate::config) fn proof(section: &Section<'_>) -> Option<Proof> {
    let enabled: bool = section.need("enabled");
    let price = section.need_as("price", pair);
    let joins_per_minute = section.need_as("joins_per_minute", pair);
    if price.0 > price.1 {
        section.mistake("price", "the least price is above the highest", "least up to most");
    }
    if joins_per_minute.0 >= joins_per_minute.1 {
        section.mistake("joins_per_minute", "the price could not rise evenly", "few below many");
    }
    enabled.then_some(Proof {
        price,
        joins_per_minute,
    })
}

impl Proof {
    /// The price at this rate of joins.
    #[must_use]
    pub fn price_at(&self, joins_per_minute: u32) -> u32 {
        let ((least, most), (few, many)) = (self.price, self.joins_per_minute);
        let over = u64::from(joins_per_minute.clamp(few, many) - few);
        let more = u64::from(most - least) * over / u64::from(many - few).max(1);
        least.saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_price_rises_evenly_between_its_bounds() {
        let proof = Proof {
            price: (1_000, 9_000),
            joins_per_minute: (100, 500),
        };
        let prices = [0, 100, 150, 300, 500, u32::MAX].map(|joins| proof.price_at(joins));
        assert_eq!(prices, [1_000, 1_000, 2_000, 5_000, 9_000, 9_000]);
    }
}

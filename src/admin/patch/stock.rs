//! A stock that an operator sets while a room sells.

use serde_json::{Map, Value};

use crate::room::{MAX_STOCK, RoomView};

/// The stock that a patch asks for, over the one in force: an absent key stays, null is the configured one.
///
/// # Errors
/// The mistake: the stock cannot be below the number sold.
pub fn stock(patch: &Map<String, Value>, room: &RoomView) -> Result<Option<u32>, String> {
    let Some(value) = patch.get("stock") else {
        return Ok(room.overrides.stock);
    };
    let wanted = match value {
        Value::Null => None,
        value => Some(number(value)?),
    };
    let sold = room
        .lines
        .values()
        .map(|line| line.figures.completed)
        .max()
        .unwrap_or(0);
    match wanted.or(room.configured.stock) {
        Some(stock) if stock < sold => Err(format!(
            "stock: {sold} are sold already; right: {sold} or more, or mode \"closed\""
        )),
        _ => Ok(wanted),
    }
}

fn number(value: &Value) -> Result<u32, String> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.filter(|number| *number <= MAX_STOCK).ok_or_else(|| {
        format!("stock must be a whole number from 0 (sold out) to {MAX_STOCK}, or null for the configured one")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stock_is_a_whole_number_of_pieces() {
        for odd in ["1000001", "1.5", "-1", "\"7\"", "true", "[]"] {
            assert!(number(&serde_json::from_str(odd).unwrap()).is_err(), "{odd}");
        }
        for most in [0, 1_000_000] {
            assert_eq!(number(&Value::from(most)), Ok(most));
        }
    }
}

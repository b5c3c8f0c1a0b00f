//! What a room sells by stock, for its operator: who has bought, and a stock that is set while it sells.

use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::paging::Parameters;
use super::problem::json;
use super::rooms::Named;
use super::{Problem, api, paging};
use crate::logging::rfc3339;
use crate::room::{LineName, LineView, MAX_STOCK, RoomName, RoomView, Tag, Visitor, WITH_SCHEDULES, Winner};
use crate::token::Reference;

/// The stock that a patch asks for, over the one in force: what is absent stays, null is the configured one.
///
/// # Errors
/// With what is wrong: what is sold already cannot be out of stock.
pub fn stock(patch: &Map<String, Value>, room: &RoomView, version: u16) -> Result<Option<u32>, String> {
    let Some(value) = patch.get("stock") else {
        return Ok(room.overrides.stock);
    };
    let wanted = match value {
        Value::Null => None,
        value => Some(number(value)?),
    };
    if wanted.is_some() && version < WITH_SCHEDULES {
        return Err(format!(
            "the rooms run machine version {version}, which has no stock: raise it first (ropeline gates)"
        ));
    }
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

/// Which winners.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// Of this line alone.
    line: Option<String>,
    /// As the page before says.
    after: Option<String>,
    limit: Option<usize>,
}

/// `GET /api/v1/rooms/{room}/winners`: line by line, in the order in which they completed, a page at a time.
pub(super) async fn list(room: Named, Parameters(page): Parameters<Page>) -> Result<Response, Problem> {
    let limit = paging::size(page.limit, paging::MOST)?;
    let wrong = || Problem::mistakes(vec!["line is no line's name".to_owned()]);
    let only = page.line.as_deref().map(|name| LineName::new(name).ok_or_else(wrong));
    let only = only.transpose()?;
    let start = paging::start(page.after.as_deref(), behind)?;
    let (from, skip) = start.unwrap_or((LineName::ONLY, 0));
    let lines = room.view.lines.iter().filter(|(name, _)| **name >= from);
    let lines = lines.filter(|(name, _)| only.as_ref().is_none_or(|only| only == *name));
    let mut winners = Vec::new();
    let mut next = None;
    for (name, line) in lines {
        let skip = if *name == from { skip } else { 0 };
        let more = of_line(&room.name, (name, line), skip, limit - winners.len());
        winners.extend(more);
        if winners.len() == limit {
            let last = winners.last().map_or(0, |winner: &api::Winner| winner.place);
            next = Some(format!("{last}:{name}"));
            break;
        }
    }
    Ok(json(&api::Winners {
        edition: room.view.edition.0,
        winners,
        next,
    }))
}

fn of_line<'a>(
    room: &'a RoomName,
    (name, line): (&'a LineName, &'a LineView),
    skip: usize,
    most: usize,
) -> impl Iterator<Item = api::Winner> + 'a {
    let winners = line.winners().iter_from(skip).take(most);
    (skip + 1..)
        .zip(winners)
        .map(move |(place, winner)| shown(room, name, place, winner))
}

fn shown(room: &RoomName, line: &LineName, place: usize, winner: &Winner) -> api::Winner {
    let visitor = Visitor {
        room: room.clone(),
        line: line.clone(),
        lane: winner.lane,
        number: winner.number,
        rehearsal: None,
    };
    api::Winner {
        place: place as u64,
        line: line.to_string(),
        lane: winner.lane.0,
        era: winner.number.era.0,
        number: winner.number.n,
        reference: Reference::of(&visitor).to_string(),
        completed_at: rfc3339(winner.at),
        account: winner.tag.map(hex),
    }
}

fn hex(tag: Tag) -> String {
    format!("{:016x}", u64::from_be_bytes(tag.0))
}

/// A line, and how many of it were listed before.
fn behind(after: &str) -> Option<(LineName, usize)> {
    let (listed, line) = after.split_once(':')?;
    Some((LineName::new(line)?, listed.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_where_the_one_before_ended() {
        assert_eq!(behind("12:"), Some((LineName::ONLY, 12)));
        assert_eq!(behind("3:a:b"), LineName::new("a:b").map(|line| (line, 3)));
        for odd in ["", "12", "x:", "-1:a", "1:a\nb"] {
            assert_eq!(behind(odd), None, "{odd:?}");
        }
    }

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

//! The visitors who have bought, in a room that sells by stock.

use axum::response::Response;
use serde::Deserialize;

use super::named_room::Named;
use crate::admin::api;
use crate::admin::http::problem::{Problem, json};
use crate::admin::http::query;
use crate::admin::http::query::Parameters;
use crate::dates::rfc3339;
use crate::room::{LineName, LineView, RoomName, Tag, Visitor, Winner};
use crate::token::Reference;

/// Which winners.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Of this line alone.
    line: Option<String>,
    /// The cursor from the page before.
    after: Option<String>,
    limit: Option<usize>,
}

/// `GET /api/v1/rooms/{room}/winners`: line by line, in the order in which they completed, a page at a time.
pub async fn list(room: Named, Parameters(page): Parameters<Page>) -> Result<Response, Problem> {
    let limit = query::size(page.limit, query::MOST)?;
    let wrong = || Problem::mistakes(vec!["line is no line's name".to_owned()]);
    let only = page.line.as_deref().map(|name| LineName::new(name).ok_or_else(wrong));
    let only = only.transpose()?;
    let start = query::start(page.after.as_deref(), behind)?;
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
        epoch: winner.number.epoch.0,
        number: winner.number.n,
        reference: Reference::of(&visitor).to_string(),
        completed_at: rfc3339(winner.at),
        account: winner.tag.map(hex),
    }
}

fn hex(tag: Tag) -> String {
    format!("{:016x}", u64::from_be_bytes(tag.0))
}

/// A line, and how many of its winners were listed before.
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
}

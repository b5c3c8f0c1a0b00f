//! The spent single-use codes of a room.

use axum::response::Response;
use serde::Deserialize;

use super::named_room::Named;
use crate::admin::api;
use crate::admin::http::problem::{Problem, json};
use crate::admin::http::query;
use crate::admin::http::query::Parameters;
use crate::dates::rfc3339;
use crate::room::{CodeId, Spent, Visitor};
use crate::token::{Grant, Reference};

/// Which of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The cursor from the page before.
    after: Option<String>,
    limit: Option<usize>,
}

/// `GET /api/v1/rooms/{room}/codes`.
pub async fn list(room: Named, Parameters(page): Parameters<Page>) -> Result<Response, Problem> {
    let limit = query::size(page.limit, query::MOST)?;
    let codes = room.view.spent.iter_after(query::start(page.after.as_deref(), id)?);
    let spent: Vec<api::SpentCode> = codes
        .take(limit)
        .map(|(code, spent)| shown(&room, code, spent))
        .collect();
    let next = spent
        .last()
        .filter(|_| spent.len() == limit)
        .map(|last| last.code.clone());
    Ok(json(&api::SpentCodes { spent, next }))
}

fn shown(room: &Named, code: CodeId, spent: &Spent) -> api::SpentCode {
    let visitor = Visitor {
        rehearsal: None,
        room: room.name.clone(),
        line: spent.line.clone(),
        lane: spent.lane,
        number: spent.number,
    };
    let lane = room.view.settings.lane_name(spent.lane);
    let lane = lane.map_or_else(|| spent.lane.0.to_string(), str::to_owned);
    let grant = if spent.bypass {
        Grant::Bypass
    } else {
        Grant::Lane(lane.clone())
    };
    api::SpentCode {
        code: code.to_string(),
        used_at: rfc3339(spent.at),
        expires: rfc3339(spent.expires),
        grants: grant.to_string(),
        line: spent.line.to_string(),
        lane,
        epoch: spent.number.epoch.0,
        number: spent.number.n,
        reference: Reference::of(&visitor).to_string(),
    }
}

fn id(text: &str) -> Option<CodeId> {
    let mut id = [0; 6];
    let digits = text.len() == 12 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    for (at, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    digits.then_some(CodeId(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_twelve_digits() {
        let code = CodeId([0, 1, 2, 0xab, 0xff, 9]);
        assert_eq!(id(&code.to_string()), Some(code));
        for odd in [
            "",
            "00",
            "0001020304zz",
            "+1+1+1+1+1+1",
            "00010203040",
            "0001020304055",
            "000102ABFF09",
        ] {
            assert_eq!(id(odd), None, "{odd}");
        }
    }
}

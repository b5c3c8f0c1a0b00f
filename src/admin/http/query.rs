//! The query of a request: its parameters, and pages of lists that are too long for one answer.

use axum::extract::{FromRequestParts, Query};
use http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// The parameters of the query.
pub struct Parameters<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(parameters)) => Ok(Self(parameters)),
            Err(error) => Err(Problem::new(error.status(), error.body_text())),
        }
    }
}

/// Number of rows on the page: at most `most`, by default a tenth of that.
///
/// # Errors
/// Where that is none, or too many.
pub fn size(limit: Option<usize>, most: usize) -> Result<usize, Problem> {
    let limit = limit.unwrap_or(most / 10);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    let wrong = format!("limit must be 1 to {most}, not {limit}");
    Err(Problem::mistakes(vec![wrong]))
}

/// Where the page begins that comes behind `after`, or the first.
///
/// # Errors
/// If the cursor is not from a page.
pub fn start<T>(after: Option<&str>, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Problem> {
    let wrong = || Problem::mistakes(vec!["after is not what a page before has said".to_owned()]);
    after.map(|after| read(after).ok_or_else(wrong)).transpose()
}

/// Most rows of a page of a long list.
pub const MOST: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_thousand_rows_or_as_many_as_are_asked_for_within_reason() {
        assert_eq!(size(None, MOST).ok(), Some(1_000));
        for good in [1, 10_000] {
            assert_eq!(size(Some(good), MOST).ok(), Some(good));
        }
        for odd in [0, 10_001, usize::MAX] {
            assert!(size(Some(odd), MOST).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_page_begins_at_the_start_or_where_one_before_has_said() {
        let read = |text: &str| text.parse::<u8>().ok();
        assert_eq!(start(None, read).ok(), Some(None));
        assert_eq!(start(Some("7"), read).ok(), Some(Some(7)));
        assert!(start(Some("x"), read).is_err());
    }
}

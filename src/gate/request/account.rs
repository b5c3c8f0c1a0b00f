//! The account that a request names.

use std::borrow::Cow;

use http::header::{AUTHORIZATION, COOKIE};
use http::request::Parts;
use http::{HeaderName, HeaderValue};

use crate::accounts::{Identity, MAX_IDENTITY};
use crate::config::{Identities, Source};
use crate::names;
use crate::names::spelling::Doubtful;
use crate::room::{Tag, View, Visitor};
use crate::token::account_tags;

use super::visit::Visit;
use crate::gate::state::rules::Rules;
use crate::gate::state::shared::Shared;

/// The account that a request names.
#[derive(Clone, Default)]
pub struct Named {
    /// The tags of the account; none where it is anonymous, or the room knows no accounts yet.
    pub tags: Vec<Tag>,
    /// The lane in the account's token, by its index in the room's configuration.
    pub lane: Option<usize>,
    /// The shop may read another account than the gate, or one where the gate reads none.
    pub doubtful: bool,
}

/// The account in a request's head.
#[must_use]
pub fn named(shared: &Shared, rules: &Rules, head: &Parts, visit: &Visit) -> Named {
    let Some(identities) = rules.room.identity.as_ref().filter(|_| visit.rehearsed.is_none()) else {
        return Named::default();
    };
    let Ok(said) = said(identities, head, visit) else {
        return Named {
            doubtful: true,
            ..Named::default()
        };
    };
    let (identity, claim) = said.unzip();
    let tags = tags_of(shared, rules, identity);
    // SECURITY: a token that names no account could be shared without limit.
    let claim = claim.flatten().filter(|_| !tags.is_empty());
    let of = |claim: String| rules.room.lanes.iter().position(|lane| lane.claims.contains(&claim));
    Named {
        lane: claim.and_then(of),
        tags,
        doubtful: false,
    }
}

/// The tags of an account; none without an account.
pub fn tags_of(shared: &Shared, rules: &Rules, identity: Option<Identity>) -> Vec<Tag> {
    identity.map_or_else(Vec::new, |identity| {
        account_tags(&shared.keyring, &rules.room.name, &identity)
    })
}

/// The identity in a request's head, and the lane in a token's claim.
fn said(identities: &Identities, head: &Parts, visit: &Visit) -> Result<Option<(Identity, Option<String>)>, Doubtful> {
    let text = match &identities.source {
        // SECURITY: any other peer could make the value up.
        Source::Header(name) if visit.peer_trusted => plain(header(head, name)?)?.map(Cow::Borrowed),
        Source::Header(_) | Source::Field { .. } => None,
        Source::Cookie(name) | Source::Jwt { cookie: Some(name), .. } => cookie(head, name)?,
        Source::Jwt { cookie: None, .. } => header(head, &AUTHORIZATION)?.and_then(bearer).map(Cow::Borrowed),
    };
    let Some(text) = text else { return Ok(None) };
    if let Source::Jwt { verifier, .. } = &identities.source {
        let claims = verifier.verify(&text, visit.wall).ok();
        let named = claims.and_then(|claims| {
            let lane = identities.lane_claim.as_ref().and_then(|name| claims.text(name));
            Some((verifier.account(&claims)?, lane))
        });
        return Ok(named);
    }
    // The shop would hear of an account that the gate does not know.
    if text.len() > MAX_IDENTITY {
        return Err(Doubtful);
    }
    Ok(Identity::new(&text).map(|identity| (identity, None)))
}

/// A field's value. Of two lines, even equal ones, some shops make a list.
fn header<'a>(head: &'a Parts, name: &HeaderName) -> Result<Option<&'a str>, Doubtful> {
    let mut lines = head.headers.get_all(name).iter();
    match (lines.next(), lines.next()) {
        (None, _) => Ok(None),
        (Some(line), None) => std::str::from_utf8(line.as_bytes()).map(Some).map_err(|_| Doubtful),
        (Some(_), Some(_)) => Err(Doubtful),
    }
}

/// SECURITY: `CherryPy` decodes words as mail writes them (RFC 2047, section 2: `=?utf-8?q?ann?=`), and most do not.
fn plain(text: Option<&str>) -> Result<Option<&str>, Doubtful> {
    match text {
        Some(text) if text.contains("=?") => Err(Doubtful),
        text => Ok(text),
    }
}

fn cookie<'a>(head: &'a Parts, name: &str) -> Result<Option<Cow<'a, str>>, Doubtful> {
    let lines = head.headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
    names::cookie::value_of(lines, name)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_ascii())
}

/// The account of a number in a view.
#[must_use]
pub fn account(view: &View, visitor: &Visitor) -> Option<Tag> {
    let line = view.rooms.get(&visitor.room)?.line(&visitor.line)?;
    line.account(visitor.lane, visitor.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearers_token_is_told_by_its_scheme() {
        assert_eq!(bearer("Bearer a.b.c"), Some("a.b.c"));
        assert_eq!(bearer("bearer  a.b.c "), Some("a.b.c"));
        for other in ["Basic a", "Bearer", "", "a.b.c"] {
            assert_eq!(bearer(other), None, "{other}");
        }
    }

    #[test]
    fn a_field_with_a_coded_word_names_nobody_for_sure() {
        assert_eq!(plain(Some("=?utf-8?q?ann?=")), Err(Doubtful));
        assert_eq!(plain(Some("bob =?utf-8?b?YQ==?=")), Err(Doubtful));
        assert_eq!(plain(Some("ann=?")), Err(Doubtful));
        assert_eq!((plain(Some("ann?=x")), plain(None)), (Ok(Some("ann?=x")), Ok(None)));
    }
}

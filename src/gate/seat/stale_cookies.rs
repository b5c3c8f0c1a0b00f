//! Cookies that a browser is to forget which has been in many lines of one room.
//!
//! Each line has a ticket and a pass of its own. A visitor who looks at a hundred events would get two hundred cookies:
//! browsers keep some 180 for a host and then drop any of them, and many servers refuse a head of more than 8 KB. So a
//! browser keeps the cookies of a few lines. The first to be removed are lines whose pass expired more than a session ago,
//! then those whose pass expires first, then the oldest places in line. But no valid cookie is removed because of a link on
//! another site: its visitor is asked first.

use std::collections::BTreeMap;

use http::HeaderValue;
use http::header::COOKIE;
use http::request::Parts;

use crate::router::{InRoom, LineOf};
use crate::token::{LINE_TAG_LEN, unproved_expiry, unproved_joining};
use ropeline_ids::Wall;

use crate::gate::request::cookies::{self, Policy};
use crate::gate::request::visit::Visit;
use crate::gate::state::shared::Shared;

/// Most cookies of a room that a browser keeps beside those of the present line.
const MOST: usize = 24;

/// Fewer bytes are no burden, however many cookies they hold.
const FEW_BYTES: usize = MOST * 64;

/// A line's cookies.
#[derive(Default)]
struct Line<'a> {
    names: Vec<&'a str>,
    /// When a ticket among them says to have joined, and when a pass says to run out.
    joined: Option<Wall>,
    expires: Option<Wall>,
}

/// The order in which lines are forgotten.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Rank {
    Over,
    Inside(Wall),
    Waits(Wall),
}

/// Cookies that a browser is to forget.
#[derive(Default)]
pub struct Worn {
    /// `Set-Cookie` values that make it do so; as a rule there are none.
    pub cleared: Vec<HeaderValue>,
    /// One of them may be a place in line or a session.
    pub costs_a_place: bool,
}

impl Line<'_> {
    fn rank(&self, over_after_ms: Option<u64>, now: Wall) -> Rank {
        match (self.expires, self.joined) {
            // A pass belongs to the session of the ticket, unless its visitor has joined again since.
            (Some(expires), joined) if joined.is_none_or(|joined| joined <= expires) => {
                // Answers set the pass anew while its session is used, so only a socket or stream is left that keeps it alive.
                let is_over = over_after_ms.is_some_and(|after_ms| expires.plus(after_ms) < now);
                if is_over { Rank::Over } else { Rank::Inside(expires) }
            }
            (_, Some(joined)) => Rank::Waits(joined),
            _ => Rank::Over,
        }
    }
}

/// The cookies that a browser is to forget, of lines of the room other than this one.
pub fn worn(shared: &Shared, place: &InRoom, head: &Parts, visit: &Visit) -> Worn {
    let rules = &shared.rules[place.index];
    let LineOf::Line(line) = &place.line else {
        return Worn::default();
    };
    if line.is_only() || !visit.kind.is_navigation() || visit.rehearsed.is_some() {
        return Worn::default();
    }
    let bytes: usize = head.headers.get_all(COOKIE).iter().map(HeaderValue::len).sum();
    if bytes < FEW_BYTES {
        return Worn::default();
    }
    let (policy, names) = rules.cookies(visit.secure, None, line);
    let kinds = [&names.ticket, &names.pass, &names.told];
    let kinds = kinds.map(|name| name.split_at(name.len() - LINE_TAG_LEN));
    // In a sale by stock a pass shows that its visitor has won when its session is long over.
    let over_after_ms = (!shared.sells(&rules.room.name)).then_some(rules.room.settings.session_ms);
    let mut others = others(head, kinds);
    // Another room may be called as this one and a tag.
    others.retain(|tag, _| shared.room_named(&format!("{}-{tag}", rules.room.name)).is_none());
    forgotten(others, policy, over_after_ms, visit.wall)
}

/// The room's cookies of other lines, by their tags. `kinds` are the cookies of the present line: the prefixes of their
/// names, and its tag.
fn others<'a>(head: &'a Parts, [ticket_kind, pass_kind, told_kind]: [(&str, &str); 3]) -> BTreeMap<&'a str, Line<'a>> {
    let mut lines = BTreeMap::<&str, Line<'_>>::new();
    for (name, value) in head.headers.get_all(COOKIE).iter().flat_map(cookies::pairs) {
        let text = std::str::from_utf8;
        let (Ok(name), value) = (text(name), || text(value).ok()) else {
            continue;
        };
        let tag_of = |(begins, this): (&str, &str)| {
            let tag = name.strip_prefix(begins)?;
            let is_tag = tag.len() == LINE_TAG_LEN && tag.bytes().all(|byte| byte.is_ascii_alphanumeric());
            (is_tag && tag != this).then_some(tag)
        };
        let tag = if let Some(tag) = tag_of(ticket_kind) {
            lines.entry(tag).or_default().joined = value().and_then(unproved_joining);
            tag
        } else if let Some(tag) = tag_of(pass_kind) {
            lines.entry(tag).or_default().expires = value().and_then(unproved_expiry);
            tag
        } else if let Some(tag) = tag_of(told_kind) {
            tag
        } else {
            continue;
        };
        lines.entry(tag).or_default().names.push(name);
    }
    lines
}

fn forgotten(lines: BTreeMap<&str, Line<'_>>, policy: &Policy, over_after_ms: Option<u64>, now: Wall) -> Worn {
    let mut left: usize = lines.values().map(|line| line.names.len()).sum();
    let mut worn = Worn::default();
    if left <= MOST {
        return worn;
    }
    let mut lines: Vec<(Rank, Line<'_>)> = lines
        .into_values()
        .map(|line| (line.rank(over_after_ms, now), line))
        .collect();
    lines.sort_by_key(|(rank, _)| *rank);
    for (rank, line) in lines {
        if left <= MOST && rank != Rank::Over {
            break;
        }
        left -= line.names.len();
        worn.costs_a_place |= rank != Rank::Over;
        worn.cleared.extend(line.names.iter().map(|name| policy.clear(name)));
    }
    worn
}

#[cfg(test)]
mod tests {
    use cookie::SameSite;
    use http::Request;

    use super::*;
    use crate::token::{Key, KeyId, Keyring, Pass, PassId, Secret, Ticket, TicketPlace};
    use ropeline_ids::{CallId, Edition, Epoch, LaneId, LineName, Number, RoomName};

    const SESSION_MS: u64 = 300_000;
    const NOW: Wall = Wall(100_000_000);
    const KINDS: [(&str, &str); 3] = [
        ("ropeline-ticket-shop-", "0000000000"),
        ("ropeline-pass-shop-", "0000000000"),
        ("ropeline-told-shop-", "0000000000"),
    ];

    fn keyring() -> Keyring {
        let (id, secret) = (KeyId::new("k").unwrap(), Secret::new(vec![7; 32]));
        Keyring::new(vec![Key { id, secret }]).unwrap()
    }

    fn ticket(line: &str, joined: u64) -> String {
        let ticket = Ticket {
            room: RoomName::new("shop").unwrap(),
            line: LineName::new(line).unwrap(),
            lane: LaneId(0),
            edition: Edition(0),
            place: TicketPlace::Numbered(Number { epoch: Epoch(1), n: 1 }),
            joined_at: Wall(joined),
            identity: None,
        };
        format!("ropeline-ticket-shop-{line}={}", ticket.sign(&keyring()))
    }

    fn pass(line: &str, expires: u64) -> String {
        let (room, line_name) = (RoomName::new("shop").unwrap(), LineName::new(line).unwrap());
        let call = CallId {
            lane: LaneId(0),
            number: Number { epoch: Epoch(1), n: 1 },
            count: 1,
        };
        let pass = Pass {
            id: PassId([1; 8]),
            room,
            line: line_name,
            lane: call.lane,
            edition: Edition(0),
            number: call.number,
            call: call.count,
            expires_at: Wall(expires),
        };
        format!("ropeline-pass-shop-{line}={}", pass.sign(&keyring()))
    }

    /// The names of those of these cookies that are forgotten.
    fn forgets(cookies: &[String]) -> Vec<String> {
        let (head, ()) = Request::builder()
            .header(COOKIE, cookies.join("; "))
            .body(())
            .unwrap()
            .into_parts();
        let policy = Policy {
            secure: false,
            same_site: SameSite::Lax,
            domain: None,
            pass_max_age_secs: 7_200,
        };
        let Worn { cleared, .. } = forgotten(others(&head, KINDS), &policy, Some(SESSION_MS), NOW);
        let name = |value: &HeaderValue| value.to_str().unwrap().split('=').next().unwrap().to_owned();
        cleared.iter().map(name).collect()
    }

    fn line(at: usize) -> String {
        format!("{at:010}")
    }

    #[test]
    fn nothing_is_forgotten_of_a_few_lines() {
        let few: Vec<String> = (1..=MOST).map(|at| pass(&line(at), 1)).collect();
        assert!(forgets(&few).is_empty());
    }

    #[test]
    fn sessions_that_are_over_go_first_then_the_oldest_inside_then_the_oldest_place() {
        let over = NOW.0 - SESSION_MS - 1;
        let mut all: Vec<String> = (1..=20).map(|at| ticket(&line(at), NOW.0 - 50 + at as u64)).collect();
        all.extend([
            pass(&line(30), NOW.0),
            ticket(&line(31), over),
            pass(&line(31), over),
            pass(&line(32), NOW.0 + 9),
        ]);
        assert!(forgets(&all).is_empty());
        // One more than is kept: both cookies of the session that is over.
        all.push(pass(&line(33), NOW.0 + 99));
        let gone = |kinds: &[&str]| kinds.iter().map(|kind| format!("ropeline-{kind}")).collect::<Vec<_>>();
        assert_eq!(forgets(&all), gone(&["ticket-shop-0000000031", "pass-shop-0000000031"]));
        all.extend([34, 35, 36, 37].map(|at| pass(&line(at), NOW.0 + 99)));
        let inside = [
            "ticket-shop-0000000031",
            "pass-shop-0000000031",
            "pass-shop-0000000030",
            "pass-shop-0000000032",
        ];
        assert_eq!(forgets(&all)[..4], gone(&inside));
        let waiting: Vec<String> = (1..=26).map(|at| ticket(&line(at), at as u64)).collect();
        assert_eq!(
            forgets(&waiting),
            gone(&["ticket-shop-0000000001", "ticket-shop-0000000002"])
        );
    }

    #[test]
    fn who_has_joined_again_since_the_last_session_waits() {
        let over = NOW.0 - SESSION_MS - 1;
        let mut all = vec![pass(&line(1), over), ticket(&line(1), over + 1)];
        all.extend((2..=MOST).map(|at| pass(&line(at), NOW.0 + at as u64)));
        assert_eq!(forgets(&all), ["ropeline-pass-shop-0000000002"]);
    }

    #[test]
    fn what_is_no_cookie_of_the_rooms_lines_is_left_alone_and_what_cannot_be_read_goes_first() {
        let mut all: Vec<String> = (1..=MOST).map(|at| pass(&line(at), NOW.0)).collect();
        all.extend(
            [
                "ropeline-pass-shop-0000000000=this",
                "ropeline-pass-shop=only",
                "ropeline-pass-other-0000000001=x",
                "ropeline-pass-shop-00000\u{e9}001=x",
                "shop=1",
            ]
            .map(str::to_owned),
        );
        assert!(forgets(&all).is_empty());
        all.push("ropeline-told-shop-00000000zz=x".to_owned());
        assert_eq!(forgets(&all), ["ropeline-told-shop-00000000zz"]);
        all.push("ropeline-pass-shop-00000000zy=AQ".to_owned());
        assert_eq!(forgets(&all).len(), 2);
    }
}

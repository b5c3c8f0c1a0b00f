//! The endpoint where a visitor joins who waited in place of a proof of work, for want of a script.

use http::header::{CACHE_CONTROL, LOCATION, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use crate::metrics::Outcome;
use crate::pages::{check_of, path_on_this_host};
use crate::proxy::{Body, ROPELINE_STATUS};

use super::super::seat::Seat;
use super::parameter::parameter;
use crate::gate::request::location;
use crate::gate::request::visit::Visit;
use crate::gate::seat::ownership;
use crate::gate::seat::proof::{self, Proof};
use crate::gate::verdict::answers::Answer;
use crate::gate::verdict::arrival::{Coming, Joined};
use crate::gate::verdict::decide::{Door, PassState, TicketState};
use crate::gate::verdict::join;
use crate::room::Mode;

/// `GET enter?proof=CHALLENGE&to=PATH`: joins, and redirects to `to` via the check for cookies. A visitor who has a place
/// already, or needs none, is redirected at once. SECURITY: `to` is only ever a path on this host.
pub async fn enter(seat: &Seat<'_>, visit: &Visit, head: &Parts) -> Answer {
    let query = head.uri.query().unwrap_or_default();
    let text = |name| parameter(query, name).and_then(|value| String::from_utf8(value).ok());
    let (to, shown) = (text("to").unwrap_or_default(), text("proof"));
    let to = path_on_this_host(&to);
    let Some(worth) = seat.worth(visit) else {
        return seat.shared.unavailable(&seat.rules.pages, visit);
    };
    let placed = !matches!(worth.ticket(), TicketState::None | TicketState::Void(_));
    let no_line = worth.door == Door::LetPast || matches!(worth.mode, Mode::Closed | Mode::Off);
    // A visitor who must sign in first is asked to on that page.
    if placed || no_line || ownership::is_nameless(seat) || worth.pass() == PassState::Valid {
        return sent_on(to, Vec::new());
    }
    let coming = match proof::judge(seat, visit, shown.as_deref()) {
        Proof::Given(id) => Coming::Proved(id),
        Proof::Waited(id) => Coming::Waited(id),
        Proof::NotAsked | Proof::Asked(_) => return sent_on(to, Vec::new()),
    };
    let cookies = match join::number(seat, visit, worth.edition, coming).await {
        Joined::Called(tokens, by_code) => {
            let mut cookies = vec![seat.cookies.set_ticket(&tokens.0), seat.cookies.set_pass(&tokens.1)];
            cookies.extend(by_code.then(|| seat.cookies.clear_code()));
            cookies
        }
        Joined::InLine(ticket, by_code) => {
            let used_up = by_code.then(|| seat.cookies.clear_code());
            std::iter::once(seat.cookies.set_ticket(&ticket))
                .chain(used_up)
                .collect()
        }
        Joined::Limited(over) => return over.answer(&seat.rules.pages, visit),
        // The page there says so, with a way on.
        Joined::Refused | Joined::CodeRefused(_) => Vec::new(),
    };
    let check = check_of(&seat.rules.room.name, &seat.line, to);
    sent_on(check.as_deref().unwrap_or(to), cookies)
}

fn sent_on(there: &str, cookies: Vec<HeaderValue>) -> Answer {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(LOCATION, location::to(there));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ROPELINE_STATUS, HeaderValue::from_static("enter"));
    for cookie in cookies {
        headers.append(SET_COOKIE, cookie);
    }
    Answer::new(Outcome::Own, response)
}

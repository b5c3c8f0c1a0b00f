//! One route of a room or limit, and which requests on its path it takes.

use http::Method;

use super::super::outside::Brings;
use super::super::queries::Queries;
use super::super::readings;
use super::super::route::Route;
use super::super::target::Target;

#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    Room(u16),
    Ends(u16, u8),
    Names(u16),
    Holds(u16, u8),
    Background(u16),
    Limit(u16),
    Except(u16),
    Return(u16),
    Never,
    Streamed,
}

impl Owner {
    /// Requests that match it pass a line.
    fn lets_past(self) -> bool {
        matches!(self, Self::Except(_) | Self::Return(_) | Self::Never)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) owner: Owner,
    pub(super) route: Route,
    /// Of the variable that names the line.
    pub(super) segment: Option<usize>,
}

impl Rule {
    /// Whether it takes a request on its path. SECURITY: an excepted request reaches the upstream without a session, and a front
    /// controller obeys query and body on any path.
    pub(super) fn takes(&self, method: &Method, target: &Target<'_>, brings: Brings) -> bool {
        // SECURITY: methods have letter case (RFC 9110, section 9.1), and to a shop `get` may be anything.
        let is_spelled = || !method.as_str().bytes().any(|byte| byte.is_ascii_lowercase());
        if !self.route.takes_method(method) || (self.owner.lets_past() && !is_spelled()) {
            return false;
        }
        let query = target.query();
        // PERF: most requests are none that a room leaves outside.
        let is_bare = || !may_hold_a_query(target.raw_path()) && !readings::names_a_session(target.raw_path());
        match (self.owner, self.route.queries()) {
            (Owner::Never, _) => is_read(method) && query.is_none() && brings == Brings::Nothing && is_bare(),
            (Owner::Except(_), Some(queries)) => {
                brings <= Brings::Credentials && queries.take(query) && (queries == Queries::Any || is_bare())
            }
            (Owner::Except(_), None) => brings < Brings::Everything && is_bare(),
            _ => true,
        }
    }
}

/// A front controller by the usual rewrite (`^(.*)$ index.php?url=$1`) takes the text behind such a sign for parameters.
fn may_hold_a_query(path: &str) -> bool {
    path.contains('&')
        || path
            .match_indices('%')
            .filter_map(|(at, _)| path.get(at + 1..at + 3))
            .any(|escape| escape == "26" || escape.eq_ignore_ascii_case("3f"))
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

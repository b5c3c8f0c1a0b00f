//! Whether the process may open as many files as `max_connections` can need.

use rustix::process::{Resource, getrlimit};

use crate::doctor::check::Checking;
use crate::doctor::finding::Finding;
use crate::doctor::look::Look;

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    // The gate raises its limit to the hard one.
    Box::pin(async { vec![judge(look, getrlimit(Resource::Nofile).maximum)] })
}

/// Descriptors that so many connections can need: a forwarded request takes two.
#[must_use]
pub fn needed(max_connections: usize) -> u64 {
    u64::try_from(max_connections).unwrap_or(u64::MAX).saturating_mul(2)
}

fn judge(look: &Look<'_>, limit: Option<u64>) -> Finding {
    let subject = look.subject;
    let most = subject.load.max_connections;
    let needs = needed(most);
    let who = if look.running.is_some() {
        "The gate"
    } else {
        "A gate started from here"
    };
    let Some(limit) = limit.filter(|limit| *limit < needs) else {
        return Finding::fine(format!("{who} may open as many files as {most} connections need."));
    };
    let wrong = format!("{who} may open {limit} files, and max_connections = {most} can need {needs}");
    let right = format!(
        "at most {}; or LimitNOFILE={needs} in the unit (ulimit -Hn {needs}), and a restart",
        limit / 2
    );
    if limit < needs / 2 {
        let wrong = format!("{wrong}: visitors are turned away long before.");
        return Finding::fault(wrong).at(&subject.places, KEY, right);
    }
    Finding::warning(format!("{wrong} while all of them are forwarded.")).at(&subject.places, KEY, right)
}

const KEY: &str = "server.max_connections";

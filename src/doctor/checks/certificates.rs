//! Until when the certificates shown to visitors are good.

use crate::dates::rfc3339;
use crate::doctor::check::Checking;
use crate::doctor::finding::Finding;
use crate::doctor::look::Look;
use crate::doctor::subject::Subject;
use crate::time;
use crate::tls::{Files, InForce, Origin};
use ropeline_ids::Wall;

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    Box::pin(async {
        let subject = look.subject;
        let in_force = look.running.iter().flat_map(|running| &running.certificates);
        let now = time::wall();
        let mut findings: Vec<Finding> = in_force
            .map(|shown| judge(subject, (in_force_at(shown), remedy(shown)), (None, shown.expires), now))
            .collect();
        findings.extend(subject.certificates.iter().map(|files| in_file(subject, files, now)));
        findings.sort_by(|one, other| (one.severity, &one.message).cmp(&(other.severity, &other.message)));
        findings.dedup_by(|one, other| one.message == other.message);
        findings
    })
}

fn in_file(subject: &Subject, files: &Files, now: Wall) -> Finding {
    match files.load() {
        Ok(pair) => {
            let which = format!("in {}", files.certificate.display());
            judge(subject, (which, FILES), (Some(pair.begins()), pair.expires()), now)
        }
        Err(error) => {
            Finding::fault(format!("A certificate cannot be used: {error}.")).at(&subject.places, KEY, error.right())
        }
    }
}

fn in_force_at(shown: &InForce) -> String {
    match &shown.origin {
        Origin::Files(files) => format!("in force, from {}", files.certificate.display()),
        Origin::Acme => format!("in force by ACME, for {}", shown.name),
    }
}

/// The key, and what is to be done about it.
fn remedy(shown: &InForce) -> (&'static str, &'static str) {
    match &shown.origin {
        Origin::Files(_) => FILES,
        Origin::Acme => (
            "tls.acme.hosts",
            "what the log of a gate says about the orders for this host; ports 80 and 443 of the host lead to the gates",
        ),
    }
}

fn judge(
    subject: &Subject,
    (which, (key, renew)): (String, (&'static str, &'static str)),
    (begins, expires): (Option<Wall>, Wall),
    now: Wall,
) -> Finding {
    let which = format!("The certificate {which}");
    let day = |at: Wall| rfc3339(at).chars().take(10).collect::<String>();
    if expires <= now {
        let wrong = format!("{which} expired on {}: browsers turn visitors away.", day(expires));
        return Finding::fault(wrong).at(&subject.places, key, renew);
    }
    if let Some(begins) = begins.filter(|begins| *begins > now) {
        let wrong = format!("{which} begins on {} only: browsers turn visitors away.", day(begins));
        return Finding::fault(wrong).at(
            &subject.places,
            key,
            "one that is good today, or this machine's clock set right",
        );
    }
    let days = (expires.0 - now.0) / DAY_MS;
    if days < SOON_DAYS {
        let wrong = format!("{which} expires on {}, in {days} days.", day(expires));
        return Finding::warning(wrong).at(&subject.places, key, renew);
    }
    Finding::fine(format!("{which} is good until {}.", day(expires)))
}

const KEY: &str = "tls.certificates";
const FILES: (&str, &str) = (
    KEY,
    "the files of a new certificate; the gate takes them within seconds where they keep their names",
);

const DAY_MS: u64 = 86_400_000;

/// Renewal by itself takes place earlier.
const SOON_DAYS: u64 = 14;

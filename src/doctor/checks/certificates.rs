//! Until when the certificates shown to visitors are good.

use std::sync::Arc;

use crate::acme::Host;
use crate::dates::rfc3339;
use crate::doctor::check::Checking;
use crate::doctor::finding::Finding;
use crate::doctor::look::Look;
use crate::doctor::subject::Subject;
use crate::time;
use crate::tls::{Files, InForce, Origin, Pair, PairError};
use ropeline_ids::Wall;

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    Box::pin(async {
        let (subject, now) = (look.subject, time::wall());
        let mut findings = Vec::new();
        for shown in look.running.iter().flat_map(|running| &running.certificates) {
            findings.push(judge(
                subject,
                (in_force_at(shown), remedy(shown)),
                (shown.begins, shown.expires),
                now,
            ));
        }
        let hosts = look.running.iter().flat_map(|running| running.acme.iter());
        findings.extend(hosts.filter_map(|host| ordered(subject, host, now)));
        findings.extend(in_files(subject, Files::load, now).await);
        findings.sort_by(|one, other| (one.severity, &one.message).cmp(&(other.severity, &other.message)));
        findings.dedup_by(|one, other| one.message == other.message);
        findings
    })
}

/// Those of the configuration's files. A disk that hangs holds up no other check.
async fn in_files(subject: &Subject, load: fn(&Files) -> Result<Pair, PairError>, now: Wall) -> Vec<Finding> {
    let files = subject.certificates.clone();
    let reading = Arc::clone(&subject.reading).lock_owned().await;
    let read = move || {
        let loaded: Vec<_> = files.into_iter().map(|files| (load(&files), files)).collect();
        drop(reading);
        loaded
    };
    match tokio::task::spawn_blocking(read).await {
        Ok(all) => all
            .into_iter()
            .map(|(loaded, files)| in_file(subject, &files, loaded, now))
            .collect(),
        Err(_) => vec![Finding::of_fault("the certificates in the files")],
    }
}

fn in_file(subject: &Subject, files: &Files, loaded: Result<Pair, PairError>, now: Wall) -> Finding {
    match loaded {
        Ok(pair) => {
            let which = format!("in {}", files.certificate.display());
            judge(subject, (which, FILES), (pair.begins(), pair.expires()), now)
        }
        Err(error) => {
            Finding::fault(format!("A certificate cannot be used: {error}.")).at(&subject.places, KEY, error.right())
        }
    }
}

/// What is wrong with the orders for a host.
fn ordered(subject: &Subject, host: &Host, now: Wall) -> Option<Finding> {
    let name = &host.name;
    let why = if host.failures > 0 {
        let (said, again) = (host.said.trim_end_matches('.'), host.again.map(rfc3339));
        let next = again.map_or_else(String::new, |again| format!(" The next attempt is not before {again}."));
        format!(" {} orders in a row failed: {said}.{next}", host.failures)
    } else {
        String::new()
    };
    let finding = match (host.expires, host.renews) {
        (None, _) => Finding::fault(format!("There is no certificate for {name} yet.{why}")),
        (Some(expires), Some(renews)) if renews.plus(expires.since(renews) / 2) <= now => Finding::warning(format!(
            "The certificate for {name} should have been renewed on {}.{why}",
            rfc3339(renews)
        )),
        _ if host.failures > 0 => Finding::warning(format!("The certificate for {name} is not renewed yet.{why}")),
        _ => return None,
    };
    Some(finding.at(&subject.places, ACME.0, ACME.1))
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
        Origin::Acme => ACME,
    }
}

fn judge(
    subject: &Subject,
    (which, (key, renew)): (String, (&'static str, &'static str)),
    (begins, expires): (Wall, Wall),
    now: Wall,
) -> Finding {
    let which = format!("The certificate {which}");
    let day = |at: Wall| rfc3339(at).chars().take(10).collect::<String>();
    if expires <= now {
        let wrong = format!("{which} expired on {}: browsers turn visitors away.", day(expires));
        return Finding::fault(wrong).at(&subject.places, key, renew);
    }
    if begins > now {
        let wrong = format!("{which} begins on {} only: browsers turn visitors away.", day(begins));
        return Finding::fault(wrong).at(
            &subject.places,
            key,
            "one that is good today, or this machine's clock set right",
        );
    }
    if is_late(begins, expires, now) {
        let hours = expires.since(now) / 3_600_000;
        let left = if hours < 48 {
            format!("{hours} hours")
        } else {
            format!("{} days", hours / 24)
        };
        let wrong = format!("{which} expires on {}, in {left}.", day(expires));
        return Finding::warning(wrong).at(&subject.places, key, renew);
    }
    Finding::fine(format!("{which} is good until {}.", day(expires)))
}

/// Whether a renewal is overdue: less than a sixth of the lifetime is left, and less than a month.
fn is_late(begins: Wall, expires: Wall, now: Wall) -> bool {
    expires.since(now) < (expires.since(begins) / 6).min(MONTH_MS)
}

const KEY: &str = "tls.certificates";
const FILES: (&str, &str) = (
    KEY,
    "the files of a new certificate; the gate takes them within seconds where they keep their names",
);
const ACME: (&str, &str) = (
    "tls.acme.hosts",
    "what the log of a gate says about the orders for this host; ports 80 and 443 of the host lead to the gates",
);

const MONTH_MS: u64 = 30 * 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Severity;

    const DAY: u64 = 86_400_000;

    #[test]
    fn how_much_time_a_renewal_has_depends_on_the_lifetime() {
        for (life, late) in [(6, 1), (90, 15), (398, 30)] {
            let (begins, expires) = (Wall(0), Wall(life * DAY));
            let is_late = |left| is_late(begins, expires, Wall(expires.0 - left));
            assert_eq!([is_late(late * DAY), is_late(late * DAY - 1)], [false, true], "{life}");
        }
    }

    #[tokio::test]
    async fn a_fault_of_the_program_is_a_finding_and_the_files_are_not_called_good() {
        let files = Files {
            certificate: "a.pem".into(),
            key: "a.key".into(),
        };
        let subject = Subject {
            certificates: vec![files],
            ..Subject::default()
        };
        let found = in_files(&subject, |_| panic!("on purpose"), Wall(0)).await;
        let [finding] = &found[..] else { panic!("{found:?}") };
        assert_eq!(finding.severity, Severity::Fault);
        assert!(
            finding
                .message
                .contains("the certificates in the files were not examined"),
            "{found:?}"
        );
    }

    #[test]
    fn orders_that_fail_or_do_not_come_are_told_with_the_reason_and_the_next_attempt() {
        let host = |expires: Option<u64>, failures| Host {
            name: "shop.example".to_owned(),
            expires: expires.map(Wall),
            renews: expires.map(|at| Wall(at - 30 * DAY)),
            failures,
            said: "no route.".to_owned(),
            again: (failures > 0).then_some(Wall(90 * DAY)),
        };
        let told = |host: &Host, now: u64| {
            let finding = ordered(&Subject::default(), host, Wall(now))?;
            Some((finding.severity, finding.message))
        };
        assert_eq!(told(&host(Some(90 * DAY), 0), 75 * DAY - 1), None);
        let late = told(&host(Some(90 * DAY), 0), 75 * DAY).unwrap();
        assert_eq!(late.0, Severity::Warning);
        assert!(late.1.contains("should have been renewed on 1970-03-02"), "{}", late.1);
        let (severity, message) = told(&host(Some(90 * DAY), 2), 61 * DAY).unwrap();
        assert_eq!(severity, Severity::Warning);
        let right = "2 orders in a row failed: no route. The next attempt is not before 1970-04-01T00:00:00.000Z.";
        assert!(message.ends_with(right), "{message}");
        assert_eq!(told(&host(None, 1), 0).unwrap().0, Severity::Fault);
    }
}

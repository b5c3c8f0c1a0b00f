//! Whether the shared store can be reached, keeps the log, and is fast enough.

use std::time::Duration;

use crate::doctor::check::Checking;
use crate::doctor::finding::{Finding, capital};
use crate::doctor::look::Look;
use crate::doctor::subject::Subject;
use crate::store::redis::Examined;
use crate::store::{Trouble, Unavailable};

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    Box::pin(async {
        match look.store().await {
            None => vec![Finding::fine("The store is a folder of this gate's own.")],
            Some(Ok(seen)) => judge(look.subject, seen),
            Some(Err(fault)) => vec![unavailable(look.subject, fault)],
        }
    })
}

fn unavailable(subject: &Subject, fault: &Unavailable) -> Finding {
    let reason = &fault.reason;
    if fault.trouble == Trouble::Refused {
        let right = "a store that the log can be kept in; docs/guides/redis.md has what to set";
        return Finding::fault(format!("The store cannot be used: {reason}.")).at(&subject.places, KEY, right);
    }
    let right = "the address of the store; while it is away nobody is called, and nobody gets a number";
    Finding::fault(format!("The store does not answer: {reason}.")).at(&subject.places, KEY, right)
}

fn judge(subject: &Subject, seen: &Examined) -> Vec<Finding> {
    let setting = |warning: &String| {
        Finding::warning(format!("{}.", capital(warning))).at(
            &subject.places,
            KEY,
            "nothing here: the setting is the store's own",
        )
    };
    let mut findings: Vec<Finding> = seen.warnings.iter().map(setting).collect();
    let answers = format!("{} answers in {}", seen.server, millis(seen.round_trip));
    let joins = "a visitor who joins waits for it";
    let right = "a store in the gates' own network, on a machine with a core to spare";
    findings.push(if seen.round_trip >= TOO_SLOW {
        Finding::fault(format!("{answers}: {joins}.")).at(&subject.places, KEY, right)
    } else if seen.round_trip >= SLOW {
        Finding::warning(format!("{answers}: {joins}.")).at(&subject.places, KEY, right)
    } else {
        Finding::fine(format!("{answers}, and keeps the log."))
    });
    findings
}

fn millis(span: Duration) -> String {
    format!("{:.1} ms", span.as_secs_f64() * 1_000.0)
}

const KEY: &str = "store.url";

/// In one network a round trip takes less than a millisecond.
const SLOW: Duration = Duration::from_millis(25);

/// As the alert `RopelineStoreSlow` has it.
const TOO_SLOW: Duration = Duration::from_millis(250);

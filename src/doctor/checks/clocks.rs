//! Whether this machine's clock agrees with the store's, the other gates' and the shop's.
//!
//! Schedules follow the store's clock and countdowns the gate's; codes, passes and signatures have dates by the gate's.

use crate::doctor::check::Checking;
use crate::doctor::finding::Finding;
use crate::doctor::look::{Answered, Look};
use crate::doctor::note::Note;
use crate::doctor::subject::Shop;
use crate::time;

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    Box::pin(async {
        let (store, shops) = tokio::join!(look.store(), look.shops());
        let mut findings = Vec::new();
        if let Some(Ok(seen)) = store {
            findings.push(judge(seen.ahead_ms, "the store's", GATES));
            let notes = seen.notes.iter().flatten().filter_map(|note| Note::decode(note));
            let others = notes.map(|note| seen.ahead_ms.saturating_sub(note.ahead_ms));
            findings.extend(
                others
                    .max_by_key(|ahead| ahead.unsigned_abs())
                    .map(|ahead| judge(ahead, "another gate's", GATES)),
            );
        }
        let of_shop = |(shop, answered): (&Shop, &Answered)| {
            answered.iter().flatten().find_map(|server| {
                let date = server.found.as_ref().ok()?.date.as_ref()?.to_str().ok()?;
                Some(judge(ahead_of(date)?, &shop.at("the shop's"), of(shop)))
            })
        };
        findings.extend(shops.filter_map(of_shop));
        findings
    })
}

/// From when on a difference matters, in milliseconds.
#[derive(Clone, Copy)]
struct Tolerance {
    warning_ms: u64,
    fault_ms: u64,
}

/// Of gates: a countdown is wrong by so much, and a turn is called before or after its time.
const GATES: Tolerance = Tolerance {
    warning_ms: 2_000,
    fault_ms: 30_000,
};

/// The shop's date has whole seconds. What it signs and checks with the gate holds for a minute.
fn of(shop: &Shop) -> Tolerance {
    Tolerance {
        warning_ms: 5_000,
        fault_ms: if shop.signer.is_some() { 45_000 } else { u64::MAX },
    }
}

fn judge(ahead_ms: i64, whose: &str, tolerance: Tolerance) -> Finding {
    let off = ahead_ms.unsigned_abs();
    let way = if ahead_ms < 0 { "behind" } else { "ahead of" };
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let secs = off as f64 / 1_000.0;
    let message = format!("This machine's clock is {secs:.1} s {way} {whose}.");
    let finding = match off {
        _ if off >= tolerance.fault_ms => Finding::fault(message),
        _ if off >= tolerance.warning_ms => Finding::warning(message),
        _ => return Finding::fine(format!("This machine's clock agrees with {whose}.")),
    };
    finding.by(
        "timedatectl",
        "whether both are synchronised (chrony, systemd-timesyncd)",
    )
}

/// How far this machine's clock is ahead of a `Date`; a date is taken for the middle of its second.
fn ahead_of(date: &str) -> Option<i64> {
    let date = jiff::fmt::rfc2822::parse(date).ok()?;
    let there = date.timestamp().as_millisecond().checked_add(500)?;
    Some(i64::try_from(time::wall().0).ok()? - there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Severity;

    #[test]
    fn a_clock_that_differs_matters_by_how_much() {
        let of = |ahead_ms| judge(ahead_ms, "the store's", GATES);
        assert_eq!(of(1_999).severity, Severity::Fine);
        assert_eq!(of(-2_000).message, "This machine's clock is 2.0 s behind the store's.");
        assert_eq!(
            (of(-2_000).severity, of(30_000).severity),
            (Severity::Warning, Severity::Fault)
        );
    }

    #[test]
    fn the_shops_date_is_read() {
        assert!(ahead_of("Sun, 06 Nov 1994 08:49:37 GMT").is_some_and(|ahead| ahead > 1_000_000_000));
        assert_eq!(ahead_of("yesterday"), None);
    }
}

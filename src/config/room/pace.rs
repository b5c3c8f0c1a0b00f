//! Settings that would break what `docs/explanation/the-room.md` promises about the pace of a room are refused, each with the reason.
//!
//! A waiting page asks again within the smaller of `grace`/4 and `claim_deadline`/2, the first time within `firm_within`/2
//! (`room::pace`); less than a second of time for that would be a stampede of its own. A gate notices after two seconds
//! that it is cut off from its store, and a slot is freed two seconds after its pass is over.

use crate::config::document::Section;
use crate::config::keys::span;
use crate::room::Settings;

/// The least time that pages must have to ask again, in milliseconds.
const MIN_REFRESH_MS: u64 = 1_000;

/// How long a gate may be cut off from its store before it notices, in milliseconds.
const CUT_OFF_MS: u64 = 2_000;

pub(in crate::config) fn check(section: &Section<'_>, settings: &Settings, end_grace_ms: u64) {
    presence(section, settings);
    turns(section, settings);
    sessions(section, settings, end_grace_ms);
}

fn presence(section: &Section<'_>, settings: &Settings) {
    let (grace, firm) = (settings.grace_ms, settings.firm_within_ms);
    let least = 4 * MIN_REFRESH_MS;
    if grace < least {
        let wrong = "pages would have to ask again within a quarter of grace, which is less than a second";
        section.mistake("grace", wrong, at_least(least));
    }
    let least = CUT_OFF_MS + 2 * MIN_REFRESH_MS;
    if firm < least {
        let wrong = "a join may take 2 s to be recorded and the first check-in comes within half of firm_within, so people \
                     would be gone before they could check in";
        section.mistake("firm_within", wrong, at_least(least));
    }
    if firm > grace / 2 && grace >= 4 * MIN_REFRESH_MS {
        let wrong = format!(
            "a visitor who never checks in would count as present longer than the half of grace ({}) that is granted to others",
            span(grace / 2)
        );
        section.mistake(
            "firm_within",
            wrong,
            format!("at most half of grace, {}", span(grace / 2)),
        );
    }
}

fn turns(section: &Section<'_>, settings: &Settings) {
    let (claim, late) = (settings.claim_deadline_ms, settings.late_window_ms);
    let least = 2 * MIN_REFRESH_MS + CUT_OFF_MS;
    if claim < least {
        let wrong = "pages hear of a call within half of claim_deadline and a claim may take 2 s to be recorded, so turns \
                     would be missed";
        section.mistake("claim_deadline", wrong, at_least(least));
    }
    let again = claim + claim / 2;
    if late < again {
        let wrong = "a visitor who misses a turn would be late before the page can check in again, and never called a second time";
        section.mistake(
            "late_window",
            wrong,
            format!("at least one and a half claim_deadline, {}", span(again)),
        );
    }
    if late < settings.grace_ms {
        let wrong = "a visitor who is away no longer than grace allows would lose the turn";
        section.mistake(
            "late_window",
            wrong,
            format!("at least grace, {}", span(settings.grace_ms)),
        );
    }
}

fn sessions(section: &Section<'_>, settings: &Settings, end_grace_ms: u64) {
    let (session, longest, claim) = (settings.session_ms, settings.session_max_ms, settings.claim_deadline_ms);
    let least = 2 * CUT_OFF_MS;
    if session < least {
        let wrong = "a renewal may take 2 s to be recorded, so people would fall out while they shop";
        section.mistake("session_duration", wrong, at_least(least));
    }
    if session > longest {
        let wrong = format!(
            "a session cannot be idle for longer than it may last (session_max, {})",
            span(longest)
        );
        section.mistake(
            "session_duration",
            wrong,
            format!("at most session_max, {}", span(longest)),
        );
    }
    if claim > longest {
        let wrong = "a call cannot wait for longer than a session may last";
        section.mistake(
            "claim_deadline",
            wrong,
            format!("at most session_max, {}", span(longest)),
        );
    }
    if end_grace_ms > longest {
        let wrong = "the session would be over by itself before it is ended";
        section.mistake("end_grace", wrong, format!("at most session_max, {}", span(longest)));
    }
    if (least..claim).contains(&session) && claim <= longest {
        let wrong = "a visitor who does not come holds a slot longer than an idle visitor inside";
        section.warning(
            "claim_deadline",
            wrong,
            format!("at most session_duration, {}", span(session)),
        );
    }
}

fn at_least(ms: u64) -> String {
    format!("at least {}", span(ms))
}

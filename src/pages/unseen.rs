//! How long a page that nobody sees leaves its turn unclaimed. `holds` of `static/page.js` is the same rule, which a test holds to it.

/// Milliseconds, of those that remain until the claim deadline, for which the page does not claim unless a visitor looks at it.
/// A phone suspends hidden pages and claims at once.
#[must_use]
pub const fn holds_ms(remains_ms: u64, phone: bool) -> u64 {
    if phone || remains_ms <= AT_ONCE_MS {
        return 0;
    }
    remains_ms - MARGIN_MS
}

/// The margin before the claim deadline: browsers may run the timers of hidden pages once a minute only.
const MARGIN_MS: u64 = 65_000;

/// Up to here the page claims at once.
const AT_ONCE_MS: u64 = 70_000;

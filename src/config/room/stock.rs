//! The stock of a room: the number of pieces, and the settings that need one.

use crate::config::document::Section;
use crate::room::Settings;

/// The pieces that there are, if they are counted.
pub(in crate::config) fn stock(section: &Section<'_>) -> Option<u32> {
    section.get("stock")
}

/// Without a stock nothing is completed, and there are no results.
pub(in crate::config) fn check(section: &Section<'_>, settings: &Settings, completes: bool) {
    if settings.stock.is_some() || section.has_mistake("stock") {
        return;
    }
    if completes {
        let wrong = "nothing is counted as complete where there is no stock";
        section.mistake("completes_on", wrong, "stock with it, or ends_on");
    }
    let results = |settings: &Settings| {
        let mut windows = settings.schedule.iter().flat_map(|schedule| &schedule.windows);
        windows.find_map(|window| window.results)
    };
    if results(settings).is_some() {
        let wrong = "without a stock nobody wins, so there are no results";
        section.mistake("results_at", wrong, "stock with it, or no results_at");
    }
}

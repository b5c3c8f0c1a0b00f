//! Suggestions for an unknown name.

use crate::config::keys::{Brackets, Key, TABLES, below, table};

/// Least likeness (Jaro-Winkler, 0 to 1) of a name that is worth suggesting.
const LIKE: f64 = 0.8;

/// The name closest to `written` in its table, or the table that has it, or all names of the table.
pub(in crate::config) fn name(written: &str, table: &str, keys: &[Key]) -> String {
    let names = || {
        keys.iter()
            .map(|key| key.name)
            .chain(below(table).map(|(name, _)| name))
    };
    if let Some(close) = closest(written, names()) {
        return format!("did you mean \"{close}\"?");
    }
    if let Some(home) = TABLES.iter().find(|table| table.key(written).is_some()) {
        return format!("\"{written}\" is a key of {}", self::written(home.name));
    }
    let all: Vec<String> = names().map(|name| format!("\"{name}\"")).collect();
    format!("one of {}", all.join(", "))
}

/// A table's or a key's full name, as a file has it.
pub(in crate::config) fn written(name: &str) -> String {
    match (table(name), name.rsplit_once('.')) {
        (Some(table), _) if table.brackets == Brackets::Two => format!("[[{name}]]"),
        (Some(_), _) | (None, None) => format!("[{name}]"),
        (None, Some((above, key))) => format!("{key} in {}", written(above)),
    }
}

/// The candidate most like `written`, if one is like it at all.
pub(in crate::config) fn closest<'c>(written: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let written = written.to_lowercase();
    let scored = candidates.map(|candidate| (strsim::jaro_winkler(&written, candidate), candidate));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= LIKE).then_some(best.1)
}

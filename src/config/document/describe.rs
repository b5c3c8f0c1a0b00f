//! The values in force, as `ropeline run` prints them.

use std::fmt::Write as _;

use super::notes::InForce;

/// As TOML, table by table; secrets masked.
pub(in crate::config) fn describe(in_force: &[InForce]) -> String {
    let mut out = String::new();
    let mut section = "";
    for entry in in_force {
        if entry.section != section {
            section = &entry.section;
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{}", header(section));
        }
        let _ = writeln!(out, "{} = {}", entry.name, entry.value);
    }
    out
}

/// `room[0].page` is `[room.page]`, `room[0]` is `[[room]]`.
fn header(section: &str) -> String {
    let parts = section
        .split('.')
        .map(|part| part.split_once('[').map_or(part, |(name, _)| name));
    let name = parts.collect::<Vec<_>>().join(".");
    if section.ends_with(']') {
        format!("[[{name}]]")
    } else {
        format!("[{name}]")
    }
}

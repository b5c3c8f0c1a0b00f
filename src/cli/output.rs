//! Output of commands: text and columns for a terminal, fields of a table in CSV, exit codes.

use std::fmt::Write as _;

pub use crate::terminal::plain;

/// Exit code for a configuration that cannot be used (`EX_CONFIG` of `sysexits.h`).
pub const EXIT_CONFIG: u8 = 78;

/// Prints to standard output. A reader that has gone away, as behind `| head`, is no error.
pub fn say(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// A text as TOML writes it.
pub fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A field of CSV, as RFC 4180 has it. SECURITY: a line's name is a stranger's word; one that a spreadsheet would take for a formula is led by
/// an apostrophe.
pub fn csv_field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// Columns padded to their widest: words to the left, figures to the right.
pub fn aligned(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
    let all = || std::iter::once(&head).chain(rows);
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for row in all() {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            let is_word = WORDS.contains(&head[column].as_str());
            let _ = if is_word {
                write!(text, "{gap}{cell:<width$}")
            } else {
                write!(text, "{gap}{cell:>width$}")
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// Seconds in the unit that a person would choose.
pub fn duration(secs: u32) -> String {
    match secs {
        0..=119 => format!("{secs} s"),
        120..=7_199 => format!("{} min", secs.div_ceil(60)),
        _ => format!("{} h", secs.div_ceil(3_600)),
    }
}

/// The clock time of an RFC 3339 date, in UTC as the gate wrote it.
pub fn time(date: &str) -> String {
    let clock = date
        .get(11..19)
        .filter(|clock| clock.bytes().all(|byte| byte.is_ascii_digit() || byte == b':'));
    clock.map_or_else(|| plain(date), |clock| format!("{clock} UTC"))
}

/// Columns that hold words; the others hold figures.
const WORDS: [&str; 10] = [
    "ROOM",
    "LINE",
    "MODE",
    "WAIT",
    "LAST CALL",
    "GATE",
    "STATE",
    "NOTE",
    "SERVER",
    "REASON",
];

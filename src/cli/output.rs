//! Output of commands: text and columns for a terminal, fields of a table in CSV, exit codes.

use std::fmt::Write as _;

use clap::ValueEnum;

pub use crate::terminal::plain;

/// `--format` of most commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// `--format` of commands that list something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ListFormat {
    Text,
    /// A row for each, below a header
    Csv,
    Json,
}

/// `--format` of commands that write a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ReportFormat {
    Text,
    Json,
    /// A page with plots
    Html,
}

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

/// Columns of the terminal that standard output is; without one, more than any line has.
pub fn columns() -> usize {
    use std::io::IsTerminal as _;
    let size = crossterm::terminal::size().ok().filter(|(columns, _)| *columns > 0);
    match size {
        Some((columns, _)) if std::io::stdout().is_terminal() => usize::from(columns),
        // Some terminals do not say how large they are.
        None if std::io::stdout().is_terminal() => 80,
        _ => usize::MAX,
    }
}

/// What a table may lose where it is wider than the terminal, in this order.
pub struct Gives {
    /// Columns that are left out.
    pub drops: &'static [&'static str],
    /// Columns of words that are cut, to no less than [`LEAST`] characters.
    pub cuts: &'static [&'static str],
}

/// As [`aligned`], in at most `columns` where the table can give so much.
pub fn fitted(head: &[&str], rows: &[Vec<String>], columns: usize, gives: &Gives) -> String {
    let mut head = head.to_vec();
    let mut rows = rows.to_vec();
    let excess = |head: &[&str], rows: &[Vec<String>]| {
        let widths: usize = (0..head.len()).map(|column| width(head, rows, column) + 2).sum();
        widths.saturating_sub(2).saturating_sub(columns)
    };
    for name in gives.drops {
        let Some(column) = head.iter().position(|own| own == name) else {
            continue;
        };
        if excess(&head, &rows) > 0 {
            head.remove(column);
            for row in &mut rows {
                row.remove(column);
            }
        }
    }
    for name in gives.cuts {
        let Some(column) = head.iter().position(|own| own == name) else {
            continue;
        };
        let most = width(&head, &rows, column)
            .saturating_sub(excess(&head, &rows))
            .max(LEAST);
        for row in &mut rows {
            if row[column].chars().count() > most {
                row[column] = row[column].chars().take(most - 1).chain(['…']).collect();
            }
        }
    }
    aligned(&head, &rows)
}

fn width(head: &[&str], rows: &[Vec<String>], column: usize) -> usize {
    let cells = rows.iter().map(|row| row[column].chars().count());
    cells.chain([head[column].chars().count()]).max().unwrap_or(0)
}

/// Lines broken between words where they are longer than this, the rest indented.
pub fn wrapped(text: &str, columns: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut length = 0;
        for (at, word) in line.split(' ').enumerate() {
            let more = word.chars().count();
            if at > 0 && length + 1 + more > columns {
                out.push_str("\n    ");
                length = 4;
            } else if at > 0 {
                out.push(' ');
                length += 1;
            }
            out.push_str(word);
            length += more;
        }
        out.push('\n');
    }
    out
}

/// The least width that a column is cut to.
const LEAST: usize = 8;

/// Columns padded to their widest: words to the left, figures to the right.
pub fn aligned(head: &[&str], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..head.len()).map(|column| width(head, rows, column)).collect();
    let names: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
    let mut text = String::new();
    for row in std::iter::once(&names).chain(rows) {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            let is_word = WORDS.contains(&head[column]);
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
    let (number, unit) = in_unit(secs);
    format!("{number} {unit}")
}

/// From so many seconds to so many.
pub fn range(low: u32, high: u32) -> String {
    let ((from, unit), (to, same)) = (in_unit(low), in_unit(high));
    match (from, unit) {
        _ if (from, unit) == (to, same) => duration(high),
        _ if unit == same => format!("{from}-{to} {unit}"),
        _ => format!("{from} {unit}-{to} {same}"),
    }
}

fn in_unit(secs: u32) -> (u32, &'static str) {
    match secs {
        0..=119 => (secs, "s"),
        120..=7_199 => (secs.div_ceil(60), "min"),
        _ => (secs.div_ceil(3_600), "h"),
    }
}

/// The clock time of an RFC 3339 date, in UTC as the gate wrote it.
pub fn time(date: &str) -> String {
    clock(date).map_or_else(|| plain(date), |clock| format!("{clock} UTC"))
}

/// As [`time`], without the zone; for columns, `-` where there is no date.
pub fn time_of(date: Option<&str>) -> String {
    let Some(date) = date else { return "-".to_owned() };
    clock(date).map_or_else(|| plain(date), str::to_owned)
}

fn clock(date: &str) -> Option<&str> {
    let clock = date.get(11..19)?;
    let is_clock = clock.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    is_clock.then_some(clock)
}

/// Columns that hold words; the others hold figures.
const WORDS: [&str; 12] = [
    "ROOM",
    "REFERENCE",
    "COMPLETED",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_gives_columns_and_then_letters_until_it_fits() {
        let (head, gives) = (
            ["ROOM", "WAITING", "RATE"],
            Gives {
                drops: &["RATE"],
                cuts: &["ROOM"],
            },
        );
        let rows = [vec!["a-room-with-a-name".to_owned(), "7".to_owned(), "none".to_owned()]];
        let at = |columns| fitted(&head, &rows, columns, &gives);
        assert_eq!(
            at(80),
            "ROOM                WAITING  RATE\na-room-with-a-name        7  none\n"
        );
        assert_eq!(at(33), at(80));
        assert_eq!(at(32), "ROOM                WAITING\na-room-with-a-name        7\n");
        assert_eq!(at(20), "ROOM         WAITING\na-room-wit…        7\n");
        assert_eq!(
            at(1),
            "ROOM      WAITING\na-room-…        7\n",
            "no less than eight letters"
        );
    }

    #[test]
    fn a_line_is_broken_between_words() {
        assert_eq!(wrapped("main: one two\nx\n", 8), "main:\n    one\n    two\nx\n");
        assert_eq!(wrapped("main: one two\n", usize::MAX), "main: one two\n");
        assert_eq!(wrapped("unbreakable", 4), "unbreakable\n");
    }

    #[test]
    fn a_range_names_its_unit_once() {
        assert_eq!(range(360, 480), "6-8 min");
        assert_eq!(range(90, 400), "90 s-7 min");
        assert_eq!(range(5, 5), "5 s");
    }
}

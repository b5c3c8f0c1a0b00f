//! `docs/reference/configuration.md` holds a table of keys between two markers for each table of the configuration.

use std::fmt::Write as _;

use ropeline::config::keys::{TABLES, Table};

const PAGE: &str = "docs/reference/configuration.md";

#[test]
fn the_page_says_what_the_keys_say() {
    let page = super::text(PAGE);
    assert_eq!(
        page,
        filled(&page),
        "run: cargo test --test config -- --ignored write_the_page"
    );
}

#[test]
#[ignore = "writes the page; run it by name after a change of the keys"]
fn write_the_page() {
    let page = filled(&super::text(PAGE));
    std::fs::write(super::path(PAGE), page).expect("written");
}

/// The page with the blocks between its markers made anew.
fn filled(page: &str) -> String {
    let mut out = page.to_owned();
    for table in &TABLES {
        let (begin, end) = (format!("<!-- keys of {} -->\n", table.name), "<!-- end of keys -->");
        let from = out
            .find(&begin)
            .unwrap_or_else(|| panic!("{PAGE} has no \"{}\"", begin.trim()))
            + begin.len();
        let to = from
            + out[from..]
                .find(end)
                .unwrap_or_else(|| panic!("{PAGE}: no end of {}", table.name));
        out.replace_range(from..to, &block(table));
    }
    out
}

fn block(table: &Table) -> String {
    let mut out = format!(
        "\n{}\n\n| key | value | default | |\n| --- | --- | --- | --- |\n",
        table.about
    );
    for key in table.keys {
        let mark = if key.at_start { " *At the start.*" } else { "" };
        let cells = [key.form.to_string(), key.to_string(), format!("{}{mark}", key.about)];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(out, "| `{}` | {} |", key.name, cells.join(" | "));
    }
    out.push('\n');
    out
}

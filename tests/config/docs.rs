//! The texts of the keys: `docs/reference/configuration.md` has a table between two markers for each table of the configuration, and
//! `config.toml` has each key's text as a comment above it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ropeline::config::keys::{self, Key, TABLES, Table};
use ropeline::pages::Languages;

const PAGE: &str = "docs/reference/configuration.md";
const GUIDE: &str = "docs/guides/page.md";
const SHIPPED: &str = "config.toml";
const HOW: &str = "run: cargo test --test config -- --ignored write_the_page";

#[test]
fn the_page_says_what_the_keys_say() {
    let page = super::text(PAGE);
    assert_eq!(page, filled(&page), "{HOW}");
}

#[test]
fn the_shipped_file_has_the_text_of_each_key_above_it() {
    let shipped = super::text(SHIPPED);
    assert_eq!(shipped, commented(&shipped), "{HOW}");
}

#[test]
#[ignore = "writes the page and the comments of config.toml; run it by name after a change of the keys"]
fn write_the_page() {
    let page = filled(&super::text(PAGE));
    std::fs::write(super::path(PAGE), page).expect("written");
    let shipped = commented(&super::text(SHIPPED));
    std::fs::write(super::path(SHIPPED), shipped).expect("written");
    let guide = with_languages(&super::text(GUIDE));
    std::fs::write(super::path(GUIDE), guide).expect("written");
}

#[test]
fn the_guide_lists_the_languages_and_whether_a_native_speaker_has_read_them() {
    let guide = super::text(GUIDE);
    assert_eq!(guide, with_languages(&guide), "{HOW}");
}

/// The guide with its table of languages made anew.
fn with_languages(guide: &str) -> String {
    let (before, rest) = guide.split_once("<!-- languages -->\n").expect("a beginning");
    let (_, after) = rest.split_once("<!-- end of languages -->").expect("an end");
    let mut table =
        "\n| language | its name | direction | read by a native speaker |\n| --- | --- | --- | --- |\n".to_owned();
    let languages = Languages::built_in();
    for language in languages.all() {
        let read = if languages.is_reviewed(language) { "yes" } else { "no" };
        let (tag, name) = (languages.tag(language), languages.name(language));
        let direction = languages.direction(language);
        let _ = writeln!(table, "| `{tag}` | {name} | {direction} | {read} |");
    }
    format!("{before}<!-- languages -->\n{table}\n<!-- end of languages -->{after}")
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
        linked(table.about)
    );
    for key in table.keys {
        let mark = if key.at_start { " *At the start.*" } else { "" };
        let cells = [
            format!("{:#}", key.form),
            key.to_string(),
            format!("{}{mark}", linked(key.about)),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(out, "| `{}` | {} |", key.name, cells.join(" | "));
    }
    out.push('\n');
    out
}

/// The names of pages, as `docs/guides/tls.md`, made links of a page in `docs/reference`.
fn linked(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let Some(path) = word.strip_prefix("docs/") else {
            return word.to_owned();
        };
        let path = path.trim_end_matches(['.', ',', ':', ';']);
        let rest = &word["docs/".len() + path.len()..];
        let name = path.split('/').next_back().unwrap_or(path);
        format!("[{name}](../{path}){rest}")
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The file with the comments above each table and each key made anew.
fn commented(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let (mut tables, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut table = None;
    for line in text.lines() {
        let plain = line.strip_prefix('#').unwrap_or(line);
        let name = plain.split(" = ").next().unwrap_or_default();
        let text = if plain.starts_with('[') {
            table = keys::table(plain.trim_matches(['[', ']']));
            seen.clear();
            let table = table.filter(|table| tables.insert(table.name));
            table.map(|table| table.about.to_owned())
        } else {
            let key = table.and_then(|table| table.key(name));
            key.filter(|key| seen.insert(key.name)).map(Key::comment)
        };
        if let Some(text) = text {
            while out.last().is_some_and(|line| line.starts_with("# ")) {
                out.pop();
            }
            comment(&text, &mut out);
        }
        out.push(line.to_owned());
    }
    out.join("\n") + "\n"
}

/// A comment in lines of at most 118 bytes.
fn comment(text: &str, out: &mut Vec<String>) {
    let mut line = "#".to_owned();
    for word in text.split(' ') {
        if line.len() + word.len() > 117 {
            out.push(std::mem::replace(&mut line, "#".to_owned()));
        }
        line = format!("{line} {word}");
    }
    out.push(line);
}

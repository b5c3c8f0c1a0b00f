//! The README, the pages beside it, the tutorial and the guides keep their sentences short: a sentence has at most 30 words. The README and the
//! glossary are short as a whole.
//!
//! The text of a page is the prose that a reader reads: code blocks, comments, headings and URLs are left out, a code span
//! counts as one word, and each paragraph, list item and cell of a table is separate.

use std::fs;
use std::path::PathBuf;

const MOST_WORDS: usize = 30;

#[test]
fn sentences_for_operators_have_at_most_30_words() {
    let pages = pages();
    assert!(pages.len() > 15, "only {} pages", pages.len());
    let mut long = Vec::new();
    for page in pages {
        let name = page.to_str().expect("a path in UTF-8");
        let text = fs::read_to_string(&page).expect("a page");
        let found = sentences(&text).into_iter().filter(|s| words(s) > MOST_WORDS);
        long.extend(found.map(|s| format!("{name}: {} words: {s}", words(&s))));
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn the_readme_has_at_most_120_lines_and_8_links_and_the_glossary_25_words() {
    let readme = fs::read_to_string("README.md").expect("the README");
    let (lines, links) = (readme.lines().count(), readme.matches("](").count());
    assert!(lines <= 120 && links <= 8, "{lines} lines, {links} links");
    let glossary = fs::read_to_string("docs/glossary.md").expect("the glossary");
    let entries = glossary.lines().filter(|line| line.starts_with("| ")).count() - 2;
    assert!((1..=25).contains(&entries), "{entries} entries");
}

#[test]
fn a_long_sentence_is_found_and_what_is_no_prose_is_not_counted() {
    let thirty = ["word"; 30].join(" ");
    let longest = |text: &str| sentences(text).iter().map(|s| words(s)).max().unwrap_or(0);
    assert_eq!(longest(&format!("{thirty}. Two words.")), 30);
    assert_eq!(longest(&format!("{thirty}\nmore. Two words.")), 31);
    assert_eq!(longest(&format!("- {thirty}\n- two words\n\nA paragraph")), 30);
    assert_eq!(longest(&format!("| {thirty} | two words |\n| --- | --- |")), 30);
    assert_eq!(longest(&format!("# {thirty} more\n```\n{thirty} more\n```\nOne.")), 1);
    assert_eq!(
        longest("See [the page](a.md#b), `a b c. d` and <https://a.example/b>."),
        5
    );
    assert_eq!(longest("It has 1.5 parts, e.g. two. **Bold.** (So.) Next"), 6);
    assert_eq!(longest("<!-- keys of x y z -->\n<img src=\"a b\" alt=\"c d e\">"), 0);
}

/// The pages that are read first.
fn pages() -> Vec<PathBuf> {
    let mut pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
        .map(PathBuf::from)
        .to_vec();
    for folder in ["docs/tutorial", "docs/guides"] {
        let entries = fs::read_dir(folder).expect("a folder");
        pages.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
    pages.sort();
    pages
}

fn words(sentence: &str) -> usize {
    sentence
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphanumeric))
        .count()
}

fn sentences(page: &str) -> Vec<String> {
    blocks(page).iter().flat_map(|block| split(&prose(block))).collect()
}

/// Paragraphs, list items and cells, each in one line.
fn blocks(page: &str) -> Vec<String> {
    let (mut blocks, mut block, mut fenced) = (Vec::new(), String::new(), false);
    for line in page.lines() {
        let line = line.trim();
        let is_fence = line.starts_with("```");
        let is_table = line.starts_with('|');
        let item = item(line);
        if is_fence || is_table || fenced || line.is_empty() || line.starts_with('#') || item.is_some() {
            blocks.push(std::mem::take(&mut block));
        }
        if is_fence {
            fenced = !fenced;
        } else if is_table {
            blocks.extend(line.replace("\\|", "/").split('|').map(str::to_owned));
        } else if !fenced && !line.starts_with('#') {
            block += item.unwrap_or(line);
            block.push(' ');
        }
    }
    blocks.push(block);
    blocks
}

/// The text of a line behind the mark of a list, if it begins an item.
fn item(line: &str) -> Option<&str> {
    let number = line.find(". ").filter(|at| line[..*at].parse::<u32>().is_ok());
    line.strip_prefix("- ").or_else(|| number.map(|at| &line[at + 2..]))
}

/// A block without its markup: a code span is one word, a link its text, a URL, a tag and a comment nothing.
fn prose(block: &str) -> String {
    let mut out = String::new();
    let mut rest = block;
    while let Some(at) = rest.find(['`', '<', ']']) {
        out += &rest[..at];
        let end = match &rest[at..=at] {
            "`" => ("code", rest[at + 1..].find('`')),
            "<" => ("", rest[at + 1..].find('>')),
            _ if rest[at + 1..].starts_with('(') => ("", rest[at + 1..].find(')')),
            _ => {
                rest = &rest[at + 1..];
                continue;
            }
        };
        out += end.0;
        rest = end.1.map_or("", |length| &rest[at + 2 + length..]);
    }
    out += rest;
    out.replace(['*', '[', '_'], "")
}

/// A sentence ends with a full stop, a question or exclamation mark before a space, but for abbreviations.
fn split(prose: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for word in prose.split_whitespace() {
        let sentence = sentences.last_mut().expect("one at least");
        *sentence += word;
        sentence.push(' ');
        let bare = word.trim_end_matches([')', '"', '\'']);
        if bare.ends_with(['.', '!', '?']) && !["e.g.", "i.e.", "vs."].contains(&bare) {
            sentences.push(String::new());
        }
    }
    sentences
}

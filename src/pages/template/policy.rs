//! The Content-Security-Policy of a page, and the parts of a template that it would refuse.
//!
//! Inline styles and scripts are allowed by their hashes, taken from rendered samples; so a block may not contain anything
//! that differs between visitors. Content that the policy would silently drop in a browser is reported as an error here.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The resources that a page may load besides its own inline blocks.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    images: &'static str,
    workers: &'static str,
    most_blocks: usize,
}

/// The built-in page loads nothing at all. Its script, with a countdown and without, and what leads on where that fails.
pub const BUILT_IN: Rules = Rules {
    images: "",
    workers: "",
    most_blocks: 3,
};
/// An operator's page may show pictures and fonts: inline, or from its own site (on paths outside the room).
pub const CUSTOM: Rules = Rules {
    images: "; img-src 'self' data:; font-src 'self' data:",
    workers: "",
    most_blocks: 8,
};

impl Rules {
    /// The same for a page with pictures in it: its icon, and a logo.
    pub const fn with_pictures(self) -> Self {
        Self {
            images: "; img-src data:",
            ..self
        }
    }

    /// The same for a page that has work done: its worker's script is the gate's own.
    pub const fn with_worker(self) -> Self {
        Self {
            workers: "worker-src 'self'; ",
            ..self
        }
    }
}

/// The hashes of the inline blocks seen so far.
#[derive(Default, Debug)]
pub struct Inline {
    styles: BTreeSet<String>,
    scripts: BTreeSet<String>,
}

impl Rules {
    pub fn policy(self, inline: &Inline) -> String {
        // Connections of a page without a script fall under the default, which allows none.
        let scripts = if inline.scripts.is_empty() {
            String::new()
        } else {
            format!("script-src {}; connect-src 'self'; ", sources(&inline.scripts))
        };
        format!(
            "default-src 'none'; {scripts}{}style-src {}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'{}",
            self.workers,
            sources(&inline.styles),
            self.images
        )
    }
}

fn sources(hashes: &BTreeSet<String>) -> String {
    if hashes.is_empty() {
        return "'none'".to_owned();
    }
    hashes
        .iter()
        .map(|hash| format!("'sha256-{hash}'"))
        .collect::<Vec<_>>()
        .join(" ")
}

impl Inline {
    /// Takes the blocks of one rendered page, or reports a part that would not work in a browser.
    pub fn add(&mut self, page: &str, rules: Rules) -> Result<(), String> {
        let mut rest = page;
        while let Some(tag) = next_tag(&mut rest) {
            refuse(&tag)?;
            let Some(blocks) = self.blocks_for(&tag) else { continue };
            blocks.insert(STANDARD.encode(Sha256::digest(block(&mut rest, tag.name)?)));
            if blocks.len() > rules.most_blocks {
                return Err(format!(
                    "<{}> blocks must be the same on every page, at most {} different ones: put no variables in them",
                    tag.name, rules.most_blocks
                ));
            }
        }
        Ok(())
    }

    fn blocks_for(&mut self, tag: &Tag<'_>) -> Option<&mut BTreeSet<String>> {
        let is_json = |kind: &str| JSON.iter().any(|json| kind.eq_ignore_ascii_case(json));
        let data = tag.attribute("type").is_some_and(is_json);
        match tag.name {
            name if name.eq_ignore_ascii_case("style") => Some(&mut self.styles),
            name if name.eq_ignore_ascii_case("script") && !data => Some(&mut self.scripts),
            _ => None,
        }
    }
}

/// The exact content between a block's tags; `rest` moves behind it.
fn block<'a>(rest: &mut &'a str, name: &str) -> Result<&'a str, String> {
    let ends = |at: &usize| {
        let tail = rest.as_bytes().get(at + 2..at + 2 + name.len());
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(name.as_bytes()))
    };
    let end = rest.match_indices("</").map(|(at, _)| at).find(ends);
    let end = end.ok_or_else(|| format!("<{name}> is not closed"))?;
    let (content, behind) = rest.split_at(end);
    *rest = behind;
    Ok(content)
}

struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
}

impl Tag<'_> {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| *value)
    }
}

/// The next start tag; `rest` moves behind it. Comments are skipped.
fn next_tag<'a>(rest: &mut &'a str) -> Option<Tag<'a>> {
    loop {
        let (_, behind) = rest.split_once('<')?;
        *rest = behind;
        if let Some(comment) = behind.strip_prefix("!--") {
            *rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
            continue;
        }
        if behind.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let end = behind
                .find(|c: char| c.is_whitespace() || c == '>' || c == '/')
                .unwrap_or(behind.len());
            let (name, behind) = behind.split_at(end);
            *rest = behind;
            return Some(Tag {
                name,
                attributes: attributes(rest),
            });
        }
    }
}

/// The attributes up to the tag's `>`; `rest` moves behind it.
fn attributes<'a>(rest: &mut &'a str) -> Vec<(&'a str, &'a str)> {
    let mut found = Vec::new();
    loop {
        *rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if rest.is_empty() {
            return found;
        }
        if let Some(behind) = rest.strip_prefix('>') {
            *rest = behind;
            return found;
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/'))
            .unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end.max(1).min(rest.len()));
        *rest = behind;
        found.push((name, value(rest)));
    }
}

/// The value behind an attribute's name, quotes off; empty where there is none.
fn value<'a>(rest: &mut &'a str) -> &'a str {
    let Some(behind) = rest.trim_start().strip_prefix('=') else {
        return "";
    };
    let behind = behind.trim_start();
    for quote in ['"', '\''] {
        if let Some(quoted) = behind.strip_prefix(quote) {
            let (value, behind) = quoted.split_once(quote).unwrap_or((quoted, ""));
            *rest = behind;
            return value;
        }
    }
    let end = behind
        .find(|c: char| c.is_whitespace() || c == '>')
        .unwrap_or(behind.len());
    let (value, behind) = behind.split_at(end);
    *rest = behind;
    value
}

/// Tags that load from somewhere, with the attribute that says where.
const LOADERS: [(&str, &str); 8] = [
    ("script", "src"),
    ("link", "href"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
    ("audio", "src"),
    ("embed", "src"),
];

fn refuse(tag: &Tag<'_>) -> Result<(), String> {
    for (name, value) in &tag.attributes {
        let lower = name.to_ascii_lowercase();
        if lower.len() > 2 && lower.starts_with("on") {
            return Err(format!(
                "<{}> has a handler in {name}: use addEventListener in a <script>",
                tag.name
            ));
        }
        if lower == "style" {
            return Err(format!(
                "<{}> has a style attribute: use a class and a <style>",
                tag.name
            ));
        }
        if value.trim_start().to_ascii_lowercase().starts_with("javascript:") {
            return Err(format!("<{}> has a javascript: address", tag.name));
        }
    }
    refuse_load(tag)
}

fn refuse_load(tag: &Tag<'_>) -> Result<(), String> {
    let lower = tag.name.to_ascii_lowercase();
    if lower == "base" {
        return Err("<base> is not allowed".to_owned());
    }
    let attribute = LOADERS
        .iter()
        .find(|(name, _)| *name == lower)
        .map(|(_, attribute)| *attribute);
    let Some(target) = attribute.and_then(|attribute| tag.attribute(attribute)) else {
        return Ok(());
    };
    let own = target.starts_with("data:") || (target.starts_with('/') && !target.starts_with("//"));
    let picture = lower == "img" || (lower == "link" && tag.attribute("rel").is_some_and(|rel| rel.contains("icon")));
    if own && picture {
        return Ok(());
    }
    Err(format!(
        "<{}> loads {target}: only pictures and icons, inline or from this site, can be shown",
        tag.name
    ))
}

/// Both are JSON (WHATWG, MIME Sniffing, section 4.6), the second is shorter.
const JSON: [&str; 2] = ["application/json", "text/json"];

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(page: &str) -> String {
        Inline::default().add(page, CUSTOM).unwrap_err()
    }

    #[test]
    fn blocks_are_hashed_to_the_byte_and_data_is_not() {
        let mut inline = Inline::default();
        let page = "<STYLE media=all>a{}</STYLE><script>\n1 </script><script type=\"application/json\">{}</script>";
        inline.add(page, CUSTOM).unwrap();
        // printf 'a{}' | openssl dgst -sha256 -binary | base64
        assert_eq!(
            sources(&inline.styles),
            format!("'sha256-{}'", STANDARD.encode(Sha256::digest("a{}")))
        );
        assert_eq!(
            sources(&inline.scripts),
            format!("'sha256-{}'", STANDARD.encode(Sha256::digest("\n1 ")))
        );
    }

    #[test]
    fn what_the_policy_would_drop_is_named() {
        assert!(mistake("<p onclick=x()>").contains("handler"));
        assert!(mistake("<p class=a STYLE='color:red'>").contains("style attribute"));
        assert!(mistake("<a href=' JavaScript:x()'>").contains("javascript:"));
        assert!(mistake("<script src=/x.js></script>").contains("loads /x.js"));
        assert!(mistake("<link rel=stylesheet href=/x.css>").contains("loads"));
        assert!(mistake("<img src=//evil.example/x.png>").contains("loads"));
        assert!(mistake("<img src=https://cdn.example/x.png>").contains("loads"));
        assert!(mistake("<base href=/x>").contains("base"));
        assert!(mistake("<style>a{}").contains("not closed"));
    }

    #[test]
    fn pictures_comments_and_words_pass() {
        let page = "<!-- <p onclick=x> --><img src=/logo.svg><link rel=icon href='data:,'><p>a < b onclick=x</p><br/>";
        Inline::default().add(page, CUSTOM).unwrap();
    }

    #[test]
    fn a_block_that_changes_from_page_to_page_is_refused() {
        let mut inline = Inline::default();
        let more = (0..9).try_for_each(|n| inline.add(&format!("<style>/*{n}*/</style>"), CUSTOM));
        assert!(more.unwrap_err().contains("same on every page"));
    }
}

//! The operator's message to waiting visitors, for all languages or by language.

use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::config::document::value::{text, wrong};
use crate::config::document::{Node, Read};
use crate::config::keys::Form;
use crate::pages::Language;
use crate::room::MAX_MESSAGE;

/// A message, at least in one language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    Same(String),
    /// By the language's tag. The page need not be in that language.
    ByLanguage(BTreeMap<String, String>),
}

/// Most languages of a message.
const MAX_LANGUAGES: usize = 64;

impl Message {
    /// The text for a browser that sends this `Accept-Language`: the best one, else the English one, else the first. With its
    /// language, where it has one.
    #[must_use]
    pub fn for_browser(&self, accept_language: &str) -> (Option<&str>, &str) {
        match self {
            Self::Same(text) => (None, text),
            Self::ByLanguage(texts) => {
                let tags = texts.keys().map(String::as_str);
                let tag = Language::best_of(accept_language, &tags).or_else(|| Language::any_of(&tags));
                (tag, tag.and_then(|tag| texts.get(tag)).map_or("", String::as_str))
            }
        }
    }
}

pub(super) fn message(node: &Node<'_>, form: &Form) -> Read<Message> {
    let DeValue::Table(table) = node.get_ref() else {
        return one(node, form).map(Message::Same);
    };
    if table.is_empty() || table.len() > MAX_LANGUAGES {
        let right = format!("1 to {MAX_LANGUAGES} languages");
        return wrong(node, format!("the message has {} languages", table.len()), right);
    }
    let (mut texts, mut mistakes) = (BTreeMap::new(), Vec::new());
    for (tag, item) in table {
        let tag = tag.get_ref();
        let read = if is_tag(tag) {
            one(item, form).map(|text| texts.insert(tag.to_string(), text))
        } else {
            let right = "tags such as \"en\", \"ko\" or \"pt-BR\"";
            wrong(item, format!("{tag:?} is no tag of a language"), right)
        };
        mistakes.extend(read.err().into_iter().flatten());
    }
    if mistakes.is_empty() {
        Ok(Message::ByLanguage(texts))
    } else {
        Err(mistakes)
    }
}

/// A language of two or three letters, and other parts of up to eight letters and digits.
fn is_tag(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let is_language = parts
        .next()
        .is_some_and(|part| matches!(part.len(), 2 | 3) && part.bytes().all(|byte| byte.is_ascii_alphabetic()));
    is_language
        && parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn one(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    if text.len() > MAX_MESSAGE || text.chars().any(|c| c.is_control() && c != '\n') {
        return wrong(
            node,
            format!("the message has {} bytes, or control characters", text.len()),
            form,
        );
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_gets_the_text_that_it_reads_best() {
        let texts = [("ko", "열립니다"), ("pt-BR", "Abre"), ("en", "Opens")];
        let texts = texts.map(|(tag, text)| (tag.to_owned(), text.to_owned()));
        let message = Message::ByLanguage(texts.into());
        for (field, text) in [
            ("ko-KR", "열립니다"),
            ("pt", "Abre"),
            ("de, en;q=0.1", "Opens"),
            ("de", "Opens"),
            ("", "Opens"),
        ] {
            assert_eq!(message.for_browser(field).1, text, "{field}");
        }
        let only = Message::ByLanguage([("ko".to_owned(), "열립니다".to_owned())].into());
        assert_eq!(only.for_browser("de"), (Some("ko"), "열립니다"));
        assert_eq!(Message::Same("Opens".to_owned()).for_browser("ko").0, None);
    }
}

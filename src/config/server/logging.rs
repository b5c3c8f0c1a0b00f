//! The log and the access log: their level, form and place.

use std::path::PathBuf;

use crate::config::document::value::{text, wrong};
use crate::config::document::{Node, Read, Reader};
use crate::config::keys::Form;
use crate::logging::{AccessTarget, Format, check_filter};

/// The level and form of the log, and the access log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggingConfig {
    pub format: Format,
    /// A level or directives by module.
    pub level: String,
    pub access: Option<AccessTarget>,
    pub full_addresses: bool,
}

pub(in crate::config) fn logging(reader: &Reader<'_>) -> LoggingConfig {
    let section = reader.table("logging");
    let formats = [("auto", Format::Auto), ("text", Format::Text), ("json", Format::Json)];
    LoggingConfig {
        format: section.word("format", &formats),
        level: section.need_as("level", level),
        access: section.need_as("access", access),
        full_addresses: section.need("full_addresses"),
    }
}

fn level(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    match check_filter(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(_) => wrong(node, format!("\"{text}\" is no log level"), form),
    }
}

fn access(node: &Node<'_>, form: &Form) -> Read<Option<AccessTarget>> {
    match text(node, form)? {
        "off" => Ok(None),
        "stdout" => Ok(Some(AccessTarget::Stdout)),
        other => match other.strip_prefix("file:").filter(|path| !path.is_empty()) {
            Some(path) => Ok(Some(AccessTarget::File(PathBuf::from(path)))),
            None => wrong(node, format!("there is no access log at \"{other}\""), form),
        },
    }
}

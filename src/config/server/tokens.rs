//! The keys that sign tickets and passes, and the installation that they are for.

use crate::config::document::value::{list, text, wrong};
use crate::config::document::{Node, Read, Reader, secret};
use crate::config::keys::Form;
use crate::token::{Audience, Key, MAX_AUDIENCES, MAX_KEYS};

pub(in crate::config) fn keys(reader: &Reader<'_>) -> Vec<Key> {
    let section = reader.table("tokens");
    let keys = section.list_as("keys", |item, form| secret::key(reader, item, form));
    if keys.len() > MAX_KEYS {
        section.mistake("keys", format!("{} keys", keys.len()), format!("at most {MAX_KEYS}"));
    }
    for (at, key) in keys.iter().enumerate() {
        if keys[..at].iter().any(|other| other.id == key.id) {
            section.mistake(
                "keys",
                format!("two keys have the id \"{}\"", key.id),
                "an id of its own for each",
            );
        }
        if keys[..at]
            .iter()
            .any(|other| other.secret.expose() == key.secret.expose())
        {
            section.mistake(
                "keys",
                format!("key \"{}\" has the secret of another", key.id),
                "a secret of its own for each",
            );
        }
    }
    keys
}

pub(in crate::config) fn audiences(reader: &Reader<'_>, keys: &[Key]) -> Vec<Audience> {
    let section = reader.table("tokens");
    let audiences = section.need_as("audience", one_or_more_audiences);
    if keys.is_empty() || section.has_mistake("audience") {
        return audiences;
    }
    if audiences.is_empty() {
        let wrong = "keys without an audience: another installation with the same keys, such as a staging system, signs what \
                     this one takes";
        section.warning(
            "audience",
            wrong,
            "the name of this installation, such as \"shop.example\"",
        );
    }
    audiences
}

fn one_or_more_audiences(node: &Node<'_>, form: &Form) -> Read<Vec<Audience>> {
    if let (true, Form::Either(_, one)) = (node.get_ref().is_str(), form) {
        return Ok(vec![audience(node, one)?]);
    }
    let Form::Either(many, _) = form else {
        return wrong(node, "this is no audience", form);
    };
    let audiences = list(node, many, audience)?;
    if audiences.len() > MAX_AUDIENCES {
        let right = format!("at most {MAX_AUDIENCES}");
        return wrong(node, format!("{} audiences", audiences.len()), right);
    }
    match audiences
        .iter()
        .enumerate()
        .find(|(at, one)| audiences[..*at].contains(one))
    {
        Some((_, twice)) => wrong(node, format!("\"{}\" is there twice", twice.as_str()), "each once"),
        None => Ok(audiences),
    }
}

fn audience(node: &Node<'_>, form: &Form) -> Read<Audience> {
    let text = text(node, form)?;
    match Audience::new(text) {
        Some(audience) => Ok(audience),
        None => wrong(node, format!("{text:?} is no audience"), form),
    }
}

//! Secrets: written in the file, or better taken from the environment or from a file of their own.

use std::path::Path;

use toml::de::DeValue;

use super::node::{Node, Read};
use super::reader::Reader;
use super::value::{both, bytes_of, fields, one_of, text, wrong};
use crate::config::keys::Form;
use crate::store::sealed::unsealed_key;
use crate::token::{Key, KeyId, Secret};

/// Longest secret; more than that is some other file.
const MAX_SECRET: u64 = 4096;

/// Longest PEM file of a key.
const MAX_PEM: u64 = 64 * 1024;

/// An operator's own token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedToken {
    pub name: String,
    pub token: Secret,
    pub changes: bool,
}

/// A bearer token.
pub(in crate::config) fn token(reader: &Reader<'_>, node: &Node<'_>, form: &Form) -> Read<Secret> {
    let secret = secret(reader, node, form)?;
    if secret.expose().iter().all(u8::is_ascii_graphic) {
        return Ok(secret);
    }
    wrong(
        node,
        "the token has characters that a header cannot carry",
        "letters, digits and signs of ASCII, no spaces",
    )
}

/// One `{ name, token, may }`.
pub(in crate::config) fn named_token(reader: &Reader<'_>, node: &Node<'_>, form: &Form) -> Read<NamedToken> {
    let [name, own, may] = fields(node, form)?;
    let changes = one_of(may.node, may.form, &[("read", false), ("change", true)]);
    let read = both(
        operator(name.node, name.form),
        both(token(reader, own.node, own.form), changes),
    );
    let (name, (token, changes)) = read?;
    Ok(NamedToken { name, token, changes })
}

fn operator(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
    if (1..=32).contains(&text.len()) && text.bytes().all(fits) {
        return Ok(text.to_owned());
    }
    wrong(node, format!("{text:?} is no operator's name"), form)
}

/// A password for a server. SECURITY: kept as text only because the protocol's client wants it so.
pub(in crate::config) fn password(reader: &Reader<'_>, node: &Node<'_>, form: &Form) -> Read<String> {
    let secret = secret(reader, node, form)?;
    match String::from_utf8(secret.expose().to_vec()) {
        Ok(password) => Ok(password),
        Err(_) => wrong(node, "the password is no text", "a password in UTF-8"),
    }
}

/// A key in a PEM file. SECURITY: no message shows any part of it.
pub(in crate::config) fn pem_file(node: &Node<'_>, form: &Form) -> Read<Secret> {
    let path = text(node, form)?;
    match bytes_of(Path::new(path), MAX_PEM) {
        Err(error) => wrong(node, format!("{path} cannot be read ({error})"), form),
        Ok(pem) if pem.len() as u64 > MAX_PEM || !has_key(&pem) => {
            wrong(node, format!("{path} holds no private key"), form)
        }
        Ok(pem) => Ok(Secret::new(pem)),
    }
}

fn has_key(pem: &[u8]) -> bool {
    const MARK: &[u8] = b"PRIVATE KEY-----";
    pem.windows(MARK.len()).any(|part| part == MARK)
}

/// One `{ id, secret }`.
pub(in crate::config) fn key(reader: &Reader<'_>, node: &Node<'_>, form: &Form) -> Read<Key> {
    let [id, own] = fields(node, form)?;
    let (id, secret) = both(key_id(id.node, id.form), secret(reader, own.node, own.form))?;
    // One that a gate has made for itself is written with a checksum.
    let own = str::from_utf8(secret.expose()).ok().and_then(unsealed_key);
    Ok(Key {
        id,
        secret: own.map_or(secret, Secret::new),
    })
}

fn key_id(node: &Node<'_>, form: &Form) -> Read<KeyId> {
    let text = text(node, form)?;
    // SECURITY: it may be the secret in the wrong place, and is not repeated.
    KeyId::new(text).map_or_else(|| wrong(node, "what stands there is no key id", form), Ok)
}

/// SECURITY: no message shows any part of the secret.
fn secret(reader: &Reader<'_>, node: &Node<'_>, form: &Form) -> Read<Secret> {
    let bytes = match node.get_ref() {
        DeValue::String(text) => text.as_bytes().to_vec(),
        DeValue::Table(table) if table.contains_key("env") => from_env(reader, node)?,
        DeValue::Table(table) if table.contains_key("file") => from_file(node)?,
        _ => return wrong(node, "this is no secret", form),
    };
    let (length, least) = (bytes.len(), form.least_bytes());
    if length >= least {
        return Ok(Secret::new(bytes));
    }
    wrong(
        node,
        format!("the secret has {length} bytes"),
        format!("at least {least}, such as from `openssl rand -base64 48`"),
    )
}

fn from_env(reader: &Reader<'_>, node: &Node<'_>) -> Read<Vec<u8>> {
    let [name] = fields(node, &Form::Fields(&[("env", PLAIN)], "{ env = \"NAME\" }"))?;
    let name = text(name.node, name.form)?;
    match reader.env(name) {
        Some(value) => Ok(value.trim_end_matches(['\r', '\n']).as_bytes().to_vec()),
        None => wrong(
            node,
            format!("the environment has no {name}"),
            format!("{name} set where the gate is started"),
        ),
    }
}

fn from_file(node: &Node<'_>) -> Read<Vec<u8>> {
    let [path] = fields(node, &Form::Fields(&[("file", PLAIN)], "{ file = \"/path\" }"))?;
    let path = text(path.node, path.form)?;
    let right = format!("a file of at most {MAX_SECRET} bytes that the gate may read");
    match bytes_of(Path::new(path), MAX_SECRET) {
        Err(error) => wrong(node, format!("{path} cannot be read ({error})"), right),
        Ok(bytes) if bytes.len() as u64 > MAX_SECRET => wrong(node, format!("{path} is too long for a secret"), right),
        Ok(mut bytes) => {
            while bytes.last().is_some_and(|b| matches!(b, b'\r' | b'\n')) {
                bytes.pop();
            }
            Ok(bytes)
        }
    }
}

const PLAIN: Form = Form::Text("a text");

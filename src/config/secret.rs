//! Secrets: written in the file, or better taken from the environment or from a file of their own.

use std::fs::File;
use std::io::Read as _;

use toml::de::DeValue;

use super::gate::NamedToken;
use super::reader::{Node, Read, Reader, Wrong};
use super::value::{both, fields, one_of, text, wrong};
use crate::token::{Key, KeyId, MIN_SECRET, Secret};

/// Fewest bytes of the admin API's token.
const MIN_TOKEN: usize = 16;

/// Longest secret; more than that is some other file.
const MAX_SECRET: u64 = 4096;

/// Longest PEM file of a key.
const MAX_PEM: u64 = 64 * 1024;

const FORM: &str = "a text, { env = \"NAME\" } or { file = \"/path\" }";

/// A bearer token.
pub(super) fn token(reader: &Reader<'_>, node: &Node<'_>) -> Read<Secret> {
    let secret = secret(reader, node, MIN_TOKEN)?;
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
pub(super) fn named_token(reader: &Reader<'_>, node: &Node<'_>) -> Read<NamedToken> {
    let right = "{ name = \"anna\", token = { env = \"ANNAS_TOKEN\" }, may = \"change\" }";
    let [name, own, may] = fields(node, ["name", "token", "may"], right)?;
    let read = both(
        operator(name),
        both(token(reader, own), one_of(may, &[("read", false), ("change", true)])),
    );
    let (name, (token, changes)) = read?;
    Ok(NamedToken { name, token, changes })
}

fn operator(node: &Node<'_>) -> Read<String> {
    let right = "1 to 32 of a-z, A-Z, 0-9, \"-\", \"_\", \".\" and \"@\"";
    let text = text(node, right)?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
    if (1..=32).contains(&text.len()) && text.bytes().all(fits) {
        return Ok(text.to_owned());
    }
    wrong(node, format!("{text:?} is no operator's name"), right)
}

/// A password for a server. SECURITY: kept as text only because the protocol's client wants it so.
pub(super) fn password(reader: &Reader<'_>, node: &Node<'_>) -> Read<String> {
    let secret = secret(reader, node, 1)?;
    match String::from_utf8(secret.expose().to_vec()) {
        Ok(password) => Ok(password),
        Err(_) => wrong(node, "the password is no text", "a password in UTF-8"),
    }
}

/// A key in a PEM file. SECURITY: no message shows any part of it.
pub(super) fn pem_file(node: &Node<'_>) -> Read<Secret> {
    let right = "the path of a PEM file with a private key";
    let path = text(node, right)?;
    let mut pem = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_PEM + 1).read_to_end(&mut pem));
    match read {
        Err(error) => wrong(node, format!("{path} cannot be read ({error})"), right),
        Ok(size) if size as u64 > MAX_PEM || !has_key(&pem) => {
            wrong(node, format!("{path} holds no private key"), right)
        }
        Ok(_) => Ok(Secret::new(pem)),
    }
}

fn has_key(pem: &[u8]) -> bool {
    const MARK: &[u8] = b"PRIVATE KEY-----";
    pem.windows(MARK.len()).any(|part| part == MARK)
}

/// One `{ id, secret }`.
pub(super) fn key(reader: &Reader<'_>, node: &Node<'_>) -> Read<Key> {
    let [id, own] = fields(
        node,
        ["id", "secret"],
        "{ id = \"2026-11\", secret = { env = \"ROPELINE_KEY\" } }",
    )?;
    let (id, secret) = both(key_id(id), secret(reader, own, MIN_SECRET))?;
    Ok(Key { id, secret })
}

fn key_id(node: &Node<'_>) -> Read<KeyId> {
    let right = "1 to 16 of a-z, 0-9 and \"-\"";
    let text = text(node, right)?;
    // SECURITY: it may be the secret in the wrong place, and is not repeated.
    let said = "what stands there is no key id";
    KeyId::new(text).map_or_else(|| wrong(node, said.to_owned(), right), Ok)
}

/// SECURITY: no message shows any part of the secret.
fn secret(reader: &Reader<'_>, node: &Node<'_>, least: usize) -> Read<Secret> {
    let bytes = match node.get_ref() {
        DeValue::String(text) => text.as_bytes().to_vec(),
        DeValue::Table(table) if table.contains_key("env") => from_env(reader, node)?,
        DeValue::Table(table) if table.contains_key("file") => from_file(node)?,
        _ => return wrong(node, "this is no secret", FORM),
    };
    let length = bytes.len();
    let secret = Secret::new(bytes);
    if length >= least {
        return Ok(secret);
    }
    wrong(
        node,
        format!("the secret has {length} bytes"),
        format!("at least {least}, such as from `openssl rand -base64 48`"),
    )
}

fn from_env(reader: &Reader<'_>, node: &Node<'_>) -> Read<Vec<u8>> {
    let [name] = fields(node, ["env"], FORM)?;
    let name = text(name, FORM)?;
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
    let [path] = fields(node, ["file"], FORM)?;
    let path = text(path, FORM)?;
    let right = format!("a file of at most {MAX_SECRET} bytes that the gate may read");
    let failed = |reason: String| {
        vec![Wrong {
            span: node.span(),
            what: reason,
            right: right.clone(),
        }]
    };
    let file = File::open(path).map_err(|e| failed(format!("{path} cannot be opened ({e})")))?;
    let mut bytes = Vec::new();
    file.take(MAX_SECRET + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| failed(format!("{path} cannot be read ({e})")))?;
    if bytes.len() as u64 > MAX_SECRET {
        return Err(failed(format!("{path} is too long for a secret")));
    }
    while bytes.last().is_some_and(|b| matches!(b, b'\r' | b'\n')) {
        bytes.pop();
    }
    Ok(bytes)
}

//! The store of the rooms: a folder of this gate's own, or a store that many gates share.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::config::document::secret;
use crate::config::document::value::{bytes_of, text, wrong};
use crate::config::document::{Node, Read, Reader, Section};
use crate::config::keys::Form;
use crate::store::redis::{RedisUrl, UrlError};
use crate::token::Key;

/// Where the rooms are kept, and how much of their log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    pub kind: StoreKind,
    /// The prefix of the names of a shared store's keys.
    pub prefix: String,
    /// The authorities that a shared store's certificate is checked against; `None` for the system's.
    pub ca_file: Option<CaFile>,
    /// Where every entry of the log is kept for good.
    pub archive: Option<PathBuf>,
    /// How long an embedded log keeps its closed parts.
    pub log_keep: Duration,
    /// The rooms' machine version that is not gone above.
    pub machine_version: Option<u16>,
}

/// The kinds of stores that a URL can name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoreKind {
    /// The embedded log's folder, which one gate at a time can use.
    Embedded { folder: PathBuf },
    /// Redis or Valkey, shared by many gates; with its password.
    Redis(RedisUrl),
}

/// A file of certificates, in PEM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaFile {
    pub path: PathBuf,
    pub pem: Vec<u8>,
}

pub(in crate::config) fn store(reader: &Reader<'_>, keys: &[Key]) -> Store {
    let section = reader.table("store");
    let kind = section.need_as("url", kind);
    let password = section.get_as("password", |node, form| secret::password(reader, node, form));
    let mut store = Store {
        kind,
        prefix: section.need_as("prefix", prefix),
        ca_file: section.get_as("ca_file", ca_file),
        archive: section.get_as("archive", folder),
        log_keep: section.need("log_keep"),
        machine_version: section.get("machine_version"),
    };
    match &store.kind {
        StoreKind::Embedded { folder } => of_one_gate(&section, &store, folder),
        StoreKind::Redis(url) => shared(&section, &store, url, (keys, password.is_some())),
    }
    if let (StoreKind::Redis(url), Some(password)) = (&mut store.kind, password) {
        *url = url.clone().with_password(password);
    }
    store
}

fn of_one_gate(section: &Section<'_>, store: &Store, folder: &Path) {
    for name in ["prefix", "password", "ca_file", "machine_version"] {
        if !section.is_default(name) {
            let wrong =
                "this is for a store that gates share; with this url each gate has a line and a capacity of its own";
            section.warning(
                name,
                wrong,
                "url = \"redis://…\" for several gates, or no such key for one",
            );
        }
    }
    let Some(archive) = &store.archive else { return };
    if lexical(archive).starts_with(lexical(folder)) || lexical(folder).starts_with(lexical(archive)) {
        let wrong = "the data folder is the log's own, and what happens to the one would happen to the other";
        section.mistake(
            "archive",
            wrong,
            "a folder outside the data folder, best on another disk",
        );
    }
}

fn shared(section: &Section<'_>, store: &Store, url: &RedisUrl, (keys, password): (&[Key], bool)) {
    if keys.is_empty() && !section.reader().has_mistake("tokens.keys") {
        let right = "[tokens] keys, the same on every gate, so that each takes the others' tickets and passes";
        section.mistake("url", "a store that gates share needs shared keys", right);
    }
    if url.has_password() && password {
        section.mistake("password", "the url has a password too", "one of the two");
    }
    if url.lacks_password() && !password && !section.has_mistake("password") {
        let right = "password = { env = \"ROPELINE_STORE_PASSWORD\" }, or user:password@ in the url";
        section.mistake("url", "there is a user and no password", right);
    }
    if store.ca_file.is_some() && !url.tls() {
        let wrong = "the url asks for no encryption, so no certificate is looked at";
        section.mistake("ca_file", wrong, "\"rediss://…\" as the url, or no ca_file");
    }
    if !section.is_default("log_keep") {
        let wrong = "a store that gates share keeps about a minute of its log, whatever this says";
        section.warning(
            "log_keep",
            wrong,
            "archive = \"…\" with a folder where all of the log is to be kept",
        );
    }
}

fn kind(node: &Node<'_>, form: &Form) -> Read<StoreKind> {
    let url = text(node, form)?;
    if let Some(folder) = url.strip_prefix("embedded:").filter(|folder| !folder.is_empty()) {
        let folder = PathBuf::from(folder);
        return Ok(StoreKind::Embedded { folder });
    }
    if ["redis", "valkey"].iter().any(|scheme| url.starts_with(scheme)) {
        return url
            .parse()
            .map(StoreKind::Redis)
            .or_else(|error: UrlError| wrong(node, error.what, error.right));
    }
    // A URL may carry a password.
    wrong(node, "this names no store", form)
}

/// It is part of a cluster's hash tag, so it must not contain braces.
fn prefix(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':');
    if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
        return Ok(text.to_owned());
    }
    wrong(node, format!("\"{text}\" cannot begin the names of keys"), form)
}

fn folder(node: &Node<'_>, form: &Form) -> Read<PathBuf> {
    let path = PathBuf::from(text(node, form)?);
    if path.as_os_str().is_empty() || path.is_file() {
        return wrong(node, format!("\"{}\" is no folder", path.display()), form);
    }
    Ok(path)
}

pub(in crate::config) fn ca_file(node: &Node<'_>, form: &Form) -> Read<CaFile> {
    let path = PathBuf::from(text(node, form)?);
    match bytes_of(&path, MAX_CA_FILE) {
        Ok(pem) if pem.len() as u64 > MAX_CA_FILE || !has_certificate(&pem) => {
            wrong(node, format!("{} holds no certificates", path.display()), form)
        }
        Ok(pem) => Ok(CaFile { path, pem }),
        Err(error) => wrong(node, format!("{} cannot be read ({error})", path.display()), form),
    }
}

fn has_certificate(pem: &[u8]) -> bool {
    const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";
    pem.windows(BEGIN.len()).any(|part| part == BEGIN)
}

/// The path without `.` and `..`, by its letters alone: the compared files may not be there yet.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if plain
                    .components()
                    .next_back()
                    .is_some_and(|last| last != Component::ParentDir) =>
            {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Bytes of a file of certificates: some hundreds of them.
const MAX_CA_FILE: u64 = 1 << 20;

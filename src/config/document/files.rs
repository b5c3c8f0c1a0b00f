//! The files that a configuration names, to be watched for changes with it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::added::AddedTable;

/// A file beside the configuration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NamedFile {
    pub path: PathBuf,
    /// A visitors' certificate or its key, which the listeners take by themselves.
    pub of_listeners: bool,
}

/// All values where a file may stand, right or wrong.
pub(in crate::config) fn named(root: Option<&DeTable<'_>>, added: &[AddedTable<'_>]) -> Vec<NamedFile> {
    let mut files = BTreeSet::new();
    for (key, value) in root.into_iter().flatten() {
        walk(key.get_ref(), value.get_ref(), false, &mut files);
    }
    let server = root.and_then(|root| root.get("server")?.get_ref().as_table());
    let folder = server.and_then(|server| server.get("room_files")?.get_ref().as_str());
    let mut theirs = BTreeSet::new();
    for value in added.iter().flat_map(|added| added.root.values()) {
        walk("room", value.get_ref(), false, &mut theirs);
    }
    let within = |file: NamedFile| NamedFile {
        path: Path::new(folder.unwrap_or_default()).join(file.path),
        ..file
    };
    // If no file may be named here, the key is refused before the file is read.
    files.extend(theirs.into_iter().filter(|_| folder.is_some()).map(within));
    files.into_iter().take(MOST_FILES).collect()
}

fn walk(key: &str, value: &DeValue<'_>, of_listeners: bool, files: &mut BTreeSet<NamedFile>) {
    match value {
        DeValue::String(path) if is_file(key) && files.len() < MOST_FILES => {
            let path = PathBuf::from(&**path);
            files.insert(NamedFile { path, of_listeners });
        }
        DeValue::Array(list) => list
            .iter()
            .for_each(|one| walk(key, one.get_ref(), of_listeners, files)),
        DeValue::Table(table) => {
            for (key, value) in table {
                let of_listeners = of_listeners || key.get_ref() == "certificates";
                walk(key.get_ref(), value.get_ref(), of_listeners, files);
            }
        }
        _ => {}
    }
}

fn is_file(key: &str) -> bool {
    key == "file" || key == "template" || key == "logo" || key == "wording" || key.ends_with("_file")
}

/// More are not looked at.
const MOST_FILES: usize = 1_000;

#[cfg(test)]
mod tests {
    use crate::config;

    #[test]
    fn secrets_templates_authorities_and_certificates_are_named_wherever_they_stand() {
        let text = r#"
            [server]
            admin_token = { file = "token" }
            [upstream]
            url = "https://shop.test"
            ca_file = "authorities.pem"
            [tokens]
            keys = [{ id = "a", secret = { file = "key" } }, { id = "b", secret = { env = "B" } }]
            [tls]
            certificates = [{ cert_file = "front.pem", key_file = "front.key" }]
            acme = { hosts = ["shop.test"], ca_file = "private.pem" }
            [[room]]
            name = "shop"
            page = { template = "page.html", logo = "logo.svg" }
            [logging]
            access = "file:access.log"
        "#;
        let report = config::check(text, "config.toml");
        let of = |of_listeners: bool| -> Vec<String> {
            let files = report.files().iter().filter(|file| file.of_listeners == of_listeners);
            files.map(|file| file.path.display().to_string()).collect()
        };
        assert_eq!(
            of(false),
            [
                "authorities.pem",
                "key",
                "logo.svg",
                "page.html",
                "private.pem",
                "token"
            ]
        );
        assert_eq!(of(true), ["front.key", "front.pem"]);
    }
}

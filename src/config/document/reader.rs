//! Walks a TOML document by the table of keys: every mistake is noted with its line, and the walk goes on with the
//! default, so that all of them come out at once.

use std::cell::RefCell;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::added::AddedTable;
use super::mistake::{Mistake, Origin, Place};
use super::node::Node;
use super::notes::{Notes, Override, nearest};
use super::section::Section;
use super::suggest;
use crate::config::keys::{self, Key, Preset, Table};

/// One reading of a document.
pub(in crate::config) struct Reader<'r> {
    text: &'r str,
    /// `None` without a file.
    pub(super) root: Option<&'r DeTable<'r>>,
    added: &'r [AddedTable<'r>],
    pub(super) overrides: &'r [Override],
    env: &'r dyn Fn(&str) -> Option<String>,
    pub(super) notes: RefCell<Notes>,
}

/// A table that contains others, and how it was written.
type Parent<'s> = (Option<&'s DeTable<'s>>, Written<'s>);

/// How a section was written.
#[derive(Clone, Copy)]
pub(super) struct Written<'s> {
    text: &'s str,
    /// The room that this is the text of; `None`: the file.
    pub(super) added: Option<&'s str>,
}

impl Written<'_> {
    pub(super) fn at(self, at: usize) -> Origin {
        let place = Place::of(self.text, at);
        self.added
            .map_or(Origin::File(place), |room| Origin::Added(room.to_owned(), place))
    }
}

impl<'r> Reader<'r> {
    pub(in crate::config) fn new(
        text: &'r str,
        (root, added): (Option<&'r DeTable<'r>>, &'r [AddedTable<'r>]),
        overrides: &'r [Override],
        env: &'r dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let reader = Self {
            text,
            root,
            added,
            overrides,
            env,
            notes: RefCell::default(),
        };
        if let Some(root) = root {
            reader.check_names("", &[], (root, reader.file()), "");
        }
        reader
    }

    pub(in crate::config) fn into_notes(self) -> Notes {
        self.notes.into_inner()
    }

    pub(in crate::config) fn env(&self, name: &str) -> Option<String> {
        (self.env)(name)
    }

    /// A table of which there is one; all defaults when the document does not have it.
    pub(in crate::config) fn table(&self, name: &'static str) -> Section<'_> {
        self.one((self.root, self.file()), name, name.to_owned())
    }

    /// Tables of which there may be many; none when the document has none.
    pub(in crate::config) fn tables(&self, name: &'static str) -> Vec<Section<'_>> {
        self.many((self.root, self.file()), name, name)
    }

    /// A table in one pair of brackets, or any number of them in two; one with the defaults when the document has none.
    pub(in crate::config) fn one_or_many(&self, name: &'static str) -> Vec<Section<'_>> {
        let written = self.root.and_then(|root| root.get(name));
        match written.and_then(|node| node.get_ref().as_array()) {
            Some(list) if !list.is_empty() => self.tables(name),
            _ => vec![self.table(name)],
        }
    }

    /// The rooms that were added at run time, as `room["NAME"]`: a name may be a number, and `room[0]` is in the file.
    pub(in crate::config) fn added(&self) -> Vec<Section<'_>> {
        let rooms = self.added.iter().filter_map(|added| Some((added, added.room()?)));
        let opened = rooms.map(|(added, (table, at))| {
            let written = Written {
                text: added.text,
                added: Some(added.name),
            };
            let mut section = self.section("room", format!("room[\"{}\"]", added.name), written);
            section.open(table, at);
            section
        });
        opened.collect()
    }

    fn file(&self) -> Written<'_> {
        Written {
            text: self.text,
            added: None,
        }
    }

    fn section<'s>(&'s self, name: &'static str, path: String, written: Written<'s>) -> Section<'s> {
        Section {
            reader: self,
            spec: spec(name),
            path,
            table: None,
            written,
        }
    }

    /// A section with defaults only.
    pub(in crate::config) fn defaults(&self, name: &'static str, path: &str) -> Section<'_> {
        self.section(name, path.to_owned(), self.file())
    }

    /// Notes a mistake about a key or a section, at the line of the nearest written item. A key that could not be read has
    /// its mistake already: consequences of the default in its place are not reported.
    pub(in crate::config) fn mistake(&self, key: &str, wrong: impl Into<String>, right: impl Into<String>) {
        if self.notes.borrow().failed.contains(key) {
            return;
        }
        let mistake = self.note(key, wrong.into(), right.into());
        self.notes.borrow_mut().mistakes.push(mistake);
    }

    pub(in crate::config) fn warning(&self, key: &str, wrong: impl Into<String>, right: impl Into<String>) {
        if self.notes.borrow().failed.contains(key) {
            return;
        }
        let warning = self.note(key, wrong.into(), right.into());
        self.notes.borrow_mut().warnings.push(warning);
    }

    pub(in crate::config) fn has_mistake(&self, key: &str) -> bool {
        self.notes.borrow().mistakes.iter().any(|mistake| mistake.key == key)
    }

    fn note(&self, key: &str, wrong: String, right: String) -> Mistake {
        let origin = nearest(&self.notes.borrow().origins, key);
        Mistake {
            origin,
            key: key.to_owned(),
            wrong,
            right,
        }
    }

    fn mistake_at(&self, origin: Origin, key: String, wrong: String, right: String) {
        self.notes.borrow_mut().mistakes.push(Mistake {
            origin,
            key,
            wrong,
            right,
        });
    }

    pub(super) fn one<'s>(&'s self, (parent, written): Parent<'s>, name: &'static str, path: String) -> Section<'s> {
        let mut section = self.section(name, path, written);
        let Some(node) = parent.and_then(|table| table.get(last(name))) else {
            return section;
        };
        match node.get_ref() {
            DeValue::Table(table) => section.open(table, node.span().start),
            _ => self.mistake_at(
                written.at(node.span().start),
                section.path.clone(),
                "this is a table".into(),
                format!("[{name}]"),
            ),
        }
        section
    }

    pub(super) fn many<'s>(
        &'s self,
        (parent, written): Parent<'s>,
        name: &'static str,
        path: &str,
    ) -> Vec<Section<'s>> {
        let Some(node) = parent.and_then(|table| table.get(last(name))) else {
            return Vec::new();
        };
        let list = match node.get_ref() {
            DeValue::Array(list) if list.iter().all(|item| item.get_ref().is_table()) => list,
            _ => {
                let right = format!("[[{name}]] in two pairs of brackets, once for each");
                let origin = written.at(node.span().start);
                self.mistake_at(origin, path.to_owned(), "there may be many of these".into(), right);
                return Vec::new();
            }
        };
        let mut sections = Vec::with_capacity(list.len());
        for (at, item) in list.iter().enumerate() {
            let mut section = self.section(name, format!("{path}[{at}]"), written);
            if let DeValue::Table(table) = item.get_ref() {
                section.open(table, item.span().start);
            }
            sections.push(section);
        }
        sections
    }

    /// Notes every name in `table` that is neither a key nor a table below `name`.
    pub(super) fn check_names(&self, name: &str, keys: &[Key], (table, of): (&DeTable<'_>, Written<'_>), path: &str) {
        for written in table.keys() {
            let text: &str = written.get_ref();
            let known = keys.iter().any(|key| key.name == text) || keys::below(name).any(|(below, _)| below == text);
            if known {
                continue;
            }
            let kind = if name.is_empty() { "table" } else { "key" };
            let (wrong, right) = match keys::present_name(&join(name, text)) {
                Some(present) => ("this has another name now".to_owned(), suggest::written(present)),
                None => (format!("there is no such {kind}"), suggest::name(text, name, keys)),
            };
            self.mistake_at(of.at(written.span().start), join(path, text), wrong, right);
        }
    }
}

pub(super) fn preset_node(key: &Key) -> Option<Node<'static>> {
    let Preset::Value(text) = key.preset else { return None };
    if key.form.is_text() {
        return Some(Spanned::new(0..0, DeValue::String(text.into())));
    }
    Some(DeValue::parse(text).expect("the defaults in the table of keys are TOML"))
}

fn spec(name: &str) -> &'static Table {
    keys::table(name).expect("every table that is read is in the table of keys")
}

pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

pub(super) fn last(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

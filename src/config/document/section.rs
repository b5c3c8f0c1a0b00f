//! One table of a document as the table of keys has it: its values, and the mistakes in them.

use std::cell::RefCell;
use std::path::PathBuf;

use toml::de::DeTable;

use super::added::file_of;
use super::mistake::{Mistake, Origin};
use super::node::{Node, Read, Wrong};
use super::notes::{InForce, nearest};
use super::reader::{Reader, Written, join, last, preset_node};
use super::value::Value;
use super::{render, value};
use crate::config::keys::{Form, Key, Preset, Table};

/// One table of the document, or of the defaults.
pub(in crate::config) struct Section<'s> {
    pub(super) reader: &'s Reader<'s>,
    pub(super) spec: &'static Table,
    pub(super) path: String,
    pub(super) table: Option<&'s DeTable<'s>>,
    pub(super) written: Written<'s>,
}

impl<'s> Section<'s> {
    /// Its place in the document, such as `room[0]`.
    pub(in crate::config) fn path(&self) -> &str {
        &self.path
    }

    pub(in crate::config) fn reader(&self) -> &'s Reader<'s> {
        self.reader
    }

    pub(in crate::config) fn mistake(&self, name: &str, wrong: impl Into<String>, right: impl Into<String>) {
        self.reader.mistake(&join(&self.path, name), wrong, right);
    }

    pub(in crate::config) fn warning(&self, name: &str, wrong: impl Into<String>, right: impl Into<String>) {
        self.reader.warning(&join(&self.path, name), wrong, right);
    }

    pub(in crate::config) fn table(&self, name: &'static str) -> Section<'s> {
        let parent = (self.table, self.written);
        self.reader.one(parent, name, join(&self.path, last(name)))
    }

    pub(in crate::config) fn tables(&self, name: &'static str) -> Vec<Section<'s>> {
        let parent = (self.table, self.written);
        self.reader.many(parent, name, &join(&self.path, last(name)))
    }

    /// True of a room that was added at run time.
    pub(in crate::config) fn is_added(&self) -> bool {
        self.written.added.is_some()
    }

    /// The file that a value names.
    pub(in crate::config) fn file(&self, node: &Node<'_>, form: &Form) -> Read<PathBuf> {
        let name = value::text(node, form)?;
        if !self.is_added() {
            return Ok(PathBuf::from(name));
        }
        let server = self
            .reader
            .root
            .and_then(|root| root.get("server")?.get_ref().as_table());
        let folder = server.and_then(|server| server.get("room_files")?.get_ref().as_str());
        file_of(node, name, folder)
    }

    /// The value of a key that has a default; a mistaken one is noted and the default taken.
    pub(in crate::config) fn need<T: Value>(&self, name: &'static str) -> T {
        self.need_as(name, T::read)
    }

    /// The value of a key; `None` when it is not set and has no default, or is mistaken.
    pub(in crate::config) fn get<T: Value>(&self, name: &'static str) -> Option<T> {
        self.get_as(name, T::read)
    }

    /// The items of a list; mistaken ones are noted and left out.
    pub(in crate::config) fn list<T: Value>(&self, name: &'static str) -> Vec<T> {
        self.list_as(name, T::read)
    }

    /// The value of one of the words of a key.
    pub(in crate::config) fn word<T: Copy>(&self, name: &'static str, words: &[(&str, T)]) -> T {
        self.need_as(name, |node, form| value::one_of(node, form, words))
    }

    /// As [`Self::need`], by a function that gets the key's form too.
    pub(in crate::config) fn need_as<T>(&self, name: &'static str, read: impl Fn(&Node<'_>, &Form) -> Read<T>) -> T {
        self.get_as(name, read)
            .expect("a key that is needed has a default in the table of keys")
    }

    /// As [`Self::get`], by a function that gets the key's form too.
    pub(in crate::config) fn get_as<T>(
        &self,
        name: &'static str,
        read: impl Fn(&Node<'_>, &Form) -> Read<T>,
    ) -> Option<T> {
        let key = self
            .spec
            .key(name)
            .expect("every key that is read is in the table of keys");
        let path = join(&self.path, name);
        let Some((origin, node)) = self.find(&path, name) else {
            return self.preset(key, &path, read);
        };
        self.reader
            .notes
            .borrow_mut()
            .origins
            .insert(path.clone(), origin.clone());
        match read(node, &key.form) {
            Ok(value) => {
                self.in_force(name, node, origin);
                Some(value)
            }
            Err(list) => {
                self.refuse(&path, &origin, list);
                self.reader.notes.borrow_mut().failed.insert(path);
                preset_node(key).and_then(|node| read(&node, &key.form).ok())
            }
        }
    }

    /// As [`Self::list`], by a function that gets the form of an item too.
    pub(in crate::config) fn list_as<T>(
        &self,
        name: &'static str,
        read: impl Fn(&Node<'_>, &Form) -> Read<T>,
    ) -> Vec<T> {
        let mistakes = RefCell::new(Vec::new());
        let keep = |item: &Node<'_>, form: &Form| {
            let value = read(item, form).map_err(|more| mistakes.borrow_mut().extend(more));
            Ok(value.ok())
        };
        let values = self
            .get_as(name, |node, form| value::list(node, form, keep))
            .unwrap_or_default();
        let path = join(&self.path, name);
        let origin = nearest(&self.reader.notes.borrow().origins, &path);
        self.refuse(&path, &origin, mistakes.into_inner());
        values.into_iter().flatten().collect()
    }

    /// The form of a key's value, for people.
    pub(in crate::config) fn form(&self, name: &str) -> String {
        self.spec.key(name).map_or_else(String::new, |key| key.form.to_string())
    }

    /// True when the file or an option sets the key.
    pub(in crate::config) fn is_set(&self, name: &'static str) -> bool {
        self.find(&join(&self.path, name), name).is_some()
    }

    /// True when the key is not set, or to its default as in the shipped file.
    pub(in crate::config) fn is_default(&self, name: &'static str) -> bool {
        let written = |node: &Node<'_>| render::value(name, node.get_ref());
        let preset = || self.spec.key(name).and_then(preset_node).map(|node| written(&node));
        self.find(&join(&self.path, name), name)
            .is_none_or(|(_, node)| Some(written(node)) == preset())
    }

    /// Warns of keys that say nothing without another.
    pub(in crate::config) fn only_with(&self, names: &[&'static str], other: &str) {
        for name in names.iter().filter(|name| !self.is_default(name)) {
            self.warning(
                name,
                format!("without {other} this says nothing"),
                format!("with {other}, or left out"),
            );
        }
    }

    /// True when something is wrong with the key already.
    pub(in crate::config) fn has_mistake(&self, name: &str) -> bool {
        self.reader.has_mistake(&join(&self.path, name))
    }

    pub(super) fn open(&mut self, table: &'s DeTable<'s>, at: usize) {
        let origin = self.written.at(at);
        self.reader.notes.borrow_mut().origins.insert(self.path.clone(), origin);
        self.reader
            .check_names(self.spec.name, self.spec.keys, (table, self.written), &self.path);
        self.table = Some(table);
    }

    fn find(&self, path: &str, name: &str) -> Option<(Origin, &Node<'_>)> {
        let over = |yields: bool| {
            let mut overrides = self.reader.overrides.iter();
            let over = overrides.find(|over| over.key == path && over.yields == yields)?;
            Some((Origin::Option(over.option), &over.node))
        };
        let written = || {
            let node = self.table?.get(name)?;
            Some((self.written.at(node.span().start), node))
        };
        over(false).or_else(written).or_else(|| over(true))
    }

    fn preset<T>(&self, key: &'static Key, path: &str, read: impl Fn(&Node<'_>, &Form) -> Read<T>) -> Option<T> {
        if key.preset == Preset::Required {
            self.reader.mistake(path, "this must be set", key.form.to_string());
            return None;
        }
        let node = preset_node(key)?;
        self.in_force(key.name, &node, Origin::Defaults);
        read(&node, &key.form).ok()
    }

    fn in_force(&self, name: &'static str, node: &Node<'_>, origin: Origin) {
        let value = render::value(name, node.get_ref());
        self.reader.notes.borrow_mut().in_force.push(InForce {
            section: self.path.clone(),
            name,
            value,
            origin,
        });
    }

    /// The value in force of a key in place of its default, as TOML.
    pub(in crate::config) fn put_in_force(&self, name: &'static str, value: String) {
        let mut notes = self.reader.notes.borrow_mut();
        let here = |set: &&mut InForce| set.section == self.path && set.name == name;
        if let Some(set) = notes.in_force.iter_mut().find(here) {
            set.value = value;
        }
    }

    fn refuse(&self, path: &str, origin: &Origin, list: Vec<Wrong>) {
        for wrong in list {
            let origin = match origin {
                Origin::File(_) | Origin::Added(..) => self.written.at(wrong.span.start),
                other => other.clone(),
            };
            let mistake = Mistake {
                origin,
                key: path.to_owned(),
                wrong: wrong.what,
                right: wrong.right,
            };
            self.reader.notes.borrow_mut().mistakes.push(mistake);
        }
    }
}

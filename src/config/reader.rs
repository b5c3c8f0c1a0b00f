//! Walks a TOML document by the table of keys: every mistake is noted with its line, and the walk goes on with the
//! default, so that all of them come out at once.

use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{Key, Preset, Table};
use super::mistake::{Mistake, Origin};
use super::notes::{InForce, Notes, Override, line, nearest};
use super::{render, suggest, value};

pub(super) type Node<'n> = Spanned<DeValue<'n>>;

/// What is wrong with a value, and where.
pub(super) struct Wrong {
    pub(super) span: Range<usize>,
    pub(super) what: String,
    pub(super) right: String,
}

pub(super) type Read<T> = Result<T, Vec<Wrong>>;

/// One reading of a document.
pub(super) struct Reader<'r> {
    text: &'r str,
    /// `None` without a file.
    root: Option<&'r DeTable<'r>>,
    overrides: &'r [Override],
    env: &'r dyn Fn(&str) -> Option<String>,
    notes: RefCell<Notes>,
}

impl<'r> Reader<'r> {
    pub(super) fn new(
        text: &'r str,
        root: Option<&'r DeTable<'r>>,
        overrides: &'r [Override],
        env: &'r dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let reader = Self {
            text,
            root,
            overrides,
            env,
            notes: RefCell::default(),
        };
        if let Some(root) = root {
            reader.check_names("", &[], root, "");
        }
        reader
    }

    pub(super) fn into_notes(self) -> Notes {
        self.notes.into_inner()
    }

    pub(super) fn env(&self, name: &str) -> Option<String> {
        (self.env)(name)
    }

    /// A table of which there is one; all defaults when the document does not have it.
    pub(super) fn table(&self, name: &'static str) -> Section<'_> {
        self.one(self.root, name, name.to_owned())
    }

    /// Tables of which there may be many; none when the document has none.
    pub(super) fn tables(&self, name: &'static str) -> Vec<Section<'_>> {
        self.many(self.root, name, name)
    }

    /// A section with defaults only.
    pub(super) fn defaults(&self, name: &'static str, path: &str) -> Section<'_> {
        Section {
            reader: self,
            spec: spec(name),
            path: path.to_owned(),
            table: None,
        }
    }

    /// Notes a mistake about a key or a section, at the line of the nearest thing that is written. A key that could not be
    /// read has its mistake already: what follows from the default in its place is nobody's fault.
    pub(super) fn mistake(&self, key: &str, wrong: impl Into<String>, right: impl Into<String>) {
        if self.notes.borrow().failed.contains(key) {
            return;
        }
        let mistake = self.note(key, wrong.into(), right.into());
        self.notes.borrow_mut().mistakes.push(mistake);
    }

    pub(super) fn warning(&self, key: &str, wrong: impl Into<String>, right: impl Into<String>) {
        if self.notes.borrow().failed.contains(key) {
            return;
        }
        let warning = self.note(key, wrong.into(), right.into());
        self.notes.borrow_mut().warnings.push(warning);
    }

    pub(super) fn has_mistake(&self, key: &str) -> bool {
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

    fn mistake_at(&self, span: &Range<usize>, key: String, wrong: String, right: String) {
        let origin = Origin::Line(line(self.text, span.start));
        self.notes.borrow_mut().mistakes.push(Mistake {
            origin,
            key,
            wrong,
            right,
        });
    }

    fn one<'s>(&'s self, parent: Option<&'s DeTable<'s>>, name: &'static str, path: String) -> Section<'s> {
        let mut section = Section {
            reader: self,
            spec: spec(name),
            path,
            table: None,
        };
        let Some(node) = parent.and_then(|table| table.get(last(name))) else {
            return section;
        };
        match node.get_ref() {
            DeValue::Table(table) => section.open(table, &node.span()),
            _ => self.mistake_at(
                &node.span(),
                section.path.clone(),
                "this is a table".into(),
                format!("[{name}]"),
            ),
        }
        section
    }

    fn many<'s>(&'s self, parent: Option<&'s DeTable<'s>>, name: &'static str, path: &str) -> Vec<Section<'s>> {
        let Some(node) = parent.and_then(|table| table.get(last(name))) else {
            return Vec::new();
        };
        let list = match node.get_ref() {
            DeValue::Array(list) if list.iter().all(|item| item.get_ref().is_table()) => list,
            _ => {
                let right = format!("[[{name}]] in two pairs of brackets, once for each");
                self.mistake_at(
                    &node.span(),
                    path.to_owned(),
                    "there may be many of these".into(),
                    right,
                );
                return Vec::new();
            }
        };
        let mut sections = Vec::with_capacity(list.len());
        for (at, item) in list.iter().enumerate() {
            let mut section = Section {
                reader: self,
                spec: spec(name),
                path: format!("{path}[{at}]"),
                table: None,
            };
            if let DeValue::Table(table) = item.get_ref() {
                section.open(table, &item.span());
            }
            sections.push(section);
        }
        sections
    }

    /// Notes every name in `table` that is neither a key nor a table below `name`.
    fn check_names(&self, name: &str, keys: &[Key], table: &DeTable<'_>, path: &str) {
        for written in table.keys() {
            let text: &str = written.get_ref();
            let known = keys.iter().any(|key| key.name == text) || Table::below(name).any(|below| below == text);
            if !known {
                let right = suggest::name(text, name, keys);
                let kind = if name.is_empty() { "table" } else { "key" };
                self.mistake_at(
                    &written.span(),
                    join(path, text),
                    format!("there is no such {kind}"),
                    right,
                );
            }
        }
    }
}

/// One table of the document, or of the defaults.
pub(super) struct Section<'s> {
    reader: &'s Reader<'s>,
    spec: &'static Table,
    path: String,
    table: Option<&'s DeTable<'s>>,
}

impl<'s> Section<'s> {
    /// Its place in the document, such as `room[0]`.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn reader(&self) -> &'s Reader<'s> {
        self.reader
    }

    pub(super) fn mistake(&self, name: &str, wrong: impl Into<String>, right: impl Into<String>) {
        self.reader.mistake(&join(&self.path, name), wrong, right);
    }

    pub(super) fn warning(&self, name: &str, wrong: impl Into<String>, right: impl Into<String>) {
        self.reader.warning(&join(&self.path, name), wrong, right);
    }

    pub(super) fn table(&self, name: &'static str) -> Section<'s> {
        self.reader.one(self.table, name, join(&self.path, last(name)))
    }

    pub(super) fn tables(&self, name: &'static str) -> Vec<Section<'s>> {
        self.reader.many(self.table, name, &join(&self.path, last(name)))
    }

    /// The value of a key that has a default; a mistaken one is noted and the default taken.
    pub(super) fn need<T>(&self, name: &'static str, read: impl Fn(&Node<'_>) -> Read<T>) -> T {
        self.get(name, read)
            .expect("a key read with `need` has a default in the table of keys")
    }

    /// The value of a key; `None` when it is not set and has no default, or is mistaken.
    pub(super) fn get<T>(&self, name: &'static str, read: impl Fn(&Node<'_>) -> Read<T>) -> Option<T> {
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
        match read(node) {
            Ok(value) => {
                self.in_force(name, node, origin);
                Some(value)
            }
            Err(list) => {
                self.refuse(&path, &origin, list);
                self.reader.notes.borrow_mut().failed.insert(path);
                preset_node(key).and_then(|node| read(&node).ok())
            }
        }
    }

    /// The items of a list; mistaken ones are noted and left out.
    pub(super) fn list<T>(&self, name: &'static str, read: impl Fn(&Node<'_>) -> Read<T>) -> Vec<T> {
        let mistakes = RefCell::new(Vec::new());
        let keep = |item: &Node<'_>| {
            let value = read(item).map_err(|more| mistakes.borrow_mut().extend(more));
            Ok(value.ok())
        };
        let values = self.get(name, |node| value::list(node, keep)).unwrap_or_default();
        let path = join(&self.path, name);
        let origin = nearest(&self.reader.notes.borrow().origins, &path);
        self.refuse(&path, &origin, mistakes.into_inner());
        values.into_iter().flatten().collect()
    }

    /// True when the file or an option sets the key.
    pub(super) fn is_set(&self, name: &'static str) -> bool {
        self.find(&join(&self.path, name), name).is_some()
    }

    /// True when the key is not set, or to its default as in the shipped file.
    pub(super) fn is_default(&self, name: &'static str) -> bool {
        let written = |node: &Node<'_>| render::value(name, node.get_ref());
        let preset = || self.spec.key(name).and_then(preset_node).map(|node| written(&node));
        self.find(&join(&self.path, name), name)
            .is_none_or(|(_, node)| Some(written(node)) == preset())
    }

    /// True when something is wrong with the key already.
    pub(super) fn has_mistake(&self, name: &str) -> bool {
        self.reader.has_mistake(&join(&self.path, name))
    }

    fn open(&mut self, table: &'s DeTable<'s>, span: &Range<usize>) {
        let origin = Origin::Line(line(self.reader.text, span.start));
        self.reader.notes.borrow_mut().origins.insert(self.path.clone(), origin);
        self.reader
            .check_names(self.spec.name, self.spec.keys, table, &self.path);
        self.table = Some(table);
    }

    fn find(&self, path: &str, name: &str) -> Option<(Origin, &Node<'_>)> {
        if let Some(over) = self.reader.overrides.iter().find(|over| over.key == path) {
            return Some((Origin::Option(over.option), &over.node));
        }
        let node = self.table?.get(name)?;
        Some((Origin::Line(line(self.reader.text, node.span().start)), node))
    }

    fn preset<T>(&self, key: &'static Key, path: &str, read: impl Fn(&Node<'_>) -> Read<T>) -> Option<T> {
        if key.preset == Preset::Required {
            self.reader.mistake(path, "this must be set", key.form);
            return None;
        }
        let node = preset_node(key)?;
        self.in_force(key.name, &node, Origin::Defaults);
        read(&node).ok()
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

    /// What is in force of a key in place of its default, as TOML.
    pub(super) fn put_in_force(&self, name: &'static str, value: String) {
        let mut notes = self.reader.notes.borrow_mut();
        let here = |set: &&mut InForce| set.section == self.path && set.name == name;
        if let Some(set) = notes.in_force.iter_mut().find(here) {
            set.value = value;
        }
    }

    fn refuse(&self, path: &str, origin: &Origin, list: Vec<Wrong>) {
        for wrong in list {
            let origin = match origin {
                Origin::Line(_) => Origin::Line(line(self.reader.text, wrong.span.start)),
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

fn preset_node(key: &Key) -> Option<Node<'static>> {
    let Preset::Value(text) = key.preset else { return None };
    Some(DeValue::parse(text).expect("the defaults in the table of keys are TOML"))
}

fn spec(name: &str) -> &'static Table {
    Table::named(name).expect("every table that is read is in the table of keys")
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn last(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

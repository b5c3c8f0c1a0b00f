//! The modules of a crate, as its root file names them. Modules and items for tests are left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::{Attribute, Item, Meta, UseTree, Visibility};

use crate::{Error, read};

/// A crate: its files, and the modules in them.
pub struct Tree {
    /// As `use` names it.
    pub name: String,
    pub files: Vec<File>,
    /// The first is the root.
    pub modules: Vec<Module>,
}

/// One source file. A file of tests is none of them.
pub struct File {
    pub path: PathBuf,
    pub text: String,
    pub syntax: syn::File,
    /// The module that it is.
    pub module: usize,
}

/// A module, in a file of its own or inside another's.
pub struct Module {
    pub file: usize,
    pub parent: Option<usize>,
    /// Its names. A name may have several meanings: a module and a function, for example.
    pub names: BTreeMap<String, Vec<Name>>,
    /// Paths of `use path::*`.
    pub globs: Vec<Vec<String>>,
}

/// The meaning of a name in a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// Something that the module defines.
    Defined,
    Module(usize),
    /// The item at this path, seen from the module.
    Imported(Vec<String>),
}

impl Tree {
    /// Reads the crate of a root file, such as `src/lib.rs`.
    ///
    /// # Errors
    /// Where a file is missing, cannot be read, or is no Rust.
    pub fn read(name: &str, root: &Path) -> Result<Self, Error> {
        let mut tree = Self {
            name: name.to_owned(),
            files: Vec::new(),
            modules: Vec::new(),
        };
        let children = root.parent().unwrap_or(Path::new("")).to_owned();
        tree.add_file(root, &children, None)?;
        Ok(tree)
    }

    fn add_file(&mut self, path: &Path, children: &Path, parent: Option<usize>) -> Result<usize, Error> {
        let text = read(path)?;
        let syntax = syn::parse_file(&text).map_err(|error| Error::Syntax(path.to_owned(), error))?;
        let (file, module) = (self.files.len(), self.modules.len());
        let items = syntax.items.clone();
        self.files.push(File {
            path: path.to_owned(),
            text,
            syntax,
            module,
        });
        self.add_module(file, &items, children, parent)
    }

    /// `children`: the folder in which files of modules inside this one lie.
    fn add_module(
        &mut self,
        file: usize,
        items: &[Item],
        children: &Path,
        parent: Option<usize>,
    ) -> Result<usize, Error> {
        let here = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            names: BTreeMap::new(),
            globs: Vec::new(),
        });
        for item in items.iter().filter(|item| !is_for_tests(attributes(item))) {
            match item {
                Item::Mod(module) => {
                    let name = module.ident.to_string();
                    let below = children.join(&name);
                    let child = if let Some((_, items)) = &module.content {
                        self.add_module(file, items, &below, Some(here))?
                    } else {
                        let path = self.file_of(file, module, children)?;
                        self.add_file(&path, &below, Some(here))?
                    };
                    self.name(here, name, Name::Module(child));
                }
                Item::Use(import) => self.add_use(here, &import.tree, &mut Vec::new()),
                other => {
                    if let Some(name) = defined(other) {
                        self.name(here, name, Name::Defined);
                    }
                }
            }
        }
        Ok(here)
    }

    fn file_of(&self, file: usize, module: &syn::ItemMod, children: &Path) -> Result<PathBuf, Error> {
        let name = module.ident.to_string();
        let named_in = &self.files[file].path;
        let said = module.attrs.iter().find_map(said_path);
        let places = match said {
            Some(said) => vec![named_in.parent().unwrap_or(Path::new("")).join(said)],
            None => vec![children.join(format!("{name}.rs")), children.join(&name).join("mod.rs")],
        };
        places
            .into_iter()
            .find(|path| path.is_file())
            .ok_or_else(|| Error::Lost {
                module: name,
                named_in: named_in.clone(),
            })
    }

    fn add_use(&mut self, here: usize, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.add_use(here, &path.tree, before);
                before.pop();
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                // `use path::{self}`
                let (known, path) = if name == "self" {
                    (before.last().cloned().unwrap_or_default(), before.clone())
                } else {
                    (name.clone(), [before.as_slice(), &[name]].concat())
                };
                self.name(here, known, Name::Imported(path));
            }
            UseTree::Rename(renamed) => {
                let path = [before.as_slice(), &[renamed.ident.to_string()]].concat();
                self.name(here, renamed.rename.to_string(), Name::Imported(path));
            }
            UseTree::Glob(_) => self.modules[here].globs.push(before.clone()),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(here, tree, before);
                }
            }
        }
    }

    fn name(&mut self, module: usize, name: String, what: Name) {
        self.modules[module].names.entry(name).or_default().push(what);
    }
}

/// Whether an item is for tests alone: `#[test]`, or under a `cfg` of tests, fuzzing, or the feature `testing`.
#[must_use]
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string().replace(' ', "");
            let any = condition.strip_prefix("any(").and_then(|any| any.strip_suffix(')'));
            let of_tests = ["test", "fuzzing", "feature=\"testing\""];
            any.unwrap_or(&condition).split(',').all(|one| of_tests.contains(&one))
        }
        _ => false,
    })
}

/// A `use` that re-exports names, which others then import from here.
#[must_use]
pub fn is_re_export(import: &syn::ItemUse) -> bool {
    !matches!(import.vis, Visibility::Inherited)
}

/// The first and last line of an item, its attributes included.
#[must_use]
pub fn lines_of(item: &impl Spanned) -> std::ops::RangeInclusive<usize> {
    let span = item.span();
    span.start().line..=span.end().line
}

/// The attributes of an item.
#[must_use]
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// The file of `#[path = "file"] mod x;`.
fn said_path(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(value) = &attribute.meta else {
        return None;
    };
    let syn::Expr::Lit(literal) = &value.value else {
        return None;
    };
    match &literal.lit {
        syn::Lit::Str(text) if value.path.is_ident("path") => Some(text.value()),
        _ => None,
    }
}

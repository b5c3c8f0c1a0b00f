//! Which file uses what another one defines.
//!
//! Each path in a file is followed from its module through `use` and `pub use` to the file that defines its last name. `mod`
//! and `pub use` lines do not count as a use of the names in them, and neither does naming a module: only an item of it
//! counts. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Item, ItemMod, ItemUse, UseTree};

use crate::loops::Arrows;
use crate::tree::{Name, Tree, attributes, is_for_tests, is_re_export};

/// For each file of the crate those that it uses something of, by their numbers.
#[must_use]
pub fn of(tree: &Tree) -> Arrows {
    let mut arrows = Arrows::new();
    for (number, file) in tree.files.iter().enumerate() {
        let walk = Walk::through(tree, file.module, &file.syntax);
        let used = walk.used.into_iter().filter(|used| *used != number);
        arrows.entry(number).or_default().extend(used);
    }
    arrows
}

/// For each file of the crate those other crates that it uses something of, by the names that their packages have in code, if they
/// begin so.
#[must_use]
pub fn of_crates(tree: &Tree, begin: &str) -> BTreeMap<usize, BTreeSet<String>> {
    let mut crates = BTreeMap::new();
    for (number, file) in tree.files.iter().enumerate() {
        let walk = Walk::through(tree, file.module, &file.syntax);
        let used: BTreeSet<String> = walk
            .outside
            .into_iter()
            .filter(|name| name.starts_with(begin))
            .collect();
        crates.insert(number, used);
    }
    crates
}

/// The target of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Module(usize),
    /// Something that this file defines.
    File(usize),
}

/// Imports of imports that are followed: more are a circle.
const MOST_STEPS: usize = 32;

/// The target of a path in `module`; none if it is outside the crate.
fn resolve(tree: &Tree, module: usize, path: &[String], steps: usize) -> Option<Place> {
    let (first, mut rest) = path.split_first()?;
    if steps == 0 {
        return None;
    }
    let mut place = match first.as_str() {
        "crate" => Place::Module(0),
        "self" => Place::Module(module),
        "super" => Place::Module(tree.modules[module].parent?),
        name if name == tree.name => Place::Module(0),
        name => look_up(tree, module, name, rest.is_empty(), steps)?,
    };
    while let (Place::Module(module), Some((next, others))) = (place, rest.split_first()) {
        place = if next == "super" {
            Place::Module(tree.modules[module].parent?)
        } else {
            look_up(tree, module, next, others.is_empty(), steps)?
        };
        rest = others;
    }
    Some(place)
}

/// The target of `name` in a module; at the end of a path preferably a definition, not a module.
fn look_up(tree: &Tree, module: usize, name: &str, is_last: bool, steps: usize) -> Option<Place> {
    let here = &tree.modules[module];
    let named = here.names.get(name).map_or(&[][..], Vec::as_slice);
    let places = named.iter().filter_map(|what| match what {
        Name::Defined => Some(Place::File(here.file)),
        Name::Module(child) => Some(Place::Module(*child)),
        // `use name;` names another crate.
        Name::Imported(path) if path.len() == 1 && path[0] == name => None,
        Name::Imported(path) => resolve(tree, module, path, steps - 1),
    });
    let mut places: Vec<Place> = places.collect();
    if places.is_empty() {
        let through = here.globs.iter().filter_map(|glob| {
            let Place::Module(other) = resolve(tree, module, glob, steps - 1)? else {
                return None;
            };
            (other != module).then(|| look_up(tree, other, name, is_last, steps - 1))?
        });
        places.extend(through.take(1));
    }
    let is_wanted = |place: &Place| matches!(place, Place::File(_)) == is_last;
    places.iter().find(|place| is_wanted(place)).or(places.first()).copied()
}

struct Walk<'t> {
    tree: &'t Tree,
    module: usize,
    used: Vec<usize>,
    /// First names of paths that lead out of the crate, also those that its root imports under another name.
    outside: Vec<String>,
}

impl<'t> Walk<'t> {
    fn through(tree: &'t Tree, module: usize, file: &syn::File) -> Self {
        let mut walk = Self {
            tree,
            module,
            used: Vec::new(),
            outside: Vec::new(),
        };
        walk.visit_file(file);
        walk
    }

    fn path(&mut self, path: &[String]) {
        match resolve(self.tree, self.module, path, MOST_STEPS) {
            Some(Place::File(file)) => self.used.push(file),
            Some(Place::Module(_)) => {}
            None => self.outside.extend(self.first_outside(path)),
        }
    }

    fn first_outside(&self, path: &[String]) -> Option<String> {
        let [first, rest @ ..] = path else { return None };
        if first != "crate" {
            return Some(first.clone());
        }
        let of_root = self.tree.modules[0].names.get(rest.first()?)?;
        of_root.iter().find_map(|name| match name {
            Name::Imported(path) => path.first().cloned(),
            _ => None,
        })
    }

    fn imports(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.imports(&path.tree, before);
                before.pop();
            }
            UseTree::Name(name) => self.path(&[before.as_slice(), &[name.ident.to_string()]].concat()),
            UseTree::Rename(renamed) => self.path(&[before.as_slice(), &[renamed.ident.to_string()]].concat()),
            // The names that are used of it are found where they are used.
            UseTree::Glob(_) => {}
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.imports(tree, before);
                }
            }
        }
    }

    /// Paths in a macro's arguments: names with `::` between them.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end(&mut path);
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end(&mut path);
                    self.tokens(group.stream());
                    colons = 0;
                }
                _ => {
                    self.end(&mut path);
                    colons = 0;
                }
            }
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.path(path);
            path.clear();
        }
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            syn::visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let Some((_, items)) = &item.content else {
            return;
        };
        let names = self.tree.modules[self.module].names.get(&item.ident.to_string());
        let child = names.into_iter().flatten().find_map(|name| match name {
            Name::Module(child) => Some(*child),
            _ => None,
        });
        let outside = self.module;
        self.module = child.unwrap_or(outside);
        for item in items {
            self.visit_item(item);
        }
        self.module = outside;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_re_export(item) {
            self.imports(&item.tree, &mut Vec::new());
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.path(&names);
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The files of a crate that use something of others, with those others, by name.
    fn uses(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let tree = Tree::read("shop", &folder.path().join("lib.rs")).expect("a crate");
        let name = |number: usize| {
            let path = tree.files[number]
                .path
                .strip_prefix(folder.path())
                .expect("below the folder");
            path.display().to_string()
        };
        let arrows = of(&tree);
        let pairs = arrows.iter().flat_map(|(from, to)| to.iter().map(|to| (*from, *to)));
        pairs.map(|(from, to)| format!("{} {}", name(from), name(to))).collect()
    }

    #[test]
    fn a_name_is_followed_through_re_exports_to_its_file() {
        let found = uses(&[
            ("lib.rs", "pub mod a; pub mod b;"),
            (
                "a/mod.rs",
                "mod inner; pub use inner::Thing as Other; pub(crate) use self::inner::*;",
            ),
            ("a/inner.rs", "pub struct Thing; pub struct More;"),
            ("b.rs", "use crate::a::Other; fn f(more: crate::a::More) {}"),
        ]);
        assert_eq!(found, ["b.rs a/inner.rs"]);
    }

    #[test]
    fn qualified_paths_count_and_modules_that_are_named_do_not() {
        let found = uses(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "pub fn f() {} pub enum E { One }"),
            ("b.rs", "use super::a; use crate::c::f; fn g() { f() }"),
            (
                "c.rs",
                "use crate::a; pub fn f() { a::f(); } fn g() { assert!(matches!(x, crate::a::E::One)); }",
            ),
        ]);
        assert_eq!(found, ["b.rs c.rs", "c.rs a.rs"]);
    }

    #[test]
    fn tests_other_crates_and_modules_inside_a_file_are_no_uses() {
        let found = uses(&[
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "pub struct A; pub mod inside { pub struct B; fn f() -> super::A { super::A } }",
            ),
            (
                "b.rs",
                "use std::fmt; use serde; use a_crate::A; #[cfg(test)] mod tests { use crate::a::A; } fn f(b: crate::a::inside::B) {}",
            ),
        ]);
        assert_eq!(found, ["b.rs a.rs"]);
    }
}

//! Types whose methods are in many files.

use std::collections::{BTreeMap, BTreeSet};

use syn::Item;

use crate::tree::{Tree, attributes, is_for_tests};

/// The types of a crate with methods of their own (`impl Type`, not `impl Trait for Type`) in more files than `most`, and in how many.
#[must_use]
pub fn of(tree: &Tree, most: usize) -> BTreeMap<String, usize> {
    let mut files: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (number, file) in tree.files.iter().enumerate() {
        add(&file.syntax.items, number, &mut files);
    }
    let counted = files.into_iter().map(|(name, files)| (name, files.len()));
    counted.filter(|(_, files)| *files > most).collect()
}

fn add(items: &[Item], file: usize, files: &mut BTreeMap<String, BTreeSet<usize>>) {
    for item in items.iter().filter(|item| !is_for_tests(attributes(item))) {
        match item {
            Item::Impl(item) if item.trait_.is_none() => {
                if let syn::Type::Path(of) = &*item.self_ty
                    && let Some(last) = of.path.segments.last()
                {
                    files.entry(last.ident.to_string()).or_default().insert(file);
                }
            }
            Item::Mod(module) => {
                let inside = module.content.as_ref().map_or(&[][..], |(_, items)| items);
                add(inside, file, files);
            }
            _ => {}
        }
    }
}

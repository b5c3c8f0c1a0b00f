//! Rooms that are in no file: operators added them while the gates run, each as the one `[[room]]` table that it would be in
//! a file. They are read with the file and checked with its rooms.

use std::path::{Component, Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::mistake::{Mistake, Origin};
use super::node::{Node, Read, Wrong};
use crate::room::{MAX_ROOM_TEXT, RoomName};

/// One of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddedRoom {
    pub name: RoomName,
    /// The table, as it was written.
    pub text: String,
}

/// A table that is read with the file.
pub(in crate::config) struct AddedTable<'t> {
    pub(in crate::config) name: &'t str,
    pub(in crate::config) text: &'t str,
    pub(in crate::config) root: DeTable<'t>,
}

impl AddedRoom {
    /// A text that holds exactly one `[[room]]` with a name, also with mistakes elsewhere.
    ///
    /// # Errors
    /// The mistakes if it is not such a table, with lines.
    pub fn new(text: &str) -> Result<Self, Vec<Mistake>> {
        if text.len() > MAX_ROOM_TEXT {
            let wrong = format!("the text has {} bytes", text.len());
            return Err(vec![mistake(wrong, &format!("at most {MAX_ROOM_TEXT}"))]);
        }
        let (root, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            return Err(errors.iter().map(|error| Mistake::of_syntax(text, error)).collect());
        }
        let Some(table) = only_room(root.get_ref()) else {
            return Err(vec![mistake("this is not one room", ONE)]);
        };
        let name = table.get("name").and_then(|node| node.get_ref().as_str());
        let Some(name) = name.and_then(RoomName::new) else {
            let right = "name = \"…\" with 1 to 32 of a-z, 0-9 and \"-\"";
            return Err(vec![mistake(
                "the room has no name, or none that a room may have",
                right,
            )]);
        };
        Ok(Self {
            name,
            text: text.to_owned(),
        })
    }

    /// The same from JSON: the room's keys in one object, tables as objects in it.
    ///
    /// # Errors
    /// As from the equivalent text.
    pub fn from_json(room: &serde_json::Map<String, serde_json::Value>) -> Result<Self, Vec<Mistake>> {
        let whole = serde_json::json!({"room": [room]});
        match toml::to_string(&whole) {
            Ok(text) => Self::new(&text),
            Err(error) => Err(vec![mistake(
                format!("this cannot be in a configuration: {error}"),
                ONE,
            )]),
        }
    }
}

impl<'t> AddedTable<'t> {
    pub(in crate::config) fn parse(room: &'t AddedRoom) -> Option<Self> {
        let root = DeTable::parse(&room.text).ok()?.into_inner();
        only_room(&root)?;
        Some(Self {
            name: room.name.as_str(),
            text: &room.text,
            root,
        })
    }

    /// The room's table and where it begins.
    pub(in crate::config) fn room(&self) -> Option<(&DeTable<'t>, usize)> {
        let node = self.root.get("room")?.get_ref().get(0)?;
        Some((node.get_ref().as_table()?, node.span().start))
    }
}

fn only_room<'r, 't>(root: &'r DeTable<'t>) -> Option<&'r DeTable<'t>> {
    let (1, Some(DeValue::Array(rooms))) = (root.len(), root.get("room").map(toml::Spanned::get_ref)) else {
        return None;
    };
    let only = rooms.first().filter(|_| rooms.len() == 1)?;
    only.get_ref().as_table()
}

fn mistake(wrong: impl Into<String>, right: &str) -> Mistake {
    Mistake {
        origin: Origin::Defaults,
        key: String::new(),
        wrong: wrong.into(),
        right: right.to_owned(),
    }
}

/// The file that a room which was added names. SECURITY: an operator who may add rooms must not choose among all files of the
/// gate: only those of one folder can be named, if there is one.
pub(in crate::config) fn file_of(node: &Node<'_>, name: &str, folder: Option<&str>) -> Read<PathBuf> {
    let refuse = |what: String, right: &str| {
        let span = node.span();
        let right = right.to_owned();
        Err(vec![Wrong { span, what, right }])
    };
    let Some(folder) = folder else {
        let right = "no file here; or server.room_files in the gate's file with the folder of such files";
        return refuse(
            format!("{name:?} is a file, and rooms added at run time may name none"),
            right,
        );
    };
    let path = Path::new(name);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if !plain || name.is_empty() {
        return refuse(
            format!("{name:?} is no file in {folder}"),
            "a path below that folder, without \"..\"",
        );
    }
    Ok(Path::new(folder).join(path))
}

const ONE: &str = "exactly one [[room]] table with its name, and nothing else";

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let mistakes = AddedRoom::new(text).unwrap_err();
        mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn one_room_and_nothing_else_is_taken() {
        let text = "# ours\n[[room]]\nname = \"vip\"\n[room.page]\nrefresh = false\n";
        assert_eq!(AddedRoom::new(text).unwrap().name.as_str(), "vip");
        assert!(AddedRoom::new("room = [{ name = \"vip\" }]").is_ok());
        for text in [
            "",
            "name = \"vip\"",
            "[[room]]\nname = \"a\"\n[[room]]\nname = \"b\"\n",
            "[[room]]\nname = \"a\"\n[server]\nh2c = true\n",
            "[room]\nname = \"a\"\n",
        ] {
            assert!(refused(text).contains("exactly one [[room]]"), "{text}");
        }
        for text in ["[[room]]\n", "[[room]]\nname = 3\n", "[[room]]\nname = \"A b\"\n"] {
            assert!(refused(text).contains("no name"), "{text}");
        }
        assert!(refused("[[room]]\nname = \n").starts_with("line 2: this is no TOML"));
        assert!(refused(&"#".repeat(MAX_ROOM_TEXT + 1)).contains("at most 16384"));
    }

    #[test]
    fn json_is_the_same_room() {
        let json = serde_json::json!({"name": "vip", "routes": ["/vip/*"], "page": {"refresh": false}});
        let room = AddedRoom::from_json(json.as_object().unwrap()).unwrap();
        assert_eq!(room, AddedRoom::new(&room.text).unwrap());
        assert!(room.text.starts_with("[[room]]\n"), "{}", room.text);
        let odd = serde_json::json!({"name": "vip", "message": null});
        assert!(AddedRoom::from_json(odd.as_object().unwrap()).is_err());
    }

    #[test]
    fn files_are_those_of_the_folder() {
        let node = Node::new(3..9, DeValue::Boolean(true));
        let of = |name: &str, folder| file_of(&node, name, folder).ok();
        assert_eq!(of("page.html", Some("/srv")), Some(PathBuf::from("/srv/page.html")));
        assert_eq!(of("a/page.html", Some("/srv")), Some(PathBuf::from("/srv/a/page.html")));
        for name in ["", "/etc/passwd", "../key", "a/../../key", "./page.html"] {
            assert_eq!(of(name, Some("/srv")), None, "{name}");
        }
        assert_eq!(of("page.html", None), None);
    }
}

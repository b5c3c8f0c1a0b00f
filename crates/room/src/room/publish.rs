//! The published views of a room: the last view of each line, and the room's own until something changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::view::RoomView;
use crate::view::line_view::LineView;
use crate::view::lines::Lines;
use ropeline_ids::LineName;

#[derive(Debug, Default)]
pub(super) struct Published {
    /// The lines as last published, and those that have changed since.
    lines: Lines,
    stale: BTreeSet<LineName>,
    room: Option<Arc<RoomView>>,
}

impl Published {
    pub fn room(&self) -> Option<&Arc<RoomView>> {
        self.room.as_ref()
    }

    /// Something of the room has changed.
    pub fn touch(&mut self) {
        self.room = None;
    }

    /// A line has changed, or is gone.
    pub fn touch_line(&mut self, name: LineName) {
        self.stale.insert(name);
        self.room = None;
    }

    pub fn touch_lines<'a>(&mut self, names: impl Iterator<Item = &'a LineName>) {
        self.stale.extend(names.cloned());
        self.room = None;
    }

    /// All lines, those that have changed made anew; `None` for one that is gone.
    pub fn lines(&mut self, view: impl Fn(&LineName) -> Option<LineView>) -> Lines {
        for name in std::mem::take(&mut self.stale) {
            match view(&name) {
                Some(view) => self.lines.put(&name, Arc::new(view)),
                None => self.lines.remove(&name),
            }
        }
        self.lines.clone()
    }

    pub fn keep(&mut self, room: RoomView) -> Arc<RoomView> {
        Arc::clone(self.room.insert(Arc::new(room)))
    }
}

//! A world while it is not looked at: the state as its bytes, and the rest as it is.

use std::sync::Arc;

use ropeline_room::{Number, State};

use crate::world::{Broken, Cut, Faults, Person, Size, World};

/// Everything of a world but the state, which is kept as its bytes.
#[derive(Clone)]
pub struct Frozen {
    bytes: Arc<[u8]>,
    wall: u64,
    people: Vec<Person>,
    left: Faults,
    cut: Option<Cut>,
    lost: bool,
    stale: Option<Arc<[u8]>>,
    ids: u8,
    lives: u64,
    queue: Vec<Number>,
    revision: u64,
    serial: u64,
    hello: [bool; 2],
}

impl Frozen {
    /// About how much memory it takes. What is shared with others counts each time.
    pub fn memory(&self) -> usize {
        let stale = self.stale.as_ref().map_or(0, |bytes| bytes.len());
        self.bytes.len() + stale + self.people.len() * size_of::<Person>() + size_of::<Self>() + 64
    }
}

impl World {
    pub fn freeze(&self) -> Frozen {
        Frozen {
            bytes: self.state.encode().into(),
            wall: self.wall,
            people: self.people.clone(),
            left: self.left,
            cut: self.cut.clone(),
            lost: self.lost,
            stale: self.stale.clone(),
            ids: self.ids,
            lives: self.lives,
            queue: self.queue.clone(),
            revision: self.revision,
            serial: self.serial,
            hello: self.hello,
        }
    }

    pub fn thaw(frozen: &Frozen, size: Size, broken: Broken) -> Self {
        Self {
            size,
            broken,
            state: State::decode(&frozen.bytes).unwrap(),
            wall: frozen.wall,
            people: frozen.people.clone(),
            left: frozen.left,
            cut: frozen.cut.clone(),
            lost: frozen.lost,
            stale: frozen.stale.clone(),
            ids: frozen.ids,
            lives: frozen.lives,
            queue: frozen.queue.clone(),
            revision: frozen.revision,
            serial: frozen.serial,
            hello: frozen.hello,
        }
    }
}

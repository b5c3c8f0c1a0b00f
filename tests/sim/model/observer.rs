//! How the simulation looks into the gates: every entry that any of them applies passes here.
//!
//! [`apply`] has no closure, so its state is in a thread-local; a run stays on its thread. It is also where machines are made
//! to fail: a poisoned entry panics on every gate, and a faulty gate applies one wrongly.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ropeline::room::{Effects, Encoded, Entry, GateId, Position, State, View, Wall};

use super::ledger::{Ledger, Rooms};
use crate::accounts;
use crate::added::RoomBook;
use crate::code_book::{self, CodeBook};

/// The observations, and the faults to inject.
#[derive(Default)]
pub struct Watch {
    pub ledger: Ledger,
    pub codes: CodeBook,
    pub added: RoomBook,
    /// The latest view of any gate.
    pub last: Option<Arc<View>>,
    /// The machine versions that any gate's rooms ran.
    pub versions: BTreeSet<u16>,
    /// The gate whose state is being changed.
    pub acting: GateId,
    /// Where the root stood that each gate fetched last.
    pub roots: BTreeMap<GateId, Position>,
    /// Applying this entry panics.
    pub poison: BTreeSet<Position>,
    /// Gates that apply their next entry wrongly, and those whose state is wrong since.
    pub to_twist: BTreeSet<GateId>,
    pub twisted: BTreeSet<GateId>,
    /// Gates that load other rooms in place of their wrong ones. If the log is lost before they have read it to its end, they give it a root
    /// with the wrong ones.
    pub set_aside: BTreeSet<GateId>,
    /// A gate with wrong rooms has saved them. It may do so while no other gate has a vote, such as while the only other one is paused.
    pub wrong_is_saved: bool,
}

impl Watch {
    /// The acting gate loads a snapshot or a root. That may hold wrong rooms, and no later rooms can be judged then.
    pub fn takes_rooms_from_store(&mut self) {
        if self.twisted.remove(&self.acting) {
            self.set_aside.insert(self.acting);
        }
        self.ledger.blind |= self.wrong_is_saved;
    }
}

thread_local! {
    static WATCH: RefCell<Watch> = RefCell::default();
}

/// A run begins.
pub fn reset() {
    WATCH.set(Watch::default());
}

pub fn with<T>(look: impl FnOnce(&mut Watch) -> T) -> T {
    WATCH.with_borrow_mut(look)
}

enum How {
    Right,
    Wrong,
    NotAtAll,
}

/// [`State::apply`], watched.
pub fn apply(state: &mut State, entry: &Encoded) -> Effects {
    let how = with(|watch| match () {
        () if watch.poison.contains(&entry.position) => How::NotAtAll,
        () if watch.to_twist.remove(&watch.acting) => {
            watch.twisted.insert(watch.acting);
            watch.ledger.rooms = Rooms::AreWrong;
            How::Wrong
        }
        () if watch.twisted.contains(&watch.acting) => How::Wrong,
        () => How::Right,
    });
    match how {
        // As a panic, without its words on the terminal.
        How::NotAtAll => std::panic::resume_unwind(Box::new("an entry that the machine cannot apply")),
        How::Wrong => wrongly(state, entry),
        How::Right => {
            let before = state.view();
            let effects = state.apply(entry);
            with(|watch| {
                watch.last = Some(state.view());
                watch.versions.insert(state.version());
                accounts::look(watch, &entry.position);
                if !watch.ledger.blind {
                    code_book::look(watch, entry, &effects);
                }
                if watch.twisted.is_empty() && watch.ledger.rooms == Rooms::AreWrong {
                    watch.ledger.rooms = Rooms::WereWrong;
                }
                let root = watch.roots.get(&watch.acting).copied();
                // Entries that only wrong gates have read are in no book: from then on the right rooms are unknown.
                let knows = watch.twisted.is_empty() && !watch.ledger.blind;
                if let Some(view) = watch.last.clone().filter(|_| watch.added.on && knows) {
                    let faults = watch.added.look(entry, &effects, &view, root);
                    watch.ledger.faults.extend(faults);
                }
                watch
                    .ledger
                    .applied(watch.acting, &before, state, entry, &effects, root);
            });
            effects
        }
    }
}

/// One bit of the entry has flipped on its way into the state.
fn wrongly(state: &mut State, entry: &Entry) -> Effects {
    let mut twisted = entry.clone();
    twisted.time = Wall(entry.time.0 ^ 1);
    state.apply(&twisted.into())
}

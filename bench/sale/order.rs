//! The order in which accounts joined, by the log alone: its archive is read, and run through the rooms once more.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use ropeline::archive::{History, Link, Step, Stored};
use ropeline::room::{Number, State, Tag};

/// The content of the log.
#[derive(Debug, Default)]
pub struct Order {
    /// Each account once, where it joined first.
    pub accounts: Vec<Tag>,
    /// The account of each number.
    pub numbers: HashMap<Number, Tag>,
    pub entries: u64,
    /// The logs, and what each goes on from.
    pub logs: Vec<&'static str>,
    pub faults: Vec<String>,
}

struct Walk {
    order: Order,
    seen: HashSet<Tag>,
    state: Option<State>,
}

/// Reads a folder of an archive whose gates have stopped.
pub fn read(folder: &Path) -> io::Result<Order> {
    let history = History::open(&[folder.to_owned()])?;
    let mut walk = Walk {
        order: Order::default(),
        seen: HashSet::new(),
        state: None,
    };
    history.walk(&mut |step| walk.step(step));
    Ok(walk.order)
}

impl Walk {
    fn step(&mut self, step: Step<'_>) {
        match step {
            Step::Begins { link, .. } => {
                self.state = None;
                self.order.logs.push(match link {
                    Link::First => "first",
                    Link::Whole => "whole",
                    Link::Lost { .. } => "without its end",
                    Link::Nothing => "nothing",
                    Link::Elsewhere => "elsewhere",
                });
            }
            Step::Base { state, .. } if self.state.is_none() => match State::decode(state) {
                Ok(state) => self.state = Some(state),
                Err(error) => self.order.faults.push(error.to_string()),
            },
            Step::File { .. } | Step::Base { .. } => {}
            Step::Entry { stored, .. } => self.entry(stored),
            Step::Fault(fault) => self.order.faults.push(fault.to_string()),
        }
    }

    fn entry(&mut self, Stored { entry, .. }: &Stored) {
        self.order.entries += 1;
        let Some(state) = &mut self.state else {
            return self.order.faults.push(format!("no state before {}", entry.position));
        };
        let effects = state.apply(entry);
        if effects.ignored {
            return;
        }
        let tagged = entry.batch.sections.iter().flat_map(|section| &section.tagged);
        for (tagged, joined) in tagged.zip(&effects.tagged_joined) {
            let (Some(tag), Some(number)) = (tagged.tags.first(), joined.first) else {
                continue;
            };
            if self.seen.insert(*tag) {
                self.order.accounts.push(*tag);
            }
            self.order.numbers.insert(number, *tag);
        }
    }
}

//! Calls that find their server: connect when there is no connection, and choose the next step after a fault.

use redis::{Cmd, Value};

use super::check::{self, Checked};
use super::fault::Fault;
use super::keys::Keys;
use super::link::Link;
use super::route::Route;
use super::script::{By, Scripts};

pub(super) struct Wire {
    pub route: Route,
    pub scripts: Scripts,
    pub keys: Keys,
    link: Option<Link>,
    looks: Looks,
    /// The store's properties; checked once, on the first connection.
    checked: Option<Checked>,
    connections: u64,
}

/// Whether the store is looked at before it is trusted with the log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    /// When there is first a connection.
    First,
    /// A reader does not check the store.
    Never,
}

impl Wire {
    pub fn new(route: Route, keys: Keys, looks: Looks) -> Self {
        Self {
            route,
            scripts: Scripts::new(),
            keys,
            link: None,
            looks,
            checked: None,
            connections: 0,
        }
    }

    /// How many were made.
    pub fn connections(&self) -> u64 {
        self.connections
    }

    /// The findings at the first connection; `None` until there was one.
    pub fn checked(&self) -> Option<&Checked> {
        self.checked.as_ref()
    }

    /// Connects, if need be, and has a look at the store, if none was had.
    pub fn connect(&mut self) -> Result<(), Fault> {
        let link = self.take()?;
        self.link = Some(link);
        Ok(())
    }

    /// Sends the commands in one round trip; all are answered, or it is a fault. They may have been carried out all the
    /// same, once or, where the server had to get a script in full, twice.
    pub fn call(&mut self, commands: impl Fn(&Scripts, &Keys, By) -> Vec<Cmd>) -> Result<Vec<Value>, Fault> {
        let mut link = self.take()?;
        let mut answer = link.ask(&commands(&self.scripts, &self.keys, By::Hash));
        if answer == Err(Fault::NoScript) {
            answer = link.ask(&commands(&self.scripts, &self.keys, By::Code));
        }
        match &answer {
            Err(fault) if fault.parts() => self.route.learn(fault),
            _ => self.link = Some(link),
        }
        answer
    }

    /// The connection, for a call that gives it back when all went well.
    fn take(&mut self) -> Result<Link, Fault> {
        if let Some(link) = self.link.take() {
            return Ok(link);
        }
        let mut link = self.route.connect().inspect_err(|fault| self.route.learn(fault))?;
        self.connections += 1;
        if self.checked.is_none() && self.looks == Looks::First {
            let looked = check::look(&mut link, self.route.url(), &self.scripts, &self.keys);
            let checked = looked.inspect_err(|fault| self.route.learn(fault))?;
            tracing::info!(store = %self.route.url(), server = checked.server, "the store is in use");
            for warning in &checked.warnings {
                tracing::warn!(store = %self.route.url(), "{warning}");
            }
            self.checked = Some(checked);
        }
        Ok(link)
    }
}

//! The scripts: each is one atomic step of the log, and none knows a rule of a room.

use redis::Cmd;

/// A script and its SHA-1, by which a server that has seen it knows it.
pub(super) struct Script {
    code: &'static str,
    hash: String,
}

/// How a script is named to the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Hash,
    /// In full, for a server that has not seen it or has forgotten it.
    Code,
}

pub(super) struct Scripts {
    pub exchange: Script,
    pub begin: Script,
    pub save: Script,
    pub trim: Script,
    pub skip: Script,
    pub may: Script,
    pub lease: Script,
    pub release: Script,
    pub put: Script,
}

impl Scripts {
    pub fn new() -> Self {
        Self {
            exchange: Script::new(EXCHANGE),
            begin: Script::new(BEGIN),
            save: Script::new(SAVE),
            trim: Script::new(TRIM),
            skip: Script::new(SKIP),
            may: Script::new(MAY),
            lease: Script::new(LEASE),
            release: Script::new(RELEASE),
            put: Script::new(PUT),
        }
    }
}

impl Script {
    fn new(code: &'static str) -> Self {
        let hash = redis::Script::new(code).get_hash().to_owned();
        Self { code, hash }
    }

    /// A call of the script on these keys, whose arguments are still to come.
    pub fn on(&self, by: By, keys: &[&str]) -> Cmd {
        let (name, script) = match by {
            By::Hash => ("EVALSHA", self.hash.as_str()),
            By::Code => ("EVAL", self.code),
        };
        let mut command = redis::cmd(name);
        command.arg(script).arg(keys.len()).arg(keys);
        command
    }
}

const EXCHANGE: &str = concat!(include_str!("scripts/common.lua"), include_str!("scripts/exchange.lua"));
const BEGIN: &str = concat!(include_str!("scripts/common.lua"), include_str!("scripts/begin.lua"));
const SAVE: &str = include_str!("scripts/save.lua");
const TRIM: &str = concat!(include_str!("scripts/common.lua"), include_str!("scripts/trim.lua"));
const SKIP: &str = include_str!("scripts/skip.lua");
const MAY: &str = include_str!("scripts/may.lua");
const LEASE: &str = include_str!("scripts/lease.lua");
const RELEASE: &str = include_str!("scripts/release.lua");
const PUT: &str = include_str!("scripts/put.lua");

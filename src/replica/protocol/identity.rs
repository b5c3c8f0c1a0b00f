//! The identity of this gate, which does not change while the process lives.

use crate::replica::options::Options;
use crate::room::GateId;

/// The gate's own id, its options, and its source of randomness.
pub(super) struct Identity {
    gate: GateId,
    alone: bool,
    options: Options,
    random: Box<dyn FnMut() -> u64 + Send>,
}

impl Identity {
    pub fn new(gate: GateId, alone: bool, options: Options, random: Box<dyn FnMut() -> u64 + Send>) -> Self {
        Self {
            gate,
            alone,
            options,
            random,
        }
    }

    pub fn gate(&self) -> GateId {
        self.gate
    }

    /// No other gate shares the log; as [`crate::store::Log::alone`].
    pub fn alone(&self) -> bool {
        self.alone
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The highest machine version that this gate runs.
    pub fn knows(&self) -> u16 {
        self.options.knows
    }

    /// 64 random bits.
    pub fn random(&mut self) -> u64 {
        (self.random)()
    }
}

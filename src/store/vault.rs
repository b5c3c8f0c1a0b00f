//! Records beside the log, that gates share and that are no part of the rooms: certificates and what belongs to them.

use super::Unavailable;

/// Named records, and a lease that lets one gate write them. Calls block.
pub trait Vault: Send {
    /// The records of these names, in their order; `None` for one that is not there. One round trip.
    fn read(&mut self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, Unavailable>;

    /// Takes the lease, or keeps it for [`LEASE`] from now on; false while another gate has it. It ends by itself when its gate
    /// does.
    fn lease(&mut self) -> Result<bool, Unavailable>;

    /// Writes all the records in their order, if this gate has the lease; false if it has not. One without bytes is deleted.
    fn write(&mut self, records: &[(String, Vec<u8>)]) -> Result<bool, Unavailable>;

    /// Whether several gates use it side by side.
    fn is_shared(&self) -> bool;

    /// Gives the lease back.
    fn release(&mut self) -> Result<(), Unavailable>;
}

/// How long a lease lasts that is not kept.
pub const LEASE: std::time::Duration = std::time::Duration::from_secs(15);

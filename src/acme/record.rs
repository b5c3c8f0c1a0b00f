//! What the store keeps for certificates, each record sealed by itself.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::plan::{Dates, Pause, wall};
use crate::config::ChallengeKind;
use ropeline_ids::Wall;

/// What the gates share beside certificates, in one record. What an older version has not written has its default.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Grows with each change: of two states the one with the greater version is in force. So what a gate remembers does not bring
    /// back an account that another has thrown away.
    pub version: u64,
    pub account: Option<Account>,
    /// The one before, which is not to be trusted, until the certificates that were issued to it are revoked.
    pub former: Option<Account>,
    /// Certificates that are to be revoked.
    pub owed: Vec<Owed>,
    pub attempts: Attempts,
    /// Of which settings the pauses are ([`super::plan::settings`]).
    pub settings: String,
    /// The hosts that have a certificate in the store, and when each expires, in milliseconds. It is then deleted, unless the
    /// configuration has its host.
    pub expiries: BTreeMap<String, u64>,
}

/// The gates' account at an authority.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Account {
    pub directory: String,
    pub contact: Vec<String>,
    #[serde(with = "wall")]
    pub made: Wall,
    /// As the client library writes it, with the private key.
    pub credentials: serde_json::Value,
}

/// A certificate with its private key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// PEM, the site's own first.
    pub chain: String,
    /// PEM.
    pub key: String,
    /// Of the authority.
    pub directory: String,
    /// By the clock of the gate that ordered it: authorities date certificates back, each by another time.
    #[serde(with = "wall")]
    pub issued: Wall,
    #[serde(with = "wall")]
    begins: Wall,
    #[serde(with = "wall")]
    expires: Wall,
    #[serde(with = "wall")]
    renews: Wall,
}

/// A certificate that was replaced because somebody else may have its key, and is to be revoked.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owed {
    pub host: String,
    /// PEM, the site's own first.
    pub chain: String,
    /// Of the authority that issued it.
    pub directory: String,
    #[serde(with = "wall")]
    pub expires: Wall,
    /// As if the tries so far had failed.
    pub pause: Pause,
}

/// Pauses after failures.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Attempts {
    /// Of the authority: it does not answer, or not as one does.
    pub authority: Option<Pause>,
    pub hosts: BTreeMap<String, Pause>,
}

/// A challenge of an order under way, with its answer.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    pub host: String,
    #[serde(with = "kind")]
    pub kind: ChallengeKind,
    pub token: String,
    /// The answer (RFC 8555, section 8.1).
    pub key_authorization: String,
    #[serde(with = "wall")]
    pub until: Wall,
}

impl Certificate {
    pub fn new((chain, key): (String, String), directory: &str, dates: Dates, issued: Wall) -> Self {
        Self {
            chain,
            key,
            directory: directory.to_owned(),
            issued,
            begins: dates.begins,
            expires: dates.expires,
            renews: dates.renews,
        }
    }

    /// Whether it was issued later than another.
    pub fn is_newer(&self, than: &Self) -> bool {
        self.issued > than.issued
    }

    pub fn dates(&self) -> Dates {
        Dates {
            begins: self.begins,
            expires: self.expires,
            renews: self.renews,
        }
    }
}

/// SECURITY: none of them prints what it holds.
impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate")
            .field("dates", &self.dates())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Owed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owed")
            .field("host", &self.host)
            .field("pause", &self.pause)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Challenge")
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}

mod kind {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::config::ChallengeKind;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub fn serialize<S: Serializer>(kind: &ChallengeKind, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(*kind == ChallengeKind::TlsAlpn01)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ChallengeKind, D::Error> {
        let is_tls = bool::deserialize(deserializer)?;
        Ok(if is_tls {
            ChallengeKind::TlsAlpn01
        } else {
            ChallengeKind::Http01
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_of_another_version_is_read() {
        let account = r#"{"directory":"a","contact":[],"made":7,"credentials":null}"#;
        let older = format!("{{\"version\":3,\"account\":{account},\"attempts\":{{}}}}");
        let state: State = serde_json::from_str(&older).expect("a state");
        assert_eq!(
            (state.version, state.account.map(|account| account.made)),
            (3, Some(Wall(7)))
        );
        assert_eq!(
            (state.former, state.owed, state.attempts),
            (None, Vec::new(), Attempts::default())
        );
        let newer = r#"{"version":3,"what no version has yet":1}"#;
        assert_eq!(serde_json::from_str::<State>(newer).expect("a state").version, 3);
    }
}

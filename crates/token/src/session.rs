//! The session name: the value of `Ropeline-Session`, which tells the upstream whose session a request belongs to.
//!
//! All passes of a session give the same name, through renewals and key changes, because it is made from the pass id. A gate
//! with the keys can read a name, check that a gate gave it and report where the session stands. A name is not a token.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::Mac as _;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::key::Keyring;
use super::pass::{Pass, PassId, call_mac, context};
use super::seal::Fields;
use ropeline_ids::{CallId, Edition, Epoch, LaneId, LineName, Number, RoomName};

/// A parsed session name. It is genuine only if [`SessionName::call`] finds its call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionName {
    pub room: RoomName,
    pub line: LineName,
    pub lane: LaneId,
    pub edition: Edition,
    pub number: Number,
    proof: [u8; PROOF],
}

impl Pass {
    /// The value of `Ropeline-Session` for requests that carry this pass: base64url, at most
    /// [`SessionName::MAX_LEN`] characters.
    #[must_use]
    pub fn session_header(&self) -> String {
        let name = SessionName {
            room: self.room.clone(),
            line: self.line.clone(),
            lane: self.lane,
            edition: self.edition,
            number: self.number,
            proof: [0; PROOF],
        };
        let proof = name.proof_of(self.id);
        SessionName { proof, ..name }.to_text()
    }
}

impl SessionName {
    /// Longest name in characters; longer text is refused unread.
    pub const MAX_LEN: usize = (MAX_BYTES * 4).div_ceil(3);

    /// Parses the header's value; `None` for text in another form. Each name has one text.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        if text.len() > Self::MAX_LEN {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let mut fields = Fields(&bytes);
        if fields.u8()? != VERSION {
            return None;
        }
        let name = Self {
            room: RoomName::new(fields.text()?)?,
            line: LineName::new(fields.text()?)?,
            lane: LaneId(fields.u8()?),
            edition: Edition(fields.u32()?),
            number: Number {
                epoch: Epoch(fields.u64()?),
                n: fields.u32()?,
            },
            proof: fields.take()?,
        };
        fields.end().map(|()| name)
    }

    /// The call whose passes give this name, if a gate with one of these keys gave it. Costs at most two MACs for each key.
    #[must_use]
    pub fn call(&self, keys: &Keyring) -> Option<CallId> {
        let calls = (1..=MAX_CALLS).map(|count| CallId {
            lane: self.lane,
            number: self.number,
            count,
        });
        calls.into_iter().find(|call| {
            keys.iter().any(|signer| {
                let mac = call_mac(signer, &self.room, &self.line, self.edition, *call).finalize();
                let proof = self.proof_of(PassId::from_tag(&mac.into_bytes()));
                // SECURITY: constant time.
                bool::from(proof.ct_eq(&self.proof))
            })
        })
    }

    /// version (1), length and room, length and line, lane (1), edition (4), epoch (8), n (4), proof (16); little-endian.
    fn to_text(&self) -> String {
        let mut bytes = Vec::with_capacity(MAX_BYTES);
        bytes.push(VERSION);
        for name in [self.room.as_str(), self.line.as_str()] {
            bytes.push(u8::try_from(name.len()).expect("names have at most 64 bytes"));
            bytes.extend_from_slice(name.as_bytes());
        }
        bytes.push(self.lane.0);
        bytes.extend(self.edition.0.to_le_bytes());
        bytes.extend(self.number.epoch.0.to_le_bytes());
        bytes.extend(self.number.n.to_le_bytes());
        bytes.extend(self.proof);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The proof for this pass id: a hash over the name's other fields and the id.
    fn proof_of(&self, id: PassId) -> [u8; PROOF] {
        let mut hash = Sha256::new();
        for part in context(&self.room, &self.line, self.edition).parts(SESSION) {
            hash.update(part);
        }
        hash.update([self.lane.0]);
        hash.update(self.number.epoch.0.to_le_bytes());
        hash.update(self.number.n.to_le_bytes());
        hash.update(id.0);
        let mut proof = [0; PROOF];
        proof.copy_from_slice(&hash.finalize()[..PROOF]);
        proof
    }
}

/// A number that missed its turn is called once more, and then never again.
const MAX_CALLS: u8 = 2;

const VERSION: u8 = 1;
const PROOF: usize = 16;
const MAX_BYTES: usize = 1 + 1 + RoomName::MAX_LEN + 1 + LineName::MAX_LEN + 1 + 4 + 8 + 4 + PROOF;

/// The label of the proof's hash.
const SESSION: &str = "ropeline session ";

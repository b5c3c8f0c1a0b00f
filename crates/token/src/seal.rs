//! The envelope of all tokens: seals a payload into text, and opens text into a checked payload.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::key::{KeyId, Keyring, SignedBy, Signer};
use ropeline_ids::{LineName, RehearsalId, RoomName};

const VERSION: u8 = 1;
const TAG: usize = 32;
/// Most bytes of a payload. The longest is a code for one visitor with a lane's name of 32 bytes: 51 bytes.
pub(super) const MAX_PAYLOAD: usize = 64;
const MAX_BYTES: usize = 2 + KeyId::MAX_LEN + MAX_PAYLOAD + TAG;

/// Longest token in characters; longer text is refused unread.
pub const MAX_TOKEN: usize = (MAX_BYTES * 4).div_ceil(3);

/// What a token is valid for: the kind (as the cookie's name begins), the room and the line.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub kind: &'static str,
    pub room: &'a RoomName,
    pub line: &'a LineName,
    /// The rehearsal of a virtual visitor's token.
    pub rehearsal: Option<RehearsalId>,
}

impl<'a> Scope<'a> {
    /// The scope of a person's token.
    pub(super) fn new(kind: &'static str, room: &'a RoomName, line: &'a LineName) -> Self {
        Self {
            kind,
            room,
            line,
            rehearsal: None,
        }
    }

    /// A MAC over the scope. The room ends with a zero byte, which no name holds, and the line's length stands before the line.
    /// The kinds of a rehearsal are used by no other token, and its id always follows the line.
    fn mac(self, signer: &Signer) -> Hmac<Sha256> {
        let line = self.line.as_str().as_bytes();
        let length = u8::try_from(line.len()).expect("a line has at most 64 bytes");
        let room = self.room.as_str().as_bytes();
        match &self.rehearsal {
            None => signer.mac_of(&[self.kind.as_bytes(), room, &[0, length], line]),
            Some(id) => signer.mac_of(&[self.kind.as_bytes(), room, &[0, length], line, &id.0]),
        }
    }
}

/// The payload of a genuine token.
pub(super) struct Opened {
    bytes: [u8; MAX_BYTES],
    start: usize,
    end: usize,
    /// The signer of the token.
    pub(super) by: SignedBy,
}

impl Opened {
    pub(super) fn payload(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }
}

impl Keyring {
    /// The token for `payload` (at most [`MAX_PAYLOAD`] bytes), signed with the first key.
    pub(super) fn seal(&self, scope: Scope<'_>, payload: &[u8]) -> String {
        debug_assert!(payload.len() <= MAX_PAYLOAD, "a payload has a fixed, small size");
        let signer = self.first();
        let id = signer.id();
        let mut bytes = Vec::with_capacity(MAX_BYTES);
        bytes.push(VERSION);
        bytes.push(u8::try_from(id.len()).expect("a key id has at most 16 bytes"));
        bytes.extend_from_slice(id);
        bytes.extend_from_slice(payload);
        let mut mac = scope.mac(signer);
        mac.update(&bytes);
        bytes.extend_from_slice(&mac.finalize().into_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The payload of a genuine token for `scope`; `None` for any other text.
    pub(super) fn unseal(&self, scope: Scope<'_>, token: &str) -> Option<Opened> {
        let mut bytes = [0; MAX_BYTES];
        if token.len() > MAX_TOKEN {
            return None;
        }
        // Strict: no padding, no stray character, and bits beyond the last byte must be zero.
        let length = URL_SAFE_NO_PAD.decode_slice(token, &mut bytes).ok()?;
        let (signed, tag) = bytes[..length].split_at_checked(length.checked_sub(TAG)?)?;
        let (&[version, id_length], rest) = signed.split_first_chunk()?;
        let (id, _payload) = rest.split_at_checked(usize::from(id_length))?;
        if version != VERSION {
            return None;
        }
        let (by, _) = self.find(id).find(|(_, signer)| {
            let mut mac = scope.mac(signer);
            mac.update(signed);
            // SECURITY: constant time, over the whole tag, before a byte of the payload is looked at.
            mac.verify_slice(tag).is_ok()
        })?;
        let (start, end) = (2 + id.len(), signed.len());
        Some(Opened { bytes, start, end, by })
    }
}

/// The payload of a token of any key and scope, without checking its signature. SECURITY: use it only to choose which cookies
/// the same browser keeps.
pub(super) fn unproved(token: &str) -> Option<Vec<u8>> {
    if token.len() > MAX_TOKEN {
        return None;
    }
    let mut bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    bytes.truncate(bytes.len().checked_sub(TAG)?);
    let start = 2 + usize::from(*bytes.get(1)?);
    (bytes[0] == VERSION && start <= bytes.len()).then(|| bytes.split_off(start))
}

/// Takes fixed-size fields off the front of a payload; numbers are little-endian.
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    /// UTF-8 text of `length` bytes.
    pub(super) fn text_of(&mut self, length: usize) -> Option<&'a str> {
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    /// A length in one byte, then UTF-8 text of that many bytes.
    pub(super) fn text(&mut self) -> Option<&'a str> {
        let length = usize::from(self.u8()?);
        self.text_of(length)
    }

    /// `Some` if nothing is left over.
    pub(super) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

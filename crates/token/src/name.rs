//! The names of the cookies. They hold the room and tell lines apart without showing a line's value, which may be of any
//! characters; the prefixes `__Host-` and `__Secure-` are put before them by who sets the cookie.

use sha2::{Digest, Sha256};

use ropeline_ids::{LineName, RoomName};

/// The base name of a ticket's cookie, also what names the kind to the MAC.
pub(super) const TICKET: &str = "ropeline-ticket-";

/// The base name of a pass's cookie, also what names the kind to the MAC.
pub(super) const PASS: &str = "ropeline-pass-";

/// The same of virtual visitors. SECURITY: none of the names with a room is one of the others with another room.
pub(super) const VIRTUAL_TICKET: &str = "ropeline-rehearsal-ticket-";
pub(super) const VIRTUAL_PASS: &str = "ropeline-rehearsal-pass-";

/// What the name of every cookie of a virtual visitor begins with.
pub const VIRTUAL: &str = "ropeline-rehearsal-";

/// The names of a virtual visitor's two cookies: the ticket's, and the pass's.
#[must_use]
pub fn virtual_cookies(room: &RoomName, line: &LineName) -> (String, String) {
    (
        base_name(VIRTUAL_TICKET, room, line),
        base_name(VIRTUAL_PASS, room, line),
    )
}

/// `ropeline-ticket-{room}`, and for a line of a `per` room `-` and 10 characters of its SHA-256.
#[must_use]
pub fn ticket_cookie(room: &RoomName, line: &LineName) -> String {
    base_name(TICKET, room, line)
}

/// `ropeline-code-{room}`, and for a line of a `per` room `-` and 10 characters of its SHA-256.
#[must_use]
pub fn code_cookie(room: &RoomName, line: &LineName) -> String {
    base_name(super::code::CODE, room, line)
}

/// `ropeline-pass-{room}`, and for a line of a `per` room `-` and 10 characters of its SHA-256.
#[must_use]
pub fn pass_cookie(room: &RoomName, line: &LineName) -> String {
    base_name(PASS, room, line)
}

fn base_name(kind: &str, room: &RoomName, line: &LineName) -> String {
    let mut name = format!("{kind}{room}");
    if !line.is_only() {
        name.push('-');
        name.extend(line_tag(line));
    }
    name
}

/// Characters of the line's tag, with which the name of a cookie ends.
pub const LINE_TAG_LEN: usize = 10;

/// The first 50 bits of the line's SHA-256. Two lines with one tag would share a cookie, so each would forget the other;
/// the MAC covers the line itself, so neither's token passes for the other's.
fn line_tag(line: &LineName) -> impl Iterator<Item = char> {
    let digest = Sha256::digest(line.as_str().as_bytes());
    let bits = digest
        .iter()
        .take(7)
        .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte))
        >> 6;
    (0..LINE_TAG_LEN)
        .rev()
        .map(move |at| char::from(ALPHABET[usize::from((bits >> (5 * at)).to_le_bytes()[0] & 31)]))
}

/// Crockford's base32 in lower case: no letter that reads like a digit.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

#[cfg(test)]
mod tests {
    use super::*;

    fn names(room: &str, line: &str) -> (String, String) {
        let (room, line) = (
            RoomName::new(room).expect("a room"),
            LineName::new(line).expect("a line"),
        );
        (ticket_cookie(&room, &line), pass_cookie(&room, &line))
    }

    #[test]
    fn a_room_with_one_line_is_named_by_the_room_alone() {
        assert_eq!(
            names("shop", ""),
            ("ropeline-ticket-shop".into(), "ropeline-pass-shop".into())
        );
    }

    /// SHA-256("abc") begins ba7816bf 8f01cf (FIPS 180-2, appendix B.1).
    #[test]
    fn a_line_adds_fifty_bits_of_its_hash() {
        assert_eq!(names("shop", "abc").0, "ropeline-ticket-shop-q9w1dfwf07");
        assert_ne!(names("shop", "abc").0, names("shop", "abd").0);
    }

    #[test]
    fn any_line_makes_a_cookie_name_of_plain_characters() {
        let (ticket, _) = names("shop", "한국 ;=,\"");
        assert!(
            ticket.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'),
            "{ticket}"
        );
        assert_eq!(ticket.len(), "ropeline-ticket-shop-".len() + 10);
    }
}

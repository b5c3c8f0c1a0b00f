//! Cookie names: the kind of token, the room, and a hash of the line.
//!
//! A line's value may have any characters, so a name holds its hash instead. The code that sets a cookie adds the prefixes
//! `__Host-` and `__Secure-`.

use sha2::{Digest, Sha256};

use ropeline_ids::{LineName, RoomName};

/// The base name of a ticket's cookie; also the kind in the MAC.
pub(super) const TICKET: &str = "ropeline-ticket-";

/// The base name of a pass's cookie; also the kind in the MAC.
pub(super) const PASS: &str = "ropeline-pass-";

/// The same for virtual visitors. SECURITY: with a room behind them, no two of these prefixes give the same name.
pub(super) const VIRTUAL_TICKET: &str = "ropeline-rehearsal-ticket-";
pub(super) const VIRTUAL_PASS: &str = "ropeline-rehearsal-pass-";

/// The prefix of the names of all cookies of virtual visitors.
pub const VIRTUAL: &str = "ropeline-rehearsal-";

/// The names of a virtual visitor's cookies: ticket and pass.
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

/// Length of the line's tag at the end of a cookie's name, in characters.
pub const LINE_TAG_LEN: usize = 10;

/// The first 50 bits of the line's SHA-256. Two lines with the same tag would share a cookie, and each would overwrite the
/// other's. The MAC covers the line itself, so a token of one is not valid for the other.
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

/// Crockford's base32 in lower case, which has no letter that looks like a digit.
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

    #[test]
    fn every_kind_has_a_name_of_its_own_for_each_line() {
        let room = RoomName::new("shop").expect("a room");
        let names = |line: &str| {
            let line = LineName::new(line).expect("a line");
            let (ticket, pass) = virtual_cookies(&room, &line);
            [code_cookie(&room, &line), ticket, pass]
        };
        let only = [
            "ropeline-code-shop",
            "ropeline-rehearsal-ticket-shop",
            "ropeline-rehearsal-pass-shop",
        ];
        assert_eq!(names(""), only);
        assert!(names("").iter().skip(1).all(|name| name.starts_with(VIRTUAL)));
        assert_eq!(names("abc"), only.map(|name| format!("{name}-q9w1dfwf07")));
    }
}

//! Fuzz targets for tokens: only signed text is read, and reading a token gives the signed values.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::code::{CODE, Code};
use super::name::{PASS, TICKET};
use super::proof::{self, Challenge};
use super::seal::{MAX_PAYLOAD, Scope};
use super::{Key, KeyId, Keyring, Pass, Reference, Secret, SessionName, Ticket};
use ropeline_ids::{LineName, RoomName};

/// A byte that chooses the line, one the place and one the bits to flip; then a token's text, and also a payload to sign.
///
/// # Panics
/// When a law does not hold.
pub fn token(data: &[u8]) {
    let [choice, at, bits, rest @ ..] = data else { return };
    let keys = keys();
    let room = RoomName::new("shop").expect("a room's name");
    let line = LineName::new(["", "5", "\u{d55c}"][usize::from(*choice) % 3]).expect("a line's name");
    if let Ok(text) = std::str::from_utf8(rest) {
        read(&keys, &room, &line, text);
    }
    let payload = &rest[..rest.len().min(MAX_PAYLOAD)];
    for kind in [PASS, TICKET, proof::KIND, CODE] {
        let (room, line) = (&room, &line);
        let token = keys.seal(Scope::new(kind, room, line), payload);
        let known = read(&keys, room, line, &token);
        let forged = flipped(&token, *at, *bits);
        assert!(!read(&keys, room, line, &forged), "{forged} was {token}");
        let other = LineName::new("other").expect("a line's name");
        // A code of no line is good for all of them.
        let for_all = kind == CODE && line.is_only();
        assert!(
            !known || for_all || !read(&keys, room, &other, &token),
            "{token} of another line"
        );
    }
}

/// Four bytes of a price, one that selects the parts to leave out, and a browser's proof.
///
/// # Panics
/// When a law does not hold.
pub fn proofs(data: &[u8]) {
    let Some((price, [at, shown @ ..])) = data.split_first_chunk() else {
        return;
    };
    let (price, Ok(shown)) = (u32::from_le_bytes(*price), std::str::from_utf8(shown)) else {
        return;
    };
    assert!(proof::most(price) >= proof::most(price.saturating_add(1)));
    let Some((text, Some(nonces))) = proof::parse(shown) else {
        return;
    };
    let digits: Vec<String> = nonces.iter().map(|nonce| format!("{nonce:x}")).collect();
    let again = format!("{text}.{}", digits.join("."));
    assert_eq!(proof::parse(&again), Some((text, Some(nonces.clone()))), "{shown}");
    let solved = proof::solves(text, price, &nonces);
    assert!(!solved || nonces.len() == proof::PARTS as usize, "{shown}");
    assert!(
        !solved || proof::solves(text, price / 2, &nonces),
        "cheaper is easier: {shown}"
    );
    let (mut less, at) = (nonces.clone(), usize::from(*at) % nonces.len().max(1));
    if at < less.len() {
        less.remove(at);
    }
    assert!(
        !solved || !proof::solves(text, price, &less),
        "a part is missing: {shown}"
    );
    assert!(
        !solved || !proof::solves(text, price, &[&nonces[..], &[0]].concat()),
        "{shown}"
    );
}

fn keys() -> Keyring {
    let key = |id: &str, byte: u8| Key {
        id: KeyId::new(id).expect("a key id"),
        secret: Secret::new([byte; 32]),
    };
    Keyring::new(vec![key("new", 1), key("old", 2)]).expect("a ring")
}

/// Whether `text` is a token of the line. One that is has no other text.
fn read(keys: &Keyring, room: &RoomName, line: &LineName, text: &str) -> bool {
    if let Some(name) = SessionName::read(text) {
        let _ = name.call(keys);
    }
    if let Some(reference) = Reference::parse(text) {
        assert_eq!(Reference::parse(&reference.to_string()), Some(reference));
    }
    if let Some((_, Some(nonces))) = proof::parse(text) {
        assert!(nonces.len() <= proof::PARTS as usize + 1, "{text}");
    }
    let challenge = Challenge::read(keys, room, line, text);
    let (pass, ticket) = (Pass::read(keys, room, line, text), Ticket::read(keys, room, line, text));
    let code = Code::read(keys, room, line, text);
    let kinds = [pass.is_some(), ticket.is_some(), challenge.is_some(), code.is_some()];
    assert!(kinds.iter().filter(|is| **is).count() < 2, "{text} is two things");
    if let Some(challenge) = &challenge {
        let again = challenge.sign(keys, room, line);
        assert_eq!(Challenge::read(keys, room, line, &again).as_ref(), Some(challenge));
    }
    if let Some(code) = &code {
        let again = code.sign(keys, room, line).expect("its lane has a name that was read");
        assert_eq!(Code::read(keys, room, line, &again).as_ref(), Some(code));
    }
    // Signed anew with the first key, which is not the one that a token of the corpus may be signed with.
    if let Some(pass) = &pass {
        assert_eq!(Pass::read(keys, room, line, &pass.sign(keys)).as_ref(), Some(pass));
        named(keys, pass);
    }
    if let Some(ticket) = &ticket {
        let again = ticket.sign(keys);
        assert_eq!(Ticket::read(keys, room, line, &again).as_ref(), Some(ticket));
    }
    kinds.contains(&true)
}

/// A pass has one name for the shop, which identifies its session; without the call's own id no gate knows it.
fn named(keys: &Keyring, pass: &Pass) {
    let text = pass.session_header();
    let name = SessionName::read(&text).expect("a gate wrote it");
    assert_eq!(
        (&name.room, &name.line, name.lane, name.edition, name.number),
        (&pass.room, &pass.line, pass.lane, pass.edition, pass.number)
    );
    assert!(text.len() <= SessionName::MAX_LEN);
    assert!(name.call(keys).is_none(), "{text}: no call has this id");
}

/// The token with at least one bit of it flipped.
fn flipped(token: &str, at: u8, bits: u8) -> String {
    let mut bytes = URL_SAFE_NO_PAD.decode(token).expect("a token is base64url");
    let at = usize::from(at) % bytes.len();
    bytes[at] ^= bits.max(1);
    URL_SAFE_NO_PAD.encode(bytes)
}

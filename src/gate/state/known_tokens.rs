//! Tokens that were found genuine, remembered by the connection that brought them.
//!
//! A browser sends the same pass with every request for a tenth of a session, and its page asks with the same ticket. Facts
//! that follow from the bytes alone are the same each time: whether they are genuine, their content, and the session's name.
//! The validity of a token is asked of the room each time.
//!
//! SECURITY: remembered for the same bytes under the same keys, room and line. A connection knows of no other's tokens, and a
//! trusted proxy's, which many share, of none, so that timing reveals nothing about another visitor's tokens.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::token::{Keyring, Pass, SignedBy, Ticket};
use ropeline_ids::{LineName, RoomName};

/// One connection's: the last ticket and the last pass that came alone of their kind.
#[derive(Default)]
pub struct Memory(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    ticket: Option<(Text, (Ticket, SignedBy))>,
    pass: Option<Arc<KnownPass>>,
}

/// A token as it came, and the keys by which it is genuine.
struct Text {
    keyring: Keyring,
    text: Box<str>,
}

/// A genuine pass, and the values computed from it.
pub struct KnownPass {
    text: Text,
    pass: Pass,
    by: SignedBy,
    id_is_known: OnceLock<bool>,
    session: OnceLock<String>,
}

/// The genuine tokens of a request, each with the signer that made it, and facts of the pass from requests before.
#[derive(Clone, Default)]
pub struct Tokens {
    pub ticket: Option<(Ticket, SignedBy)>,
    pub pass: Option<(Pass, SignedBy)>,
    pub known: Option<Arc<KnownPass>>,
}

impl Memory {
    /// The genuine tokens among these values, and the known facts of the pass.
    pub fn tokens<'t>(
        &self,
        keyring: &Keyring,
        place: (&RoomName, &LineName),
        tickets: impl Iterator<Item = &'t str> + Clone,
        passes: impl Iterator<Item = &'t str> + Clone,
    ) -> Tokens {
        let (pass, known) = self.pass(keyring, place, passes);
        let ticket = self.ticket(keyring, place, tickets);
        Tokens { ticket, pass, known }
    }

    /// The newest genuine ticket among these values; see [`Ticket::newest`].
    fn ticket<'t>(
        &self,
        keyring: &Keyring,
        (room, line): (&RoomName, &LineName),
        values: impl Iterator<Item = &'t str> + Clone,
    ) -> Option<(Ticket, SignedBy)> {
        let Some(text) = alone(values.clone()) else {
            return Ticket::newest(keyring, room, line, values);
        };
        let is_same = |kept: &&(Text, (Ticket, SignedBy))| {
            let (text_before, (ticket, _)) = kept;
            text_before.is(keyring, text) && (&ticket.room, &ticket.line) == (room, line)
        };
        if let Some((_, ticket)) = self.lock().ticket.as_ref().filter(is_same) {
            return Some(ticket.clone());
        }
        let ticket = Ticket::open(keyring, room, line, text)?;
        self.lock().ticket = Some((Text::new(keyring, text), ticket.clone()));
        Some(ticket)
    }

    /// The genuine pass that lasts longest among these values, and its known facts where it is the only one; see
    /// [`Pass::newest`].
    fn pass<'t>(
        &self,
        keyring: &Keyring,
        (room, line): (&RoomName, &LineName),
        values: impl Iterator<Item = &'t str> + Clone,
    ) -> (Option<(Pass, SignedBy)>, Option<Arc<KnownPass>>) {
        let Some(text) = alone(values.clone()) else {
            return (Pass::newest(keyring, room, line, values), None);
        };
        let is_same = |known: &&Arc<KnownPass>| {
            known.text.is(keyring, text) && (&known.pass.room, &known.pass.line) == (room, line)
        };
        let kept = self.lock().pass.as_ref().filter(is_same).cloned();
        let known = kept.or_else(|| {
            let (pass, by) = Pass::open(keyring, room, line, text)?;
            let known = Arc::new(KnownPass {
                text: Text::new(keyring, text),
                pass,
                by,
                id_is_known: OnceLock::new(),
                session: OnceLock::new(),
            });
            self.lock().pass = Some(Arc::clone(&known));
            Some(known)
        });
        (known.as_ref().map(|known| (known.pass.clone(), known.by)), known)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Text {
    fn new(keyring: &Keyring, text: &str) -> Self {
        Self {
            keyring: keyring.clone(),
            text: text.into(),
        }
    }

    fn is(&self, keyring: &Keyring, text: &str) -> bool {
        *self.text == *text && self.keyring.is(keyring)
    }
}

impl KnownPass {
    /// Whether a key of the ring gives its id; see [`Pass::has_known_id`].
    #[must_use]
    pub fn has_known_id(&self) -> bool {
        *self
            .id_is_known
            .get_or_init(|| self.pass.has_known_id(&self.text.keyring))
    }

    /// The name of the session of `pass` in the header for the upstream, if it is of the same session.
    #[must_use]
    pub fn session_of(&self, pass: &Pass) -> Option<&str> {
        let place = |pass: &Pass| (pass.lane, pass.edition, pass.number, pass.id);
        let own = &self.pass;
        let is_same = (&own.room, &own.line, place(own)) == (&pass.room, &pass.line, place(pass));
        is_same.then(|| self.session.get_or_init(|| own.session_header()).as_str())
    }
}

fn alone<'t>(mut values: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    values.next().filter(|_| values.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::{Key, KeyId, PassId, Secret, TicketPlace};
    use ropeline_ids::{CallId, Edition, Epoch, LaneId, Number, Wall};

    fn keyring(byte: u8) -> Keyring {
        let (id, secret) = (KeyId::new("a").unwrap(), Secret::new([byte; 32]));
        Keyring::new(vec![Key { id, secret }]).unwrap()
    }

    fn place(line: &str) -> (RoomName, LineName) {
        (RoomName::new("shop").unwrap(), LineName::new(line).unwrap())
    }

    const NUMBER: Number = Number { epoch: Epoch(1), n: 7 };

    const CALL: CallId = CallId {
        lane: LaneId(0),
        number: NUMBER,
        count: 1,
    };

    fn pass(keyring: &Keyring, (room, line): &(RoomName, LineName), expires_at: u64) -> Pass {
        Pass {
            room: room.clone(),
            line: line.clone(),
            lane: LaneId(0),
            edition: Edition(0),
            number: NUMBER,
            call: 1,
            id: PassId::new(keyring, room, line, Edition(0), CALL),
            expires_at: Wall(expires_at),
        }
    }

    #[test]
    fn a_pass_that_is_known_is_not_judged_again_and_says_the_same() {
        let (memory, keys, (room, line)) = (Memory::default(), keyring(1), place(""));
        let own = pass(&keys, &(room.clone(), line.clone()), 5);
        let text = own.sign(&keys);
        let read = || memory.pass(&keys, (&room, &line), [text.as_str()].into_iter());
        let (first, known) = read();
        let (again, still) = read();
        let (known, still) = (known.unwrap(), still.unwrap());
        assert_eq!(
            (first.as_ref(), again),
            (Some(&(own.clone(), SignedBy::FIRST)), first.clone())
        );
        assert!(Arc::ptr_eq(&known, &still));
        assert_eq!(still.session_of(&own), Some(own.session_header().as_str()));
        let renewed = Pass {
            expires_at: Wall(9),
            ..own.clone()
        };
        assert_eq!(still.session_of(&renewed), Some(own.session_header().as_str()));
        let other = Pass {
            edition: Edition(1),
            ..own.clone()
        };
        assert_eq!(still.session_of(&other), None);
        assert!(still.has_known_id() && still.has_known_id());
    }

    #[test]
    fn a_pass_counts_for_its_own_line_and_keys_alone_whatever_is_known_of_it() {
        let (memory, keys, (room, line)) = (Memory::default(), keyring(1), place("a"));
        let text = pass(&keys, &(room.clone(), line.clone()), 5).sign(&keys);
        let read = |keys: &Keyring, line: &LineName, text: &str| memory.pass(keys, (&room, line), [text].into_iter()).0;
        assert!(read(&keys, &line, &text).is_some());
        let (other_room, other_line) = (RoomName::new("other").unwrap(), place("b").1);
        assert_eq!(read(&keys, &other_line, &text), None);
        assert_eq!(
            memory.pass(&keys, (&other_room, &line), [text.as_str()].into_iter()).0,
            None
        );
        assert_eq!(read(&keyring(2), &line, &text), None, "the key is gone");
        let forged = format!("{}A", &text[..text.len() - 1]);
        assert_eq!(read(&keys, &line, &forged), None);
        assert!(read(&keys, &line, &text).is_some());
    }

    #[test]
    fn of_several_passes_the_one_that_lasts_longest_counts_beside_one_that_is_known() {
        let (memory, keys, (room, line)) = (Memory::default(), keyring(1), place(""));
        let texts = [5, 9].map(|until| pass(&keys, &(room.clone(), line.clone()), until).sign(&keys));
        let read = |texts: &[String]| memory.pass(&keys, (&room, &line), texts.iter().map(String::as_str)).0;
        let read = |texts: &[String]| read(texts).unwrap().0;
        assert_eq!(read(&texts[..1]).expires_at, Wall(5));
        assert_eq!(read(&texts).expires_at, Wall(9));
        assert_eq!(
            read(&texts[1..]).expires_at,
            Wall(9),
            "another pass on the same connection"
        );
    }

    #[test]
    fn a_ticket_is_known_by_its_own_bytes_line_and_keys() {
        let (memory, keys, (room, line)) = (Memory::default(), keyring(1), place("a"));
        let ticket = |n: u32| Ticket {
            room: room.clone(),
            line: line.clone(),
            lane: LaneId(0),
            edition: Edition(0),
            place: TicketPlace::Numbered(Number { n, ..NUMBER }),
            joined_at: Wall(u64::from(n)),
            identity: None,
        };
        let texts = [1, 2].map(|n| ticket(n).sign(&keys));
        let read = |keys: &Keyring, line: &LineName, texts: &[String]| {
            let read = memory.ticket(keys, (&room, line), texts.iter().map(String::as_str));
            read.map(|(ticket, _)| ticket)
        };
        assert_eq!(read(&keys, &line, &texts[..1]), Some(ticket(1)));
        assert_eq!(read(&keys, &line, &texts[..1]), Some(ticket(1)));
        assert_eq!(read(&keys, &place("b").1, &texts[..1]), None);
        assert_eq!(read(&keyring(2), &line, &texts[..1]), None);
        assert_eq!(read(&keys, &line, &texts), Some(ticket(2)));
        assert_eq!(read(&keys, &line, &texts[1..]), Some(ticket(2)));
    }

    #[test]
    fn an_id_by_a_key_that_is_gone_is_not_known() {
        let (memory, keys, (room, line)) = (Memory::default(), keyring(1), place(""));
        let odd = Pass {
            id: PassId([9; 8]),
            ..pass(&keys, &(room.clone(), line.clone()), 5)
        };
        let text = odd.sign(&keys);
        let (_, known) = memory.pass(&keys, (&room, &line), [text.as_str()].into_iter());
        assert!(!known.unwrap().has_known_id());
    }
}

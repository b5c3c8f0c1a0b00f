//! Checks a client's bytes, before h2 reads them, for violations of RFC 9113 that h2 accepts.
//!
//! There are two: a first frame that is not SETTINGS (section 3.4), and a pseudo-field in a trailer (section 8.1), which h2
//! silently drops. Such bytes are overwritten in place by bytes that h2 treats as the same error, so that it ends the
//! connection as for any other. The cost is a look at each frame's head; only trailers are read, and no bytes are kept.

mod skim;

use std::io;

use self::skim::Skim;
use crate::wire::frame::{
    CONTINUATION, DATA, END_HEADERS, HEAD, HEADERS, KIND, PADDED, PREFACE, PRIORITY, SETTINGS, STREAM, payload,
};
use crate::wire::looked::Look;

/// Where in a client's frames we are.
pub(super) struct Frames {
    at: At,
    is_first: bool,
    /// The highest stream that was opened: HEADERS on one of these are trailers.
    opened: u32,
    /// The trailers that go on in the next CONTINUATION.
    trailers: Option<Skim>,
}

enum At {
    /// Remaining bytes of the preface.
    Preface(usize),
    /// A frame's head, with the number of bytes received.
    Head([u8; HEAD], usize),
    /// Remaining bytes of a frame that needs no inspection.
    Payload(usize),
    Trailers(Part),
}

/// A frame's part of a trailer.
struct Part {
    /// Of the whole frame, still to come.
    left: usize,
    /// Flags for the fields before and behind the fragment.
    padded: bool,
    /// Bytes to pass before the fragment.
    ahead: usize,
    /// Bytes behind it.
    padding: usize,
    ends: bool,
    skim: Skim,
}

impl Look for Frames {
    fn look(&mut self, came: &mut [u8]) -> io::Result<()> {
        self.pass(came);
        Ok(())
    }
}

impl Frames {
    pub(super) fn new() -> Self {
        Self {
            at: At::Preface(PREFACE.len()),
            is_first: true,
            opened: 0,
            trailers: None,
        }
    }

    /// Checks received bytes, and overwrites those that must not pass.
    fn pass(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            let passed = match &mut self.at {
                At::Preface(left) | At::Payload(left) => {
                    let passed = bytes.len().min(*left);
                    *left -= passed;
                    passed
                }
                At::Head(head, have) => {
                    if *have == KIND && self.is_first && bytes[0] != SETTINGS {
                        bytes[0] = DATA;
                    } else if *have >= STREAM && self.is_first && head[KIND] == DATA {
                        // No DATA belongs to the connection as a whole.
                        bytes[0] = 0;
                    }
                    head[*have] = bytes[0];
                    *have += 1;
                    1
                }
                At::Trailers(part) => part.pass(bytes),
            };
            bytes = &mut bytes[passed..];
            self.step();
        }
    }

    /// Goes on to the next part when one has ended.
    fn step(&mut self) {
        if let At::Head(head, HEAD) = self.at {
            self.is_first = false;
            self.at = self.begin(&head);
        }
        let ended = match &self.at {
            At::Preface(left) | At::Payload(left) => *left == 0,
            At::Head(..) => false,
            At::Trailers(part) => part.left == 0,
        };
        if !ended {
            return;
        }
        if let At::Trailers(part) = std::mem::replace(&mut self.at, At::Head([0; HEAD], 0))
            && !part.ends
        {
            self.trailers = Some(part.skim);
        }
    }

    /// The state for a frame with this head.
    fn begin(&mut self, head: &[u8; HEAD]) -> At {
        let left = payload(head);
        let (kind, flags) = (head[KIND], head[KIND + 1]);
        let stream = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]);
        let skim = match kind {
            HEADERS if stream > self.opened => {
                self.opened = stream;
                None
            }
            HEADERS => Some(Skim::default()),
            CONTINUATION => self.trailers.take(),
            _ => None,
        };
        let Some(skim) = skim else {
            return At::Payload(left);
        };
        let is_headers = kind == HEADERS;
        At::Trailers(Part {
            left,
            padded: is_headers && flags & PADDED != 0,
            ahead: if is_headers && flags & PRIORITY != 0 { 5 } else { 0 },
            padding: 0,
            ends: flags & END_HEADERS != 0,
            skim,
        })
    }
}

impl Part {
    /// Looks at one byte.
    fn pass(&mut self, bytes: &mut [u8]) -> usize {
        self.left = self.left.saturating_sub(1);
        if self.padded {
            self.padded = false;
            self.padding = usize::from(bytes[0]);
        } else if self.ahead > 0 {
            self.ahead -= 1;
        } else if self.left >= self.padding {
            self.skim.pass(&mut bytes[0]);
        }
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).expect("short");
        [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
    }

    /// The bytes that h2 gets behind the preface, at once and byte by byte.
    fn passed(bytes: &[u8]) -> Vec<u8> {
        let whole = [PREFACE, bytes].concat();
        let (mut at_once, mut slow) = (whole.clone(), whole);
        Frames::new().pass(&mut at_once);
        let mut frames = Frames::new();
        for byte in slow.chunks_mut(1) {
            frames.pass(byte);
        }
        assert_eq!(at_once, slow);
        at_once.split_off(PREFACE.len())
    }

    fn settings() -> Vec<u8> {
        frame(SETTINGS, 0, 0, &[])
    }

    #[test]
    fn what_comes_before_settings_becomes_data_of_nobodys() {
        let ping = frame(6, 0, 3, &[1; 8]);
        let spoilt = passed(&ping);
        assert_eq!(spoilt[..9], [0, 0, 8, DATA, 0, 0, 0, 0, 0]);
        let sound = [settings(), ping].concat();
        assert_eq!(passed(&sound), sound);
    }

    #[test]
    fn heads_and_bodies_pass_as_they_are_whatever_they_hold() {
        let sound = [
            settings(),
            frame(HEADERS, END_HEADERS, 1, &[0x82, 0x84, 0x87]),
            frame(DATA, 0, 1, &[0x82; 20]),
            frame(HEADERS, 0, 3, &[0x82]),
            frame(CONTINUATION, END_HEADERS, 3, &[0x84]),
        ]
        .concat();
        assert_eq!(passed(&sound), sound);
    }

    #[test]
    fn pseudo_fields_of_trailers_are_spoilt_and_padding_is_not_looked_at() {
        let opened = || [settings(), frame(HEADERS, END_HEADERS, 1, &[0x83, 0x84, 0x87])].concat();
        let trailers = |flags, payload: &[u8]| [opened(), frame(HEADERS, flags, 1, payload)].concat();
        let sound = b"\0\x03x-a\x01b";
        for (flags, payload) in [
            (END_HEADERS, sound.to_vec()),
            (END_HEADERS | PADDED, [&[2], &sound[..], &[0x83, 0x83]].concat()),
            (END_HEADERS | PRIORITY, [&[0x83; 5], &sound[..]].concat()),
        ] {
            let whole = trailers(flags, &payload);
            assert_eq!(passed(&whole), whole, "{payload:?}");
        }
        let faulty = [sound, &[0x83][..]].concat();
        let padded = [&[1], &faulty[..], &[0]].concat();
        for whole in [
            trailers(END_HEADERS, &faulty),
            trailers(END_HEADERS | PADDED, &padded),
            [trailers(0, sound), frame(CONTINUATION, END_HEADERS, 1, &[0x83])].concat(),
        ] {
            assert_ne!(passed(&whole), whole);
        }
    }
}

//! The channel between the old process and the new one: a socket pair that carries one JSON object a line, and the descriptors
//! of the sockets beside the first.

use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::time;

/// Messages of the process before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// The first word.
    Hello(Hello),
    /// The embedded store is closed, and visitors wait.
    StoreClosed,
    /// The one after is in charge.
    Go,
}

/// The old process's offer, and the version of the channel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// [`FORMAT`].
    pub format: u16,
    pub version: String,
    /// The data folder of an embedded store.
    pub folder: Option<String>,
    /// The listening sockets, in the order of the descriptors.
    pub sockets: Vec<Named>,
}

/// A listening socket, with its name in the configuration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Named {
    /// The operator's side, not the visitors'.
    pub admin: bool,
    /// As in `listen`; one that systemd opened has its name behind `systemd:`.
    pub place: String,
}

/// Messages of the process after.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// Everything except the embedded store is ready.
    WantsStore,
    /// It serves. It keeps these of the passed sockets, by their place in the list.
    Ready { version: String, kept: Vec<usize> },
    /// It does not, and ends.
    Failed { reason: String },
}

/// One end.
#[derive(Debug)]
pub struct Channel {
    stream: UnixStream,
    read: Vec<u8>,
    received: Vec<OwnedFd>,
}

impl Channel {
    pub fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            read: Vec::new(),
            received: Vec::new(),
        }
    }

    /// The socket once more, to end the line from elsewhere.
    pub fn handle(&self) -> io::Result<UnixStream> {
        self.stream.try_clone()
    }

    pub fn say<T: Serialize>(&mut self, word: &T) -> io::Result<()> {
        self.say_with(word, &[])
    }

    /// Sends a message with descriptors, at most [`MAX_DESCRIPTORS`].
    pub fn say_with<T: Serialize>(&mut self, word: &T, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut line = serde_json::to_vec(word)?;
        line.push(b'\n');
        if line.len() > MAX_LINE {
            return Err(io::Error::other("the word is too long"));
        }
        self.stream.set_write_timeout(Some(SAY_WITHIN))?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(io::Error::other("too many sockets to hand over"));
        }
        let sent = sendmsg(&self.stream, &[IoSlice::new(&line)], &mut beside, SendFlags::NOSIGNAL)?;
        self.stream.write_all(&line[sent..])
    }

    /// The next word, before `until` (uptime).
    pub fn hear<T: DeserializeOwned>(&mut self, until: Duration) -> io::Result<T> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Ok(serde_json::from_slice(&line)?);
            }
            if self.read.len() > MAX_LINE {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let left = until.saturating_sub(time::uptime());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            self.receive()?;
        }
    }

    fn receive(&mut self) -> io::Result<()> {
        let mut bytes = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let count = match recvmsg(
            &self.stream,
            &mut [IoSliceMut::new(&mut bytes)],
            &mut beside,
            RecvFlags::CMSG_CLOEXEC,
        ) {
            Ok(received) => received.bytes,
            Err(rustix::io::Errno::INTR) => return Ok(()),
            Err(rustix::io::Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            Err(error) => return Err(error.into()),
        };
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.received.extend(descriptors);
            }
        }
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read.extend_from_slice(&bytes[..count]);
        Ok(())
    }

    /// The descriptors that came so far.
    pub fn received(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.received)
    }

    /// Waits until the other end is gone.
    pub fn until_gone(mut self) {
        while self.stream.set_read_timeout(None).is_ok() && self.receive().is_ok() {
            self.read.clear();
        }
    }
}

/// Of the words; a process that speaks another is not talked to.
pub const FORMAT: u16 = 1;
/// As many as go beside one word (`SCM_MAX_FD`).
pub const MAX_DESCRIPTORS: usize = 253;
/// How long the next process may take to serve from an embedded store once it may open it; visitors wait meanwhile.
pub const TAKE_WITHIN: Duration = Duration::from_secs(5);
const MAX_LINE: usize = 256 * 1024;
const SAY_WITHIN: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsFd as _;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn pair() -> (Channel, Channel) {
        let (one, other) = UnixStream::pair().unwrap();
        (Channel::new(one), Channel::new(other))
    }

    #[test]
    fn words_arrive_with_what_stands_beside_them() {
        let (mut before, mut after) = pair();
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let named = Named {
            admin: false,
            place: "x".repeat(20_000),
        };
        let hello = Before::Hello(Hello {
            format: FORMAT,
            version: "1".into(),
            folder: None,
            sockets: vec![named],
        });
        before.say_with(&hello, &[socket.as_fd()]).unwrap();
        before.say(&Before::Go).unwrap();
        let until = time::uptime() + PATIENCE;
        assert_eq!(after.hear::<Before>(until).unwrap(), hello);
        let received = after.received();
        let same = TcpListener::from(received.into_iter().next().unwrap());
        assert_eq!(same.local_addr().unwrap(), socket.local_addr().unwrap());
        assert_eq!(after.hear::<Before>(until).unwrap(), Before::Go);
        drop(before);
        assert_eq!(
            after.hear::<Before>(until).unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
    }

    #[test]
    fn silence_noise_and_too_much_are_errors() {
        let (mut before, mut after) = pair();
        let silent = after.hear::<Before>(time::uptime()).unwrap_err();
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
        before.say(&"noise").unwrap();
        assert!(after.hear::<Before>(time::uptime() + PATIENCE).is_err());
        assert!(before.say(&"x".repeat(MAX_LINE)).is_err());
    }
}

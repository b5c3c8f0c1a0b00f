//! Frames over a socket between two processes of one gate: a length, a number that an answer repeats, and bytes.
//!
//! What was sent or read in part when a deadline passed is kept, so the next frame begins where it should.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::time;

/// One end of the socket.
pub(super) struct Frames {
    stream: UnixStream,
    read: Vec<u8>,
    unsent: Vec<u8>,
}

impl Frames {
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        Ok(Self {
            stream,
            read: Vec::new(),
            unsent: Vec::new(),
        })
    }

    /// Sends a frame, after what is left of those before.
    pub fn send(&mut self, number: u64, bytes: &[u8], within: Duration) -> io::Result<()> {
        let length = u32::try_from(bytes.len() + NUMBER).map_err(|_| io::ErrorKind::InvalidInput)?;
        if length > MAX_FRAME {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.unsent.extend_from_slice(&length.to_le_bytes());
        self.unsent.extend_from_slice(&number.to_le_bytes());
        self.unsent.extend_from_slice(bytes);
        let until = time::uptime() + within;
        let mut sent = 0;
        let result = loop {
            if sent == self.unsent.len() {
                break Ok(());
            }
            match left(until).and_then(|left| self.stream.set_write_timeout(Some(left))) {
                Ok(()) => {}
                Err(error) => break Err(error),
            }
            match self.stream.write(&self.unsent[sent..]) {
                Ok(0) => break Err(io::ErrorKind::BrokenPipe.into()),
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(late(error)),
            }
        };
        self.unsent.drain(..sent);
        result
    }

    /// The next frame; with no deadline it waits for as long as the other end is there.
    pub fn receive(&mut self, within: Option<Duration>) -> io::Result<(u64, Vec<u8>)> {
        let until = within.map(|within| time::uptime() + within);
        loop {
            if let Some(frame) = self.take()? {
                return Ok(frame);
            }
            self.stream.set_read_timeout(until.map(left).transpose()?)?;
            let mut step = [0; STEP];
            match self.stream.read(&mut step) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.read.extend_from_slice(&step[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(late(error)),
            }
        }
    }

    /// A whole frame of what was read, if there is one.
    fn take(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        let Some((length, rest)) = self.read.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length);
        if length > MAX_FRAME {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let Some(frame) = rest.get(..length as usize) else {
            return Ok(None);
        };
        let Some((number, bytes)) = frame.split_first_chunk::<NUMBER>() else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let taken = (u64::from_le_bytes(*number), bytes.to_vec());
        self.read.drain(..4 + length as usize);
        Ok(Some(taken))
    }
}

fn left(until: Duration) -> io::Result<Duration> {
    let left = until.saturating_sub(time::uptime());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

/// A deadline of the socket's is told as one.
fn late(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock {
        return io::ErrorKind::TimedOut.into();
    }
    error
}

/// Of a frame's number.
const NUMBER: usize = 8;
/// Above any snapshot: ten million who wait take some ten megabytes.
const MAX_FRAME: u32 = 1 << 30;
/// Read at a time.
const STEP: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn pair() -> (Frames, UnixStream) {
        let (one, other) = UnixStream::pair().unwrap();
        (Frames::new(one).unwrap(), other)
    }

    #[test]
    fn a_frame_that_came_in_part_is_read_on() {
        let (mut frames, mut other) = pair();
        let mut bytes = Vec::from(11_u32.to_le_bytes());
        bytes.extend_from_slice(&7_u64.to_le_bytes());
        bytes.extend_from_slice(b"abc");
        let (first, second) = bytes.split_at(9);
        other.write_all(first).unwrap();
        let late = frames.receive(Some(Duration::from_millis(1))).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        other.write_all(second).unwrap();
        assert_eq!(frames.receive(Some(PATIENCE)).unwrap(), (7, b"abc".to_vec()));
    }

    #[test]
    fn a_frame_that_went_in_part_is_sent_on() {
        let (mut frames, other) = pair();
        let mut other = Frames::new(other).unwrap();
        let large = vec![5; 4 * 1024 * 1024];
        let late = frames.send(1, &large, Duration::from_millis(1)).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        let reads = std::thread::spawn(move || [other.receive(None).unwrap(), other.receive(None).unwrap()]);
        frames.send(2, b"small", PATIENCE).unwrap();
        assert_eq!(reads.join().unwrap(), [(1, large), (2, b"small".to_vec())]);
    }

    #[test]
    fn what_is_too_long_or_too_short_is_no_frame() {
        for (length, error) in [
            (MAX_FRAME + 1, io::ErrorKind::InvalidData),
            (3, io::ErrorKind::InvalidData),
        ] {
            let (mut frames, mut other) = pair();
            other.write_all(&length.to_le_bytes()).unwrap();
            other.write_all(b"abc").unwrap();
            assert_eq!(frames.receive(Some(PATIENCE)).unwrap_err().kind(), error);
        }
        let (mut frames, other) = pair();
        drop(other);
        assert_eq!(frames.receive(None).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}

//! Log lines on their way to a file or a pipe: a bounded queue and a thread that writes. By hand, because `tracing-appender`
//! counts no lines that fail to be written, reopens no file, and flushes only when it is dropped.
//!
//! A caller never waits. A line that does not fit the queue, or cannot be written, is dropped and counted.

use std::io::{self, BufWriter, Write};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;

/// Most lines queued; with [`MAX_LINE`] this bounds the queue's memory at 16 MiB.
pub const MAX_QUEUED: usize = 2_048;

/// Longest line in bytes; the rest of a longer one is cut.
pub const MAX_LINE: usize = 8 * 1024;

enum Message {
    Line(Vec<u8>),
    Flush(SyncSender<()>),
    /// There is somewhere else to write to.
    Turn,
}

/// Where to write from now on, until the thread has taken it.
type Next = Arc<Mutex<Option<Box<dyn Write + Send>>>>;

/// A handle to the queue; cheap to clone. The thread ends with the last handle.
#[derive(Clone)]
pub struct Lines {
    queue: SyncSender<Message>,
    next: Next,
    dropped: Counter,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

impl Lines {
    /// Starts the thread that writes to `out`; `dropped` counts lines that could not be written.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(out: Box<dyn Write + Send>, dropped: Counter) -> io::Result<Self> {
        let (queue, received) = sync_channel(MAX_QUEUED);
        let (lost, next) = (dropped.clone(), Next::default());
        let turned = Arc::clone(&next);
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write_all(&received, out, &turned, &lost))?;
        Ok(Self { queue, next, dropped })
    }

    /// Has unwritten lines written to `out`, from any handle. Never waits.
    pub fn turn(&self, out: Box<dyn Write + Send>) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(out);
        // A full queue is seen to anyway.
        let _ = self.queue.try_send(Message::Turn);
    }

    /// An empty line to write into; it is queued when dropped.
    #[must_use]
    pub fn line(&self) -> Line<'_> {
        Line {
            lines: self,
            bytes: Vec::with_capacity(256),
        }
    }

    /// Queues a line without waiting; a line break at the end is added, control characters are escaped.
    pub fn send(&self, line: Vec<u8>) {
        if self.queue.try_send(Message::Line(one_line(line))).is_err() {
            self.dropped.inc();
        }
    }

    /// Waits until everything queued so far is written, at most `within`; false when it took longer.
    #[must_use]
    pub fn flush(&self, within: Duration) -> bool {
        let (done, wait) = sync_channel(1);
        // The queue may be full of lines for a pipe without a reader: the process must end all the same.
        self.queue.try_send(Message::Flush(done)).is_ok() && wait.recv_timeout(within).is_ok()
    }
}

/// One line being written; queued whole when dropped.
#[derive(Debug)]
pub struct Line<'a> {
    lines: &'a Lines,
    bytes: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = MAX_LINE.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if !self.bytes.is_empty() {
            self.lines.send(std::mem::take(&mut self.bytes));
        }
    }
}

/// SECURITY: a visitor's text must neither begin a new line nor control a terminal. Control characters become `\u00xx`, which
/// is valid in JSON too; the gate's own colours stay.
fn one_line(mut line: Vec<u8>) -> Vec<u8> {
    line.truncate(MAX_LINE);
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    if has_control(&line) {
        line = escaped(&line);
    }
    line.push(b'\n');
    line
}

fn has_control(line: &[u8]) -> bool {
    line.iter().any(|&byte| byte.is_ascii_control() || byte == C1_LEAD)
}

fn escaped(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len() + 32);
    let mut rest = line;
    while let [first, tail @ ..] = rest {
        let colour = colour_len(rest);
        let control = match (*first, tail.first()) {
            (C1_LEAD, Some(&next @ 0x80..=0x9f)) => Some((next, 2)),
            (byte, _) if byte.is_ascii_control() && colour == 0 => Some((byte, 1)),
            _ => None,
        };
        let taken = if let Some((code, len)) = control {
            out.extend_from_slice(format!("\\u{code:04x}").as_bytes());
            len
        } else {
            let len = colour.max(1);
            out.extend_from_slice(&rest[..len]);
            len
        };
        rest = &rest[taken..];
    }
    out
}

/// Length of the colour sequence (ECMA-48 SGR: `ESC [ digits and ; m`) that `bytes` begins with, or 0.
fn colour_len(bytes: &[u8]) -> usize {
    let Some(parameters) = bytes.strip_prefix(b"\x1b[") else {
        return 0;
    };
    let end = parameters.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';'));
    end.filter(|&end| parameters[end] == b'm').map_or(0, |end| end + 3)
}

/// First byte in UTF-8 of the control characters U+0080 to U+009F, which some terminals obey.
const C1_LEAD: u8 = 0xc2;

fn write_all(received: &Receiver<Message>, out: Box<dyn Write + Send>, turned: &Next, lost: &Counter) {
    let mut out = BufWriter::new(out);
    while let Some(message) = next(received, &mut out) {
        if let Some(other) = turned.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = out.flush();
            out = BufWriter::new(other);
        }
        match message {
            Message::Turn => {}
            Message::Line(line) => {
                if out.write_all(&line).is_err() {
                    lost.inc();
                }
            }
            Message::Flush(done) => {
                let _ = out.flush();
                let _ = done.try_send(());
            }
        }
    }
}

/// The next message; buffered lines are written before waiting for it. `None` when every handle is gone.
fn next(received: &Receiver<Message>, out: &mut impl Write) -> Option<Message> {
    match received.try_recv() {
        Ok(message) => Some(message),
        Err(TryRecvError::Empty) => {
            let _ = out.flush();
            received.recv().ok()
        }
        Err(TryRecvError::Disconnected) => {
            let _ = out.flush();
            None
        }
    }
}

#[cfg(test)]
pub mod tests {
    use std::sync::{Arc, Condvar, Mutex};

    use super::*;

    /// Somewhere to write that a test can read.
    #[derive(Clone, Default)]
    pub struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Sink {
        pub fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("unpoisoned").clone()).expect("UTF-8")
        }
    }

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("unpoisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A pipe without a reader until it is opened.
    #[derive(Clone, Default)]
    struct Stuck(Arc<(Mutex<bool>, Condvar)>);

    impl Stuck {
        fn open(&self) {
            *self.0.0.lock().expect("unpoisoned") = true;
            self.0.1.notify_all();
        }
    }

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let open = self.0.0.lock().expect("unpoisoned");
            drop(self.0.1.wait_while(open, |open| !*open).expect("unpoisoned"));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stuck_pipe_drops_and_counts_lines_and_holds_up_nobody() {
        let (pipe, dropped) = (Stuck::default(), Counter::default());
        let lines = Lines::start(Box::new(pipe.clone()), dropped.clone()).expect("a thread");
        let sent = 2 * MAX_QUEUED + 64;
        // Longer than the buffer, so that the thread is held by the pipe and not by its own buffer.
        (0..sent).for_each(|_| lines.send(vec![b'x'; MAX_LINE]));
        assert!(dropped.get() >= (sent - MAX_QUEUED - 2) as u64, "{}", dropped.get());
        assert!(!lines.flush(Duration::ZERO), "nothing can be written yet");
        pipe.open();
    }

    #[test]
    fn an_overlong_line_is_cut_and_ends_with_one_break() {
        let line = one_line(vec![b'x'; 3 * MAX_LINE]);
        assert_eq!(line.len(), MAX_LINE + 1);
        assert_eq!(one_line(b"a\nb\n".to_vec()), b"a\\u000ab\n");
    }

    #[test]
    fn colours_stay_and_every_other_control_is_written_out() {
        let line = "\u{1b}[31mred\u{1b}[0m \u{1b}[2J \u{9b}2J \u{7f} caf\u{e9} \u{a0}"
            .as_bytes()
            .to_vec();
        let wanted = "\u{1b}[31mred\u{1b}[0m \\u001b[2J \\u009b2J \\u007f caf\u{e9} \u{a0}\n";
        assert_eq!(String::from_utf8(one_line(line)).expect("UTF-8"), wanted);
    }
}

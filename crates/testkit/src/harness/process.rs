//! A child process with everything it starts, which ends when its guard is dropped.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A running program, leader of a process group of its own; dropping it kills the group.
pub struct Process {
    child: Child,
    lines: Receiver<String>,
    said: Arc<Mutex<String>>,
}

impl Process {
    /// Starts `command` with no standard input and both outputs read.
    pub fn start(command: &mut Command) -> Self {
        Self::start_with(Stdio::null(), command)
    }

    /// Starts `command` with both outputs read.
    pub fn start_with(input: Stdio, command: &mut Command) -> Self {
        let mut child = command
            .process_group(0)
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}; `scripts/test setup` installs it"));
        let (sender, lines) = channel();
        let said = Arc::new(Mutex::new(String::new()));
        let streams: [Box<dyn Read + Send>; 2] = [
            Box::new(child.stdout.take().expect("piped above")),
            Box::new(child.stderr.take().expect("piped above")),
        ];
        for stream in streams {
            let (sender, said) = (sender.clone(), Arc::clone(&said));
            // Reads to the end even without a listener: a full pipe would stop the child.
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    said.lock().expect("no reader panics").extend([line.as_str(), "\n"]);
                    drop(sender.send(line));
                }
            });
        }
        Self { child, lines, said }
    }

    /// The first line of output, not yet seen, from which `pick` takes something.
    pub fn line<T>(&self, what: &str, pick: impl Fn(&str) -> Option<T>) -> T {
        loop {
            let line = self.lines.recv_timeout(super::PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("no line with {what} ({error}), but:\n{}", self.said()));
            if let Some(picked) = pick(&line) {
                return picked;
            }
        }
    }

    /// Everything it has written so far, both outputs mixed.
    pub fn said(&self) -> String {
        self.said.lock().expect("no reader panics").clone()
    }

    /// Whether it runs still.
    pub fn alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks it to end (SIGTERM) and waits until it has; the exit code, or none when a signal ended it.
    pub fn stop(mut self) -> Option<i32> {
        let _ = kill_process(self.pid(), Signal::TERM);
        self.child.wait().ok().and_then(|status| status.code())
    }

    /// Sends a signal to the process and all it started.
    pub fn signal(&self, signal: Signal) {
        // Fails only when the whole group has ended, which is the goal.
        let _ = kill_process_group(self.pid(), signal);
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        drop(self.child.wait());
    }
}

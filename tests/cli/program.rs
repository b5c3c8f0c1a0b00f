//! The binary as a child process, both of its outputs kept apart, killed when the test drops it.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};

use crate::until;

pub struct Program {
    child: Child,
    out: Heard,
    err: Heard,
}

/// The results of a program that has ended.
#[derive(Debug)]
pub struct Ended {
    /// None when a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The output of a pipe so far.
struct Heard {
    text: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Program {
    /// Starts `ropeline` in `folder` with these arguments and none of the tests' environment.
    pub fn start<A: AsRef<str>>(folder: &Path, args: &[A]) -> Self {
        Self::spawn(Command::new(env!("CARGO_BIN_EXE_ropeline")), folder, args)
    }

    /// As [`Program::start`], from this path.
    pub fn start_as<A: AsRef<str>>(binary: &Path, folder: &Path, args: &[A]) -> Self {
        Self::spawn(Command::new(binary), folder, args)
    }

    /// As [`Program::start`]; writing past a limit on the size of files fails as on a full disk, and does not kill.
    pub fn start_on_small_disk<A: AsRef<str>>(folder: &Path, args: &[A]) -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_ropeline")]);
        Self::spawn(shell, folder, args)
    }

    /// As systemd does: with two sockets as descriptors 3 and 4, and with these variables. What it prints is lost.
    pub fn start_with_sockets<A: AsRef<str>>(folder: &Path, args: &[A], sockets: [OwnedFd; 2], vars: &[&str]) -> Self {
        let mut shell = Command::new("/bin/sh");
        let script = "exec 3<&0 4>&1 </dev/null >/dev/null; export LISTEN_PID=$$; exec env \"$@\"";
        shell
            .args(["-c", script, "sh"])
            .args(vars)
            .arg(env!("CARGO_BIN_EXE_ropeline"));
        let [third, fourth] = sockets;
        shell.stdin(third).stdout(fourth);
        Self::launch(shell, folder, args)
    }

    fn spawn<A: AsRef<str>>(mut command: Command, folder: &Path, args: &[A]) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        Self::launch(command, folder, args)
    }

    fn launch<A: AsRef<str>>(mut command: Command, folder: &Path, args: &[A]) -> Self {
        let mut child = command
            .args(args.iter().map(AsRef::as_ref))
            .current_dir(folder)
            .env_clear()
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built with the tests");
        let (out, err) = (child.stdout.take(), child.stderr.take().unwrap());
        Self {
            child,
            out: out.map_or_else(|| Heard::from(std::io::empty()), Heard::from),
            err: Heard::from(err),
        }
    }

    /// Runs a command to its end.
    pub fn run<A: AsRef<str>>(folder: &Path, args: &[A]) -> Ended {
        Self::start(folder, args).ended()
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it runs");
    }

    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// The exit code of a program that has ended; none when a signal ended it.
    pub fn code(&mut self) -> Option<i32> {
        self.child.try_wait().expect("a child")?.code()
    }

    pub fn out(&self) -> String {
        self.out.so_far()
    }

    pub fn err(&self) -> String {
        self.err.so_far()
    }

    /// Waits until it has ended by itself.
    pub fn ended(mut self) -> Ended {
        let status = until("the end of the program", || self.child.try_wait().expect("a child"));
        Ended {
            code: status.code(),
            out: self.out.all(),
            err: self.err.all(),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Fails only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Heard {
    fn from(mut pipe: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&text);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                heard
                    .lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        Self {
            text,
            reader: Some(reader),
        }
    }

    fn so_far(&self) -> String {
        self.text.lock().unwrap().clone()
    }

    fn all(&mut self) -> String {
        self.reader
            .take()
            .expect("asked once")
            .join()
            .expect("reading does not panic");
        self.so_far()
    }
}

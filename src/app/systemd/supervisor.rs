//! Notifications to the supervisor that started this process (`sd_notify(3)`).

use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A supervisor that expects notifications from this process; without one nothing is sent.
#[derive(Debug, Default)]
pub struct Supervisor {
    ear: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
}

impl Supervisor {
    /// The supervisor in the environment.
    pub fn find(env: impl Fn(&str) -> Option<String>) -> Self {
        let Some(name) = env("NOTIFY_SOCKET") else {
            return Self::default();
        };
        let ear = match ear(&name) {
            Ok(ear) => Some(ear),
            Err(error) => {
                tracing::warn!(%error, "NOTIFY_SOCKET cannot be used: nobody hears that this gate is ready");
                None
            }
        };
        let own = env("WATCHDOG_PID").is_none_or(|pid| pid == std::process::id().to_string());
        let micros = env("WATCHDOG_USEC").filter(|_| own).and_then(|text| text.parse().ok());
        Self {
            ear,
            watchdog: micros.filter(|micros| *micros > 0).map(Duration::from_micros),
        }
    }

    /// There is a supervisor to notify.
    #[must_use]
    pub fn hears(&self) -> bool {
        self.ear.is_some()
    }

    /// It serves.
    pub fn ready(&self) {
        self.say("READY=1");
    }

    /// It is about to end.
    pub fn stopping(&self) {
        self.say("STOPPING=1");
    }

    /// That process is the main one from here on: the unit is judged by it, and it may send notifications. Waits for a moment
    /// if the supervisor is slow to read; false if it does not.
    #[must_use]
    pub fn main_process(&self, pid: u32) -> bool {
        let Some((_, address)) = &self.ear else { return true };
        let words = format!("MAINPID={pid}");
        let told = UnixDatagram::unbound().and_then(|socket| {
            socket.set_write_timeout(Some(HEAR_WITHIN))?;
            socket.send_to_addr(words.as_bytes(), address)
        });
        if let Err(error) = &told {
            tracing::error!(%error, words, "the supervisor cannot be told: it takes the end of this process for the gate's");
        }
        told.is_ok()
    }

    /// It takes a new configuration; to be followed by [`Supervisor::ready`], also when the reload fails.
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec / 1_000);
        self.say(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
    }

    /// It is alive.
    pub fn alive(&self) {
        self.say("WATCHDOG=1");
    }

    /// How long it may stay silent between two [`Supervisor::alive`].
    #[must_use]
    pub fn watchdog(&self) -> Option<Duration> {
        self.watchdog.filter(|_| self.ear.is_some())
    }

    /// SECURITY: never waits, even if the other side reads nothing.
    fn say(&self, words: &str) {
        let Some((socket, address)) = &self.ear else { return };
        if let Err(error) = socket.send_to_addr(words.as_bytes(), address) {
            tracing::warn!(%error, words, "the supervisor cannot be told");
        }
    }
}

/// How long a notification that must not be lost waits.
const HEAR_WITHIN: Duration = Duration::from_secs(2);

/// A path, or a name without a file, which begins with `@`.
fn ear(name: &str) -> io::Result<(UnixDatagram, SocketAddr)> {
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None if name.starts_with('/') => SocketAddr::from_pathname(name)?,
        None => return Err(io::Error::other("it is neither a path nor an abstract name")),
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    Ok((socket, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(ear: &UnixDatagram) -> String {
        let mut bytes = [0; 256];
        let count = ear.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..count].to_vec()).unwrap()
    }

    fn supervisor(vars: &[(&str, &str)]) -> Supervisor {
        Supervisor::find(|name| {
            let found = vars.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn words_reach_a_file_and_an_abstract_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let file = (UnixDatagram::bind(&path).unwrap(), path.display().to_string());
        let name = format!("ropeline-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let hidden = (UnixDatagram::bind_addr(&address).unwrap(), format!("@{name}"));
        for (ear, name) in [file, hidden] {
            let supervisor = supervisor(&[("NOTIFY_SOCKET", &name)]);
            supervisor.ready();
            supervisor.reloading();
            supervisor.stopping();
            assert_eq!(heard(&ear), "READY=1");
            let reloading = heard(&ear);
            let micros = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap();
            assert!(micros.parse::<u64>().unwrap() > 0);
            assert_eq!(heard(&ear), "STOPPING=1");
            assert_eq!(supervisor.watchdog(), None);
        }
    }

    #[test]
    fn a_watchdog_is_kept_for_the_process_it_is_meant_for() {
        let (own, ear) = (std::process::id().to_string(), ("NOTIFY_SOCKET", "/nowhere"));
        let usec = ("WATCHDOG_USEC", "5000000");
        let asked = |vars: &[(&str, &str)]| supervisor(vars).watchdog();
        assert_eq!(asked(&[ear, usec]), Some(Duration::from_secs(5)));
        assert_eq!(
            asked(&[ear, usec, ("WATCHDOG_PID", &own)]),
            Some(Duration::from_secs(5))
        );
        assert_eq!(asked(&[ear, usec, ("WATCHDOG_PID", "1")]), None);
        assert_eq!(asked(&[ear, ("WATCHDOG_USEC", "0")]), None);
        assert_eq!(asked(&[usec]), None);
    }

    #[test]
    fn without_a_supervisor_nothing_is_said() {
        supervisor(&[]).ready();
        supervisor(&[("NOTIFY_SOCKET", "nowhere")]).ready();
        supervisor(&[("NOTIFY_SOCKET", "/nowhere/at/all")]).ready();
    }
}

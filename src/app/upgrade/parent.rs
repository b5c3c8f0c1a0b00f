//! The process that started this one. An upgrade ends this process; a supervisor that does not learn of the next one would end
//! it too, or start a second gate. Such supervisors are recognised here, and the upgrade is refused.

use std::fs;
use std::os::unix::process::parent_id;

/// The facts about it at the start: later a process whose parent has ended belongs to another.
#[derive(Clone, Debug)]
pub struct Parent {
    own: u32,
    /// 0 where the parent is outside of the container.
    pid: u32,
    /// The name of the parent's program.
    name: Option<String>,
    /// The process that systemd has started, if this one descends from one.
    by_systemd: Option<u32>,
}

impl Parent {
    /// Of this process, which was started in the usual way. To be called at the start.
    pub fn find(env: impl Fn(&str) -> Option<String>) -> Self {
        let parent = parent_id();
        let name = fs::read_to_string(format!("/proc/{parent}/comm")).ok();
        Self {
            own: std::process::id(),
            pid: parent,
            name: name.map(|name| name.trim().to_owned()),
            by_systemd: env("SYSTEMD_EXEC_PID").and_then(|pid| pid.parse().ok()),
        }
    }

    /// Why this process is not upgraded in place; `None` where no supervisor watches it, or where it hears of the next process.
    pub fn refusal(&self, is_told: bool) -> Option<&'static str> {
        let name = self.name.as_deref().unwrap_or_default();
        match () {
            () if self.own == 1 => Some(CONTAINER),
            () if is_told => None,
            () if self.by_systemd == Some(self.own) || name == "systemd" => Some(UNIT),
            () if SUPERVISORS.contains(&name) => Some(SUPERVISOR),
            () if INITS.contains(&name) || self.is_first() => Some(CONTAINER),
            () => None,
        }
    }

    /// The parent is the first process of a container, or one outside of it. On a host, a process whose parent is
    /// the first one is one whose parent went into the background.
    fn is_first(&self) -> bool {
        let of_machine = |name: &str| MACHINES.contains(&name);
        self.pid == 0 || (self.pid == 1 && !self.name.as_deref().is_some_and(of_machine))
    }
}

const CONTAINER: &str = "this gate is the main process of its container, which ends with it: replace the container instead, one after \
     the other behind a load balancer (docs/guides/operations.md#upgrade)";
const UNIT: &str = "systemd watches this process, and when it ends takes the next one with it: the unit must be Type=notify, which \
     follows an upgrade (docs/guides/operations.md#upgrade); until then restart the gate";
const SUPERVISOR: &str = "what has started this gate watches this process, and starts another gate beside the next one when it ends: \
     restart the gate instead (docs/guides/operations.md#upgrade)";

/// First processes of containers that end when their child does.
const INITS: [&str; 7] = [
    "tini",
    "tini-static",
    "docker-init",
    "dumb-init",
    "catatonit",
    "pause",
    "s6-svscan",
];
/// Programs that start a process anew when it ends, and do not hear of another that takes its place.
const SUPERVISORS: [&str; 5] = ["supervisord", "runsv", "s6-supervise", "supervise", "dinit"];
/// First processes of machines.
const MACHINES: [&str; 2] = ["init", "openrc-init"];

#[cfg(test)]
mod tests {
    use super::*;

    fn started(own: u32, (parent, name): (u32, &str), by_systemd: Option<u32>) -> Parent {
        Parent {
            own,
            pid: parent,
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            by_systemd,
        }
    }

    #[test]
    fn whoever_watches_this_process_and_hears_of_no_other_is_told_apart() {
        for (starter, refusal) in [
            (started(1, (0, ""), None), Some(CONTAINER)),
            (started(7, (0, ""), None), Some(CONTAINER)),
            (started(7, (1, "tini"), None), Some(CONTAINER)),
            (started(7, (6, "tini"), None), Some(CONTAINER)),
            (started(7, (1, "entrypoint.sh"), None), Some(CONTAINER)),
            (started(7, (1, ""), None), Some(CONTAINER)),
            (started(7, (1, "init"), None), None),
            (started(7, (1, "systemd"), Some(7)), Some(UNIT)),
            (started(7, (3, "systemd"), None), Some(UNIT)),
            (started(7, (6, "sh"), Some(7)), Some(UNIT)),
            (started(7, (6, "bash"), Some(3)), None),
            (started(7, (6, "runsv"), None), Some(SUPERVISOR)),
            (started(7, (6, "supervisord"), None), Some(SUPERVISOR)),
            (started(7, (6, "bash"), None), None),
            (started(7, (6, ""), None), None),
        ] {
            assert_eq!(starter.refusal(false), refusal, "{starter:?}");
            let told = Some(CONTAINER).filter(|_| starter.own == 1);
            assert_eq!(starter.refusal(true), told, "{starter:?}");
        }
    }

    #[test]
    fn the_parent_of_this_process_is_known() {
        let starter = Parent::find(|_| Some("12".to_owned()));
        assert_eq!((starter.own, starter.by_systemd), (std::process::id(), Some(12)));
        assert!(starter.pid == 0 || starter.name.is_some_and(|name| !name.is_empty()));
    }
}

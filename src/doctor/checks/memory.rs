//! Whether the machine, or the group of processes that the gate is in, has the memory that `max_connections` can need.
//!
//! The figures are those of docs/explanation/performance.md, "By size". The line itself takes next to nothing: some 5 MB for ten
//! million waiting. Connections take it, and the bodies of requests.

use std::fs;
use std::path::Path;

use crate::doctor::check::Checking;
use crate::doctor::finding::Finding;
use crate::doctor::look::Look;
use crate::doctor::subject::{Load, Subject};

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    Box::pin(async { vec![judge(look.subject, available())] })
}

fn judge(subject: &Subject, has: Option<u64>) -> Finding {
    let needs = needed(&subject.load);
    let most = subject.load.max_connections;
    let needed = format!(
        "{most} connections and the line behind them can need {}",
        megabytes(needs)
    );
    match has {
        None => Finding::fine(format!("{needed}; what there is cannot be seen here.")),
        Some(has) if has >= needs => Finding::fine(format!("{needed}, and there are {}.", megabytes(has))),
        Some(has) => {
            let wrong = format!("{needed}, and there are {}.", megabytes(has));
            let fits = has.saturating_sub(FIXED + subject.load.buffer_memory) / of_connection(&subject.load);
            let right = format!("at most {fits}; or more memory (MemoryMax of the unit, the limit of the container)");
            let finding = if has < needs / 4 {
                Finding::fault(wrong)
            } else {
                Finding::warning(wrong)
            };
            finding.at(&subject.places, "server.max_connections", right)
        }
    }
}

/// Bytes that the gate can come to need.
fn needed(load: &Load) -> u64 {
    let connections = u64::try_from(load.max_connections).unwrap_or(u64::MAX);
    connections
        .saturating_mul(of_connection(load))
        .saturating_add(FIXED + load.buffer_memory)
}

/// Bytes of a visitor who waits.
fn of_connection(load: &Load) -> u64 {
    match (load.has_tls, load.has_http2) {
        (true, true) => 49_000,
        (true, false) => 21_000,
        (false, _) => 5_600,
    }
}

/// Bytes of an idle gate, and of ten million in line.
const FIXED: u64 = 64_000_000;

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}

/// Bytes that this process may have: of the machine, or of its control group and those above it.
fn available() -> Option<u64> {
    // By a system call: a unit with ProcSubset=pid has no /proc/meminfo.
    let machine = rustix::system::sysinfo();
    let machine = u64::from(machine.mem_unit).checked_mul(machine.totalram);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(group).flat_map(|(root, path, file)| {
        let folder = Path::new(root).join(path.trim_start_matches('/'));
        let within = folder.ancestors().take_while(move |above| above.starts_with(root));
        within.map(|above| above.join(file)).collect::<Vec<_>>()
    });
    let limits = limits.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    limits.chain(machine).min()
}

/// Where the limit of a line of `/proc/self/cgroup` is written: of version 2, and of the memory controller of version 1.
fn group(line: &str) -> Option<(&'static str, &str, &'static str)> {
    let mut parts = line.splitn(3, ':');
    let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    match (number, controllers) {
        ("0", "") => Some(("/sys/fs/cgroup", path, "memory.max")),
        _ if controllers.split(',').any(|one| one == "memory") => {
            Some(("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_own_words_are_read() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20), "of this machine");
        assert_eq!(
            group("0::/system.slice/a"),
            Some(("/sys/fs/cgroup", "/system.slice/a", "memory.max"))
        );
        let version_1 = group("4:cpu,memory:/b");
        assert_eq!(
            version_1,
            Some(("/sys/fs/cgroup/memory", "/b", "memory.limit_in_bytes"))
        );
        assert_eq!(group("3:cpuset:/"), None);
        assert!(available().is_some_and(|bytes| bytes > 100_000_000));
    }

    #[test]
    fn what_a_line_needs_grows_with_its_connections() {
        let load = Load {
            max_connections: 100_000,
            has_tls: false,
            has_http2: false,
            buffer_memory: 0,
        };
        assert_eq!(needed(&load), 624_000_000);
        let over_tls = Load {
            has_tls: true,
            has_http2: true,
            ..load
        };
        assert_eq!(needed(&over_tls), 4_964_000_000);
    }
}

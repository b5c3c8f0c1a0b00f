//! The doctor: what is wrong with a gate, its shop, its store and its machine, and what to write where.
//!
//! Each check is a file in `checks` and a line in [`CHECKS`]. A check looks at one thing and returns its findings, the good ones too.
//! Checks run side by side, each within [`WITHIN`]; what several need (the shop's answers, the store's) is asked for once. What only
//! a running gate knows comes in a [`Running`].

mod check;
mod checks;
mod finding;
mod look;
mod note;
mod subject;

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use look::Look;

pub use checks::CHECKS;
pub use checks::back_door::refuses;
pub use checks::open_files::needed as descriptors_needed;
pub use finding::{Finding, Severity, sorted};
pub use note::Note;
pub use subject::{Gate, Load, Running, SharedStore, Shop, Subject};

/// How long one check may take, and so all of them.
pub const WITHIN: Duration = Duration::from_secs(7);

/// Runs every check, on a runtime of its own that is left behind where something in it hangs. Blocks, for [`WITHIN`] at most.
#[must_use]
pub fn examine(subject: &Subject, running: Option<&Running>) -> Vec<Finding> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return vec![Finding::fault(format!("The system gives no threads: {error}."))],
    };
    let findings = runtime.block_on(all(Look::new(subject, running)));
    // A look-up of a name may take the system much longer.
    runtime.shutdown_background();
    findings
}

async fn all(look: Look<'_>) -> Vec<Finding> {
    let run = CHECKS.iter().map(async |check| {
        let found = timeout(WITHIN, (check.run)(&look)).await;
        let late = || {
            vec![Finding::fault(format!(
                "This took longer than {} s, and was given up.",
                WITHIN.as_secs()
            ))]
        };
        let mut found = found.unwrap_or_else(|_| late());
        for finding in &mut found {
            check.name.clone_into(&mut finding.check);
        }
        found
    });
    sorted(join_all(run).await.into_iter().flatten().collect())
}

/// The findings of a file and those of the gate that runs, as one list. Of each check the worse counts, and the gate's where both are
/// as bad. Of a check that looks at the process, only the gate's counts.
#[must_use]
pub fn merged(of_file: &[Finding], of_gate: &[Finding]) -> Vec<Finding> {
    let worst = |findings: &[Finding], check: &str| {
        let of_check = findings.iter().filter(|finding| finding.check == check);
        of_check.map(|finding| finding.severity).min()
    };
    let is_of_process = |check: &str| CHECKS.iter().any(|one| one.name == check && one.of_process);
    let gate_counts = |check: &str| match (worst(of_file, check), worst(of_gate, check)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(file), Some(gate)) => is_of_process(check) || gate <= file,
    };
    let file = of_file.iter().filter(|finding| !gate_counts(&finding.check)).cloned();
    let gate = of_gate.iter().filter(|finding| gate_counts(&finding.check)).cloned();
    sorted(file.chain(gate).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(check: &str, severity: Severity, message: &str) -> Finding {
        Finding {
            check: check.to_owned(),
            severity,
            ..Finding::fine(message)
        }
    }

    #[test]
    fn of_two_views_the_worse_counts_and_of_the_process_the_gates() {
        use Severity::{Fault, Fine, Warning};
        let file = [
            finding("shop", Fine, "file"),
            finding("certificates", Fault, "file"),
            finding("store", Fine, "file"),
            finding("open-files", Fault, "file"),
            finding("file", Warning, "file"),
        ];
        let gate = [
            finding("shop", Fault, "gate"),
            finding("certificates", Fine, "gate"),
            finding("store", Fine, "gate"),
            finding("open-files", Fine, "gate"),
            finding("keys", Warning, "gate"),
        ];
        let merged = merged(&file, &gate);
        let told: Vec<_> = merged
            .iter()
            .map(|one| (one.check.as_str(), one.message.as_str()))
            .collect();
        let expected = [
            ("certificates", "file"),
            ("shop", "gate"),
            ("file", "file"),
            ("keys", "gate"),
            ("store", "gate"),
            ("open-files", "gate"),
        ];
        assert_eq!(told, expected);
    }

    /// The certificate's file is a pipe that nobody writes to. The reader is left behind.
    #[test]
    fn a_disk_that_hangs_keeps_its_own_check_alone() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("shop.pem");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from(0o600),
            0,
        )
        .unwrap();
        let (done, findings) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let files = crate::tls::Files {
                certificate: pipe.clone(),
                key: pipe,
            };
            let subject = Subject {
                certificates: vec![files],
                ..Subject::default()
            };
            let findings = examine(&subject, None);
            // The next examination waits for the same reader, and takes no thread for that.
            let _ = done.send((findings, subject.reading.try_lock().is_err()));
        });
        let (findings, is_held) = findings.recv_timeout(3 * WITHIN).expect("the other checks end");
        let of = |check: &str| findings.iter().find(|finding| finding.check == check).unwrap();
        assert!(of("certificates").message.contains("took longer"), "{findings:?}");
        assert_eq!(of("store").severity, Severity::Fine);
        assert!(is_held);
    }

    #[test]
    fn every_check_has_a_name_of_its_own() {
        let mut names: Vec<_> = CHECKS.iter().map(|check| check.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CHECKS.len());
    }
}

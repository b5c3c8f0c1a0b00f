//! `ropeline doctor`: what is wrong before a sale, and what to write where.
//!
//! It examines the file and this machine by itself, asks a running gate for what only that knows, and merges both.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use clap::Args;

use crate::admin::api;
use crate::app::subject::subject;
use crate::config::{self, Config};
use crate::doctor::{self, Finding, Severity, Subject};

use super::config_file::{ConfigFile, of_environment};
use super::output::{EXIT_CONFIG, Format, plain, say};
use super::probe;
use super::remote::{AdminArgs, Failure, parsed};

/// Arguments of `ropeline doctor`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    #[command(flatten)]
    config: ConfigFile,
    #[command(flatten)]
    admin: AdminArgs,
    /// An address of the shop that visitors might find; it must not answer, or must refuse. Run this where visitors are
    #[arg(long, value_name = "URL")]
    back_door: Option<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  ropeline doctor                                 the config.toml in this folder, and the gate that runs with it
  ropeline doctor /etc/ropeline/config.toml
  ropeline doctor --admin http://10.0.0.5:9925 --token-file token
  ropeline doctor --back-door http://203.0.113.9:3000
  ropeline doctor --format json | jq -r '.findings[] | select(.severity == \"fault\").message'

It asks the shop for a page and the store for its settings, changes nothing, and ends within ten seconds. With FILE it
asks the gate at that file's admin_listen, unless --admin says otherwise. docs/guides/doctor.md has every finding.

Exit codes: 0 no fault (warnings may be printed), 78 a fault";

/// Runs `ropeline doctor`.
#[must_use]
pub fn run(args: &DoctorArgs) -> ExitCode {
    let findings = within(LONGEST, args.clone());
    match args.format {
        Format::Text => say(&text(&findings)),
        Format::Json => {
            let told = serde_json::to_string_pretty(&api::Doctor {
                findings: findings.clone(),
            });
            // Texts and numbers: nothing that JSON cannot hold.
            say(&format!("{}\n", told.unwrap_or_default()));
        }
    }
    if findings.iter().any(|finding| finding.severity == Severity::Fault) {
        ExitCode::from(EXIT_CONFIG)
    } else {
        ExitCode::SUCCESS
    }
}

/// The findings; a part that hangs, as a file on a disk that is away, is left behind.
fn within(longest: Duration, args: DoctorArgs) -> Vec<Finding> {
    let (done, findings) = sync_channel(1);
    thread::spawn(move || done.send(found(&args)));
    let late = || {
        Finding::fault(format!(
            "No answer within {} s: a file or the system hangs.",
            longest.as_secs()
        ))
    };
    findings.recv_timeout(longest).unwrap_or_else(|_| vec![late()])
}

fn found(args: &DoctorArgs) -> Vec<Finding> {
    let file = args.config.or_present();
    let (mut findings, config) = file.map(of_file).unwrap_or_default();
    let examined = config.as_ref().map(subject).map(Arc::new);
    let by_file = examined.map(|subject: Arc<Subject>| thread::spawn(move || doctor::examine(&subject, None)));
    let (by_gate, back_door) = asked(args, config.as_ref());
    let by_gate = by_gate.unwrap_or_else(|failure| vec![no_gate(file, &failure)]);
    if let Some(thread) = by_file {
        let fault = |_| vec![Finding::of_fault("the file and this machine")];
        findings.extend(thread.join().unwrap_or_else(fault));
    }
    // What was asked for is answered, whatever the gate has found by itself.
    let all = doctor::merged(&findings, &by_gate).into_iter().chain(back_door);
    doctor::sorted(all.collect())
}

/// The file's own mistakes, and what it says where it has none.
fn of_file(file: &Path) -> (Vec<Finding>, Option<Config>) {
    let report = config::read(Some(file), &of_environment());
    let path = file.display().to_string();
    let mistakes: Vec<Finding> = report
        .mistakes()
        .iter()
        .map(|mistake| Finding::of_mistake(&path, mistake))
        .collect();
    match report.finish() {
        Ok((config, _)) => (Vec::new(), Some(config)),
        Err(_) => (mistakes, None),
    }
}

/// What a running gate says, and what answers at the address that visitors might find.
fn asked(args: &DoctorArgs, config: Option<&Config>) -> (Result<Vec<Finding>, Failure>, Option<Finding>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return (Err(Failure::Local(error.to_string())), None),
    };
    let both = runtime.block_on(async { tokio::join!(of_gate(args, config), back_door(args.back_door.as_deref())) });
    // A look-up of a name may take the system much longer.
    runtime.shutdown_background();
    both
}

async fn of_gate(args: &DoctorArgs, config: Option<&Config>) -> Result<Vec<Finding>, Failure> {
    let client = args.admin.client_of(config.map(|config| &config.admin))?;
    let answer = tokio::time::timeout(GATE_WITHIN, client.get("/api/v1/doctor")).await;
    let answer = answer.unwrap_or_else(|_| Err(Failure::Foreign("the gate does not answer in time".to_owned())))?;
    Ok(parsed::<api::Doctor>(&answer)?.findings)
}

async fn back_door(url: Option<&str>) -> Option<Finding> {
    let url = url?;
    let tried = tokio::time::timeout(GATE_WITHIN, probe::answers(url)).await;
    let finding = match tried {
        Ok(Ok(Some(answer))) => Finding::fault(format!("The shop answers at {url} without the gate ({answer}).")).by(
            format!("ropeline doctor --back-door {url}"),
            "once more, when only the gates reach it (docs/guides/back-door.md)",
        ),
        Ok(Ok(None)) | Err(_) => Finding::fine(format!("Nothing answers at {url} without the gate, or it refuses.")),
        Ok(Err(failure)) => Finding::fault(format!("{failure}.")),
    };
    Some(Finding {
        check: "back-door".to_owned(),
        ..finding
    })
}

/// No gate has been asked: it may not run yet.
fn no_gate(file: Option<&Path>, failure: &Failure) -> Finding {
    let (message, command, remedy) = match failure {
        Failure::Absent { at, .. } => (
            format!("No gate answers at {at}, so what only a running gate knows is missing."),
            file.map_or_else(
                || "ropeline run".to_owned(),
                |file| format!("ropeline run {}", file.display()),
            ),
            "start it; or name its admin listener with --admin",
        ),
        Failure::Token(_) => (
            "The gate asks for a token, so what only a running gate knows is missing.".to_owned(),
            "ropeline doctor --token-file FILE".to_owned(),
            "a file with an admin token; one that may only read will do",
        ),
        other => (
            format!("The gate does not say how it is: {other}."),
            "ropeline gates".to_owned(),
            "whether it answers at all",
        ),
    };
    Finding {
        check: "gate".to_owned(),
        ..Finding::warning(message).by(command, remedy)
    }
}

fn text(findings: &[Finding]) -> String {
    let lines = findings
        .iter()
        .flat_map(|finding| finding.lines().lines().map(plain).collect::<Vec<_>>());
    let mut text: String = lines.map(|line| line + "\n").collect();
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let [faults, warnings, fine] = [Severity::Fault, Severity::Warning, Severity::Fine].map(count);
    let several = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (faults, warnings) = (several(faults, "fault"), several(warnings, "warning"));
    let _ = writeln!(text, "{faults}, {warnings}, {fine} fine");
    text
}

/// The whole may take ten seconds.
const LONGEST: Duration = Duration::from_millis(9_500);

/// A gate examines for as long as this command does, and its answer has a way.
const GATE_WITHIN: Duration = Duration::from_secs(9);

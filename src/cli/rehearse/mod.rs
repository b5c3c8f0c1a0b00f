//! `ropeline rehearse`: fills a room of running gates with virtual visitors, so that people can practise getting in.
//!
//! It begins the rehearsal at the admin listener, renews it every few seconds, and signs the mark that its visitors show with
//! the gates' own keys. At its end, in any case, every virtual visitor is gone: at its word, or by the room itself once
//! the lease is not renewed.

mod lease;
mod options;
pub(super) mod place;
mod pool;
pub(super) mod profile;
mod show;
mod stage;
mod tally;
mod target;
mod visitor;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;

use self::lease::Lease;
pub use self::options::RehearseArgs;
use self::profile::crowd;
use self::show::{Report, progress};
use self::stage::Stage;
use self::target::Target;
use super::output::say;
use super::remote::{self, Failure, path_of};
use crate::simulate::Scripted;
use crate::time;

/// Runs `ropeline rehearse`.
#[must_use]
pub fn run(args: &RehearseArgs) -> ExitCode {
    remote::run_to_code("rehearse", execute(args))
}

async fn execute(args: &RehearseArgs) -> Result<ExitCode, Failure> {
    let client = args.admin.client()?;
    if args.end {
        let body = json!({ "reason": args.reason });
        client.post(&path_of(&[&args.room, "rehearsal", "end"]), &body).await?;
        say(&format!(
            "the rehearsal in {} is over: every virtual visitor is gone\n",
            args.room
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let profile = args.profile()?;
    let target = Target::of(args, &client).await?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let crowd = crowd(args.visitors, &profile, seed, &target.settings);
    let stage = Stage::new(target, crowd.len())?.at_a_gate(crowd.len()).await?;
    let stage = Arc::new(stage);
    let terminate = signal(SignalKind::terminate())
        .map_err(|error| Failure::Local(format!("signals cannot be caught: {error}")))?;
    let lease = Lease::begin(args, client, stage.id.clone()).await?;
    let began = time::wall();
    let done = rehearse(args, &lease, (&stage, terminate), crowd).await;
    let ended = lease.end().await;
    let report = Report {
        args,
        profile: &profile,
        seed,
        began,
        stage: &stage,
    };
    say(&report.write(done.is_ok()));
    done?;
    ended?;
    Ok(match stage.why() {
        None => ExitCode::SUCCESS,
        Some(why) => {
            eprintln!("ropeline rehearse: {why}");
            ExitCode::FAILURE
        }
    })
}

/// Until all have had their visit, the time is over, or Ctrl-C or SIGTERM ends it.
async fn rehearse(
    args: &RehearseArgs,
    lease: &Lease,
    (stage, mut terminate): (&Arc<Stage>, Signal),
    crowd: Vec<Scripted>,
) -> Result<(), Failure> {
    stage.is_known().await?;
    stage.begins();
    let mut visits = JoinSet::new();
    for (at, part) in crowd.into_iter().enumerate() {
        visits.spawn(visitor::live(Arc::clone(stage), at, part));
    }
    let terminal = io::stderr().is_terminal();
    let mut ticks = tokio::time::interval(if terminal { REDRAWN } else { PRINTED });
    let all = async { while visits.join_next().await.is_some() {} };
    let ends = tokio::time::sleep(Duration::from_millis(args.length_ms));
    let (keep, interrupt) = (lease.keep(stage), tokio::signal::ctrl_c());
    tokio::pin!(all, ends, keep, interrupt);
    loop {
        tokio::select! {
            _ = ticks.tick() => show(stage, terminal),
            () = &mut all => break,
            () = &mut ends => break,
            _ = &mut interrupt => break,
            _ = terminate.recv() => break,
            () = stage.over() => break,
            () = &mut keep => break,
        }
    }
    stage.stop(None);
    show(stage, terminal);
    if terminal {
        eprintln!();
    }
    Ok(())
}

/// A terminal has one line, which is drawn anew.
fn show(stage: &Stage, terminal: bool) {
    let (before, after) = if terminal { ("\r", "\x1b[K") } else { ("", "\n") };
    let mut err = io::stderr().lock();
    let _ = write!(err, "{before}{}{after}", progress(stage)).and_then(|()| err.flush());
}

const REDRAWN: Duration = Duration::from_secs(1);
const PRINTED: Duration = Duration::from_secs(10);

//! `ropeline rehearse`: fills a room of running gates with virtual visitors, so that people can practise getting in.
//!
//! It begins the rehearsal at the admin listener, renews it every few seconds, and signs the mark that its visitors show with
//! the gates' own keys. At its end, in any case, every virtual visitor is gone: at its word, or by the room itself once
//! the lease is not renewed.

mod known;
mod lease;
mod options;
pub(super) mod persona;
pub(super) mod place;
mod pool;
pub(super) mod profile;
mod show;
mod stage;
mod tally;
mod target;
mod visitor;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use self::known::Known;
use self::lease::Lease;
pub use self::options::RehearseArgs;
use self::persona::{Persona, crowd};
use self::stage::Stage;
use self::target::Target;
use super::output::say;
use super::remote::{self, Failure, encoded};
use crate::time;

/// Runs `ropeline rehearse`.
#[must_use]
pub fn run(args: &RehearseArgs) -> ExitCode {
    remote::run_to_code("rehearse", execute(args))
}

async fn execute(args: &RehearseArgs) -> Result<ExitCode, Failure> {
    let client = args.admin.client()?;
    let path = format!("/api/v1/rooms/{}/rehearsal", encoded(&args.room));
    if args.end {
        let body = json!({ "reason": args.reason });
        client.post(&format!("{path}/end"), &body).await?;
        say(&format!(
            "the rehearsal in {} is over: every virtual visitor is gone\n",
            args.room
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let profile = args.profile()?;
    let known = Known::of(args, &client).await?;
    let mut target = Target::of(args, &known)?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let crowd = crowd(args.visitors, &profile, seed, target.claim_deadline);
    let crowd: Vec<Persona> = crowd.into_iter().map(|persona| target.awake(persona)).collect();
    let lease = Lease::new(args, client, path, known)?;
    let stage = Arc::new(target.gate(&lease, args).await?);
    lease.begin().await?;
    let began = time::wall();
    let done = rehearse(args, &lease, &stage, crowd).await;
    let ended = lease.end().await;
    let told = show::Told {
        args,
        profile: &profile,
        seed,
        began,
        stage: &stage,
    };
    say(&told.report(done.is_ok()));
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

/// Until all have had their visit, the time is over, or a signal ends it.
async fn rehearse(args: &RehearseArgs, lease: &Lease, stage: &Arc<Stage>, crowd: Vec<Persona>) -> Result<(), Failure> {
    lease.is_known(stage).await?;
    stage.begins();
    let mut visits = JoinSet::new();
    for (at, persona) in crowd.into_iter().enumerate() {
        visits.spawn(visitor::live(Arc::clone(stage), at, persona));
    }
    let mut ticks = tokio::time::interval(EVERY);
    let mut shown = show::Progress::new(io::stderr().is_terminal());
    let mut signals = Signals::catch()?;
    let ends = tokio::time::sleep(Duration::from_millis(args.length_ms()?));
    tokio::pin!(ends);
    let all = async { while visits.join_next().await.is_some() {} };
    let keep = lease.keep(stage);
    tokio::pin!(all, keep);
    loop {
        tokio::select! {
            _ = ticks.tick() => shown.draw(stage),
            () = &mut all => break,
            () = &mut ends => break,
            () = signals.any() => break,
            () = stage.over() => break,
            () = &mut keep => break,
        }
    }
    stage.stop(None);
    shown.draw(stage);
    shown.end();
    Ok(())
}

/// Ctrl-C, or a supervisor's word to end.
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn catch() -> Result<Self, Failure> {
        use tokio::signal::unix::{SignalKind, signal};
        let caught = |kind| signal(kind).map_err(|error| Failure::Local(format!("signals cannot be caught: {error}")));
        Ok(Self {
            terminate: caught(SignalKind::terminate())?,
            interrupt: caught(SignalKind::interrupt())?,
        })
    }

    async fn any(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

const EVERY: Duration = Duration::from_secs(1);

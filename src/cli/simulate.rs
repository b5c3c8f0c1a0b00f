//! `ropeline simulate`: the operator's own room, run through a sale on virtual time.

mod like;
mod notes;
mod replay;
mod room;
pub(super) mod words;

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::config::{Config, Overrides};
use crate::room::{MAX_GATES, Wall};
use crate::simulate::{
    Arrive, Claiming, Crowd, MAX_VISITORS, Outcome, Plan, Progress, Scripted, Stays, Upstream, html, simulate_all, text,
};
use crate::time;

use self::replay::Replay;
use self::room::{RETURN_WAIT_MS, lanes, longest_hold, other_way, room, start};
use self::words::{Later, Level, ShareOf, change, duration, later, level, per_sec, share, share_of};
use super::config_file::ConfigFile;
use super::output::{EXIT_CONFIG, ReportFormat, say};

/// Arguments of `ropeline simulate`.
#[derive(Debug, Args)]
#[command(after_help = "\
No gate is started and no request is sent: the rules of the line are run with virtual visitors, as fast as the machine can.
The same configuration, options and seed give the same figures. Without FILE and config.toml, the default values are used.

Examples:
  ropeline simulate --visitors 20000
  ropeline simulate shop.toml --room sale --visitors 1000000 --arrive spike --over 30min --stay 3min
  ropeline simulate --visitors 5000 --change 20min:capacity=300 --stay-then 30min:6min
  ropeline simulate --visitors 5000 --leave 20% --no-show 10% --bots 30% --format json
  ropeline simulate --replay access.log --change 1s:capacity=300 --format html --output sale.html
  ropeline simulate --visitors 5000 --shop 60/s --shop-then 20min:30/s
  ropeline simulate --visitors 5000 --hidden 40% --phones 20% --away 3min
  ropeline simulate --visitors 1000000 --gates 1,10,100
  ropeline simulate --visitors 5000 --pause 15s --pay 10% --polling 20% --silent 20min:90s --stampede 30min

Exit codes: 0 done, 64 usage, 73 the file cannot be written, 78 the configuration has mistakes")]
pub struct SimulateArgs {
    #[command(flatten)]
    config: ConfigFile,
    /// The room; default: the first
    #[arg(long, value_name = "NAME")]
    room: Option<String>,
    /// Number of visitors; a million take some 150 MB of memory
    #[arg(long, value_name = "COUNT", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_VISITORS)))]
    visitors: u32,
    /// Pattern of arrivals: spike, wave, steady, ramp, bursts, instant
    #[arg(long, value_name = "PATTERN", default_value = "spike")]
    arrive: Arrive,
    /// Time from the first arrival to the last
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = duration)]
    over: u64,
    /// Arrivals from this access log, one for each address and browser: the gate's own (JSON), or in the common or combined format
    #[arg(long, value_name = "FILE", conflicts_with_all = ["visitors", "arrive", "over"])]
    replay: Option<PathBuf>,
    /// The crowd of a rehearsal, from its JSON report: the same visitors, who behave by the same rules
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "visitors", "arrive", "over", "replay", "bots", "tabs", "stay", "stay_then", "pages", "leave", "patience", "sleep", "late",
        "no_show", "finish", "hidden", "phones", "away", "pause", "pay", "polling",
    ])]
    like: Option<PathBuf>,
    /// Mean time that a visitor is busy inside
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = duration)]
    stay: u64,
    /// Mean time inside from a given time on, such as 30min:5min; repeatable
    #[arg(long, value_name = "WHEN:TIME", value_parser = later)]
    stay_then: Vec<Later>,
    /// Mean number of requests in a visit
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pages: u32,
    /// Median time between two requests of a visitor, log-normal as people pause; their number follows from --stay; default: even
    /// pauses, by --pages
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "pages")]
    pause: Option<u64>,
    /// Share of visitors who pay on another host for 1 to 5 minutes before their last request
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = share, requires = "pause")]
    pay: u16,
    /// Share of visitors who leave a tab open that asks every 20 s, until their session is over
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = share, requires = "pause")]
    polling: u16,
    /// The shop answers nothing from a given time on, for so long, such as 20min:90s; repeatable
    #[arg(long, value_name = "WHEN:TIME", value_parser = later)]
    silent: Vec<Later>,
    /// All visitors who have been let in, and whose session is not over, ask within 5 s at this time; repeatable
    #[arg(long, value_name = "WHEN", value_parser = duration, requires = "pause")]
    stampede: Vec<u64>,
    /// Ways to give slots away: `both` also runs the room with the other value of `slots`, which takes as long again
    #[arg(long, value_enum, default_value_t = Ways::Both)]
    slots: Ways,
    /// Requests a second that the shop can serve, fewer when overloaded; default: the shop answers at once
    #[arg(long, value_name = "RATE", value_parser = per_sec)]
    shop: Option<u32>,
    /// Requests a second that the shop can serve from a given time on, such as 20min:30/s; repeatable
    #[arg(long, value_name = "WHEN:RATE", value_parser = level, requires = "shop")]
    shop_then: Vec<Level>,
    /// Share of visitors who give up while waiting
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = share)]
    leave: u16,
    /// Time within which those visitors give up
    #[arg(long, value_name = "TIME", default_value = "30min", value_parser = duration)]
    patience: u64,
    /// Share of visitors whose phone sleeps for a while
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = share)]
    sleep: u16,
    /// Share of visitors who come only after they have missed their first turn
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    late: u16,
    /// Share of visitors who wait and do not come when called
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = share)]
    no_show: u16,
    /// Share of visitors who wait in a tab that they look at now and then; the output compares ways to claim their turns
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = share)]
    hidden: u16,
    /// Share of those visitors on a phone, which suspends the page while they look elsewhere
    #[arg(long, value_name = "SHARE", default_value = "50%", value_parser = share)]
    phones: u16,
    /// Time for which they look elsewhere: the median of a log-normal distribution
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = duration)]
    away: u64,
    /// Share of visitors who also wait in a second browser, and come in with only one of the two
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    tabs: u16,
    /// Bots in addition, as a share of the visitors: they come in three waves and stay as long as they can
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = share)]
    bots: u16,
    /// Share of visitors who complete their visit, which ends the session where the room has `ends_on`
    #[arg(long, value_name = "SHARE", default_value = "60%", value_parser = share)]
    finish: u16,
    /// Share of visitors of a lane, such as early=20%; repeatable
    #[arg(long, value_name = "LANE=SHARE", value_parser = share_of)]
    lane: Vec<ShareOf>,
    /// Change by an operator at a given time, such as 20min:capacity=300 or 5min:rate=none; repeatable
    #[arg(long, value_name = "WHEN:KEY=VALUE", value_parser = change)]
    change: Vec<words::Change>,
    /// Numbers of gates, such as 1,10,100: estimate the load on the gates and their store for each
    #[arg(long, value_name = "COUNT", value_delimiter = ',', num_args = 1, value_parser = clap::value_parser!(u32).range(1..=i64::try_from(MAX_GATES).unwrap_or(i64::MAX)))]
    gates: Vec<u32>,
    /// Seed of the crowd
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Simulated time at which the simulation ends, even with visitors in line
    #[arg(long = "for", value_name = "TIME", default_value = "24h", value_parser = duration)]
    most: u64,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// Write to a file instead of the terminal
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Which ways to give slots away are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Ways {
    Both,
    AsConfigured,
}

/// Runs `ropeline simulate`.
#[must_use]
pub fn run(args: &SimulateArgs) -> ExitCode {
    let config = match Config::load(args.config.or_present(), &args.overrides()) {
        Ok(config) => config,
        Err(mistakes) => {
            eprint!("{mistakes}");
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    let plan = match plan(args, &config, time::wall()) {
        Ok(plan) => plan,
        Err(mistake) => return failed(&mistake, EXIT_USAGE),
    };
    let terminal = std::io::stderr().is_terminal();
    let begun = time::uptime();
    let outcome = simulate_all(&plan, &mut |progress| show(*progress, terminal));
    if terminal {
        eprint!("\r\x1b[K");
    }
    let took = time::uptime().saturating_sub(begun).as_secs_f64();
    if let Err(error) = put(args, &outcome) {
        return failed(&error, EXIT_CANNOT_CREATE);
    }
    eprintln!("{}", speed(&outcome, took));
    ExitCode::SUCCESS
}

impl SimulateArgs {
    /// The default values lack a shop, which a simulation does not ask.
    fn overrides(&self) -> Overrides {
        match self.config.or_present() {
            Some(_) => Overrides::none(),
            None => Overrides::none().text("upstream.url", "--config", "http://127.0.0.1:3000"),
        }
    }

    fn crowd(&self) -> Crowd {
        Crowd {
            leave: self.leave,
            patience_ms: self.patience,
            sleep: self.sleep,
            late: self.late,
            no_show: self.no_show,
            tabs: self.tabs,
            bots: self.bots,
            hidden: self.hidden,
            phones: self.phones,
            away_ms: self.away,
            finish: self.finish,
            pause_ms: self.pause,
            pay: self.pay,
            polling: self.polling,
        }
    }

    fn silences(&self) -> Vec<(u64, u64)> {
        let mut silences: Vec<_> = self.silent.iter().map(|later| (later.at, later.to)).collect();
        silences.sort_unstable();
        silences
    }

    fn stampedes(&self) -> Vec<u64> {
        let mut stampedes = self.stampede.clone();
        stampedes.sort_unstable();
        stampedes
    }

    fn upstream(&self) -> Option<Upstream> {
        let mut per_sec = vec![(0, self.shop?)];
        per_sec.extend(self.shop_then.iter().map(|level| (level.at, level.per_sec)));
        per_sec.sort_by_key(|(at, _)| *at);
        Some(Upstream { per_sec })
    }

    fn stays(&self) -> Stays {
        let mut mean_ms = vec![(0, self.stay)];
        mean_ms.extend(self.stay_then.iter().map(|later| (later.at, later.to)));
        mean_ms.sort_unstable();
        Stays {
            mean_ms,
            pages: self.pages,
        }
    }
}

fn plan(args: &SimulateArgs, config: &Config, now: Wall) -> Result<Plan, String> {
    let room = room(args, config)?;
    let natures = [args.leave, args.sleep, args.late, args.no_show, args.hidden];
    if natures.iter().map(|share| u32::from(*share)).sum::<u32>() > 1_000 {
        return Err(
            "--leave, --sleep, --late, --no-show and --hidden are more than everybody: together at most 100 %"
                .to_owned(),
        );
    }
    let mut changes: Vec<_> = args.change.clone();
    changes.sort_by_key(|change| change.at);
    let changes = words::overrides(&changes);
    let notes = notes::of(args, config, room, &changes)?;
    let replay = match &args.replay {
        Some(file) => Some(replay::read(file, room.settings.session_ms)?),
        None => None,
    };
    let stocked = room.settings.stock.is_some() || changes.iter().any(|(_, set)| set.stock.is_some());
    let asked = config.forward_auth.is_empty();
    let ends = asked && (stocked || !room.ends_on.is_empty());
    let mut plan = Plan {
        room: room.name.clone(),
        settings: room.settings.clone(),
        end_grace_ms: ends.then_some(room.end_grace_ms),
        completes: room.ends_on.is_empty() || room.ends_on.iter().any(|end| end.completes),
        return_wait_ms: room
            .active
            .as_ref()
            .map_or(RETURN_WAIT_MS, |active| active.return_wait_ms),
        hold_ms: longest_hold(room),
        other_way: other_way(args, config, room).map(Box::new),
        upstream: args.upstream(),
        silences: args.silences(),
        stampedes: args.stampedes(),
        visitors: args.visitors,
        arrive: args.arrive.clone(),
        over_ms: args.over,
        crowd: args.crowd(),
        claiming: Claiming::AsPage,
        stays: args.stays(),
        changes,
        lanes: lanes(args, &room.settings)?,
        seed: args.seed,
        start: start(&room.settings, now)?,
        most_ms: args.most,
        step_ms: STEP_MS,
        probes: PROBES,
        gates: gates(args)?,
        notes,
        script: Vec::new(),
    };
    if let Some(file) = &args.like {
        follow(&mut plan, like::read(file, &room.settings)?);
        // A rehearsal is compared with its own way.
        plan.other_way = None;
    }
    if let Some(replay) = replay {
        play(&mut plan, replay);
    }
    let more = u64::from(args.bots) + u64::from(args.tabs);
    if plan.script.is_empty() && u64::from(plan.visitors) * (1_000 + more) / 1_000 > u64::from(MAX_VISITORS) {
        return Err(format!(
            "--visitors with --bots and --tabs are more than {MAX_VISITORS} browsers"
        ));
    }
    if plan.over_ms > plan.most_ms {
        plan.notes.push("--for ends before everybody has come".to_owned());
    }
    Ok(plan)
}

/// The numbers of gates to tell the bill of, each once.
fn gates(args: &SimulateArgs) -> Result<Vec<u32>, String> {
    let mut gates = args.gates.clone();
    gates.sort_unstable();
    gates.dedup();
    if gates.len() > MOST_BILLS {
        return Err(format!("--gates: at most {MOST_BILLS} numbers at once"));
    }
    Ok(gates)
}

/// Visitors of whom all is known.
fn follow(plan: &mut Plan, script: Vec<Scripted>) {
    let arrivals: Vec<u64> = script.iter().map(|person| person.arrives_ms).collect();
    plan.crowd = Crowd::PATIENT;
    plan.script = script;
    come(plan, arrivals);
}

/// Visitors as a log has them.
fn play(plan: &mut Plan, replay: Replay) {
    if let Some(first) = replay.first_unread {
        let (unread, requests) = (replay.unread, replay.requests);
        plan.notes.push(format!(
            "{unread} lines of the log could not be read, first of all line {first}; {requests} could"
        ));
    }
    come(plan, replay.arrivals);
}

fn come(plan: &mut Plan, arrivals: Vec<u64>) {
    plan.visitors = u32::try_from(arrivals.len()).unwrap_or(u32::MAX);
    plan.over_ms = arrivals.last().copied().unwrap_or(0).max(1);
    plan.arrive = Arrive::Noted(arrivals);
}

fn put(args: &SimulateArgs, outcome: &Outcome) -> Result<(), String> {
    let form = match args.format {
        ReportFormat::Text => text(outcome),
        ReportFormat::Html => html(outcome),
        ReportFormat::Json => serde_json::to_string_pretty(outcome).map_err(|error| error.to_string())? + "\n",
    };
    let Some(file) = &args.output else {
        say(&form);
        return Ok(());
    };
    std::fs::write(file, form).map_err(|error| format!("{}: {error}", file.display()))?;
    say(&format!("{}\n", file.display()));
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn speed(outcome: &Outcome, took: f64) -> String {
    // One for each way to claim a hidden turn, if there are any, and one for each more way to give slots away.
    let runs = outcome.unseen.len().max(1) + outcome.ways.len() - 1;
    let took = took / runs as f64;
    let per_sec = outcome.events as f64 / took.max(0.001);
    let (entries, events) = (outcome.entries, outcome.events);
    format!("{entries} entries with {events} events in {took:.2} s, {per_sec:.0} events/s")
}

fn show(progress: Progress, terminal: bool) {
    if terminal {
        eprint!(
            "\r\x1b[K{} of {} have come, {} waiting, {} min",
            progress.came,
            progress.of,
            progress.waiting,
            progress.now_ms / 60_000
        );
        // A terminal that cannot be written to has no reader.
        let _ = std::io::stderr().flush();
    }
}

fn failed(message: &str, code: u8) -> ExitCode {
    eprintln!("ropeline simulate: {message}");
    ExitCode::from(code)
}

/// How long the gate gathers what happens, and visitors whose estimates are noted.
const STEP_MS: u64 = 100;
const PROBES: u32 = 2_000;

/// Most bills of a simulation.
const MOST_BILLS: usize = 16;

/// As `sysexits.h` has them: `EX_USAGE`, `EX_CANTCREAT`.
const EXIT_USAGE: u8 = 64;
const EXIT_CANNOT_CREATE: u8 = 73;

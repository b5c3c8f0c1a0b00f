//! Judges the room's estimates on frozen patterns of crowds. `scripts/estimates` runs it; `docs/reports/estimates.md` says how
//! it judges.
//!
//! `estimates work|draft|judge|check [--commit ID] [--plots FOLDER] [PATTERN]...`: a table on standard output, progress beside it.
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "counts and milliseconds of a simulation, all far below 2^32 and 2^53"
)]

mod agenda;
mod chance;
mod crowd;
mod draft;
#[cfg(test)]
mod frozen;
mod gate;
mod judge;
mod looks;
mod oracle;
mod patterns;
mod plot;
mod run;
mod score;
mod seeds;
mod table;
mod visits;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use judge::{Judged, in_parallel, judge};
use looks::{Kind, Look};
use patterns::{JUDGING, Pattern, WORKING};
use plot::Across;
use run::{Record, run};
use seeds::Origin;

struct Order {
    what: What,
    commit: Option<String>,
    plots: Option<PathBuf>,
    patterns: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Work,
    Judge,
    /// A few runs of the working patterns, with the oracle's figures from the report.
    Draft,
    /// Runs every pattern once and says nothing of its scores.
    Check,
}

fn main() -> ExitCode {
    let order = match order(env::args().skip(1)) {
        Ok(order) => order,
        Err(why) => {
            eprintln!("estimates: {why}");
            return ExitCode::from(64);
        }
    };
    let wanted = |pattern: &&'static Pattern| {
        let named = |name: &String| pattern.name.contains(name.as_str());
        order.patterns.is_empty() || order.patterns.iter().any(named)
    };
    let (list, origin) = match (order.what, &order.commit) {
        (What::Work, _) => (WORKING.iter().filter(wanted).collect::<Vec<_>>(), Origin::Working),
        (What::Draft, _) => {
            print!("{}", draft::table(&WORKING.iter().filter(wanted).collect::<Vec<_>>()));
            return ExitCode::SUCCESS;
        }
        (What::Judge, Some(commit)) => (JUDGING.iter().filter(wanted).collect(), Origin::Commit(commit.clone())),
        (What::Check | What::Judge, _) => {
            check(&WORKING.iter().chain(&JUDGING).filter(wanted).collect::<Vec<_>>());
            return ExitCode::SUCCESS;
        }
    };
    if list.is_empty() {
        eprintln!("estimates: no pattern has such a name");
        return ExitCode::from(64);
    }
    let judged = all(&list, &origin);
    if let Some(folder) = &order.plots
        && let Err(error) = draw(&judged, folder)
    {
        eprintln!("estimates: {}: {error}", folder.display());
        return ExitCode::from(74);
    }
    print!("{}", table::table(&judged));
    ExitCode::SUCCESS
}

fn order(mut args: impl Iterator<Item = String>) -> Result<Order, String> {
    let what = match args.next().as_deref() {
        Some("work") => What::Work,
        Some("draft") => What::Draft,
        Some("judge") => What::Judge,
        Some("check") => What::Check,
        _ => return Err("the first word is work, draft, judge or check".to_owned()),
    };
    let mut order = Order {
        what,
        commit: None,
        plots: None,
        patterns: Vec::new(),
    };
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--commit" => order.commit = args.next(),
            "--plots" => order.plots = args.next().map(PathBuf::from),
            _ if arg.starts_with('-') => return Err(format!("no such option: {arg}")),
            _ => order.patterns.push(arg),
        }
    }
    let is_id = |id: &String| id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if what == What::Judge && !order.commit.as_ref().is_some_and(is_id) {
        return Err("judging takes --commit and the whole id of the method's last commit".to_owned());
    }
    Ok(order)
}

fn all(patterns: &[&'static Pattern], origin: &Origin) -> Vec<Judged> {
    let mut judged = Vec::new();
    for (at, pattern) in (1..).zip(patterns) {
        eprintln!("{at} of {}: {}", patterns.len(), pattern.name);
        judged.push(judge(pattern, origin));
    }
    judged
}

/// Runs each pattern with one seed that judges nothing.
fn check(patterns: &[&'static Pattern]) {
    let lines = in_parallel(patterns.len(), |at| {
        let pattern = patterns[at];
        let outcome = run(pattern, 1, Record::Told);
        let count = |wanted: fn(&Look) -> bool| outcome.looks.iter().filter(|look| wanted(look)).count();
        format!(
            "{:<42} {:>5} min, {:>6} calls, line {:>6}, {:>6} looks count, {:>6} do not, {} never end",
            pattern.name,
            outcome.ran_ms / 60_000,
            outcome.calls,
            outcome.longest_line,
            count(|look| look.kind == Kind::Counts),
            count(|look| look.kind != Kind::Counts),
            count(|look| look.wait.is_none()),
        )
    });
    println!("{}", lines.join("\n"));
}

fn draw(judged: &[Judged], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for one in judged {
        let name = one
            .pattern
            .name
            .replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        for (by, across, title) in [
            (
                "time",
                Across::Time,
                "minutes told and waited, by minutes since the first call",
            ),
            ("place", Across::Place, "minutes told and waited, by visitors ahead"),
        ] {
            let title = format!("{}: {title}", one.pattern.name);
            fs::write(
                folder.join(format!("{name}-{by}.svg")),
                plot::picture(&title, across, &one.first),
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<Order, String> {
        order(args.iter().map(|arg| (*arg).to_owned()))
    }

    #[test]
    fn judging_needs_a_whole_commit() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        assert!(read(&["judge", "--commit", id]).is_ok());
        for wrong in [
            &["judge"][..],
            &["judge", "--commit"],
            &["judge", "--commit", &id[1..]],
            &["work", "--what"],
            &[],
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(
            read(&["work", "corner", "lanes"]).unwrap().patterns,
            ["corner", "lanes"]
        );
    }
}

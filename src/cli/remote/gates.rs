//! `ropeline gates` and `ropeline skip`: the gates that share the rooms, and an operator's decisions about their log.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::admin::api;
use crate::cli::output::{Format, Gives, columns, fitted, plain, time, wrapped};
use crate::cli::remote::{self, AdminArgs, Failure, Raw, show};

/// Arguments of `ropeline gates`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct GatesArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// Redraw every second until interrupted
    #[arg(long, conflicts_with_all = ["end_wait", "raise"])]
    watch: bool,
    /// Text, or the admin API's JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Stop waiting for silent gates while a new log begins; only if you know that they are gone
    #[arg(long, conflicts_with = "raise")]
    end_wait: bool,
    /// Raise the machine version of the rooms; every gate must support it, and it cannot be lowered again
    #[arg(long, value_name = "N")]
    raise: Option<u16>,
}

const EXAMPLES: &str = "\
Examples:
  ropeline gates                  each gate, how far it has read, and whether their states agree
  ropeline gates --watch          redrawn every second
  ropeline gates --end-wait       do not wait 15 s for gates that died with the store
  ropeline gates --raise 2        after an upgrade of all gates, without waiting ten minutes";

/// Arguments of `ropeline skip`.
#[derive(Debug, Args)]
#[command(after_help = SKIP_HELP)]
pub struct SkipArgs {
    /// The position that the frozen gate reports, as EPOCH-SEQUENCE
    position: String,
    #[command(flatten)]
    admin: AdminArgs,
    /// Text, or the admin API's JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const SKIP_HELP: &str = "\
When: `ropeline gates` shows that the gate is frozen at POSITION. An entry of the log triggers a bug of this program, and every
gate stops before it: visitors inside go on, nobody is called, and the gate is not ready. First save the entry
(redis-cli XRANGE {ropeline}:log POSITION POSITION, or a copy of the data folder) and report it. With a version that has the
bug fixed, nothing needs to be skipped.

Cost: the content of that entry is lost, on every gate and for good. Visitors who joined with it keep their tickets and join again
at the back. Sessions that began with it go on, since their passes prove them. If the entry held a change by an operator, make that change again.

Effect: a note beside the log tells every gate to skip the entry. Frozen gates read the note within three seconds. The command
is refused if the gate is not frozen at that entry.

Examples:
  ropeline gates
  ropeline skip 30238513152-1834";

/// Runs `ropeline gates`.
#[must_use]
pub fn run(args: &GatesArgs) -> ExitCode {
    remote::run("gates", execute(args))
}

/// Runs `ropeline skip`.
#[must_use]
pub fn skip(args: &SkipArgs) -> ExitCode {
    remote::run("skip", async {
        let body = json!({ "position": args.position });
        let gates = args.admin.client()?.post("/api/v1/skip", &body).await?;
        draw_gates(&gates, args.format)
    })
}

async fn execute(args: &GatesArgs) -> Result<(), Failure> {
    let client = args.admin.client()?;
    if args.watch {
        let gates = remote::Watched("gates", "/api/v1/gates");
        return remote::watch(&client, gates, args.format, table).await;
    }
    let gates = match args.raise {
        Some(version) => {
            let body = json!({ "machine_version": version });
            client.post("/api/v1/raise", &body).await?
        }
        None if args.end_wait => client.post("/api/v1/heal", &json!({})).await?,
        None => client.get("/api/v1/gates").await?,
    };
    draw_gates(&gates, args.format)
}

fn draw_gates(gates: &Raw, format: Format) -> Result<(), Failure> {
    show(gates, format, table)
}

/// The roster, and under it the log and all that is unusual.
pub(super) fn table(gates: &api::Gates) -> String {
    table_in(gates, columns())
}

/// As [`table`], for a terminal of so many columns.
pub(super) fn table_in(gates: &api::Gates, columns: usize) -> String {
    let mut text = String::new();
    if !gates.log.position.is_empty() {
        text = roster(gates, columns);
    }
    let mut troubles = troubles(&gates.gate);
    if gates.log.alarm {
        troubles += "ALARM: the gates' states differ, and no state is that of most. Nobody is called. See docs/guides/runbook.md.\n";
    }
    if !text.is_empty() && !troubles.is_empty() {
        text += "\n";
    }
    text + &wrapped(&troubles, columns)
}

fn roster(gates: &api::Gates, columns: usize) -> String {
    let head = [
        "GATE",
        "HEARD",
        "READ TO",
        "BEHIND",
        "ROUND TRIP",
        "VERSION",
        "STATE",
        "NOTE",
    ];
    let gives = Gives {
        drops: &["VERSION", "ROUND TRIP", "READ TO"],
        cuts: &[],
    };
    let text = fitted(&head, &gates.gates.iter().map(row).collect::<Vec<_>>(), columns, &gives);
    let log = &gates.log;
    let mut below = String::new();
    let _ = writeln!(
        below,
        "\nlog {}, machine version {} in force, this gate runs up to {}",
        plain(&log.position),
        log.machine_version,
        log.knows
    );
    if !log.hash.is_empty() {
        let _ = writeln!(below, "hash {} of all entries up to there", plain(&log.hash));
    }
    if let Some(checkpoint) = &log.checkpoint {
        let hash: String = plain(&checkpoint.hash).chars().take(SHOWN_OF_HASH).collect();
        let all = gates.gates.iter().all(|gate| gate.agrees == Some(true));
        let on = if all { "all" } else { "most" };
        let _ = writeln!(below, "checkpoint {} is {hash}… on {on} gates", checkpoint.sequence);
    }
    text + &wrapped(&below, columns)
}

fn row(gate: &api::RosterGate) -> Vec<String> {
    let state = match gate.agrees {
        Some(true) => "agrees",
        Some(false) => "DIFFERS",
        None => "-",
    };
    let note = if gate.this { "this gate" } else { "" };
    vec![
        plain(&gate.id),
        tenths(gate.heard_ms_ago, "s ago"),
        gate.sequence.to_string(),
        gate.behind.to_string(),
        tenths(u64::from(gate.lag_us), "ms"),
        gate.knows.to_string(),
        state.to_owned(),
        note.to_owned(),
    ]
}

/// Thousandths of a unit, shown to a tenth.
fn tenths(thousandths: u64, unit: &str) -> String {
    let tenths = thousandths.div_ceil(100);
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// The troubles of a gate, a line each.
pub fn troubles(gate: &api::Gate) -> String {
    let mut text = String::new();
    if gate.condition == "starting" {
        text += "The gate has not read its log yet.\n";
    }
    if gate.condition == "opening" {
        text += "The gate is opening: it found no log, and is about to begin one.\n";
    }
    if gate.condition == "failed" {
        text += "The gate's replica has ended by a fault of the program: the rooms stand still until the gate is started again.\n";
    }
    if let Some(secs) = gate.cut_off_secs {
        let _ = writeln!(
            text,
            "The gate has been cut off from its store for {secs} s: nobody is called."
        );
    }
    if let Some(reason) = &gate.reason {
        let _ = writeln!(text, "Reason: {}", plain(reason));
    }
    if let Some(secs) = gate.healing_secs {
        let once = gate.cut_off_secs.map_or("", |_| ", once the store answers");
        let _ = writeln!(text, "The gate is healing for {secs} s more{once}: nobody is called.");
    }
    if !gate.missing.is_empty() {
        let missing = plain(&gate.missing.join(", "));
        let _ = writeln!(
            text,
            "It waits for {missing}; if they are gone for good: ropeline gates --end-wait"
        );
    }
    if let Some(position) = &gate.frozen_at {
        let position = plain(position);
        let _ = writeln!(
            text,
            "The gate is frozen before the entry {position}, which it cannot apply: nobody is called. Read \
             `ropeline skip --help`, then: ropeline skip {position}"
        );
    }
    if let Some(version) = gate.behind_version {
        let _ = writeln!(
            text,
            "The log has gone on with machine version {version}, which this gate does not run: upgrade it."
        );
    }
    if let Some(at) = &gate.refused_reload {
        let _ = writeln!(
            text,
            "The configuration was refused at {}, and the one before stays in force: ropeline reload --last says why.",
            time(at)
        );
    }
    for one in &gate.untaken {
        let (room, reasons) = (plain(&one.room), plain(&one.reasons.join("; ")));
        let _ = writeln!(
            text,
            "The room {room}, which an operator added, is not in force at this gate: {reasons}"
        );
    }
    text
}

/// Letters of a hash that tell two apart.
const SHOWN_OF_HASH: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(id: &str, agrees: Option<bool>) -> api::RosterGate {
        api::RosterGate {
            id: id.to_owned(),
            this: agrees == Some(true),
            heard_ms_ago: 1_240,
            sequence: 1_834,
            behind: 2,
            lag_us: 812,
            knows: 2,
            agrees,
            ..api::RosterGate::default()
        }
    }

    fn sample() -> api::Gates {
        api::Gates {
            log: api::Log {
                position: "30238513152-1836".to_owned(),
                hash: "9c41".repeat(16),
                rooted: true,
                machine_version: 1,
                knows: 2,
                checkpoint: Some(api::Checkpoint {
                    sequence: 1_800,
                    hash: "5f3a".repeat(16),
                }),
                alarm: false,
            },
            gates: vec![
                gate("00ff", Some(true)),
                gate("11\u{1b}[2J", Some(false)),
                gate("22", None),
            ],
            ..api::Gates::default()
        }
    }

    #[test]
    fn the_roster_is_a_table_and_the_log_stands_under_it() {
        let text = table(&sample());
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[1].starts_with("00ff") && lines[1].ends_with("agrees   this gate"),
            "{text}"
        );
        assert!(lines[1].contains("1.3 s ago") && lines[1].contains("0.9 ms"), "{text}");
        assert!(lines[2].ends_with("DIFFERS") && lines[3].ends_with('-'), "{text}");
        assert!(
            text.contains("log 30238513152-1836, machine version 1 in force, this gate runs up to 2\n"),
            "{text}"
        );
        assert!(
            text.contains(&format!("\nhash {} of all entries", "9c41".repeat(16))),
            "{text}"
        );
        assert!(
            text.ends_with("checkpoint 1800 is 5f3a5f3a5f3a… on most gates\n"),
            "{text}"
        );
        assert!(
            !text.contains('\u{1b}'),
            "nothing from the gate can command the terminal"
        );
        let mut agree = sample();
        agree.gates.truncate(1);
        assert!(table(&agree).ends_with("on all gates\n"));
    }

    #[test]
    fn each_trouble_says_what_to_do() {
        let mut gates = sample();
        gates.log.alarm = true;
        gates.gate = api::Gate {
            condition: "frozen".to_owned(),
            cut_off_secs: Some(41),
            reason: Some("10.0.0.7:6379: \u{1b}refused".to_owned()),
            healing_secs: Some(12),
            missing: vec!["00ff".to_owned(), "11".to_owned()],
            frozen_at: Some("3-7".to_owned()),
            behind_version: Some(9),
            refused_reload: None,
            untaken: Vec::new(),
        };
        let text = table(&gates);
        for part in [
            "cut off from its store for 41 s: nobody is called.\nReason: 10.0.0.7:6379: ",
            "healing for 12 s more, once the store answers",
            "waits for 00ff, 11; if they are gone for good: ropeline gates --end-wait",
            "ropeline skip 3-7",
            "machine version 9, which this gate does not run",
            "ALARM",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }
}

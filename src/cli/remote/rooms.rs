//! `ropeline rooms`: the admin API from a shell, for looking at rooms and changing them.
//!
//! Results go to standard output as a table, or as the API's JSON with `--format json`; an error goes to standard error in one line
//! that says what to do. Exit codes: 0 done, 1 not done, 2 wrong usage.

mod additions;
mod commands;
mod load;
pub(super) mod table;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::admin::{MAX_CAPACITY, MAX_RATE, api};
use crate::calendar;
use crate::cli::output::Format;
use crate::cli::remote::{self, AdminArgs, Client, Failure, encoded, parsed, path_of as path, show};
use crate::room::MAX_STOCK;

pub(super) use commands::done;

/// Arguments of `ropeline rooms`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RoomsArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// Redraw every second until interrupted
    #[arg(long)]
    watch: bool,
    /// Text, or the admin API's JSON
    #[arg(long, value_enum, default_value_t = Format::Text, global = true)]
    format: Format,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Change a room at once; the change survives a restart
    #[command(after_help = SET_EXAMPLES, override_usage = "ropeline rooms set [OPTIONS] <ROOM>")]
    Set(SetArgs),
    /// Let visitors in now, above the rate
    Call(commands::CallArgs),
    /// Start over: end every session and void every place
    Reset(commands::ResetArgs),
    /// Show a message to waiting visitors, in each of their languages
    Message(commands::MessageArgs),
    /// End the pause after a lost log, so that the room calls visitors again
    #[command(after_help = commands::HEALING_EXAMPLES)]
    EndHealing(commands::EndHealingArgs),
    /// Add a room while the gates run, from its table
    Add(additions::AddArgs),
    /// Remove a room that was added
    Remove(additions::RemoveArgs),
    /// List the rooms that were most recently added or removed
    #[command(after_help = "Examples:\n  ropeline rooms additions --format json")]
    Additions,
    /// Report the load of the shop, in place of measured figures
    Load(load::LoadArgs),
    /// List the room's last changes, who made them, and the values before
    #[command(after_help = "Examples:\n  ropeline rooms changes shop")]
    Changes {
        /// The room's name
        room: String,
    },
    /// List the lines of a room that has one for each event or product
    #[command(after_help = "Examples:\n  ropeline rooms lines tickets")]
    Lines {
        /// The room's name
        room: String,
    },
    /// Find one visitor by the reference on their page
    #[command(after_help = VISITOR_EXAMPLES)]
    Visitor {
        /// The room's name
        room: String,
        /// The reference that the visitor reads out, in upper or lower case, with or without hyphens
        reference: String,
        /// Name of the line, if the room has several
        #[arg(long)]
        line: Option<String>,
        /// End the session, or take the visitor out of the line
        #[arg(long)]
        end: bool,
    },
}

#[derive(Debug, Args)]
struct SetArgs {
    /// The room's name
    room: String,
    #[command(flatten)]
    change: ChangeArgs,
    #[command(flatten)]
    why: commands::Why,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct ChangeArgs {
    /// auto, hold (new visitors wait and nobody is called), closed, off (no line), or default
    #[arg(long, value_parser = ["auto", "hold", "closed", "off", "default"])]
    mode: Option<String>,
    /// Maximum number of visitors inside at once, or default
    #[arg(long, value_name = "N|default", value_parser = capacity)]
    capacity: Option<Value>,
    /// Maximum number of visitors called per minute, none, or default
    #[arg(long, value_name = "N|none|default", value_parser = rate)]
    rate: Option<Value>,
    /// When visitors can join before the opening: a date, now, none, or default
    #[arg(long, value_name = "DATE")]
    prequeue_from: Option<String>,
    /// When visitors are called: a date, now, none, or default
    #[arg(long, value_name = "DATE")]
    opens_at: Option<String>,
    /// When joining ends: a date, none, or default (to close at once: --mode closed)
    #[arg(long, value_name = "DATE")]
    closes_at: Option<String>,
    /// When results may be published: a date, none, or default
    #[arg(long, value_name = "DATE")]
    results_at: Option<String>,
    /// Items in stock, for each line; not below the number sold, or default
    #[arg(long, value_name = "N|default", value_parser = stock)]
    stock: Option<Value>,
    /// The message that waiting visitors see
    #[arg(long, value_name = "TEXT", conflicts_with = "no_message")]
    message: Option<String>,
    /// Show no message, even if the configuration has one
    #[arg(long)]
    no_message: bool,
    /// Show the message of the configuration
    #[arg(long, conflicts_with_all = ["message", "no_message"])]
    default_message: bool,
    /// Reset everything that is not given here to the configured values
    #[arg(long)]
    configured: bool,
}

/// Runs `ropeline rooms`.
#[must_use]
pub fn run(args: &RoomsArgs) -> ExitCode {
    let of_file = matches!(args.command, Some(Command::Add(_)));
    remote::run("rooms", async {
        let done = execute(args).await;
        done.map_err(|failure| if of_file { failure } else { failure.by_options() })
    })
}

async fn execute(args: &RoomsArgs) -> Result<(), Failure> {
    let client = args.admin.client()?;
    match &args.command {
        None if args.watch => {
            let rooms = remote::Watched("rooms", "/api/v1/rooms");
            remote::watch(&client, rooms, args.format, table::rooms).await
        }
        None => show(&client.get("/api/v1/rooms").await?, args.format, table::rooms),
        Some(Command::Set(set)) => {
            let mut patch = patch(&set.change);
            if let Some(reason) = &set.why.reason {
                patch["reason"] = json!(reason);
            }
            let room = client.patch(&path(&[&set.room]), &patch).await?;
            show(&room, args.format, table::room)
        }
        Some(Command::Call(call)) => commands::call(&client, call, args.format).await,
        Some(Command::Reset(reset)) => commands::reset(&client, reset, args.format).await,
        Some(Command::Message(message)) => commands::message(&client, message, args.format).await,
        Some(Command::EndHealing(end)) => commands::end_healing(&client, end, args.format).await,
        Some(Command::Add(add)) => additions::add(&client, add, args.format).await,
        Some(Command::Remove(remove)) => additions::remove(&client, remove, args.format).await,
        Some(Command::Additions) => additions::list(&client, args.format).await,
        Some(Command::Load(given)) => load::load(&client, given, args.format).await,
        Some(Command::Changes { room }) => commands::changes(&client, room, args.format).await,
        Some(Command::Lines { room }) => lines(&client, room, args.format).await,
        Some(Command::Visitor {
            room,
            reference,
            line,
            end,
        }) => {
            let mut target = path(&[room, "visitors", reference]);
            if let Some(line) = line {
                target = format!("{target}?line={}", encoded(line));
            }
            let visitor = if *end {
                client.delete(&target).await?
            } else {
                client.get(&target).await?
            };
            show(&visitor, args.format, table::visitor)
        }
    }
}

/// The merge patch: null is the configured value.
fn patch(change: &ChangeArgs) -> Value {
    let mut patch = Map::new();
    if change.configured {
        let keys = ["mode", "total_active_users", "new_users_per_minute", "message", "stock"];
        let all = keys.into_iter().chain(calendar::KEYS);
        patch.extend(all.map(|key| (key.to_owned(), Value::Null)));
    }
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            patch.insert(key.to_owned(), value);
        }
    };
    set("mode", change.mode.as_deref().map(word));
    set("total_active_users", change.capacity.clone());
    set("new_users_per_minute", change.rate.clone());
    set("prequeue_from", change.prequeue_from.as_deref().map(word));
    set("opens_at", change.opens_at.as_deref().map(word));
    set("closes_at", change.closes_at.as_deref().map(word));
    set("results_at", change.results_at.as_deref().map(word));
    set("stock", change.stock.clone());
    set("message", change.message.as_deref().map(Value::from));
    set("message", change.no_message.then(|| json!("")));
    set("message", change.default_message.then_some(Value::Null));
    Value::Object(patch)
}

/// `default` as null; any other word unchanged, so that the gate reports the correction.
fn word(text: &str) -> Value {
    match text {
        "default" => Value::Null,
        text => Value::from(text),
    }
}

/// A room of the API may have no slot; at a terminal that is a mistake for the mode that says so to visitors.
fn capacity(text: &str) -> Result<Value, String> {
    match number(text, MAX_CAPACITY, "default") {
        Ok(value) if value == 0 => Err("nobody would be called: use --mode hold instead".to_owned()),
        other => other,
    }
}

fn rate(text: &str) -> Result<Value, String> {
    match text {
        "none" => Ok(Value::from(text)),
        text => number(text, MAX_RATE, "none, or default"),
    }
}

fn stock(text: &str) -> Result<Value, String> {
    number(text, MAX_STOCK, "default")
}

/// A number up to `most`, or null for `default`.
fn number(text: &str, most: u32, other: &str) -> Result<Value, String> {
    if text == "default" {
        return Ok(Value::Null);
    }
    let number = text.parse::<u32>().ok().filter(|number| *number <= most);
    number
        .map(Value::from)
        .ok_or_else(|| format!("a whole number up to {most}, {other}"))
}

/// Every line of a room, however many pages they take.
async fn lines(client: &Client, room: &str, format: Format) -> Result<(), Failure> {
    let target = format!("{}?limit=1000", path(&[room, "lines"]));
    let mut page = client.get(&target).await?;
    loop {
        show(&page, format, table::lines)?;
        let Some(next) = parsed::<api::Lines>(&page)?.next else {
            return Ok(());
        };
        page = client.get(&format!("{target}&after={}", encoded(&next))).await?;
    }
}

const EXAMPLES: &str = "Examples:
  ropeline rooms                                  every room once
  ropeline rooms --watch                          redrawn every second
  ropeline rooms set main --mode hold             stop calling; everybody new waits
  ropeline rooms set main --capacity 200 --rate 600
  ropeline rooms call main 50                     let the next fifty in now
  ropeline rooms changes main                     who changed what, and why
  ropeline rooms visitor main K7D-4D2-R1          where one visitor stands
  ropeline rooms --format json | jq '.rooms[].waiting'";

const SET_EXAMPLES: &str = "Examples:
  ropeline rooms set main --mode hold --message 'Back at 14:00'
  ropeline rooms set main --mode off              kill switch: everybody goes straight through
  ropeline rooms set main --capacity 50           evicts nobody
  ropeline rooms set main --rate none             no limit on calls per minute
  ropeline rooms set main --opens-at now          the sale begins
  ropeline rooms set main --opens-at '2026-12-01 13:30 Asia/Seoul'
  ropeline rooms set main --configured            back to the configuration in everything";

const VISITOR_EXAMPLES: &str = "Examples:
  ropeline rooms visitor main K7D-4D2-R1
  ropeline rooms visitor concerts K7D-4D2-R1 --line 4711 --end";

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        rooms: RoomsArgs,
    }

    fn patch_of(arguments: &str) -> Value {
        let cli = Cli::try_parse_from(arguments.split(' ')).expect("right usage");
        let Some(Command::Set(set)) = cli.rooms.command else {
            panic!("set")
        };
        patch(&set.change)
    }

    #[test]
    fn flags_become_a_merge_patch() {
        let patch = patch_of("rooms set main --mode hold --capacity 50 --rate none --no-message");
        assert_eq!(
            patch,
            json!({"mode": "hold", "total_active_users": 50, "new_users_per_minute": "none", "message": ""})
        );
        let patch = patch_of("rooms set main --capacity default --rate 7 --message default");
        assert_eq!(
            patch,
            json!({"total_active_users": null, "new_users_per_minute": 7, "message": "default"})
        );
        let patch = patch_of("rooms set main --configured --mode off");
        assert_eq!(
            patch,
            json!({
                "mode": "off", "total_active_users": null, "new_users_per_minute": null, "message": null,
                "prequeue_from": null, "opens_at": null, "closes_at": null, "results_at": null, "stock": null,
            })
        );
    }

    #[test]
    fn the_configured_message_can_come_back_alone() {
        assert_eq!(patch_of("rooms set main --default-message"), json!({"message": null}));
    }

    #[test]
    fn nothing_to_change_and_contradictions_are_wrong_usage() {
        for wrong in [
            "rooms set main",
            "rooms set main --mode open",
            "rooms set main --capacity 0",
            "rooms set main --capacity many",
            "rooms set main --rate -1",
            "rooms set main --stock 1000001",
            "rooms set main --message x --no-message",
            "rooms set",
        ] {
            assert!(Cli::try_parse_from(wrong.split(' ')).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_cannot_leave_their_segment() {
        assert_eq!(
            path(&["a/../b", "visitors", "x?y#z 1"]),
            "/api/v1/rooms/a%2F..%2Fb/visitors/x%3Fy%23z%201"
        );
    }
}

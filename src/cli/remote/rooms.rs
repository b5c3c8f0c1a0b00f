//! `ropeline rooms`: the admin API from a shell, for looking at rooms and changing them.
//!
//! What it prints for people goes to standard output as a table, or as the API's JSON with `--json`; what went wrong goes
//! to standard error in one line that says what to do. Exit codes: 0 done, 1 not done, 2 wrong usage.

mod additions;
mod hands;
mod load;
pub(super) mod table;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::admin::api;
use crate::calendar;
use crate::cli::remote::{self, AdminArgs, Client, Failure, encoded, parsed, show};

pub(super) use hands::done;

/// Arguments of `ropeline rooms`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RoomsArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// Redraw every second until interrupted
    #[arg(long)]
    watch: bool,
    /// Print the admin API's JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Change a room at once; kept over a restart
    #[command(after_help = SET_EXAMPLES)]
    Set(SetArgs),
    /// Let visitors in now, above the rate
    Call(hands::CallArgs),
    /// Begin anew: every session ends, every place is void
    Reset(hands::ResetArgs),
    /// Tell those who wait something, each in their language
    Message(hands::MessageArgs),
    /// Wait no longer for visitors of a lost log: the room calls again
    #[command(after_help = hands::HEALING_EXAMPLES)]
    EndHealing(hands::EndHealingArgs),
    /// Add a room while the gates run, from its table
    Add(additions::AddArgs),
    /// Remove a room that was added
    Remove(additions::RemoveArgs),
    /// The last rooms that were added and removed
    Additions,
    /// Say what the shop can take, in the place of measured figures
    Load(load::LoadArgs),
    /// The room's last changes: who made them, and what was before
    Changes {
        /// The room's name
        room: String,
    },
    /// The lines of a room that has one for each event or product
    Lines {
        /// The room's name
        room: String,
    },
    /// Find one visitor by the reference on their page
    #[command(after_help = VISITOR_EXAMPLES)]
    Visitor {
        /// The room's name
        room: String,
        /// What the visitor reads out, in any case, with or without hyphens
        reference: String,
        /// Which line, where the room has many
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
    why: hands::Why,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct ChangeArgs {
    /// auto, hold (everybody new waits, nobody is called), closed, off (no line), or default
    #[arg(long, value_parser = ["auto", "hold", "closed", "off", "default"])]
    mode: Option<String>,
    /// Most visitors inside at once, or default
    #[arg(long, value_name = "N|default")]
    capacity: Option<String>,
    /// Most visitors called per minute, none, or default
    #[arg(long, value_name = "N|none|default")]
    rate: Option<String>,
    /// When visitors can join before the opening: a date, now, none, or default
    #[arg(long, value_name = "DATE")]
    prequeue_from: Option<String>,
    /// When visitors are called: a date, now, none, or default
    #[arg(long, value_name = "DATE")]
    opens_at: Option<String>,
    /// When nobody joins any more: a date, none, or default (mode closed: at once)
    #[arg(long, value_name = "DATE")]
    closes_at: Option<String>,
    /// When it may be told what came of it: a date, none, or default
    #[arg(long, value_name = "DATE")]
    results_at: Option<String>,
    /// Pieces that there are, of each line; not below what is sold, or default
    #[arg(long, value_name = "N|default")]
    stock: Option<String>,
    /// What everybody waiting is told
    #[arg(long, value_name = "TEXT", conflicts_with = "no_message")]
    message: Option<String>,
    /// Tell nothing, even if the configuration has a message
    #[arg(long)]
    no_message: bool,
    /// Tell what the configuration has
    #[arg(long, conflicts_with_all = ["message", "no_message"])]
    default_message: bool,
    /// Back to the configured values in everything that is not given here
    #[arg(long)]
    configured: bool,
}

/// Runs `ropeline rooms`.
#[must_use]
pub fn run(args: &RoomsArgs) -> ExitCode {
    remote::run("rooms", execute(args))
}

async fn execute(args: &RoomsArgs) -> Result<(), Failure> {
    let client = args.admin.client()?;
    match &args.command {
        None if args.watch => {
            let rooms = remote::Watched("rooms", "/api/v1/rooms");
            remote::watch(&client, rooms, args.json, table::rooms).await
        }
        None => show(&client.get("/api/v1/rooms").await?, args.json, table::rooms),
        Some(Command::Set(set)) => {
            let mut patch = patch(&set.change);
            if let Some(reason) = &set.why.reason {
                patch["reason"] = json!(reason);
            }
            let room = client.patch(&path(&[&set.room]), &patch).await?;
            show(&room, args.json, table::room)
        }
        Some(Command::Call(call)) => hands::call(&client, call, args.json).await,
        Some(Command::Reset(reset)) => hands::reset(&client, reset, args.json).await,
        Some(Command::Message(message)) => hands::message(&client, message, args.json).await,
        Some(Command::EndHealing(end)) => hands::end_healing(&client, end, args.json).await,
        Some(Command::Add(add)) => additions::add(&client, add, args.json).await,
        Some(Command::Remove(remove)) => additions::remove(&client, remove, args.json).await,
        Some(Command::Additions) => additions::list(&client, args.json).await,
        Some(Command::Load(given)) => load::load(&client, given, args.json).await,
        Some(Command::Changes { room }) => hands::changes(&client, room, args.json).await,
        Some(Command::Lines { room }) => lines(&client, room, args.json).await,
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
            show(&visitor, args.json, table::visitor)
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
    set("total_active_users", change.capacity.as_deref().map(word));
    set("new_users_per_minute", change.rate.as_deref().map(word));
    set("prequeue_from", change.prequeue_from.as_deref().map(word));
    set("opens_at", change.opens_at.as_deref().map(word));
    set("closes_at", change.closes_at.as_deref().map(word));
    set("results_at", change.results_at.as_deref().map(word));
    set("stock", change.stock.as_deref().map(word));
    set("message", change.message.as_deref().map(Value::from));
    set("message", change.no_message.then(|| json!("")));
    set("message", change.default_message.then_some(Value::Null));
    Value::Object(patch)
}

/// A number as a number; `default` as null; what is neither goes as it is, and the gate says what would be right.
fn word(text: &str) -> Value {
    match text {
        "default" => Value::Null,
        text => text.parse::<u64>().map_or_else(|_| Value::from(text), Value::from),
    }
}

/// Every line of a room, however many pages they take.
async fn lines(client: &Client, room: &str, json: bool) -> Result<(), Failure> {
    let target = format!("{}?limit=1000", path(&[room, "lines"]));
    let mut page = client.get(&target).await?;
    loop {
        show(&page, json, table::lines)?;
        let Some(next) = parsed::<api::Lines>(&page)?.next else {
            return Ok(());
        };
        page = client.get(&format!("{target}&after={}", encoded(&next))).await?;
    }
}

fn path(segments: &[&str]) -> String {
    segments.iter().fold("/api/v1/rooms".to_owned(), |path, segment| {
        format!("{path}/{}", encoded(segment))
    })
}

const EXAMPLES: &str = "Examples:
  ropeline rooms                                  every room once
  ropeline rooms --watch                          redrawn every second
  ropeline rooms set main --mode hold             stop calling; everybody new waits
  ropeline rooms set main --capacity 200 --rate 600
  ropeline rooms call main 50                     let the next fifty in now
  ropeline rooms changes main                     who changed what, and why
  ropeline rooms visitor main K7D-4D2-XA          where one visitor stands
  ropeline rooms --json | jq '.rooms[].waiting'";

const SET_EXAMPLES: &str = "Examples:
  ropeline rooms set main --mode hold --message 'Back at 14:00'
  ropeline rooms set main --mode off              kill switch: everybody goes straight through
  ropeline rooms set main --capacity 50           evicts nobody
  ropeline rooms set main --rate none             no limit on calls per minute
  ropeline rooms set main --opens-at now          the sale begins
  ropeline rooms set main --opens-at '2026-12-01 13:30 Asia/Seoul'
  ropeline rooms set main --configured            back to the configuration in everything";

const VISITOR_EXAMPLES: &str = "Examples:
  ropeline rooms visitor main K7D-4D2-XA
  ropeline rooms visitor concerts K7D-4D2-XA --line 4711 --end";

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

//! The arguments of `anteroom rooms`, and the change that they ask for.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

/// Where the admin listener is when nothing else is said.
pub const DEFAULT_ADMIN: &str = "http://127.0.0.1:9925";

/// Arguments of `anteroom rooms`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RoomsArgs {
    #[command(flatten)]
    pub(super) admin: AdminArgs,
    /// Redraw every second until interrupted
    #[arg(long)]
    pub(super) watch: bool,
    /// Print the admin API's JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// How to reach the admin listener.
#[derive(Debug, Args)]
pub(super) struct AdminArgs {
    /// The gate's admin listener
    #[arg(long, global = true, value_name = "URL", env = "ANTEROOM_ADMIN", default_value = DEFAULT_ADMIN)]
    pub(super) admin: String,
    /// A file with the admin token; or set `ANTEROOM_ADMIN_TOKEN`
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    // Only for the environment: a token among the arguments could be read by every user of the machine.
    #[arg(
        long = "admin-token",
        global = true,
        env = "ANTEROOM_ADMIN_TOKEN",
        hide = true,
        hide_env_values = true
    )]
    pub(super) token: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Change a room at once; kept over a restart
    #[command(after_help = SET_EXAMPLES)]
    Set(SetArgs),
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
pub(super) struct SetArgs {
    /// The room's name
    pub(super) room: String,
    #[command(flatten)]
    pub(super) change: ChangeArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(super) struct ChangeArgs {
    /// auto, hold (everybody new waits, nobody is called), closed, off (no line), or default
    #[arg(long, value_parser = ["auto", "hold", "closed", "off", "default"])]
    pub(super) mode: Option<String>,
    /// Most visitors inside at once, or default
    #[arg(long, value_name = "N|default")]
    pub(super) capacity: Option<String>,
    /// Most visitors called per minute, none, or default
    #[arg(long, value_name = "N|none|default")]
    pub(super) rate: Option<String>,
    /// What everybody waiting is told
    #[arg(long, value_name = "TEXT", conflicts_with = "no_message")]
    pub(super) message: Option<String>,
    /// Tell nothing, even if the configuration has a message
    #[arg(long)]
    pub(super) no_message: bool,
    /// Tell what the configuration has
    #[arg(long, conflicts_with_all = ["message", "no_message"])]
    pub(super) default_message: bool,
    /// Back to the configured values in everything that is not given here
    #[arg(long)]
    pub(super) configured: bool,
}

/// The merge patch: null is the configured value.
pub(super) fn patch(change: &ChangeArgs) -> Value {
    let mut patch = Map::new();
    if change.configured {
        patch.extend(
            ["mode", "total_active_users", "new_users_per_minute", "message"].map(|key| (key.to_owned(), Value::Null)),
        );
    }
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            patch.insert(key.to_owned(), value);
        }
    };
    set("mode", change.mode.as_deref().map(word));
    set("total_active_users", change.capacity.as_deref().map(word));
    set("new_users_per_minute", change.rate.as_deref().map(word));
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

const EXAMPLES: &str = "Examples:
  anteroom rooms                                  every room once
  anteroom rooms --watch                          redrawn every second
  anteroom rooms set main --mode hold             stop calling; everybody new waits
  anteroom rooms set main --capacity 200 --rate 600
  anteroom rooms visitor main K7D-4D2-XA          where one visitor stands
  anteroom rooms --json | jq '.rooms[].waiting'";

const SET_EXAMPLES: &str = "Examples:
  anteroom rooms set main --mode hold --message 'Back at 14:00'
  anteroom rooms set main --mode off              kill switch: everybody goes straight through
  anteroom rooms set main --capacity 50           evicts nobody
  anteroom rooms set main --rate none             no limit on calls per minute
  anteroom rooms set main --configured            back to the configuration in everything";

const VISITOR_EXAMPLES: &str = "Examples:
  anteroom rooms visitor main K7D-4D2-XA
  anteroom rooms visitor concerts K7D-4D2-XA --line 4711 --end";

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
            json!({"mode": "off", "total_active_users": null, "new_users_per_minute": null, "message": null})
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
}

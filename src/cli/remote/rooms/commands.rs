//! `ropeline rooms call`, `reset`, `message` and `changes`: the operator's commands to a room.

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Map, Value, json};

use super::table;
use crate::admin::api;
use crate::cli::output::{Format, plain, time};
use crate::cli::remote::{Client, Failure, path_of as path, show};

#[derive(Debug, Args)]
#[command(after_help = CALL_EXAMPLES)]
pub(super) struct CallArgs {
    /// The room's name
    room: String,
    /// Number of visitors to call, 1 to 10000
    count: u32,
    /// Name of the line, if the room has several
    #[arg(long)]
    line: Option<String>,
    /// Only this lane, by its name or its index
    #[arg(long)]
    lane: Option<String>,
    /// Call above the capacity too
    #[arg(long)]
    beyond_capacity: bool,
    #[command(flatten)]
    why: Why,
}

#[derive(Debug, Args)]
#[command(after_help = RESET_EXAMPLES)]
pub(super) struct ResetArgs {
    /// The room's name
    room: String,
    /// The room's name once more
    #[arg(long, value_name = "ROOM")]
    confirm: String,
    /// Reason, recorded with the change
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

#[derive(Debug, Args)]
#[command(after_help = MESSAGE_EXAMPLES)]
pub(super) struct MessageArgs {
    /// The room's name
    room: String,
    /// A language's tag and the text for it
    #[arg(value_name = "TAG=TEXT", value_parser = pair, required_unless_present = "none")]
    texts: Vec<(String, String)>,
    /// Show the configured message again
    #[arg(long, conflicts_with = "texts")]
    none: bool,
    #[command(flatten)]
    why: Why,
}

#[derive(Debug, Args)]
pub(super) struct EndHealingArgs {
    /// The room's name
    room: String,
    #[command(flatten)]
    why: Why,
}

/// Why something is changed.
#[derive(Debug, Args)]
pub(super) struct Why {
    /// Reason, recorded with the change
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

pub(super) async fn call(client: &Client, args: &CallArgs, format: Format) -> Result<(), Failure> {
    let body = json!(api::Call {
        count: args.count,
        line: args.line.clone(),
        lane: args.lane.clone().map(api::LaneOf::Name),
        beyond_capacity: args.beyond_capacity,
        reason: args.why.reason.clone(),
    });
    let answer = client.post(&path(&[&args.room, "call"]), &body).await?;
    show(&answer, format, |called: &api::Called| {
        let count = called
            .called
            .map_or_else(|| "nobody knows how many".to_owned(), |count| count.to_string());
        let (asked, why) = (called.asked, fewer(called, args));
        format!("{count} of {asked} called{why}\n\n{}", table::room(&called.room))
    })
}

/// Why not as many were called as was asked for, where that is plain.
fn fewer(called: &api::Called, args: &CallArgs) -> &'static str {
    let figures = &called.room.figures;
    let full = args.line.is_none() && figures.called + figures.sessions >= figures.capacity;
    match called.called {
        Some(count) if count >= called.asked => "",
        Some(_) if figures.waiting == 0 => ": nobody else is there",
        Some(_) if full && !args.beyond_capacity => ": no slot is free; --beyond-capacity calls above the capacity",
        _ => "",
    }
}

pub(super) async fn reset(client: &Client, args: &ResetArgs, format: Format) -> Result<(), Failure> {
    let body = json!(api::Reset {
        confirm: args.confirm.clone(),
        reason: args.reason.clone(),
    });
    let answer = client.post(&path(&[&args.room, "reset"]), &body).await?;
    show(&answer, format, table::room)
}

pub(super) async fn end_healing(client: &Client, args: &EndHealingArgs, format: Format) -> Result<(), Failure> {
    let body = json!(api::EndHealing {
        reason: args.why.reason.clone(),
    });
    let answer = client.post(&path(&[&args.room, "healing", "end"]), &body).await?;
    show(&answer, format, table::room)
}

pub(super) async fn message(client: &Client, args: &MessageArgs, format: Format) -> Result<(), Failure> {
    let texts = args
        .texts
        .iter()
        .map(|(tag, text)| (tag.clone(), Value::from(text.as_str())));
    let mut body: Map<String, Value> = texts.collect();
    if let Some(reason) = &args.why.reason {
        body.insert("reason".to_owned(), Value::from(reason.as_str()));
    }
    let answer = client
        .post(&path(&[&args.room, "message"]), &Value::Object(body))
        .await?;
    show(&answer, format, table::room)
}

pub(super) async fn changes(client: &Client, room: &str, format: Format) -> Result<(), Failure> {
    show(&client.get(&path(&[room, "changes"])).await?, format, listed)
}

/// The last changes, newest first, one a line.
fn listed(changes: &api::Changes) -> String {
    let mut text = String::new();
    for change in &changes.changes {
        let who = change.who.as_deref().unwrap_or("(configuration)");
        let reason = change
            .reason
            .as_ref()
            .map_or_else(String::new, |reason| format!(" ({reason})"));
        let line = format!("{}  {who}: {}{reason}", time(&change.at), done(change));
        let _ = writeln!(text, "{}", plain(&line));
    }
    if text.is_empty() {
        "nothing was changed so far\n".to_owned()
    } else {
        text
    }
}

/// The effect of a change, in words.
pub(in crate::cli) fn done(change: &api::Change) -> String {
    let key = |changed: &api::Changed| format!("{} {} -> {}", changed.key, changed.before, changed.after);
    let keys: Vec<String> = change.keys.iter().map(key).collect();
    let beyond = if change.beyond_capacity == Some(true) {
        " beyond the capacity"
    } else {
        ""
    };
    let count = |count: Option<u32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    match change.what.as_str() {
        "call" => format!("called {} of {}{beyond}", count(change.called), count(change.asked)),
        "set" if keys.is_empty() => "set what was in force".to_owned(),
        "set" => keys.join(", "),
        what => [what.to_owned()].into_iter().chain(keys).collect::<Vec<_>>().join(", "),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (tag, text) = text.split_once('=').ok_or("it looks like en='Back at 14:00'")?;
    Ok((tag.to_owned(), text.to_owned()))
}

const CALL_EXAMPLES: &str = "Examples:
  ropeline rooms call main 50                     the next fifty, above the rate
  ropeline rooms call main 5 --beyond-capacity --reason 'friends of the band'
  ropeline rooms call concerts 20 --line 4711";

const RESET_EXAMPLES: &str = "Every session ends and everybody waiting loses their place.

Examples:
  ropeline rooms reset main --confirm main --reason 'rehearsal is over'";

pub(super) const HEALING_EXAMPLES: &str =
    "Visitors of the lost log who come back later stand behind those called meanwhile. Forgotten sessions count again when their visitors come back, so for a while there may be more inside than the capacity.

Examples:
  ropeline rooms end-healing main --reason 'the store was empty on purpose'";

const MESSAGE_EXAMPLES: &str = "Visitors who read none of these languages see the configured message; without one, the English text or else the first.

Examples:
  ropeline rooms message main en='Back at 14:00' ko='14시에 다시 엽니다'
  ropeline rooms message main --none";

//! `ropeline rooms add` and `ropeline rooms remove`: rooms that come and go while the gates run.

use std::fmt::Write as _;
use std::io::Read as _;

use clap::Args;
use serde_json::json;

use super::commands::Why;
use super::table;
use crate::admin::api;
use crate::cli::output::{Format, plain, time};
use crate::cli::remote::{Client, Failure, encoded, path_of as path, show};

#[derive(Debug, Args)]
#[command(after_help = ADD_EXAMPLES)]
pub(super) struct AddArgs {
    /// A file with the room's table as config.toml has it, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: String,
    #[command(flatten)]
    why: Why,
}

#[derive(Debug, Args)]
#[command(after_help = REMOVE_EXAMPLES)]
pub(super) struct RemoveArgs {
    /// The room's name
    room: String,
    /// The room's name once more
    #[arg(long, value_name = "ROOM")]
    confirm: String,
    /// Reason, recorded with the change
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) async fn add(client: &Client, args: &AddArgs, format: Format) -> Result<(), Failure> {
    let text = read(&args.file)?;
    let reason = args.why.reason.as_ref();
    let query = reason.map_or_else(String::new, |reason| format!("?reason={}", encoded(reason)));
    let target = format!("/api/v1/rooms{query}");
    let answer = client.post_text(&target, ("application/toml", text)).await;
    let answer = answer.map_err(|failure| each_on_its_line(failure, &args.file))?;
    show(&answer, format, |added: &api::RoomAdded| {
        let mut text = String::new();
        for odd in &added.warnings {
            let _ = writeln!(text, "warning: {}", plain(odd));
        }
        text + &table::room(&added.room)
    })
}

/// At most one byte more than a gate accepts, so that the gate itself reports the error.
fn read(file: &str) -> Result<String, Failure> {
    let (mut text, most) = (String::new(), 64 * 1024);
    let read = if file == "-" {
        std::io::stdin().take(most).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(most).read_to_string(&mut text))
    };
    read.map_err(|error| Failure::Local(format!("{file} cannot be read: {error}")))?;
    Ok(text)
}

/// As `ropeline check` tells them.
fn each_on_its_line(failure: Failure, file: &str) -> Failure {
    let Failure::Refused {
        status,
        detail,
        mistakes,
    } = failure
    else {
        return failure;
    };
    for mistake in &mistakes {
        eprintln!("{}: {}", plain(file), plain(mistake));
    }
    let detail = if mistakes.is_empty() {
        detail
    } else {
        "the room has mistakes, and nothing was changed".to_owned()
    };
    Failure::Refused {
        status,
        detail,
        mistakes,
    }
}

pub(super) async fn remove(client: &Client, args: &RemoveArgs, format: Format) -> Result<(), Failure> {
    let body = json!(api::RemoveRoom {
        confirm: args.confirm.clone(),
        reason: args.reason.clone(),
    });
    let answer = client.delete_saying(&path(&[&args.room]), &body).await?;
    show(&answer, format, |removed: &api::RoomRemoved| {
        let text: String = removed.text.lines().map(|line| plain(line) + "\n").collect();
        format!("# {} is gone; this is what it was added by\n{text}", removed.room)
    })
}

pub(super) async fn list(client: &Client, format: Format) -> Result<(), Failure> {
    show(&client.get("/api/v1/additions").await?, format, listed)
}

fn listed(additions: &api::Additions) -> String {
    let mut text = String::new();
    for change in &additions.changes {
        let reason = change.reason.as_ref();
        let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let (who, did) = (change.who.as_deref().unwrap_or("?"), &change.what);
        let line = format!("{}  {who}: {did} {}{reason}", time(&change.at), change.room);
        let _ = writeln!(text, "{}", plain(&line));
    }
    if text.is_empty() {
        "no room was added or removed so far\n".to_owned()
    } else {
        text
    }
}

const ADD_EXAMPLES: &str =
    "The file has one [[room]] table, as config.toml would have it. All gates that share the rooms take it.

Examples:
  ropeline rooms add concert.toml --reason 'sale on Friday'
  ropeline rooms add - <<< '[[room]]
  name = \"concert\"
  routes = [\"/concert/*\"]'";

const REMOVE_EXAMPLES: &str =
    "Every session in it ends and everybody waiting loses their place. Prints the table that the room was added with.

Examples:
  ropeline rooms remove concert --confirm concert --reason 'the sale is over'";

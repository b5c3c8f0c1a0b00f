//! `ropeline top`: every line live in a terminal, with the content of the operator's page; or once as plain text.
//!
//! It only reads. Where output is not a terminal it prints once, so that it can be used in a pipe; as JSON, too.

mod picture;
mod screen;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use self::picture::Picture;
use self::screen::{Key, Screen};
use crate::cli::output::{Format, columns, say};
use crate::cli::remote::{self, AdminArgs, Client, Failure, encoded, parsed};

/// Arguments of `ropeline top`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TopArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// Print the lines once, as plain text
    #[arg(long)]
    once: bool,
    /// The room to show in detail; by default the first
    #[arg(long, value_name = "NAME")]
    room: Option<String>,
    /// Text; or the admin API's JSON, once
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Runs `ropeline top`.
#[must_use]
pub fn run(args: &TopArgs) -> ExitCode {
    remote::run("top", execute(args))
}

async fn execute(args: &TopArgs) -> Result<(), Failure> {
    let client = args.admin.client()?;
    let first = look(&client, args.room.as_deref()).await?;
    if args.room.is_some() && first.selected().map(|room| room.name.as_str()) != args.room.as_deref() {
        return Err(Failure::Local(format!(
            "there is no room {:?}",
            args.room.as_deref().unwrap_or_default()
        )));
    }
    if args.format == Format::Json {
        say(&format!("{:#}\n", first.json()));
        return Ok(());
    }
    if args.once || !io::stdout().is_terminal() {
        say(&first.whole(columns()));
        return Ok(());
    }
    live(&client, first).await
}

/// Redraws every second, and at each key, until a key ends it.
async fn live(client: &Client, mut picture: Picture) -> Result<(), Failure> {
    let (_screen, mut keys) = Screen::open().map_err(local)?;
    let mut interval = tokio::time::interval(EVERY);
    loop {
        screen::draw(&picture.lines(columns())).map_err(local)?;
        tokio::select! {
            _ = interval.tick() => {}
            key = keys.recv() => match key {
                Some(Key::Up) => picture.go(-1),
                Some(Key::Down) => picture.go(1),
                Some(Key::Redraw) => continue,
                Some(Key::End) | None => return Ok(()),
            },
        }
        let wanted = picture.selected().map(|room| room.name.clone());
        match look(client, wanted.as_deref()).await {
            Ok(seen) => picture = seen,
            // A gate that is away for a moment is waited for.
            Err(failure) => picture.trouble = Some(failure.to_string()),
        }
    }
}

/// Asks for all that is shown; of one room more than of the others.
async fn look(client: &Client, wanted: Option<&str>) -> Result<Picture, Failure> {
    let mut picture = Picture {
        rooms: parsed(&client.get("/api/v1/rooms").await?)?,
        upstreams: parsed(&client.get("/api/v1/upstreams").await?)?,
        gates: parsed(&client.get("/api/v1/gates").await?)?,
        ..Picture::default()
    };
    let place = |name: &str| picture.rooms.rooms.iter().position(|room| room.name == name);
    picture.at = wanted.and_then(place).unwrap_or(0);
    if let Some(room) = picture.selected() {
        let path = format!("/api/v1/rooms/{}", encoded(&room.name));
        let changes = parsed(&client.get(&format!("{path}/changes")).await?)?;
        let history = parsed(&client.get(&format!("{path}/history")).await?)?;
        let lines = parsed(&client.get(&format!("{path}/lines?limit=20")).await?)?;
        (picture.changes, picture.history, picture.lines) = (changes, history, lines);
    }
    Ok(picture)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn local(error: io::Error) -> Failure {
    Failure::Local(error.to_string())
}

const EVERY: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "Keys: up and down (or k and j) choose a room, q ends.

Examples:
  ropeline top                                    every line, redrawn every second
  ropeline top --once                             once, as plain text
  ropeline top --format json | jq .history        once, for a script
  ssh -t gate ropeline top --room main            from elsewhere";

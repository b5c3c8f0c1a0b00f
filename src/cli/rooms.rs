//! `anteroom rooms`: the admin API from a shell, for looking at rooms and changing them.
//!
//! What it prints for people goes to standard output as a table, or as the API's JSON with `--json`; what went wrong goes
//! to standard error in one line that says what to do. Exit codes: 0 done, 1 not done, 2 wrong usage.

mod args;
mod client;
mod table;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::admin::api;
use args::{AdminArgs, Command, patch};
use client::{Client, Failure, Raw};

pub use args::{DEFAULT_ADMIN, RoomsArgs};

/// Runs `anteroom rooms`.
#[must_use]
pub fn run(args: &RoomsArgs) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&Failure::Local(error.to_string())),
    };
    match runtime.block_on(execute(args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failed(&failure),
    }
}

fn failed(failure: &Failure) -> ExitCode {
    eprintln!("anteroom rooms: {}", table::plain(&failure.to_string()));
    ExitCode::FAILURE
}

async fn execute(args: &RoomsArgs) -> Result<(), Failure> {
    let client = Client::new(&args.admin.admin, token(&args.admin)?)?;
    match &args.command {
        None if args.watch => watch(&client, args.json).await,
        None => show(&client.get("/api/v1/rooms").await?, args.json, table::rooms),
        Some(Command::Set(set)) => {
            let room = client.patch(&path(&[&set.room]), &patch(&set.change)).await?;
            show(&room, args.json, table::room)
        }
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

fn token(args: &AdminArgs) -> Result<Option<String>, Failure> {
    let Some(file) = &args.token_file else {
        return Ok(args.token.clone());
    };
    let read = std::fs::read_to_string(file);
    let text =
        read.map_err(|error| Failure::Local(format!("the token file {} cannot be read: {error}", file.display())))?;
    Ok(Some(text.trim().to_owned()))
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

/// Draws the rooms every second until interrupted; a gate that is away for a moment is waited for.
async fn watch(client: &Client, json: bool) -> Result<(), Failure> {
    let mut interval = tokio::time::interval(Duration::from_secs(1));
    let mut seen = false;
    loop {
        tokio::select! {
            _ = interval.tick() => {}
            _ = tokio::signal::ctrl_c() => return Ok(()),
        }
        match client.get("/api/v1/rooms").await {
            Ok(rooms) => {
                redraw()?;
                show(&rooms, json, table::rooms)?;
                seen = true;
            }
            // A wrong address or token at the start does not get better by waiting.
            Err(failure) if !seen => return Err(failure),
            Err(failure) => eprintln!("anteroom rooms: {}", table::plain(&failure.to_string())),
        }
    }
}

/// Clears the terminal; where output is no terminal the pictures follow one another.
fn redraw() -> Result<(), Failure> {
    let mut out = io::stdout();
    if out.is_terminal() {
        out.write_all(b"\x1b[H\x1b[2J").map_err(local)?;
    }
    Ok(())
}

fn show<T: DeserializeOwned>(raw: &Raw, json: bool, draw: impl Fn(&T) -> String) -> Result<(), Failure> {
    let text = if json { raw.pretty() } else { draw(&parsed(raw)?) };
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has seen enough (`anteroom rooms --watch | head`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other.map_err(local),
    }
}

fn parsed<T: DeserializeOwned>(raw: &Raw) -> Result<T, Failure> {
    raw.parse()
        .map_err(|error| Failure::Foreign(format!("the answer is not one of this version's: {error}")))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn local(error: io::Error) -> Failure {
    Failure::Local(error.to_string())
}

fn path(segments: &[&str]) -> String {
    segments.iter().fold("/api/v1/rooms".to_owned(), |path, segment| {
        format!("{path}/{}", encoded(segment))
    })
}

/// Percent-encodes everything but RFC 3986's unreserved characters.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let encode = |byte: u8| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_segment() {
        assert_eq!(
            path(&["a/../b", "visitors", "x?y#z 1"]),
            "/api/v1/rooms/a%2F..%2Fb/visitors/x%3Fy%23z%201"
        );
    }
}

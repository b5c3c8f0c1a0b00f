//! Requests of commands to a gate's admin listener, and the output of the answers.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::de::DeserializeOwned;

use crate::cli::output::{Format, plain};
use crate::cli::rehearse::place::reachable;
use crate::cli::remote::client::{Client, DEFAULT_ADMIN, Failure, Raw};
use crate::config::Admin;

/// How to reach the admin listener.
#[derive(Clone, Debug, Args)]
pub struct AdminArgs {
    /// The gate's admin listener
    #[arg(long, global = true, value_name = "URL", env = "ROPELINE_ADMIN", default_value = DEFAULT_ADMIN)]
    admin: String,
    /// A file with the admin token; or set `ROPELINE_ADMIN_TOKEN`
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The admin token
    // Only for the environment: a token among the arguments could be read by every user of the machine.
    #[arg(
        long = "admin-token",
        global = true,
        env = "ROPELINE_ADMIN_TOKEN",
        hide = true,
        hide_env_values = true
    )]
    token: Option<String>,
}

impl AdminArgs {
    /// A client of that listener.
    pub fn client(&self) -> Result<Client, Failure> {
        Client::new(&self.admin, self.token()?)
    }

    /// As [`Self::client`]; where no option names the listener, it is that of this configuration, with its token.
    pub fn client_of(&self, own: Option<&Admin>) -> Result<Client, Failure> {
        let Some(own) = own.filter(|_| self.admin == DEFAULT_ADMIN) else {
            return self.client();
        };
        let tokens = own.token.iter().chain(own.tokens.iter().map(|named| &named.token));
        let of_file = tokens
            .map(|token| String::from_utf8_lossy(token.expose()).into_owned())
            .next();
        Client::new(&reachable(own.listen).to_string(), self.token()?.or(of_file))
    }

    fn token(&self) -> Result<Option<String>, Failure> {
        let Some(file) = &self.token_file else {
            return Ok(self.token.clone());
        };
        let read = std::fs::read_to_string(file);
        let text =
            read.map_err(|error| Failure::Local(format!("the token file {} cannot be read: {error}", file.display())))?;
        Ok(Some(text.trim().to_owned()))
    }
}

/// Carries out `ropeline NAME`.
pub fn run(name: &str, command: impl Future<Output = Result<(), Failure>>) -> ExitCode {
    run_to_code(name, async { command.await.map(|()| ExitCode::SUCCESS) })
}

/// As [`run`], for a command with exit codes of its own.
pub fn run_to_code(name: &str, command: impl Future<Output = Result<ExitCode, Failure>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(local).and_then(|runtime| runtime.block_on(command));
    done.unwrap_or_else(|failure| {
        eprintln!("ropeline {name}: {}", plain(&failure.to_string()));
        ExitCode::FAILURE
    })
}

/// Prints an answer: drawn, or as it came.
pub fn show<T: DeserializeOwned>(raw: &Raw, format: Format, draw: impl Fn(&T) -> String) -> Result<(), Failure> {
    let text = match format {
        Format::Json => raw.pretty(),
        Format::Text => draw(&parsed(raw)?),
    };
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader has seen enough (`ropeline rooms --watch | head`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other.map_err(local),
    }
}

/// A command, and the part of the API that it polls.
pub struct Watched(pub &'static str, pub &'static str);

/// Draws an answer every second until interrupted; a gate that is away for a moment is waited for.
pub async fn watch<T: DeserializeOwned>(
    client: &Client,
    Watched(name, target): Watched,
    format: Format,
    draw: impl Fn(&T) -> String,
) -> Result<(), Failure> {
    let mut interval = tokio::time::interval(Duration::from_secs(1));
    let mut seen = false;
    loop {
        tokio::select! {
            _ = interval.tick() => {}
            _ = tokio::signal::ctrl_c() => return Ok(()),
        }
        match client.get(target).await {
            Ok(answer) => {
                redraw()?;
                show(&answer, format, &draw)?;
                seen = true;
            }
            // A wrong address or token at the start does not get better by waiting.
            Err(failure) if !seen => return Err(failure),
            Err(failure) => eprintln!("ropeline {name}: {}", plain(&failure.to_string())),
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

/// An answer as one of this version's.
pub fn parsed<T: DeserializeOwned>(raw: &Raw) -> Result<T, Failure> {
    raw.parse()
        .map_err(|error| Failure::Foreign(format!("the answer is not one of this version's: {error}")))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn local(error: io::Error) -> Failure {
    Failure::Local(error.to_string())
}

/// Percent-encodes everything but RFC 3986's unreserved characters.
pub fn encoded(text: &str) -> String {
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

/// The path of a room, or of something in it.
pub fn path_of(segments: &[&str]) -> String {
    segments.iter().fold("/api/v1/rooms".to_owned(), |path, segment| {
        format!("{path}/{}", encoded(segment))
    })
}

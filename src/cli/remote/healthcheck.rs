//! `ropeline healthcheck`: asks a running gate's `/readyz`, for containers that have no other program.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

/// Arguments of `ropeline healthcheck`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline healthcheck
  ropeline healthcheck --admin 127.0.0.1:9925 || echo 'not ready'

Exit codes: 0 ready, 1 not ready, or no answer")]
pub struct HealthcheckArgs {
    /// The gate's admin listener
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:9925",
        env = "ROPELINE_HEALTHCHECK"
    )]
    admin: SocketAddr,
}

const PATIENCE: Duration = Duration::from_secs(3);

/// Runs `ropeline healthcheck`: exit code 0 when ready, 1 otherwise.
#[must_use]
pub fn run(args: &HealthcheckArgs) -> ExitCode {
    match ask(args.admin) {
        Ok(answer) => match health(&answer) {
            Some(true) => ExitCode::SUCCESS,
            Some(false) => {
                eprintln!("not ready: {}", answer.lines().last().unwrap_or_default());
                ExitCode::FAILURE
            }
            None => {
                eprintln!(
                    "what answers at {} is no gate's admin listener; right: the address of [server] admin_listen",
                    args.admin
                );
                ExitCode::FAILURE
            }
        },
        Err(error) => {
            eprintln!("nothing answers at {}: {error}", args.admin);
            ExitCode::FAILURE
        }
    }
}

/// The gate's own report of its health; `None` for text that is no answer of a gate, such as a page of the visitors' listener.
fn health(answer: &str) -> Option<bool> {
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let health: serde_json::Value = serde_json::from_str(body).ok()?;
    health["ok"].as_bool()
}

fn ask(admin: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&admin, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET /readyz HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.take(64 * 1024).read_to_string(&mut answer)?;
    Ok(answer)
}

//! `ropeline keygen`: a secret for `[tokens] keys` or `[upstream] signature_key`, printed or written to a file of its own.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::output::{quoted, say};
use crate::dates::rfc3339;
use crate::time;

/// Arguments of `ropeline keygen`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline keygen                                   print a secret
  ropeline keygen --out /etc/ropeline/tokens.key    write it to a file that only its owner can read

The secret fits [tokens] keys and [upstream] signature_key, as a text, { env = \"NAME\" } or { file = \"/path\" }. All gates of a
store have the same keys. A key can make tickets and passes: keep a copy in a safe place, and nowhere else.")]
pub struct KeygenArgs {
    /// Write the secret to this new file with mode 0600, and print the line that names it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Bytes of a secret: as many as the digest of HMAC-SHA-256, with which it signs.
const BYTES: usize = 32;

/// Bytes of a key's id beside the month: two keys of one month have two names.
const OF_ID: usize = 2;

/// Runs `ropeline keygen`.
#[must_use]
pub fn run(args: &KeygenArgs) -> ExitCode {
    let mut bytes = [0; BYTES + OF_ID];
    if let Err(error) = getrandom::fill(&mut bytes) {
        eprintln!("ropeline keygen: the system has no randomness to give: {error}");
        return ExitCode::FAILURE;
    }
    let (secret, of_id) = bytes.split_at(BYTES);
    let secret = format!("{}\n", hex(secret));
    let Some(file) = &args.out else {
        say(&secret);
        return ExitCode::SUCCESS;
    };
    if let Err(error) = write_new(file, &secret) {
        eprintln!("ropeline keygen: {} cannot be written: {error}", file.display());
        return ExitCode::FAILURE;
    }
    let path = std::path::absolute(file).unwrap_or_else(|_| file.clone());
    let path = quoted(&path.to_string_lossy());
    let month = rfc3339(time::wall());
    let id = format!("{}-{}", month.get(..7).unwrap_or("key"), hex(of_id));
    say(&format!(
        "Wrote {}. In the configuration of every gate:\n\n[tokens]\nkeys = [{{ id = \"{id}\", secret = {{ file = {path} }} }}]\n",
        file.display()
    ));
    ExitCode::SUCCESS
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// SECURITY: the file is new, so that no key is lost and no link is followed, and has its mode before it has a byte.
fn write_new(path: &Path, secret: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = file.write_all(secret.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written
}

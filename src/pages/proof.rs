//! The page that has a proof of work done, and its worker's script.

use std::fmt::Write as _;
use std::sync::LazyLock;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::addresses::{MAX_CARRIED, api, check_url, query};
use super::kind::{LineFacts, PageKind, ProofFacts};
use super::text::{json, json_for_script, percent_encode};

/// The worker's script, which is the same for everybody.
pub const WORKER: &str = include_str!("../../static/small/proof-worker.js");

/// The page's own, inline.
pub(super) const SCRIPT: &str = include_str!("../../static/small/proof.js");

/// Where the worker's script is: another one at another address, so that it may be kept for a day.
static WORKER_URL: LazyLock<String> = LazyLock::new(|| {
    let digest: [u8; 32] = Sha256::digest(WORKER.as_bytes()).into();
    let name = digest[..6].iter().fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    });
    format!("/.ropeline/proof.js?v={name}")
});

/// The fields are read by `static/proof.js`.
#[derive(Serialize)]
struct Data<'a> {
    kind: &'static str,
    challenge: &'a str,
    parts: u32,
    most: u32,
    wait: u32,
    join: String,
    enter: String,
    check: String,
    worker: &'a str,
}

pub(super) fn data(line: &LineFacts<'_>, proof: &ProofFacts<'_>, here: &str) -> String {
    let data = Data {
        kind: PageKind::Proof.name(),
        challenge: proof.challenge,
        parts: proof.parts,
        most: proof.most,
        wait: proof.wait_secs,
        join: format!("{}/join{}", api(line.room), query(line.line)),
        enter: enter_url(line, proof, here),
        check: check_url(line, here),
        worker: &WORKER_URL,
    };
    json_for_script(&json(&data))
}

/// Where a visitor joins after the wait, and is sent on to `here`.
pub(super) fn enter_url(line: &LineFacts<'_>, proof: &ProofFacts<'_>, here: &str) -> String {
    let query = query(line.line);
    let join = if query.is_empty() { '?' } else { '&' };
    let here = if here.len() > MAX_CARRIED { "/" } else { here };
    let to = percent_encode(here);
    format!("{}/enter{query}{join}proof={}&to={to}", api(line.room), proof.challenge)
}

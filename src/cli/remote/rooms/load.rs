//! `ropeline rooms load`: figures of the upstream, from any tool that measures it.

use clap::Args;
use serde_json::json;

use super::{commands, table};
use crate::admin::api;
use crate::cli::output::Format;
use crate::cli::remote::{Client, Failure, path_of as path, show};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct LoadArgs {
    /// The room's name
    room: String,
    /// Requests a second that the shop has, of all visitors together
    #[arg(long, value_name = "N", required_unless_present = "none")]
    requests: Option<u32>,
    /// 95 of 100 requests take at most this many milliseconds
    #[arg(long, value_name = "MS")]
    p95_ms: Option<u32>,
    /// Share of requests that fail, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    errors: Option<f64>,
    /// Seconds for which the figures are used, 1 to 3600
    #[arg(long, value_name = "SECONDS", required_unless_present = "none")]
    ttl: Option<u32>,
    /// Use the measured figures again
    #[arg(long, conflicts_with_all = ["requests", "p95_ms", "errors", "ttl", "reason"])]
    none: bool,
    #[command(flatten)]
    why: commands::Why,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be 0 to 1".to_owned())
}

pub(super) async fn load(client: &Client, args: &LoadArgs, format: Format) -> Result<(), Failure> {
    let at = path(&[&args.room, "load"]);
    let answer = match (args.requests, args.ttl) {
        (Some(requests_per_second), Some(ttl_secs)) => {
            let body = json!(api::Load {
                requests_per_second,
                p95_ms: args.p95_ms,
                error_share: args.errors,
                ttl_secs,
                reason: args.why.reason.clone(),
            });
            client.post(&at, &body).await?
        }
        _ => client.delete(&at).await?,
    };
    show(&answer, format, table::room)
}

const EXAMPLES: &str = "\
Examples:
  ropeline rooms load main --requests 80 --p95-ms 350 --errors 0.01 --ttl 30
  ropeline rooms load main --none";

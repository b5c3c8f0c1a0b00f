//! `ropeline upstreams`: the servers of the upstream as one gate sees them.

use std::process::ExitCode;

use clap::Args;

use crate::admin::api;
use crate::cli::output::{Format, Gives, columns, fitted, plain};
use crate::cli::remote::{self, AdminArgs, Failure, show};

/// Arguments of `ropeline upstreams`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct UpstreamsArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// Redraw every second until interrupted
    #[arg(long)]
    watch: bool,
    /// Text, or the admin API's JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  ropeline upstreams           each server: its weight, load and health
  ropeline upstreams --watch   wait until a server of weight 0 has none IN FLIGHT

A weight is changed in the configuration: edit it and reload.";

/// Runs `ropeline upstreams`.
#[must_use]
pub fn run(args: &UpstreamsArgs) -> ExitCode {
    remote::run("upstreams", execute(args))
}

async fn execute(args: &UpstreamsArgs) -> Result<(), Failure> {
    let client = args.admin.client()?;
    if args.watch {
        return remote::watch(&client, remote::Watched("upstreams", PATH), args.format, table).await;
    }
    show(&client.get(PATH).await?, args.format, table)
}

pub(super) fn table(upstreams: &api::Upstreams) -> String {
    table_in(upstreams, columns())
}

/// As [`table`], for a terminal of so many columns.
pub(super) fn table_in(upstreams: &api::Upstreams, columns: usize) -> String {
    let head = [
        "UPSTREAM",
        "SERVER",
        "STATE",
        "WEIGHT",
        "IN FLIGHT",
        "WAITING",
        "FAILURES",
        "REASON",
    ];
    let gives = Gives {
        drops: &["FAILURES", "WAITING"],
        cuts: &["REASON", "SERVER", "UPSTREAM"],
    };
    // A single upstream needs no name.
    let has_names = upstreams.upstreams.iter().any(|server| server.upstream.is_some());
    let first = usize::from(!has_names);
    let rows: Vec<_> = upstreams
        .upstreams
        .iter()
        .map(|server| row(server).split_off(first))
        .collect();
    fitted(&head[first..], &rows, columns, &gives)
}

fn row(server: &api::Upstream) -> Vec<String> {
    vec![
        server.upstream.as_deref().map_or_else(|| "-".to_owned(), plain),
        plain(&server.origin),
        state(server).to_owned(),
        server.weight.to_string(),
        server.in_flight.to_string(),
        server.waiting.to_string(),
        server.failures.to_string(),
        server.reason.as_deref().map_or_else(|| "-".to_owned(), plain),
    ]
}

fn state(server: &api::Upstream) -> &'static str {
    match (server.weight, server.healthy) {
        (0, _) if server.in_flight == 0 => "drained",
        (0, _) => "draining",
        (_, true) => "in",
        (_, false) => "out",
    }
}

const PATH: &str = "/api/v1/upstreams";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_says_how_each_server_stands() {
        let server = |weight, in_flight, healthy| api::Upstream {
            origin: "shop:80 (10.0.0.1)".to_owned(),
            weight,
            healthy,
            in_flight,
            ..api::Upstream::default()
        };
        let upstreams = vec![
            server(2, 0, true),
            server(2, 0, false),
            server(0, 3, true),
            server(0, 0, true),
        ];
        let text = table(&api::Upstreams { upstreams });
        let states: Vec<&str> = text
            .lines()
            .skip(1)
            .map(|line| line.split_whitespace().nth(2).unwrap_or_default())
            .collect();
        assert_eq!(states, ["in", "out", "draining", "drained"], "{text}");
    }
}

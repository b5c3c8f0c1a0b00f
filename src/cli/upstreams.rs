//! `ropeline upstreams`: the shop's servers as one gate sees them, and an operator's word on how much each is given.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::remote::{self, AdminArgs, Failure, encoded, show};
use super::words::{aligned, plain};
use crate::admin::api;

/// Arguments of `ropeline upstreams`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct UpstreamsArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// Redraw every second until interrupted
    #[arg(long)]
    watch: bool,
    /// Print the admin API's JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Give a server another share of the requests, at this gate and until other servers are configured
    Set {
        /// As the table names it; a name without an address behind it means all of its addresses
        server: String,
        /// Its share; 0 lets it finish what it has and gives it nothing new; default is the configured one
        #[arg(long, value_name = "N|default", value_parser = weight)]
        weight: Value,
    },
}

const EXAMPLES: &str = "\
Examples:
  ropeline upstreams                                    each server: its share, how busy, how well
  ropeline upstreams set 10.0.0.1:3000 --weight 0       take it out; what it has under way goes on
  ropeline upstreams --watch                            until IN FLIGHT is 0
  ropeline upstreams set 10.0.0.1:3000 --weight default and back in

Each gate weighs for itself: say it to every one, with --admin.";

/// Runs `ropeline upstreams`.
#[must_use]
pub fn run(args: &UpstreamsArgs) -> ExitCode {
    remote::run("upstreams", execute(args))
}

async fn execute(args: &UpstreamsArgs) -> Result<(), Failure> {
    let client = args.admin.client()?;
    let answer = match &args.command {
        None if args.watch => {
            let upstreams = remote::Watched("upstreams", PATH);
            return remote::watch(&client, upstreams, args.json, table).await;
        }
        None => client.get(PATH).await?,
        Some(Command::Set { server, weight }) => {
            let target = format!("{PATH}/{}", encoded(server));
            client.post(&target, &json!({ "weight": weight })).await?
        }
    };
    show(&answer, args.json, table)
}

fn weight(text: &str) -> Result<Value, String> {
    match text {
        "default" => Ok(Value::Null),
        text => text
            .parse::<u32>()
            .map(Value::from)
            .map_err(|_| "a whole number, or default".to_owned()),
    }
}

pub(super) fn table(upstreams: &api::Upstreams) -> String {
    let head = [
        "SERVER",
        "STATE",
        "WEIGHT",
        "IN FLIGHT",
        "WAITING",
        "FAILURES",
        "REASON",
    ];
    let rows: Vec<_> = upstreams.upstreams.iter().map(row).collect();
    aligned(&head, &rows)
}

fn row(server: &api::Upstream) -> Vec<String> {
    let weight = match server.configured_weight {
        Some(configured) => format!("{} (configured {configured})", server.weight),
        None => server.weight.to_string(),
    };
    vec![
        plain(&server.origin),
        state(server).to_owned(),
        weight,
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
            configured_weight: (weight == 0).then_some(2),
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
        assert!(text.contains("0 (configured 2)"), "{text}");
    }

    #[test]
    fn weight_is_a_number_or_the_configured_one() {
        assert_eq!((weight("0"), weight("default")), (Ok(json!(0)), Ok(Value::Null)));
        assert!(weight("none").is_err() && weight("-1").is_err());
    }
}

//! `ropeline winners`: the buyers of a room's stock, as CSV or JSON.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;

use crate::admin::api;
use crate::cli::output::{ListFormat, aligned, csv_field as field, plain, say};
use crate::cli::remote::{self, AdminArgs, Failure, encoded, parsed};

/// Arguments of `ropeline winners`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WinnersArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// The room's name
    #[arg(long)]
    room: String,
    /// Name of the line, if the room has several; default: all lines
    #[arg(long)]
    line: Option<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = ListFormat::Csv)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  ropeline winners --room drop >winners.csv         buyers, in the order of their purchases
  ropeline winners --room drop --format json        the same as JSON
  ropeline winners --room drop --format text        for reading: place, reference, time and line";

/// Runs `ropeline winners`.
#[must_use]
pub fn run(args: &WinnersArgs) -> ExitCode {
    remote::run("winners", execute(args))
}

/// Every page; who completes meanwhile stands at the end.
async fn execute(args: &WinnersArgs) -> Result<(), Failure> {
    let client = args.admin.client()?;
    let mut winners: Vec<api::Winner> = Vec::new();
    let mut after = None;
    loop {
        let mut target = format!("/api/v1/rooms/{}/winners?limit={PAGE}", encoded(&args.room));
        for (name, value) in [("line", &args.line), ("after", &after)] {
            if let Some(value) = value {
                let _ = write!(target, "&{name}={}", encoded(value));
            }
        }
        let page: api::Winners = parsed(&client.get(&target).await?)?;
        winners.extend(page.winners);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let text = match args.format {
        ListFormat::Text => table(&winners),
        ListFormat::Csv => csv(&winners),
        ListFormat::Json => serde_json::to_string_pretty(&winners).unwrap_or_default() + "\n",
    };
    say(&text);
    Ok(())
}

fn table(winners: &[api::Winner]) -> String {
    let head = ["PLACE", "REFERENCE", "COMPLETED", "LINE"];
    let row = |winner: &api::Winner| {
        let (reference, line) = (plain(&winner.reference), plain(&winner.line));
        vec![winner.place.to_string(), reference, plain(&winner.completed_at), line]
    };
    aligned(&head, &winners.iter().map(row).collect::<Vec<_>>())
}

fn csv(winners: &[api::Winner]) -> String {
    let mut text = "place,line,lane,era,number,reference,completed_at,account\n".to_owned();
    for winner in winners {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{}",
            winner.place,
            field(&winner.line),
            winner.lane,
            winner.epoch,
            winner.number,
            field(&winner.reference),
            field(&winner.completed_at),
            winner.account.as_deref().unwrap_or_default(),
        );
    }
    text
}

const PAGE: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_winner_is_a_line_and_no_name_breaks_it() {
        let winner = api::Winner {
            place: 1,
            line: "a,\"b\"".to_owned(),
            lane: 0,
            epoch: 1_700,
            number: 7,
            reference: "K7-XY".to_owned(),
            completed_at: "2026-12-01T04:00:00Z".to_owned(),
            account: None,
        };
        let formula = api::Winner {
            place: 2,
            line: "=1+1".to_owned(),
            account: Some("6eb75ff51707619f".to_owned()),
            ..winner.clone()
        };
        let text = csv(&[winner, formula]);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "1,\"a,\"\"b\"\"\",0,1700,7,K7-XY,2026-12-01T04:00:00Z,",
                "2,'=1+1,0,1700,7,K7-XY,2026-12-01T04:00:00Z,6eb75ff51707619f"
            ]
        );
    }
}

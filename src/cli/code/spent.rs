//! `ropeline code list-spent`: which single-use codes were used, when, and for what.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;

use crate::admin::api;
use crate::cli::output::{ListFormat, csv_field as field};
use crate::cli::remote::{self, AdminArgs, Failure, encoded, parsed};

/// Arguments of `ropeline code list-spent`.
#[derive(Debug, Args)]
pub struct SpentArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// The room's name
    #[arg(long)]
    room: String,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = ListFormat::Csv)]
    format: ListFormat,
}

#[must_use]
pub fn run(args: &SpentArgs) -> ExitCode {
    remote::run("code", execute(args))
}

async fn execute(args: &SpentArgs) -> Result<(), Failure> {
    let client = args.admin.client()?;
    let mut spent: Vec<api::SpentCode> = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut target = format!("/api/v1/rooms/{}/codes?limit={PAGE}", encoded(&args.room));
        if let Some(after) = &after {
            let _ = write!(target, "&after={}", encoded(after));
        }
        let page: api::SpentCodes = parsed(&client.get(&target).await?)?;
        spent.extend(page.spent);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    crate::cli::output::say(&listed(&spent, args.format));
    Ok(())
}

fn listed(spent: &[api::SpentCode], format: ListFormat) -> String {
    let mut text = String::new();
    match format {
        ListFormat::Text => spent.iter().for_each(|code| _ = writeln!(text, "{}", code.code)),
        ListFormat::Csv => {
            text.push_str("id,used_at,grants,line,lane,era,number,reference,expires\n");
            for code in spent {
                let (line, lane) = (field(&code.line), field(&code.lane));
                let _ = writeln!(
                    text,
                    "{},{},{},{line},{lane},{},{},{},{}",
                    code.code, code.used_at, code.grants, code.epoch, code.number, code.reference, code.expires
                );
            }
        }
        ListFormat::Json => text = serde_json::to_string_pretty(spent).unwrap_or_default() + "\n",
    }
    text
}

const PAGE: usize = 10_000;

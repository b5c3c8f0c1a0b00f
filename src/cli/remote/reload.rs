//! `ropeline reload`: makes a running gate read its configuration file again, and prints the result.

use std::process::ExitCode;

use clap::Args;
use http::StatusCode;
use serde_json::json;

use crate::admin::api;
use crate::cli::output::{EXIT_CONFIG, Format};
use crate::cli::output::{plain, time};
use crate::cli::remote::{self, AdminArgs, Failure, show};

const PATH: &str = "/api/v1/reload";

/// Arguments of `ropeline reload`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline reload                                        apply the edited file
  ropeline check /etc/ropeline/config.toml && ropeline reload
  ropeline reload --last                                 the result of the last reload, however it was triggered

The gate reads and checks the file and every file that it names. If there is no mistake, all of it takes effect; if there is
one, nothing changes. Visitors keep their places, sessions and connections. Some keys need a restart:
docs/reference/configuration.md marks them. SIGHUP does the same, and so does saving the file, within seconds.

Exit codes: 0 in force, 1 not done, 78 the configuration has mistakes, or needs a restart")]
pub struct ReloadArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// Only print the result of the last reload
    #[arg(long)]
    last: bool,
    /// Text, or the admin API's JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Runs `ropeline reload`.
#[must_use]
pub fn run(args: &ReloadArgs) -> ExitCode {
    remote::run_to_code("reload", reload(args))
}

async fn reload(args: &ReloadArgs) -> Result<ExitCode, Failure> {
    let client = args.admin.client()?;
    if args.last {
        show(&client.get(PATH).await?, args.format, drawn)?;
        return Ok(ExitCode::SUCCESS);
    }
    match client.post_patiently(PATH, &json!({})).await {
        Ok(told) => {
            show(&told, args.format, drawn)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(Failure::Refused {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            detail,
            mistakes,
        }) => {
            for mistake in &mistakes {
                eprintln!("{}", plain(mistake));
            }
            eprintln!("ropeline reload: {}", plain(&detail));
            Ok(ExitCode::from(EXIT_CONFIG))
        }
        Err(failure) => Err(failure),
    }
}

fn drawn(told: &api::Reload) -> String {
    let list = |what: &str, lines: &[String]| -> String {
        let lines = lines.iter().map(|line| [what, &plain(line), "\n"].concat());
        lines.collect::<Vec<_>>().concat()
    };
    let at = told.at.as_deref().map(time).unwrap_or_default();
    let by = told
        .trigger
        .as_deref()
        .map(|by| format!(" by {}", plain(by)))
        .unwrap_or_default();
    let head = match told.result.as_str() {
        "taken" if told.changed.is_empty() => {
            format!("Read again at {at}{by}: in force, and no key has another value.\n")
        }
        "taken" => format!("Read again at {at}{by}, and in force:\n"),
        "refused" => format!(
            "Refused at {at}{by}; the configuration of {} stays in force:\n",
            time(&told.in_force_since)
        ),
        _ => format!("As it was read at the start, {}.\n", time(&told.in_force_since)),
    };
    head + &list("  ", &told.changed) + &list("  ", &told.mistakes) + &list("warning: ", &told.warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_it_is_said_in_words() {
        let told = |result: &str, changed: &[&str], mistakes: &[&str]| api::Reload {
            result: result.to_owned(),
            trigger: Some("signal".to_owned()),
            at: Some("2026-11-20T13:04:05.678Z".to_owned()),
            in_force_since: "2026-11-20T12:00:00.000Z".to_owned(),
            changed: changed.iter().map(ToString::to_string).collect(),
            mistakes: mistakes.iter().map(ToString::to_string).collect(),
            warnings: Vec::new(),
        };
        let taken = drawn(&told("taken", &["room.shop.mode = \"off\", was \"auto\""], &[]));
        assert!(taken.contains("in force:\n  room.shop.mode"), "{taken}");
        assert!(drawn(&told("taken", &[], &[])).contains("no key has another value"));
        let refused = drawn(&told("refused", &[], &["config.toml: line 3: \u{1b}[2J"]));
        assert!(
            refused.starts_with("Refused at ") && refused.contains("  config.toml: line 3: "),
            "{refused}"
        );
        assert!(!refused.contains('\u{1b}'));
        assert!(drawn(&told("none", &[], &[])).starts_with("As it was read at the start"));
    }
}

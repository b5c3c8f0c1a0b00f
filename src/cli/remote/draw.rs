//! `ropeline draw`: the published figures of a room's draw, and the operator's value of its beacon.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::admin::api;
use crate::cli::output::{Format, plain, say};
use crate::cli::remote::{self, AdminArgs, Failure, encoded, parsed, show};

/// Arguments of `ropeline draw`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DrawArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// The room's name
    room: String,
    /// Name of the line, if the room has several
    #[arg(long)]
    line: Option<String>,
    /// The beacon value, 64 or 128 lower-case hexadecimal digits; makes the draw
    #[arg(long, value_name = "VALUE")]
    beacon_value: Option<String>,
    /// Print the figures of one lane (0 is the first), to publish and for verify-draw
    #[arg(long, value_name = "LANE")]
    figures: Option<usize>,
    /// Text, or the admin API's JSON
    #[arg(long, value_enum, default_value_t = Format::Text, conflicts_with = "figures")]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  ropeline draw drop                                the state of the draw, and its commitment
  ropeline draw drop --beacon-value 7d1f2c0a…       enter the beacon value and make the draw
  ropeline draw drop --figures 0 >figures.json      publish, so that anybody can check
  ropeline verify-draw figures.json 4711            check as a visitor would";

/// Runs `ropeline draw`.
#[must_use]
pub fn run(args: &DrawArgs) -> ExitCode {
    remote::run("draw", async { execute(args).await.map_err(Failure::by_options) })
}

async fn execute(args: &DrawArgs) -> Result<(), Failure> {
    let client = args.admin.client()?;
    let mut target = format!("/api/v1/rooms/{}/draw", encoded(&args.room));
    if let Some(line) = &args.line {
        let _ = write!(target, "?line={}", encoded(line));
    }
    let answer = match &args.beacon_value {
        None => client.get(&target).await?,
        Some(value) => client.post(&target, &json!({ "beacon_value": value })).await?,
    };
    let Some(lane) = args.figures else {
        return show(&answer, args.format, text);
    };
    let draw: api::Draw = parsed(&answer)?;
    let figures = draw
        .figures
        .get(lane)
        .ok_or_else(|| Failure::Local(no_lane(lane, &draw)))?;
    say(&format!(
        "{}\n",
        serde_json::to_string_pretty(figures).unwrap_or_default()
    ));
    Ok(())
}

fn no_lane(lane: usize, draw: &api::Draw) -> String {
    format!("there is no lane {lane}: the room has {}", draw.figures.len())
}

fn text(draw: &api::Draw) -> String {
    let mut text = format!(
        "state       {}\npromised    {}\n",
        plain(&draw.state),
        plain(&draw.promised_at)
    );
    for (word, at) in [("closed", &draw.closed_at), ("made", &draw.made_at)] {
        if let Some(at) = at {
            let _ = writeln!(text, "{word:<11} {}", plain(at));
        }
    }
    let Some(first) = draw.figures.first() else { return text };
    let beacon = first
        .beacon
        .as_deref()
        .unwrap_or("none: the draw proves no later change, not impartiality");
    let _ = writeln!(text, "edition     {}\nbeacon      {}", first.edition, plain(beacon));
    if let Some(value) = &first.beacon_value {
        let _ = writeln!(text, "value       {}", plain(value));
    }
    let _ = writeln!(text, "commitment  {}", first.commitment);
    if let Some(secret) = first.secret {
        let _ = writeln!(text, "secret      {secret}");
    }
    for of in draw.figures.iter().filter(|of| of.count.is_some()) {
        let _ = writeln!(text, "lane {:<6} {} drawn", of.lane, of.count.unwrap_or_default());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{Hash, Published};

    #[test]
    fn the_text_says_how_far_a_draw_has_come() {
        let figures = Published {
            draw: 1,
            room: "drop".to_owned(),
            line: String::new(),
            lane: 0,
            edition: 3,
            begins_ms: 1,
            opens_ms: 2,
            beacon: Some("round\u{1b} 7".to_owned()),
            commitment: Hash([1; 32]),
            count: Some(9),
            closed_ms: Some(3),
            closing: Some(Hash([2; 32])),
            beacon_value: None,
            secret: None,
            seal: None,
        };
        let draw = api::Draw {
            state: "closed".to_owned(),
            promised_at: "2026-12-01T03:30:01Z".to_owned(),
            closed_at: Some("2026-12-01T04:00:00Z".to_owned()),
            made_at: None,
            figures: vec![figures],
        };
        let text = text(&draw);
        for part in [
            "state       closed\n",
            "closed      2026-12-01",
            "lane 0      9 drawn",
            "edition     3\n",
        ] {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
        assert!(!text.contains("secret") && !text.contains('\u{1b}'), "{text}");
    }
}

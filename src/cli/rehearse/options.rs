//! The arguments of `ropeline rehearse`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::profile::{ALL, Profile};
use crate::cli::remote::{AdminArgs, Failure};
use crate::config::duration_of;
use crate::room::{MAX_REHEARSAL_MS, MAX_REHEARSED};

/// Arguments of `ropeline rehearse`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RehearseArgs {
    #[command(flatten)]
    pub admin: AdminArgs,
    /// The room's name
    #[arg(long)]
    pub room: String,
    /// The gates' configuration file: its keys sign the requests, and its addresses are where the requests go
    #[arg(long, default_value = "config.toml")]
    pub config: PathBuf,
    /// How many virtual visitors
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
    pub visitors: u32,
    /// What they are like: spike, wave, steady or shop-opening
    #[arg(long, value_name = "NAME", default_value = "spike")]
    pub profile: String,
    /// Time over which they arrive, such as 60s or 10min
    #[arg(long, value_name = "TIME")]
    pub arrive: Option<String>,
    /// How long a visitor stays inside, on average
    #[arg(long, value_name = "TIME")]
    pub inside: Option<String>,
    /// Pages that a visitor asks for while inside
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub pages: Option<u32>,
    /// The share that gives up in line, in percent
    #[arg(long, value_name = "PERCENT")]
    pub leave: Option<String>,
    /// The share that falls silent in line for a while
    #[arg(long, value_name = "PERCENT")]
    pub sleep: Option<String>,
    /// How long such a visitor stays silent, on average
    #[arg(long, value_name = "TIME")]
    pub sleep_for: Option<String>,
    /// How long a visitor waits before giving up or falling silent, on average
    #[arg(long, value_name = "TIME")]
    pub patience: Option<String>,
    /// The share that comes late when called
    #[arg(long, value_name = "PERCENT")]
    pub late: Option<String>,
    /// The share that is called and does not come
    #[arg(long, value_name = "PERCENT")]
    pub no_show: Option<String>,
    /// The share that keeps loading the page again
    #[arg(long, value_name = "PERCENT")]
    pub reload: Option<String>,
    /// The same seed gives the same crowd
    #[arg(long)]
    pub seed: Option<u64>,
    /// Longest time that the whole rehearsal may take
    #[arg(long = "for", value_name = "TIME", default_value = "1h")]
    pub length: String,
    /// Address that the visitors ask, such as `http://127.0.0.1:8080` or `https://…`; else the first address of the configuration
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Authorities to trust over TLS, as PEM; else the system's
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// The host that the visitors ask for; else the room's first, or the address
    #[arg(long)]
    pub host: Option<String>,
    /// A page of the room
    #[arg(long, default_value = "/")]
    pub path: String,
    /// Connections that the visitors share
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub connections: u32,
    /// Let the visitors' requests reach the shop
    #[arg(long)]
    pub forward: bool,
    /// Run even while a sale by stock or by draw is on
    #[arg(long)]
    pub anyway: bool,
    /// Reason, shown in the room's changes
    #[arg(long)]
    pub reason: Option<String>,
    /// End the rehearsal of the room, whoever started it
    #[arg(long)]
    pub end: bool,
    /// Format of the report at the end
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

impl RehearseArgs {
    /// The profile with the options that were set.
    pub fn profile(&self) -> Result<Profile, Failure> {
        let names = ALL.map(|profile| profile.name).join(", ");
        let named = Profile::named(&self.profile);
        let mut profile = named
            .ok_or_else(|| Failure::Local(format!("there is no profile {:?}; there are {names}", self.profile)))?;
        for (option, text, secs) in [
            ("--arrive", &self.arrive, &mut profile.arrive_secs),
            ("--inside", &self.inside, &mut profile.inside_secs),
            ("--sleep-for", &self.sleep_for, &mut profile.sleep_secs),
            ("--patience", &self.patience, &mut profile.patience_secs),
        ] {
            if let Some(text) = text {
                *secs = ms(option, text)? / 1_000;
            }
        }
        for (option, text, share) in [
            ("--leave", &self.leave, &mut profile.leave),
            ("--sleep", &self.sleep, &mut profile.sleep),
            ("--late", &self.late, &mut profile.late),
            ("--no-show", &self.no_show, &mut profile.no_show),
            ("--reload", &self.reload, &mut profile.reload),
        ] {
            if let Some(text) = text {
                *share = percent(option, text)?;
            }
        }
        profile.pages = self.pages.unwrap_or(profile.pages);
        let shares = profile.leave + profile.sleep + profile.late + profile.no_show;
        if shares > 100.0 {
            return Err(Failure::Local(format!(
                "leave, sleep, late and no-show come to {shares} percent: at most 100 together"
            )));
        }
        Ok(profile)
    }

    /// Longest time that the whole rehearsal may take, in milliseconds.
    pub fn length_ms(&self) -> Result<u64, Failure> {
        let length = ms("--for", &self.length)?;
        // The room's own end comes a minute behind.
        if length > MAX_REHEARSAL_MS - 60_000 {
            return Err(Failure::Local(format!("--for {}: at most a day", self.length)));
        }
        Ok(length.max(1))
    }

    /// Most that may join: some whose answer was lost come again.
    pub fn size(&self) -> u32 {
        (self.visitors + self.visitors / 10 + 100).min(MAX_REHEARSED)
    }
}

fn ms(option: &str, text: &str) -> Result<u64, Failure> {
    let wrong = || Failure::Local(format!("{option} {text:?} is no time; right: 60s, 10min or 2h"));
    duration_of(text).ok_or_else(wrong)
}

fn percent(option: &str, text: &str) -> Result<f64, Failure> {
    let number: Option<f64> = text.trim().trim_end_matches('%').trim_end().parse().ok();
    number
        .filter(|share| (0.0..=100.0).contains(share))
        .ok_or_else(|| Failure::Local(format!("{option} {text:?} is no share; right: 0 to 100, in percent")))
}

/// So that a tenth more fits into what a room takes.
const MOST: u32 = 180_000;

const EXAMPLES: &str = "\
Profiles (each option above overrides one part):
  spike          half come in the first 6 s, all in 60 s; inside 2 min
  wave           they swell and ebb over 10 min
  steady         evenly over 30 min; inside 3 min
  shop-opening   a fifth are early, the rest rush in after 5 of 10 min

Examples:
  ropeline rehearse --room sale --visitors 10000
  ropeline rehearse --room sale --visitors 10000 --profile shop-opening --for 20min --seed 7
  ropeline rehearse --room sale --visitors 500 --arrive 10s --inside 30s --leave 10% --no-show 0
  ropeline rehearse --room sale --visitors 300 --format json >rehearsal.json
  ropeline rehearse --room sale --end               end it from anywhere, whoever started it

Virtual visitors stand in the same line as people and hold the same slots. None of their requests reaches the shop,
unless --forward says so. When the command ends, or is killed, all of them are gone within 20 seconds.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percents() {
        for (text, share) in [
            ("5%", Some(5.0)),
            ("0", Some(0.0)),
            ("2.5 %", Some(2.5)),
            ("101", None),
            ("x", None),
            ("-1", None),
        ] {
            assert_eq!(percent("--leave", text).ok(), share, "{text}");
        }
        assert_eq!(ms("--arrive", "60s").ok(), Some(60_000));
        assert!(ms("--arrive", "soon").is_err());
    }
}

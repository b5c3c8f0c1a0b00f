//! The arguments of `ropeline rehearse`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::profile::{Name, Profile};
use crate::cli::config_file::ConfigFile;
use crate::cli::remote::{AdminArgs, Failure};
use crate::cli::simulate::words::{duration, share};
use crate::room::{MAX_REHEARSAL_MS, MAX_REHEARSED};

/// The room ends a rehearsal a minute later, should the command not.
pub const GRACE_MS: u64 = 60_000;

fn length(text: &str) -> Result<u64, String> {
    let most = MAX_REHEARSAL_MS - GRACE_MS;
    match duration(text)? {
        ms if ms > most => Err(format!("a rehearsal can take at most {} minutes", most / 60_000)),
        ms => Ok(ms),
    }
}

/// Arguments of `ropeline rehearse`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RehearseArgs {
    #[command(flatten)]
    pub admin: AdminArgs,
    /// The room's name
    #[arg(long)]
    pub room: String,
    #[command(flatten)]
    pub config: ConfigFile,
    /// How many virtual visitors
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
    pub visitors: u32,
    /// What they are like; the options up to --pause override one part each
    #[arg(long, value_enum, default_value_t = Name::Spike)]
    pub profile: Name,
    /// Time over which they arrive, such as 60s or 10min
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub arrive: Option<u64>,
    /// How long a visitor stays inside, on average
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub inside: Option<u64>,
    /// The share that gives up in line
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub leave: Option<u16>,
    /// The share that falls silent in line for a while
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub sleep: Option<u16>,
    /// How long that is, on average
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub sleep_for: Option<u64>,
    /// How long a visitor waits before giving up or falling silent, on average
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub patience: Option<u64>,
    /// The share that comes late when called
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub late: Option<u16>,
    /// The share that is called and does not come
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub no_show: Option<u16>,
    /// Median time between two requests of a visitor inside, log-normal as people pause; else all pauses of a visit are alike
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub pause: Option<u64>,
    /// The same seed gives the same crowd
    #[arg(long)]
    pub seed: Option<u64>,
    /// Longest time that the whole rehearsal may take
    #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = length)]
    pub length_ms: u64,
    /// Where the visitors go, as `http://127.0.0.1:8080` or `https://…`; else the first address of the configuration
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
        let usual = Profile::of(self.profile);
        let profile = Profile {
            name: usual.name,
            arrive_ms: self.arrive.unwrap_or(usual.arrive_ms),
            inside_ms: self.inside.unwrap_or(usual.inside_ms),
            leave: self.leave.unwrap_or(usual.leave),
            sleep: self.sleep.unwrap_or(usual.sleep),
            sleep_ms: self.sleep_for.unwrap_or(usual.sleep_ms),
            patience_ms: self.patience.unwrap_or(usual.patience_ms),
            late: self.late.unwrap_or(usual.late),
            no_show: self.no_show.unwrap_or(usual.no_show),
            pause_ms: self.pause,
        };
        if profile.shares() > 1_000 {
            return Err(Failure::Local(
                "leave, sleep, late and no-show come to more than 100 percent".to_owned(),
            ));
        }
        Ok(profile)
    }

    /// Most that may join: some whose answer was lost come again.
    pub fn size(&self) -> u32 {
        (self.visitors + self.visitors / 10 + 100).min(MAX_REHEARSED)
    }
}

/// So that a tenth more fits into what a room takes.
const MOST: u32 = 180_000;

const EXAMPLES: &str = "\
Examples:
  ropeline rehearse --room sale --visitors 10000
  ropeline rehearse --room sale --visitors 10000 --profile shop-opening --for 20min --seed 7
  ropeline rehearse --room sale --visitors 500 --arrive 10s --inside 30s --leave 10% --no-show 0
  ropeline rehearse --room sale --visitors 300 --format json >rehearsal.json
  ropeline rehearse --room sale --end               end it from anywhere, whoever started it

The keys of the gates' configuration sign the requests, and its first address is where they go.

Virtual visitors stand in the same line as people and hold the same slots. None of their requests reaches the shop,
unless --forward says so. When the command ends, or is killed, all of them are gone within 20 seconds.";

//! The configuration file among a command's arguments: `ropeline check FILE` and `ropeline check --config FILE` are the same.
//! And what the environment says where it says nothing.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Id};

use crate::config::{self, Overrides};

/// The file that the command line names, or else the environment.
#[derive(Clone, Debug)]
pub struct ConfigFile(Option<PathBuf>);

impl ConfigFile {
    /// Where a configuration is looked for when none is named.
    pub const DEFAULT: &str = "config.toml";

    /// The named file.
    pub fn named(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// The named file, or `config.toml` in this folder.
    pub fn or_default(&self) -> &Path {
        self.named().unwrap_or(Path::new(Self::DEFAULT))
    }

    /// The named file, or `config.toml` in this folder where there is one.
    pub fn or_present(&self) -> Option<&Path> {
        let default = Path::new(Self::DEFAULT);
        self.named().or_else(|| Some(default).filter(|file| file.exists()))
    }
}

/// What the environment sets where the file does not: for a gate, and for commands that say how a gate would read the file.
pub fn of_environment() -> Overrides {
    let places = config::environment(LISTEN).unwrap_or_default();
    let places = places.split(',').map(str::trim).filter(|place| !place.is_empty());
    let places: Vec<String> = places.map(str::to_owned).collect();
    if places.is_empty() {
        return Overrides::none();
    }
    Overrides::none().fallback("server.listen", LISTEN, &places)
}

/// Where visitors are served if neither an option nor the file says: the image of the container sets it, since loopback is of
/// no use in there, and a file that names its listeners still holds.
pub const LISTEN: &str = "ROPELINE_LISTEN";

/// As the command line has it.
#[derive(Debug, Args)]
struct Given {
    /// The configuration file; default: config.toml in this folder
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The configuration file, as FILE
    #[arg(long, value_name = "FILE", env = "ROPELINE_CONFIG")]
    config: Option<PathBuf>,
}

impl Args for ConfigFile {
    fn group_id() -> Option<Id> {
        Given::group_id()
    }

    fn augment_args(command: Command) -> Command {
        Given::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Given::augment_args_for_update(command)
    }
}

/// By hand, since clap takes a value of the environment for one of the command line where two exclude each other.
impl FromArgMatches for ConfigFile {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let Given { file, config } = Given::from_arg_matches(matches)?;
        let by_option = matches.value_source("config") == Some(ValueSource::CommandLine);
        if let (Some(file), Some(config), true) = (&file, &config, by_option)
            && file != config
        {
            let (file, config) = (file.display(), config.display());
            let two = format!("FILE is {file} and --config is {config}: give one of them\n");
            return Err(Error::raw(ErrorKind::ArgumentConflict, two));
        }
        Ok(Self(file.or(config)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        config: ConfigFile,
    }

    fn named(line: &str) -> Result<Option<String>, String> {
        let cli = Cli::try_parse_from(line.split(' ')).map_err(|error| error.to_string())?;
        Ok(cli.config.named().map(|file| file.display().to_string()))
    }

    #[test]
    fn the_file_may_stand_with_its_option_or_without() {
        for line in ["run a.toml", "run --config a.toml", "run a.toml --config a.toml"] {
            assert_eq!(named(line), Ok(Some("a.toml".to_owned())), "{line}");
        }
        assert_eq!(named("run"), Ok(None));
    }

    #[test]
    fn two_different_files_are_refused() {
        let refused = named("run a.toml --config b.toml").expect_err("two files");
        assert!(refused.contains("FILE is a.toml and --config is b.toml"), "{refused}");
        assert!(named("run a.toml b.toml").is_err());
    }
}

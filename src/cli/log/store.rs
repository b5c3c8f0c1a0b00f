//! The log in a store that gates share: read as a gate reads it, and nothing appended.

use std::path::Path;

use super::{EXIT_FAILED, EXIT_NO_INPUT, EXIT_USAGE, Failure, LogArgs, Show, pause};
use crate::archive::Stored;
use crate::room::{Chain, Encoded, Position};
use crate::store::redis::{self, RedisLog, RedisUrl};
use crate::store::{Exchanged, Unavailable};

pub(super) fn show(args: &LogArgs, show: &mut Show) -> Result<(), Failure> {
    let url: RedisUrl = args
        .from_where
        .parse()
        .map_err(|error| (format!("{error}"), EXIT_USAGE))?;
    let url = match &args.password {
        Some(password) => url.with_password(password),
        None => url,
    };
    let ca = args.ca_file.as_ref().map(std::fs::read).transpose().map_err(|error| {
        let file = args.ca_file.as_deref().unwrap_or(Path::new("")).display();
        (format!("--ca-file {file} cannot be read: {error}"), EXIT_NO_INPUT)
    })?;
    let options = redis::Options {
        prefix: args.prefix.clone(),
        ca,
        ..redis::Options::default()
    };
    let mut log = RedisLog::open_to_read(&url, options).map_err(|error| (error.to_string(), EXIT_FAILED))?;
    let failed = |reason: Unavailable| (reason.to_string(), EXIT_FAILED);
    let Some(mut at) = start(&mut log, show).map_err(failed)? else {
        let nothing = format!("there is no log under {:?} in {url}", args.prefix);
        return Err((nothing, EXIT_NO_INPUT));
    };
    loop {
        match log.read(at) {
            Ok(Exchanged::Entries { entries, newer, .. }) => {
                let came = !entries.is_empty();
                for entry in entries {
                    at = entry.position;
                    show.entry(&stored(entry));
                }
                if let Some(version) = newer {
                    let unread = format!("what follows {at} is of version {version}, which this one cannot read");
                    return Err((unread, EXIT_FAILED));
                }
                if came {
                    continue;
                }
            }
            Ok(Exchanged::Moved) => {
                let gone = at;
                at = log.origin().map_err(failed)?.unwrap_or(at);
                show.note(&format!("entries between {gone} and {at} are gone from the store"));
                continue;
            }
            Ok(Exchanged::Broken { epoch: 0 }) => show.note("the store has no log any more"),
            Ok(Exchanged::Broken { epoch }) if epoch == at.epoch => {
                show.note(&format!("the store has less of this log than {at}"));
            }
            Ok(Exchanged::Broken { epoch }) => {
                show.note(&format!("log {epoch} begins"));
                at = Position { epoch, sequence: 0 };
                continue;
            }
            Err(reason) if args.follow => show.fault(&reason.to_string()),
            Err(reason) => return Err(failed(reason)),
        }
        if !args.follow {
            return Ok(());
        }
        pause();
    }
}

/// Where to begin reading: where asked, or at the oldest entry; `None` when there is no log.
fn start(log: &mut RedisLog, show: &Show) -> Result<Option<Position>, Unavailable> {
    let oldest = log.origin()?;
    let asked = show
        .last
        .filter(|asked| oldest.is_some_and(|oldest| oldest.epoch == asked.epoch));
    Ok(asked.or(oldest))
}

/// The store's entries have no chain beside them.
fn stored(entry: Encoded) -> Stored {
    Stored {
        entry,
        passed_over: false,
        chain: Chain::default(),
    }
}

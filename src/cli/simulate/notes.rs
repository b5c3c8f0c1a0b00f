//! Settings of a room that a simulation cannot show: refused, or noted with the figures.

use crate::config::{Config, Room, StoreKind};
use crate::room::{Mode, Overrides};

use super::SimulateArgs;

/// Remarks on the figures.
///
/// # Errors
/// When the room is none that can be simulated.
pub(super) fn of(
    args: &SimulateArgs,
    config: &Config,
    room: &Room,
    changes: &[(u64, Overrides)],
) -> Result<Vec<String>, String> {
    refuse(args, room)?;
    let mut notes = Vec::new();
    let mut say = |is: bool, words: &str| {
        if is {
            notes.push(words.to_owned());
        }
    };
    let settings = &room.settings;
    say(
        room.per.is_some(),
        "one line of the room is run, with the slots and the rate of one line",
    );
    let stopped = settings.mode == Mode::Hold || settings.calls_nobody();
    say(
        stopped && changes.is_empty(),
        "nobody is called as it is configured: --change lets people in",
    );
    say(
        settings.mode == Mode::Closed && changes.is_empty(),
        "the room is closed as it is configured: --change opens it",
    );
    let completes = room.ends_on.iter().any(|end| end.completes);
    say(
        settings.stock.is_some() && !room.ends_on.is_empty() && !completes,
        "no completes_on: sessions end, and nothing of the stock is sold",
    );
    say(
        !config.forward_auth.is_empty(),
        "where a proxy asks (forward_auth), no answer of the shop ends a session",
    );
    say(room.identity.is_some(), "everybody has an account of their own");
    say(room.proof.is_some(), "nobody is asked for a proof of work");
    say(
        settings.takes_bypass(),
        "nobody comes by a code that leads past the line",
    );
    say(
        !args.gates.is_empty(),
        "other rooms, reports of [room.load_control], accounts' records, limits and static files are not in the bill",
    );
    say(
        !args.gates.is_empty() && matches!(config.store.kind, StoreKind::Embedded { .. }),
        "the store is a file, which one gate has: the bill is of a Redis",
    );
    say(
        args.polling > 0,
        "with active slots the addresses that open tabs ask must stand in `background`: without that they keep their slots",
    );
    let unheld = room.active.is_some() && args.pay > 0 && super::room::longest_hold(room).is_none();
    say(unheld, "no hold_slot: a visitor who pays elsewhere is parked meanwhile");
    let behind = changes.iter().any(|(at, _)| *at >= args.most);
    say(behind, "a --change lies behind the end of --for");
    let events = args.silences().into_iter().map(|(at, _)| at).chain(args.stampedes());
    say(
        events.into_iter().any(|at| at >= args.most),
        "a --silent or --stampede lies behind the end of --for",
    );
    Ok(notes)
}

fn refuse(args: &SimulateArgs, room: &Room) -> Result<(), String> {
    let name = room.name.as_str();
    if room.settings.draw.is_some() {
        return Err(format!(
            "the room {name} draws its line: only rooms that call in order of arrival can be simulated"
        ));
    }
    if room.settings.mode == Mode::Off {
        return Err(format!(
            "the room {name} is off: it has no line that could be simulated"
        ));
    }
    if room.settings.load_control.is_some() && args.shop.is_none() {
        return Err(format!(
            "the room {name} follows what its shop can take: say with --shop what that is, such as --shop 60/s"
        ));
    }
    Ok(())
}

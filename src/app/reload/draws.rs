//! Changes to a room's draw that a reload refuses.

use crate::room::{RoomName, Settings, View, Wall};

/// Why the draws of these rooms do not allow their new settings.
pub(super) fn broken(view: &View, rooms: &[(RoomName, Settings)], now: Wall) -> Vec<String> {
    let broken = rooms.iter().filter_map(|(name, settings)| {
        let room = view.rooms.get(name)?;
        let draws = (room.configured.draw.as_ref(), settings.draw.as_ref());
        let schedule = room.overrides.schedule.as_ref().or(settings.schedule.as_ref());
        let why = room.sale.allows(draws, schedule, now).err()?;
        Some(format!("[[room]] {name}: {why}"))
    });
    broken.collect()
}

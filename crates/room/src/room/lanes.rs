//! A room's lanes when its configuration changes, and what is counted of each.

use std::sync::Arc;

use super::Room;
use crate::codec::{Read, Reader, Writer};
use crate::line::pulse::Pulse;
use crate::settings::Settings;
use crate::state::context::Context;
use ropeline_ids::LaneId;

impl Room {
    /// Lanes that the room has stay where they are. What is in a ticket's name for a place must never come to mean another.
    pub(super) fn place_lanes(&mut self, settings: &mut Settings, m: &mut Context) {
        let before = Arc::clone(&self.configured);
        let lines = &self.lines;
        let free = |at: usize| lines.values().all(|line| line.is_vacant(at));
        for at in settings.place_lanes(&before, free) {
            // Whoever is away would come back into another lane: their places are void.
            let lanes = self.lines.values_mut().filter_map(|line| line.lanes.get_mut(at));
            let gone: Vec<_> = lanes
                .flat_map(|lane| {
                    lane.pulse = Pulse::default();
                    lane.begin_sale()
                })
                .collect();
            Arc::make_mut(&mut m.past).raise(gone.into_iter());
        }
    }

    /// How each lane has been calling, of lines that have several.
    pub(super) fn pulses(&self) -> Option<Vec<u8>> {
        let lanes = self.lines.iter().flat_map(|(name, line)| {
            let lanes = (0..).map(LaneId).zip(&line.lanes);
            lanes.map(move |(id, lane)| (name, id, &lane.pulse))
        });
        let beating: Vec<_> = lanes.filter(|(.., pulse)| pulse.total() > 0).collect();
        let field = || {
            Writer::field(|w| {
                w.list(&beating, |w, (name, id, pulse)| {
                    w.text(name.as_str());
                    w.u8(id.0);
                    pulse.write(w);
                });
            })
        };
        (!beating.is_empty()).then(field)
    }

    pub(super) fn read_pulses(&mut self, r: &mut Reader) -> Read<()> {
        for (name, id, pulse) in r.list(4, |r| Ok((r.line_name()?, r.lane()?, Pulse::read(r)?)))? {
            let Some(lane) = self.lines.get_mut(&name).and_then(|line| line.lane(id)) else {
                return r.wrong();
            };
            lane.pulse = pulse;
        }
        Ok(())
    }
}

//! Metrics of rehearsals.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use prometheus_client::encoding::DescriptorEncoder;

use super::encode::{gauges, of_room};
use crate::admin::api;
use crate::admin::view;
use crate::room::{RoomName, RoomView};

/// Empty for rooms without a rehearsal.
pub fn encode(encoder: &mut DescriptorEncoder<'_>, rooms: &BTreeMap<RoomName, Arc<RoomView>>) -> fmt::Result {
    let told: Vec<_> = rooms
        .iter()
        .filter_map(|(room, view)| Some((room, view::room::rehearsal(view)?)))
        .collect();
    for (name, help, figure) in GAUGES {
        let values = told.iter().map(|(room, rehearsal)| (of_room(room), figure(rehearsal)));
        gauges(encoder, name, help, values)?;
    }
    Ok(())
}

type Gauge = (&'static str, &'static str, fn(&api::Rehearsal) -> u64);

const GAUGES: [Gauge; 4] = [
    (
        "rehearsal_visitors",
        "Virtual visitors that the rehearsal under way is for, at most",
        |rehearsal| u64::from(rehearsal.visitors),
    ),
    (
        "rehearsal_waiting",
        "Virtual visitors among those in line",
        |rehearsal| rehearsal.waiting,
    ),
    (
        "rehearsal_called",
        "Virtual visitors among those called who have not come yet",
        |rehearsal| rehearsal.called,
    ),
    (
        "rehearsal_sessions",
        "Virtual visitors among those inside",
        |rehearsal| rehearsal.sessions,
    ),
];

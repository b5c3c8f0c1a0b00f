//! Metrics of load control, for rooms that use it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use prometheus_client::encoding::DescriptorEncoder;

use super::encode::{gauges, of_room};
use crate::room::{LoadView, Measured, RoomName, RoomView, Why};

/// A figure of the shop: its name, its description, and its value.
type Figure = (&'static str, &'static str, fn(&Measured) -> Option<f64>);

const FIGURES: [Figure; 5] = [
    (
        "shop_requests_per_second",
        "Requests a second that the shop has",
        |seen| Some(thousandths(seen.requests_milli)),
    ),
    (
        "shop_p95_seconds",
        "95 of 100 requests to the shop take at most so long",
        |seen| Some(thousandths(seen.p95_us? / 1_000)),
    ),
    ("shop_error_share", "Share of requests that the shop fails", |seen| {
        Some(thousandths(seen.errors_permille.into()))
    }),
    ("shop_in_flight", "Requests under way to the shop", |seen| {
        Some(seen.in_flight.into())
    }),
    ("shop_hanging", "Visitors whose requests to the shop hang", |seen| {
        Some(seen.hanging.into())
    }),
];

pub fn encode(encoder: &mut DescriptorEncoder<'_>, rooms: &BTreeMap<RoomName, Arc<RoomView>>) -> fmt::Result {
    let loads: Vec<(&RoomName, &LoadView)> = rooms
        .iter()
        .filter_map(|(room, view)| Some((room, view.load.as_ref()?)))
        .collect();
    let reasons = loads.iter().flat_map(|(room, load)| {
        Why::ALL.map(|why| {
            let labels = [("room", room.as_str()), ("why", why.as_str())];
            (labels, u64::from(why == load.why))
        })
    });
    let help = "1 for what stands in the way of calls, but for capacity and rate";
    gauges(encoder, "admission", help, reasons)?;
    let calls = loads
        .iter()
        .map(|(room, load)| (of_room(room), thousandths(load.step_milli)));
    gauges(
        encoder,
        "admission_calls",
        "Visitors called at most in each call_every",
        calls,
    )?;
    for (name, help, figure) in FIGURES {
        let values = loads
            .iter()
            .filter_map(|(room, load)| Some((of_room(room), figure(&load.seen?)?)));
        gauges(encoder, name, help, values)?;
    }
    Ok(())
}

/// In whole units, as Prometheus has them.
fn thousandths(milli: u64) -> f64 {
    std::time::Duration::from_millis(milli).as_secs_f64()
}

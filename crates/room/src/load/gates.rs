//! Each gate's last report of its upstream, while it is in force, and the sum of the reports.

use std::collections::BTreeMap;

use crate::codec::codec;
use crate::load::figures::{Circuit, Report};
use crate::state::roster::MAX_GATES;
use ropeline_ids::{Clock, GateId};

/// The last reports of the gates.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Gates(BTreeMap<GateId, Heard>);

/// A gate's last report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Heard {
    until: Clock,
    requests_milli: u64,
    /// The same of the report before.
    before_milli: u64,
    /// Thousandths of a request a second that ended.
    ended_milli: u64,
    in_flight: u32,
    hanging: u32,
    answered: u32,
    circuit: Circuit,
    /// Reports in a row in which nothing ended although requests of several visitors hung.
    silent: u8,
}

codec! {
    struct Gates(gates) where is_sound;
    struct Heard { until, requests_milli, before_milli, ended_milli, in_flight, hanging, answered, circuit, silent };
}

impl Gates {
    /// A gate reports. At most as many are kept as can share a log.
    pub fn take(&mut self, gate: GateId, report: &Report, until: Clock) {
        let before = self.0.get(&gate);
        if before.is_none() && self.0.len() >= MAX_GATES {
            return;
        }
        let silent = report.ended == 0 && report.hanging >= LEAST_SILENT;
        let silent_before = before.map_or(0, |heard| heard.silent);
        let heard = Heard {
            until,
            requests_milli: report.requests_milli(),
            before_milli: before.map_or(0, |heard| heard.requests_milli),
            ended_milli: u64::from(report.ended) * 1_000_000 / u64::from(report.span_ms.max(1)),
            in_flight: report.in_flight,
            hanging: report.hanging,
            answered: report.answered,
            circuit: report.circuit,
            silent: if silent { silent_before.saturating_add(1) } else { 0 },
        };
        self.0.insert(gate, heard);
    }

    /// Removes a gate that has said goodbye.
    pub fn forget(&mut self, gate: GateId) {
        self.0.remove(&gate);
    }

    pub fn drop_old(&mut self, now: Clock) {
        self.0.retain(|_, heard| now < heard.until);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn requests_milli(&self) -> u64 {
        self.sum(|heard| heard.requests_milli)
    }

    /// The most of the last two reports: where a shop begins to hang fewer requests come at once, and the first of them is
    /// late only by the report after.
    pub fn load_milli(&self) -> u64 {
        self.sum(|heard| heard.requests_milli.max(heard.before_milli))
    }

    pub fn in_flight(&self) -> u32 {
        self.count(|heard| heard.in_flight)
    }

    pub fn hanging(&self) -> u32 {
        self.count(|heard| heard.hanging)
    }

    pub fn answered(&self) -> u32 {
        self.count(|heard| heard.answered)
    }

    /// Requests of several visitors hang, and of most of them nothing was heard for two reports. SECURITY: several at one
    /// gate, since one or two can have something under way at each.
    pub fn are_silent(&self) -> bool {
        let silent = self.sum(|heard| if heard.silent > 1 { heard.hanging.into() } else { 0 });
        let all = u64::from(self.hanging()) + u64::from(self.answered());
        silent > 0 && silent * 2 >= all
    }

    /// How long a request takes, by Little's law: those under way by those that end in a second. `None` while there are too
    /// few to tell.
    pub fn queue_us(&self) -> Option<u64> {
        let (in_flight, ended_milli) = (
            self.sum(|heard| heard.in_flight.into()),
            self.sum(|heard| heard.ended_milli),
        );
        let enough = in_flight.saturating_add(ended_milli / 1_000) >= TELLING;
        // At least one request a second: slower requests are noticed because they have not ended.
        enough.then(|| in_flight.saturating_mul(1_000_000_000) / ended_milli.max(1_000))
    }

    /// The state is taken from gates that have sent a request recently: a gate that has sent none since a failure would
    /// report that failure for ever. If none has, the gates that know of a failure count.
    pub fn circuit(&self) -> Circuit {
        let sends = |heard: &Heard| heard.requests_milli > 0;
        let any_sends = self.0.values().any(sends);
        let of = |circuit: Circuit| {
            let say = self.0.values().filter(|heard| !any_sends || sends(heard));
            say.filter(|heard| heard.circuit == circuit).count()
        };
        let (open, trial) = (of(Circuit::Open), of(Circuit::Trial));
        let voters = open + trial + if any_sends { of(Circuit::Closed) } else { 0 };
        match () {
            () if open > 0 && open * 2 >= voters => Circuit::Open,
            () if open + trial > 0 && (open + trial) * 2 >= voters => Circuit::Trial,
            () => Circuit::Closed,
        }
    }

    fn count(&self, figure: fn(&Heard) -> u32) -> u32 {
        self.0.values().fold(0, |sum, heard| sum.saturating_add(figure(heard)))
    }

    fn is_sound(&self) -> bool {
        self.0.len() <= MAX_GATES
    }

    fn sum(&self, figure: fn(&Heard) -> u64) -> u64 {
        self.0.values().fold(0, |sum, heard| sum.saturating_add(figure(heard)))
    }
}

/// With fewer visitors whose requests hang, calls go on: one page may take a minute.
const LEAST_SILENT: u32 = 3;

/// Least number of requests from which their duration is computed.
const TELLING: u64 = 20;

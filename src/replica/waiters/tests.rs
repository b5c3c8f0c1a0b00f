use std::sync::Arc;

use super::*;
use crate::replica::collector::Collector;
use crate::replica::inbox::{Arrival, Join, Permit};
use crate::replica::publish::Shared;
use crate::room::{
    Batch, CallOrder, Change, Entry, Epoch, Eviction, GateId, LaneId, LineName, Mode, Number, Overrides, Position,
    RoomChange, RoomName, Settings, State, VERSION, Wall,
};

const MINE: GateId = GateId(1);
const OTHER: GateId = GateId(2);

fn main() -> RoomName {
    RoomName::new("main").unwrap()
}

fn settings(capacity: u32) -> Settings {
    Settings {
        capacity,
        ..Settings::default()
    }
}

fn overrides(mode: Option<Mode>, capacity: Option<u32>) -> Change {
    Change::Override(Overrides {
        mode,
        capacity,
        ..Overrides::default()
    })
}

/// Two gates' rooms, after their entries in the order of the log.
struct Rooms(State);

impl Rooms {
    /// One room, of revision 1.
    fn new() -> Self {
        let mut rooms = Self(State::empty(1));
        rooms.other(Change::Configure(settings(5)));
        rooms
    }

    fn apply(&mut self, gate: GateId, batch: Batch) -> Effects {
        let position = Position {
            sequence: self.0.position().sequence + 1,
            ..self.0.position()
        };
        let entry = Entry {
            position,
            gate,
            serial: position.sequence,
            previous: self.0.nonce(),
            nonce: [1; 8],
            time: Wall(position.sequence),
            version: VERSION,
            batch: Batch { hello: true, ..batch },
        };
        self.0.apply(&entry.into())
    }

    fn revision(&mut self) -> u64 {
        self.0.view().rooms.get(&main()).map_or(0, |room| room.revision)
    }

    /// The other gate's word is in the log.
    fn other(&mut self, change: Change) {
        let revision = self.revision() + 1;
        let said = RoomChange {
            room: main(),
            revision,
            change,
            who: None,
        };
        let batch = Batch {
            rooms: vec![said],
            ..Batch::default()
        };
        assert_eq!(self.apply(OTHER, batch).changed, [Changed::Taken]);
    }

    /// Items left after a batch that was cut at a revision.
    fn mine(&mut self, collector: &mut Collector, revision: u64) -> Left {
        let (batch, waiters) = collector.cut(|_| revision);
        let effects = self.apply(MINE, batch);
        waiters.resolve(&effects)
    }
}

type Told = oneshot::Receiver<Result<u64, Unrecorded>>;

fn operator(change: Change, over: Option<u64>) -> (Changing, Told) {
    let (answer, told) = oneshot::channel();
    let said = Changing {
        room: main(),
        change,
        over,
        who: None,
        answer: Some(answer),
        beaten: 0,
    };
    (said, told)
}

#[test]
fn a_word_before_which_another_gates_came_is_never_told_as_taken() {
    let mut rooms = Rooms::new();
    let mut collector = Collector::default();
    rooms.other(overrides(Some(Mode::Hold), None));
    let (made, mut told) = operator(overrides(None, Some(50)), Some(1));
    collector.change(made);
    assert!(
        rooms.mine(&mut collector, 1).beaten.is_empty(),
        "its maker makes it anew"
    );
    assert_eq!(told.try_recv(), Ok(Err(Unrecorded::Stale)));
    let kept = rooms.0.view().rooms[&main()].overrides.clone();
    assert_eq!((kept.mode, kept.capacity), (Some(Mode::Hold), None));
    let (anew, mut told) = operator(overrides(Some(Mode::Hold), Some(50)), Some(2));
    collector.change(anew);
    rooms.mine(&mut collector, 2);
    assert_eq!(told.try_recv(), Ok(Ok(3)));
}

#[test]
fn a_gates_configuration_is_said_until_the_rooms_have_it() {
    let mut rooms = Rooms::new();
    let mut collector = Collector::default();
    collector.configure(vec![(main(), Change::Configure(settings(90)))]);
    for beaten in 1..4 {
        let revision = rooms.revision();
        rooms.other(overrides(Some(Mode::Hold), Some(beaten)));
        let left = rooms.mine(&mut collector, revision);
        assert_eq!(left.beaten.len(), 1);
        collector.change_again(left.beaten);
        assert!(collector.is_urgent());
    }
    let revision = rooms.revision();
    assert!(rooms.mine(&mut collector, revision).beaten.is_empty());
    assert_eq!(rooms.0.configured(&main()), Some(&settings(90)));
    assert_eq!(rooms.0.view().rooms[&main()].overrides.capacity, Some(3));
    assert!(collector.is_empty());
}

#[test]
fn what_is_taken_back_goes_before_what_came_since_and_not_for_ever() {
    let mut rooms = Rooms::new();
    rooms.other(overrides(None, Some(1)));
    let mut collector = Collector::default();
    let (said, mut told) = operator(overrides(Some(Mode::Hold), None), None);
    collector.change(said);
    for tries in 0.. {
        assert!(tries < 100, "it never ends");
        // As if the rooms were always further.
        let left = rooms.mine(&mut collector, 0);
        if left.beaten.is_empty() {
            break;
        }
        assert_eq!(told.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        let (later, _) = operator(overrides(None, Some(7)), Some(0));
        collector.change(later);
        collector.change_again(left.beaten);
        let (batch, _) = collector.cut(|_| 0);
        assert_eq!(batch.rooms[0].change, overrides(Some(Mode::Hold), None));
        let (again, waiting) = operator(overrides(Some(Mode::Hold), None), None);
        told = waiting;
        collector.change(Changing {
            beaten: tries + 1,
            ..again
        });
    }
    assert_eq!(told.try_recv(), Ok(Err(Unrecorded::Stale)));
}

#[test]
fn a_change_of_which_nothing_is_known_or_that_makes_no_sense_is_not_told_as_taken() {
    let mut rooms = Rooms::new();
    let mut collector = Collector::default();
    let (made, mut told) = operator(overrides(None, Some(9)), Some(1));
    collector.change(made);
    let (_, waiters) = collector.cut(|_| 1);
    waiters.resolve(&Effects::default());
    assert_eq!(told.try_recv(), Ok(Err(Unrecorded::CutOff)), "found in a snapshot");
    rooms.other(Change::Remove);
    let (made, mut told) = operator(overrides(None, Some(9)), Some(2));
    collector.change(made);
    rooms.mine(&mut collector, 2);
    assert_eq!(told.try_recv(), Ok(Err(Unrecorded::Refused)));
}

/// A call while no visitor waits in line: the room takes it all the same.
fn call() -> Change {
    Change::Call(CallOrder {
        line: LineName::ONLY,
        lane: None,
        count: 5,
        beyond: true,
    })
}

fn evict() -> Change {
    Change::Evict(Eviction {
        line: LineName::ONLY,
        lane: LaneId(0),
        number: Number { epoch: Epoch(1), n: 3 },
    })
}

#[test]
fn what_would_be_done_twice_is_not_said_again_where_it_may_be_done() {
    for once in [call(), evict(), Change::Reset] {
        let mut collector = Collector::default();
        let (said, mut told) = operator(once, None);
        collector.change(said);
        let (_, waiters) = collector.cut(|_| 1);
        let left = waiters.resolve(&Effects::default());
        assert!(left.beaten.is_empty(), "found in a snapshot, and said again");
        assert_eq!(told.try_recv(), Ok(Err(Unrecorded::CutOff)));
    }
}

#[test]
fn what_would_be_done_twice_is_said_again_where_another_word_came_first() {
    let mut rooms = Rooms::new();
    let mut collector = Collector::default();
    rooms.other(overrides(Some(Mode::Hold), None));
    let (said, mut told) = operator(Change::Reset, None);
    collector.change(said);
    let left = rooms.mine(&mut collector, 1);
    assert_eq!(left.beaten.len(), 1);
    collector.change_again(left.beaten);
    assert!(rooms.mine(&mut collector, 2).beaten.is_empty());
    assert_eq!(told.try_recv(), Ok(Ok(3)));
    assert_eq!(rooms.0.view().rooms[&main()].edition.0, 1);
}

#[test]
fn an_id_that_there_is_no_room_for_is_to_come_again() {
    let joined = |later| Joined {
        room: main(),
        line: LineName::ONLY,
        lane: crate::room::LaneId(0),
        first: None,
        count: 1,
        later,
    };
    assert_eq!(numbered(&joined(true), 0), JoinOutcome::Later);
    assert_eq!(numbered(&joined(false), 0), JoinOutcome::Refused);
}

/// Joins this long after the first.
fn joins(collector: &mut Collector, came_ms: u64, arrival: Arrival) -> oneshot::Receiver<JoinOutcome> {
    let (answer, outcome) = oneshot::channel();
    let permit = Permit::take(&Arc::new(Shared::new(Arc::default()))).unwrap();
    let leaves = arrival.leaves;
    collector.join(Join {
        room: main(),
        line: LineName::ONLY,
        lane: LaneId(0),
        arrival,
        came: Duration::from_millis(came_ms),
        waiter: Joiner { answer, permit, leaves },
    });
    outcome
}

#[test]
fn whoever_is_behind_somebody_that_gave_up_goes_with_the_next_batch_as_they_do() {
    let mut rooms = Rooms::new();
    let mut collector = Collector::default();
    let [first, second] = [1, 2].map(|id| PendingId([id; 12]));
    let newcomer = |id| Arrival {
        again: false,
        ..Arrival::again(id)
    };
    let mut before = joins(&mut collector, 0, Arrival::first());
    let gives_up = [(1, first), (2, second)].map(|(came, id)| joins(&mut collector, came, newcomer(id)));
    let mut behind = joins(&mut collector, 3, Arrival::first());
    let (batch, mut waiters) = collector.cut(|_| 1);
    assert_eq!(batch.sections[0].joins, [(LaneId(0), 4)]);
    // The log is silent: they are asked to come again, which they do in another order, and a new visitor comes.
    let mut late = joins(&mut collector, 600, Arrival::first());
    drop(gives_up);
    for (came, id) in [(2, second), (1, first)] {
        drop(joins(&mut collector, came, Arrival::again(id)));
    }
    let effects = rooms.apply(MINE, batch);
    collector.take_back(&mut waiters.joins, &effects.joined);
    let left = waiters.resolve(&effects);
    let told = |outcome: &mut oneshot::Receiver<JoinOutcome>| match outcome.try_recv() {
        Ok(JoinOutcome::Numbered(_, number)) => Some(number.n),
        _ => None,
    };
    let number = told(&mut before).unwrap();
    assert_eq!((told(&mut behind), told(&mut late)), (None, None), "they go on waiting");
    let gone: Vec<_> = left.gone.iter().map(|visitor| visitor.number.n - number).collect();
    assert_eq!(gone, [1, 2, 3], "nobody will come with these");

    let (batch, waiters) = collector.cut(|_| 1);
    let ids: Vec<_> = batch.sections[0].pending_joins.iter().map(|(_, id)| *id).collect();
    assert_eq!((ids.len(), &ids[..2]), (3, &[first, second][..]));
    waiters.resolve(&rooms.apply(MINE, batch));
    assert_eq!(told(&mut behind).map(|own| own - number), Some(6));
    let (batch, waiters) = collector.cut(|_| 1);
    waiters.resolve(&rooms.apply(MINE, batch));
    assert_eq!(told(&mut late).map(|own| own - number), Some(7));
    assert!(collector.is_empty());
}

/// Otherwise no visitor behind one who hung up would ever get a number.
#[test]
fn who_hung_up_keeps_nobody_waiting() {
    let mut rooms = Rooms::new();
    let mut collector = Collector::default();
    drop(joins(&mut collector, 0, Arrival::first()));
    let hangs_up = joins(&mut collector, 1, Arrival::first());
    let mut behind = joins(&mut collector, 2, Arrival::first());
    let (batch, mut waiters) = collector.cut(|_| 1);
    drop(hangs_up);
    let _next = joins(&mut collector, 3, Arrival::first());
    let effects = rooms.apply(MINE, batch);
    collector.take_back(&mut waiters.joins, &effects.joined);
    assert_eq!(waiters.resolve(&effects).gone.len(), 1);
    assert!(matches!(behind.try_recv(), Ok(JoinOutcome::Numbered(..))));
    assert_eq!(collector.cut(|_| 1).0.sections[0].joins, [(LaneId(0), 1)]);
}

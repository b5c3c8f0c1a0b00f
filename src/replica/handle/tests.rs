use super::*;
use crate::replica::{Arrival, Charge, JoinOutcome};
use crate::room::{Change, Effects, Encoded, LaneId, LineName, Mode, Overrides};
use crate::store::{self, Embedded};

fn name() -> RoomName {
    RoomName::new("main").unwrap()
}

fn message(text: &str) -> Change {
    Change::Override(Overrides {
        message: Some(text.into()),
        ..Overrides::default()
    })
}

/// A fault in the machine that one entry brings out.
fn poisoned(state: &mut State, entry: &Encoded) -> Effects {
    assert!(
        !entry.batch.rooms.iter().any(|room| room.change == message("poison")),
        "poison"
    );
    state.apply(entry)
}

fn start(folder: &std::path::Path, apply: fn(&mut State, &Encoded) -> Effects) -> (Replica, ReplicaThread) {
    let log = Embedded::open(folder, store::Options::default()).unwrap();
    let settings = Settings {
        mode: Mode::Hold,
        ..Settings::default()
    };
    Replica::start_with(Box::new(log), vec![(name(), settings)], Options::default(), apply).unwrap()
}

/// Rooms by name, with their capacity.
fn configured(rooms: &[(&str, u32)]) -> Vec<(RoomName, Settings)> {
    let settings = |capacity| Settings {
        capacity,
        ..Settings::default()
    };
    let rooms = rooms.iter();
    rooms
        .map(|(room, capacity)| (RoomName::new(room).unwrap(), settings(*capacity)))
        .collect()
}

async fn shows(replica: &Replica, wanted: &[(&str, u32)]) {
    let wanted = configured(wanted);
    let mut views = replica.subscribe();
    let are_there = |view: &View| {
        let capacity = |name| view.rooms.get(name).map(|room| room.settings.capacity);
        view.rooms.len() == wanted.len() && wanted.iter().all(|(name, room)| capacity(name) == Some(room.capacity))
    };
    let shown = timeout(Duration::from_secs(60), views.wait_for(|view| are_there(view))).await;
    assert!(shown.is_ok(), "{:?}", replica.view().rooms.keys());
}

#[tokio::test]
async fn a_log_that_is_released_is_another_process_s_until_it_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let (replica, mut thread) = start(folder.path(), State::apply);
    replica.change(name(), message("one"), None).await.unwrap();
    let epoch = replica.view().position.epoch;
    thread.release();
    let (next, next_thread) = start(folder.path(), State::apply);
    assert_eq!(next.view().position.epoch, epoch, "a clean end");
    assert_eq!(next.view().roster.len(), 1, "the other said goodbye");
    next.change(name(), message("two"), None).await.unwrap();
    next_thread.stop();
    thread.resume(Box::new(
        Embedded::open(folder.path(), store::Options::default()).unwrap(),
    ));
    replica.change(name(), message("three"), None).await.unwrap();
    let view = replica.view();
    assert_eq!((view.position.epoch, view.roster.len()), (epoch, 1));
    thread.stop();
    assert!(Embedded::open(folder.path(), store::Options::default()).is_ok());
}

#[tokio::test]
async fn a_gate_that_comes_after_another_says_only_as_much_of_its_rooms_as_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let start = |rooms: &[(&str, u32)], charge| {
        let log = Embedded::open(folder.path(), store::Options::default()).unwrap();
        let options = Options {
            charge,
            ..Options::default()
        };
        Replica::start(Box::new(log), configured(rooms), options).unwrap()
    };
    let (replica, thread) = start(&[("kept", 1), ("gone", 1)], Charge::Own);
    shows(&replica, &[("kept", 1), ("gone", 1)]).await;
    thread.stop();
    let (replica, thread) = start(&[("kept", 2), ("new", 2)], Charge::Before);
    shows(&replica, &[("kept", 1), ("gone", 1), ("new", 2)]).await;
    replica.set_charge(Charge::Handed).await;
    shows(&replica, &[("kept", 2), ("gone", 1), ("new", 2)]).await;
    replica.configure(configured(&[("kept", 3), ("new", 2)])).await.unwrap();
    shows(&replica, &[("kept", 3), ("gone", 1), ("new", 2)]).await;
    replica.set_charge(Charge::Own).await;
    shows(&replica, &[("kept", 3), ("new", 2)]).await;
    thread.stop();
}

#[tokio::test]
async fn an_entry_that_cannot_be_applied_freezes_the_replica_then_and_at_every_start() {
    let folder = tempfile::tempdir().unwrap();
    let (replica, thread) = start(folder.path(), poisoned);
    let JoinOutcome::Numbered(_, number) = replica
        .join(&name(), &LineName::ONLY, LaneId(0), Arrival::first())
        .await
    else {
        panic!("nobody is poisoned yet")
    };
    let before = replica.view();
    assert_eq!(
        replica.change(name(), message("poison"), None).await,
        Err(Unrecorded::CutOff)
    );
    assert!(replica.frozen() && replica.cut_off().is_some());
    assert_eq!(replica.view().position, before.position, "the last view stands");
    assert_eq!(
        replica
            .join(&name(), &LineName::ONLY, LaneId(0), Arrival::first())
            .await,
        JoinOutcome::Later
    );
    thread.stop();
    let (replica, thread) = start(folder.path(), poisoned);
    assert!(replica.frozen());
    assert_eq!(replica.view().position, before.position, "all before it is there");
    thread.stop();
    // A version without the fault goes on, the entry included.
    let (replica, thread) = start(folder.path(), State::apply);
    assert!(!replica.frozen());
    let view = replica.view();
    assert_eq!(view.rooms[&name()].overrides.message.as_deref(), Some("poison"));
    let line = view.rooms[&name()].line(&LineName::ONLY).unwrap();
    assert!(matches!(
        line.standing(LaneId(0), number, replica.now()),
        crate::room::Standing::Waiting(_)
    ));
    thread.stop();
}

#[test]
fn nobody_comes_by_an_id_that_a_newcomer_was_not_told() {
    let first = Arrival::first();
    assert_eq!(first.unheard(), Some(first.id));
    assert_eq!(Arrival::again(first.id).unheard(), None, "the ticket names it");
    let of_account = first.clone().of(vec![crate::room::Tag([1; 8])]);
    assert_eq!(
        of_account.unheard(),
        None,
        "the account's number may be another browser's"
    );
    let virtual_one = first.within(Some(crate::room::RehearsalId([1; 8])));
    assert_eq!(virtual_one.unheard(), None);
}

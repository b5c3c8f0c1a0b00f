use super::*;
use crate::config::Overrides;
use crate::room::testing::Hand;
use crate::room::{Batch, GateId, RoomChange, Settings};

const FILE: &str = "[upstream]\nurl = \"http://127.0.0.1:1\"\n[[room]]\nname = \"shop\"\nhosts = [\"a.example\"]\n";

fn named(text: &str) -> (String, String) {
    let room = AddedRoom::new(text).unwrap();
    (room.name.to_string(), room.text)
}

fn additions(rooms: &[(String, String)]) -> Additions {
    let mut hand = Hand::new(GateId(1));
    for (room, text) in rooms {
        let addition = Addition {
            text: text.clone(),
            settings: Settings::default(),
            at: None,
        };
        let rooms = vec![RoomChange {
            room: RoomName::new(room).unwrap(),
            revision: 1,
            change: Change::Add(Box::new(addition)),
            who: None,
        }];
        hand.say(
            1_000,
            Batch {
                rooms,
                ..Batch::default()
            },
        );
    }
    hand.state.additions().clone()
}

fn composed(file: &str, rooms: &[(String, String)]) -> Composed {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, file).unwrap();
    compose(&Document::open(Some(&path)), &Overrides::none(), &additions(rooms))
}

fn config(composed: Composed) -> Config {
    composed.report.finish().unwrap().0
}

#[test]
fn a_room_that_is_called_by_a_number_is_not_the_files_room_of_that_place() {
    let zero = named("[[room]]\nname = \"0\"\nhosts = [\"b.example\"]\n");
    let (before, after) = (config(composed(FILE, &[])), config(composed(FILE, &[zero])));
    let told: Vec<String> = before.differences(&after).iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|one| one.starts_with("room.0.name")), "{told:?}");
    assert!(told.iter().all(|one| one.starts_with("room.0.")), "{told:?}");
}

#[test]
fn a_file_that_is_good_only_with_an_added_room_is_refused() {
    let room = named("[[room]]\nname = \"vip\"\nhosts = [\"b.example\"]\n");
    let limit = format!(
        "{FILE}[[limit]]\nname = \"few\"\nhosts = [\"b.example\"]\nroutes = [\"/*\"]\nrequests = 5\nwindow = \"1 min\"\n"
    );
    let told = composed(&limit, &[room]).report;
    let told: Vec<String> = told.mistakes().iter().map(ToString::to_string).collect();
    assert!(told.len() == 1 && told[0].contains("is a host of no room"), "{told:?}");
}

#[test]
fn rooms_that_are_asked_in_another_order_are_not_the_same() {
    let room = |name: &str, host: &str| named(&format!("[[room]]\nname = \"{name}\"\nhosts = [\"{host}\"]\n"));
    let (one, two) = (room("one", "b.example"), room("two", "c.example"));
    let read = |rooms: &[(String, String)]| {
        let composed = composed(FILE, rooms);
        (composed.rooms.clone(), config(composed))
    };
    let (before, after) = (read(&[one.clone(), two.clone()]), read(&[two, one]));
    assert_eq!((before.0[0].name.as_str(), after.0[0].name.as_str()), ("two", "one"));
    assert!(same((&before.1, &before.0), (&before.1, &before.0)));
    assert!(!same((&before.1, &before.0), (&after.1, &after.0)));
}

#[test]
fn the_files_room_of_a_name_rules_and_one_that_does_not_fit_is_left_out() {
    let own = named("[[room]]\nname = \"shop\"\nhosts = [\"b.example\"]\n");
    let hidden = named("[[room]]\nname = \"vip\"\nhosts = [\"a.example\"]\nmode = \"shut\"\n");
    let good = named("[[room]]\nname = \"good\"\nhosts = [\"b.example\"]\n");
    let composed = composed(FILE, &[own, hidden, good.clone()]);
    let untaken: Vec<&str> = composed.untaken.iter().map(|one| one.room.as_str()).collect();
    assert_eq!((untaken, composed.rooms.len()), (vec!["vip"], 1));
    assert_eq!(composed.rooms[0].text, good.1);
}

#[test]
fn a_removal_is_of_the_room_that_was_there_and_of_none_that_came_in_its_place() {
    let mut hand = Hand::new(GateId(1));
    let vip = RoomName::new("vip").unwrap();
    let mut say = |time, revision, change| {
        let rooms = vec![RoomChange {
            room: vip.clone(),
            revision,
            change,
            who: None,
        }];
        let batch = Batch {
            rooms,
            ..Batch::default()
        };
        hand.say(time, batch);
        hand.state.view()
    };
    let addition = || Addition {
        text: "[[room]]".to_owned(),
        settings: Settings::default(),
        at: None,
    };
    let view = say(1_000, 1, Change::Add(Box::new(addition())));
    let meant = view.additions.get(&vip).unwrap().clone();
    let revision = |view: &View| revision_of(view, &vip, &meant);
    assert_eq!(revision(&view), Ok(1));
    let wide = Settings {
        capacity: 9,
        ..Settings::default()
    };
    assert_eq!(
        revision(&say(2_000, 2, Change::Configure(wide))),
        Ok(2),
        "the same room"
    );
    let conflict =
        |view: &View, with: &str| matches!(revision(view), Err(Refused::Conflict(why)) if why.contains(with));
    assert!(conflict(&say(3_000, 3, Change::Remove), "it was removed meanwhile"));
    assert!(conflict(
        &say(4_000, 4, Change::Add(Box::new(addition()))),
        "another of its name"
    ));
}

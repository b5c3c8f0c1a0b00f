//! Lines that are drawn at an opening: the visitors who are drawn, the order in which they are called, and the conflicts with
//! other settings.

mod later;
mod lost;
mod promise;
mod silent_opening;

use ropeline_room::draw::{AdmissionOrder, Beacon, Draw, Figures, Hash};
use ropeline_room::{
    Change, Changed, Drawing, Edition, Forms, LineName, Number, RoomView, Root, Schedule, Settings, Standing, State,
    Wall, Window,
};

use ropeline_room::testing::log::{EPOCH, LANE, Log, room, settings};

pub const START: u64 = 1_000_000;
pub const SECRET: Hash = Hash([0x5a; 32]);

/// A beacon's value, in its one spelling.
pub const VALUE: &str = "1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f";

/// Sales that open 20 s after they begin, a hundred seconds apart.
pub fn drawing(capacity: u32, beacon: Option<&str>) -> Settings {
    let window = |begins: u64| Window {
        begins: Wall(START + begins),
        opens: Wall(START + begins + 20_000),
        closes: None,
        results: None,
    };
    let schedule = Schedule {
        rule: "the rule".to_owned(),
        windows: vec![window(10_000), window(110_000), window(210_000)],
    };
    Settings {
        schedule: Some(schedule),
        draw: Some(Drawing {
            beacon: beacon.map(str::to_owned),
            ..Drawing::default()
        }),
        ..settings(capacity)
    }
}

pub fn until(log: &mut Log, ms: u64) {
    let left = START + ms - log.time;
    log.pass(left);
}

/// When the line of an edition of [`drawing`] forms.
pub fn forms(edition: u32) -> Forms {
    let begins = START + 10_000 + 100_000 * u64::from(edition.saturating_sub(1));
    Forms {
        begins: Wall(begins),
        opens: Wall(begins + 20_000),
    }
}

pub fn promise(edition: u32, beacon: Option<&str>) -> Change {
    promise_of(edition, beacon, forms(edition))
}

pub fn promise_of(edition: u32, beacon: Option<&str>, forms: Forms) -> Change {
    promise_by(AdmissionOrder::default(), edition, beacon, forms)
}

fn promise_by(order: AdmissionOrder, edition: u32, beacon: Option<&str>, forms: Forms) -> Change {
    let draw = Draw {
        order,
        room: "shop",
        line: "",
        edition,
        lane: 0,
        begins_ms: forms.begins.0,
        opens_ms: forms.opens.0,
        closed_ms: 0,
        count: 0,
        secret: SECRET,
        beacon: beacon.map(|name| Beacon { name, value: "" }),
    };
    Change::Commit {
        order,
        edition: Edition(edition),
        beacon: beacon.map(str::to_owned),
        forms,
        salt: [1; 16],
        commitment: draw.commitment(),
    }
}

pub fn reveal(edition: u32, secret: Hash, value: Option<&str>) -> Change {
    Change::Draw {
        edition: Edition(edition),
        secret,
        value: value.map(str::to_owned),
    }
}

pub fn says(log: &mut Log, change: Change) -> Changed {
    let effects = log.change(change);
    same_elsewhere(log);
    effects.changed[0]
}

/// A replica from the state's bytes has the same draw.
pub fn same_elsewhere(log: &mut Log) {
    let bytes = log.state.encode();
    let mut again = State::decode(&bytes).unwrap();
    assert!(again.encode() == bytes, "the bytes of a state are the state");
    let (here, there) = (log.state.view(), again.view());
    let [here, there] = [&here, &there].map(|view| &view.rooms[&room()]);
    let line = LineName::ONLY;
    assert_eq!(here.sale, there.sale);
    assert_eq!(here.settings, there.settings, "what is in force");
    if let (Some(a), Some(b)) = (here.line(&line), there.line(&line)) {
        assert_eq!((a.frame(LANE), a.figures), (b.frame(LANE), b.figures));
        for number in a
            .epochs(LANE)
            .into_iter()
            .flat_map(|epoch| (0..60).map(move |n| Number { epoch, n }))
        {
            assert_eq!(a.place(LANE, number), b.place(LANE, number));
        }
    }
}

pub fn view(log: &mut Log) -> std::sync::Arc<RoomView> {
    std::sync::Arc::clone(&log.state.view().rooms[&room()])
}

pub fn entry(log: &mut Log, number: Number) -> Option<(u32, Option<u32>)> {
    view(log).line(&LineName::ONLY).unwrap().entry(LANE, number)
}

pub fn figures(log: &mut Log) -> String {
    let figures = view(log).figures(&room(), &LineName::ONLY, LANE).unwrap();
    serde_json::to_string(&figures).unwrap()
}

/// `count` visitors, some at a time, who all have shown that they are there.
pub fn crowd(log: &mut Log, count: u32) -> Vec<Number> {
    let mut people = Vec::new();
    for _ in 0..count / 10 {
        people.extend(log.join(10));
        log.pass(100);
    }
    for person in &people {
        log.mark(*person);
    }
    people
}

/// In the order in which they are called, one slot at a time.
pub fn called(log: &mut Log, people: &[Number], most: usize) -> Vec<Number> {
    let mut called = Vec::new();
    while called.len() < most {
        let Some(next) = people.iter().copied().find(|person| log.is_called(*person)) else {
            return called;
        };
        log.claim(next, true);
        log.leave(next);
        for person in people.iter().filter(|person| !called.contains(*person)) {
            log.mark(*person);
        }
        called.push(next);
    }
    called
}

#[test]
fn the_line_is_called_in_the_order_that_the_published_figures_give() {
    AdmissionOrder::all_with_tests().for_each(is_called_in);
}

fn is_called_in(order: AdmissionOrder) {
    let mut settings = drawing(1, None);
    settings.draw = Some(Drawing { order, beacon: None });
    let mut log = Log::new(settings);
    until(&mut log, 10_000);
    let promised = promise_by(order, 1, None, forms(1));
    assert_eq!(says(&mut log, promised), Changed::Taken);
    let people = crowd(&mut log, 50);
    assert_eq!(log.ahead(people[7]), Some(7), "nothing is drawn yet");
    let before: serde_json::Value = serde_json::from_str(&figures(&mut log)).unwrap();
    assert!(
        before.get("count").is_none() && before.get("secret").is_none(),
        "{before}"
    );
    until(&mut log, 30_000);
    assert_eq!(people.iter().filter(|person| log.is_called(**person)).count(), 0);
    let late = log.join(3);
    assert_eq!(entry(&mut log, people[7]), Some((8, None)));
    assert_eq!(entry(&mut log, late[0]), None);
    assert!(
        Figures::parse(figures(&mut log).as_bytes()).is_err(),
        "the secret is not told yet"
    );
    assert_eq!(says(&mut log, reveal(1, SECRET, None)), Changed::Taken);

    let figures = Figures::parse(figures(&mut log).as_bytes()).unwrap();
    assert_eq!((figures.count(), figures.faults()), (50, vec![]));
    let order = figures.order();
    let mut wanted = people.clone();
    for (number, person) in (0..).zip(&people) {
        let place = order.place(number).unwrap();
        assert_eq!(entry(&mut log, *person), Some((number + 1, Some(place + 1))));
        wanted[usize::try_from(place).unwrap()] = *person;
    }
    assert_ne!(wanted, people);
    assert!(log.is_called(wanted[0]));
    for (ahead, person) in (0..).zip(&wanted[1..]) {
        assert_eq!(log.ahead(*person), Some(ahead), "positions are true");
    }
    assert_eq!(
        late.iter().filter_map(|person| log.ahead(*person)).collect::<Vec<_>>(),
        [49, 50, 51]
    );
    wanted.extend(&late);
    let everybody: Vec<Number> = people.iter().chain(&late).copied().collect();
    assert_eq!(called(&mut log, &everybody, 53), wanted);
}

#[test]
fn whoever_is_not_there_is_drawn_and_not_called() {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    log.change(promise(1, None));
    let people = crowd(&mut log, 20);
    let newest = log.join(5);
    assert!(log.leave(people[3]));
    until(&mut log, 29_500);
    let fresh = log.join(5);
    until(&mut log, 30_000);
    let waiting = view(&mut log).line(&LineName::ONLY).unwrap().figures.waiting;
    assert_eq!(waiting, 24, "five did not come back, and one left");
    assert_eq!(says(&mut log, reveal(1, SECRET, None)), Changed::Taken);
    assert_eq!(Figures::parse(figures(&mut log).as_bytes()).unwrap().count(), 30);
    assert_eq!(log.standing(people[3]), Standing::Ended);
    log.pass(10_000);
    for person in fresh.iter().chain(&newest) {
        assert!(matches!(
            log.standing(*person),
            Standing::Waiting(_) | Standing::Called(_)
        ));
    }
    for person in &fresh {
        assert!(
            log.is_present(*person) || log.is_called(*person),
            "a draw costs nobody their presence"
        );
    }
    assert!(log.mark(newest[0]), "whoever comes back has the place that was drawn");
    same_elsewhere(&mut log);
}

#[test]
fn with_a_beacon_nobody_is_called_before_its_value_is_there() {
    let mut log = Log::new(drawing(1, Some("round 7")));
    until(&mut log, 10_000);
    assert_eq!(
        says(&mut log, promise(1, None)),
        Changed::Refused,
        "another beacon than the room's"
    );
    assert_eq!(
        says(&mut log, promise(0, Some("round 7"))),
        Changed::Refused,
        "another edition"
    );
    assert_eq!(says(&mut log, promise(1, Some("round 7"))), Changed::Taken);
    assert_eq!(
        says(&mut log, promise(1, Some("round 7"))),
        Changed::Refused,
        "the first promise stands"
    );
    let people = crowd(&mut log, 20);
    assert_eq!(
        says(&mut log, reveal(1, SECRET, Some(VALUE))),
        Changed::Refused,
        "not closed yet"
    );
    until(&mut log, 45_000);
    for person in &people {
        log.mark(*person);
    }
    assert!(!people.iter().any(|person| log.is_called(*person)));
    assert_eq!(says(&mut log, reveal(1, SECRET, None)), Changed::Refused);
    assert_eq!(says(&mut log, reveal(1, Hash([1; 32]), Some(VALUE))), Changed::Refused);
    assert_eq!(says(&mut log, reveal(2, SECRET, Some(VALUE))), Changed::Refused);
    for spelled in ["", &VALUE.to_uppercase(), &VALUE[1..], &format!("{VALUE}0")] {
        assert_eq!(
            says(&mut log, reveal(1, SECRET, Some(spelled))),
            Changed::Refused,
            "{spelled:?}"
        );
    }
    assert_eq!(says(&mut log, promise(1, Some("round 7"))), Changed::Refused);
    assert_eq!(says(&mut log, reveal(1, SECRET, Some(VALUE))), Changed::Taken);
    assert_eq!(
        says(&mut log, reveal(1, SECRET, Some(&"20".repeat(32)))),
        Changed::Refused,
        "there is one draw"
    );
    let figures = Figures::parse(figures(&mut log).as_bytes()).unwrap();
    assert_eq!(
        (figures.faults(), figures.published().beacon_value.as_deref()),
        (vec![], Some(VALUE))
    );
    let first = figures.order().number(0).unwrap();
    assert!(log.is_called(people[usize::try_from(first).unwrap()]));
}

#[test]
fn another_beacon_takes_another_promise_until_the_line_is_closed() {
    let mut log = Log::new(drawing(1, Some("round 7")));
    until(&mut log, 10_000);
    log.change(promise(1, Some("round 7")));
    log.change(Change::Configure(drawing(1, Some("round 9"))));
    assert_eq!(says(&mut log, promise(1, Some("round 9"))), Changed::Taken);
    crowd(&mut log, 20);
    until(&mut log, 31_000);
    log.change(Change::Configure(drawing(1, Some("round 11"))));
    assert_eq!(
        says(&mut log, promise(1, Some("round 11"))),
        Changed::Refused,
        "too late to choose another"
    );
    assert_eq!(
        says(&mut log, reveal(1, SECRET, Some(VALUE))),
        Changed::Taken,
        "the one that was promised counts"
    );
}

#[test]
fn who_joined_before_a_restart_in_the_prequeue_is_drawn_with_the_rest() {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    log.change(promise(1, None));
    let mut people = crowd(&mut log, 20);
    // The log had four more, and they come back with their tickets.
    let lost: Vec<Number> = (20..24).map(|n| Number { n, ..people[0] }).collect();
    log.state.begin(EPOCH + 1, Root::Own);
    log.rejoin();
    assert!(log.mark(lost[1]) && log.mark(lost[3]));
    people.extend(crowd(&mut log, 20));
    until(&mut log, 30_000);
    for person in people.iter().chain(&lost[1..]) {
        log.mark(*person);
    }
    assert_eq!(says(&mut log, reveal(1, SECRET, None)), Changed::Taken);
    let figures = Figures::parse(figures(&mut log).as_bytes()).unwrap();
    assert_eq!(
        figures.count(),
        44,
        "the numbers that were lost hold places of the draw"
    );
    let mut places: Vec<u32> = Vec::new();
    for person in people.iter().chain(&lost) {
        let (number, place) = entry(&mut log, *person).unwrap();
        assert_eq!(place, figures.order().place(number - 1).map(|place| place + 1));
        places.push(number);
    }
    places.sort_unstable();
    assert_eq!(places, (1..=44).collect::<Vec<_>>());
    assert!(log.mark(lost[2]), "a place of the draw is given back too");
    same_elsewhere(&mut log);
    let everybody: Vec<Number> = people.iter().chain(&lost[1..]).copied().collect();
    let order = called(&mut log, &everybody, 43);
    let mut wanted = everybody.clone();
    wanted.sort_by_key(|person| entry(&mut log, *person).unwrap().1);
    assert_eq!(order, wanted);
}

#[test]
fn sessions_of_a_drawn_sale_go_on_through_the_next_ones_draw() {
    let mut log = Log::new(drawing(3, None));
    until(&mut log, 10_000);
    log.change(promise(1, None));
    let first = crowd(&mut log, 40);
    until(&mut log, 30_000);
    log.change(reveal(1, SECRET, None));
    until(&mut log, 105_000);
    for person in &first {
        log.mark(*person);
    }
    let inside: Vec<Number> = first.iter().copied().filter(|person| log.is_called(*person)).collect();
    assert_eq!(inside.len(), 3);
    for person in &inside {
        assert!(log.claim(*person, true));
    }
    until(&mut log, 110_000);
    assert!(inside.iter().all(|person| log.is_inside(*person)));
    assert_eq!(
        view(&mut log).sale.commitment,
        None,
        "the next sale has a promise of its own"
    );
    log.change(promise(2, None));
    let second = crowd(&mut log, 40);
    for person in &inside {
        log.renew(*person);
    }
    until(&mut log, 130_000);
    assert_eq!(says(&mut log, reveal(2, SECRET, None)), Changed::Taken);
    assert!(
        inside.iter().all(|person| log.is_inside(*person)),
        "each still finds their own"
    );
    let places: Vec<_> = second.iter().map(|person| entry(&mut log, *person).unwrap()).collect();
    assert_eq!(
        places.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        (1..=40).collect::<Vec<_>>()
    );
    assert!(
        first.iter().all(|person| entry(&mut log, *person).is_none()),
        "they are of another sale"
    );
    for person in &inside {
        assert!(log.leave(*person));
        assert_eq!(log.standing(*person), Standing::Ended);
    }
    assert_eq!(second.iter().filter(|person| log.is_called(**person)).count(), 3);
}

#[test]
fn nobody_loses_the_place_of_a_draw_by_who_is_called_before() {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    log.change(promise(1, None));
    let people = crowd(&mut log, 30);
    until(&mut log, 30_000);
    log.change(reveal(1, SECRET, None));
    let mut wanted = people.clone();
    wanted.sort_by_key(|person| entry(&mut log, *person).unwrap().1);
    // None of the first ten is present when called: each misses a turn, and comes back within `late_window`.
    for person in &wanted[..10] {
        log.leave(*person);
    }
    let order = called(&mut log, &wanted[10..], 20);
    assert_eq!(order, wanted[10..]);
    log.pass(70_000);
    same_elsewhere(&mut log);
    assert!(
        people
            .iter()
            .all(|person| !matches!(log.standing(*person), Standing::Waiting(_)))
    );
}

#[test]
fn whoever_was_inside_before_the_line_was_to_be_drawn_stays_inside() {
    let mut log = Log::new(settings(1));
    let people = log.join(12);
    assert!(log.claim(people[0], true));
    until(&mut log, 11_000);
    log.change(Change::Configure(drawing(1, None)));
    assert_eq!(says(&mut log, promise(0, None)), Changed::Taken);
    for person in &people[1..] {
        log.mark(*person);
    }
    log.renew(people[0]);
    until(&mut log, 30_000);
    assert_eq!(says(&mut log, reveal(0, SECRET, None)), Changed::Taken);
    assert!(log.is_inside(people[0]), "the session has moved with its number");
    assert!(!people[1..].iter().any(|person| log.is_called(*person)));
    assert!(log.leave(people[0]));
    assert_eq!(log.standing(people[0]), Standing::Ended);
    let mut wanted = people[1..].to_vec();
    wanted.sort_by_key(|person| entry(&mut log, *person).unwrap().1);
    assert_eq!(called(&mut log, &people[1..], 11), wanted);
}

//! Streams over a real room, on paused time: the bytes that a visitor's socket would carry.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http_body_util::BodyExt;

use super::frame::StreamFrame;
use super::frame::tests::count_before;
use super::*;
use crate::pages::Stall;
use crate::pages::budget::{BURST, PER_HOUR};
use crate::room::testing::Hand;
use crate::room::{Batch, Change, LaneId, LineName, Mode, Number, Overrides, RoomChange, Section};

mod far_back;

/// One room with one line, driven by the test.
struct Line {
    hand: Hand,
    views: watch::Sender<Arc<View>>,
    feeds: Arc<Feeds>,
    drain: CancellationToken,
}

impl Line {
    /// A room without calls.
    fn held() -> Self {
        let settings = Settings {
            mode: Mode::Hold,
            capacity: 1,
            ..Settings::default()
        };
        Self::with(settings)
    }

    fn with(settings: Settings) -> Self {
        let mut hand = Hand::with_room(settings);
        Self {
            views: watch::Sender::new(hand.state.view()),
            hand,
            feeds: Arc::default(),
            drain: CancellationToken::new(),
        }
    }

    /// Applies a batch `after_ms` and publishes the view; the first number that joined with it.
    fn say(&mut self, after_ms: u64, batch: Batch) -> Option<Number> {
        let (_, effects) = self.hand.say(after_ms, batch);
        self.views.send_replace(self.hand.state.view());
        effects.joined.first().and_then(|joined| joined.first)
    }

    fn join(&mut self, count: u32) -> Number {
        self.say(10, section(|section| section.joins = vec![(LaneId(0), count)]))
            .unwrap()
    }

    /// Applies an operator's change.
    fn change(&mut self, revision: u64, change: Change) {
        let change = RoomChange {
            room: Hand::room(),
            revision,
            change,
            who: None,
        };
        let rooms = vec![change];
        self.say(
            10,
            Batch {
                rooms,
                ..Batch::default()
            },
        );
    }

    fn leave(&mut self, number: Number) {
        self.say(10, section(|section| section.leaves = vec![(LaneId(0), number)]));
    }

    /// Looks for streams far back, as a gate does all the time.
    fn look_out(&self, ear: &Ear) {
        let (feeds, views, ear) = (Arc::clone(&self.feeds), self.views.subscribe(), ear.clone());
        tokio::spawn(async move {
            while views.has_changed().is_ok() {
                tokio::time::sleep(LOOKS_WITHIN).await;
                feeds.look_out(&views, || ear.told()).await;
            }
        });
    }

    fn listen(&self, number: Number, link: &Ear) -> EventStream<Ear> {
        let visitor = Visitor {
            room: Hand::room(),
            line: LineName::ONLY,
            lane: LaneId(0),
            number,
            rehearsal: None,
        };
        EventStream::new(
            visitor,
            self.views.subscribe(),
            &self.feeds,
            link.clone(),
            self.drain.clone(),
        )
    }
}

fn section(fill: impl FnOnce(&mut Section)) -> Batch {
    let mut section = Hand::section();
    fill(&mut section);
    Batch {
        sections: vec![section],
        ..Batch::default()
    }
}

fn nth(first: Number, n: u32) -> Number {
    Number {
        n: first.n + n,
        ..first
    }
}

/// A connection whose peer reads or does not.
#[derive(Clone, Default)]
struct Ear {
    deaf: Arc<AtomicBool>,
    cut_off: Arc<AtomicBool>,
    outdated: Arc<AtomicBool>,
    marks: Arc<AtomicUsize>,
    /// How often its stream has looked at the line.
    looks: Arc<AtomicUsize>,
}

impl Link for Ear {
    fn acknowledged(&self) -> bool {
        !self.deaf.load(Ordering::Relaxed)
    }

    fn present(&self) {
        self.marks.fetch_add(1, Ordering::Relaxed);
    }

    fn is_outdated(&self) -> bool {
        self.outdated.load(Ordering::Relaxed)
    }

    fn outage(&self) -> Option<Pause> {
        self.looks.fetch_add(1, Ordering::Relaxed);
        self.told()
    }
}

impl Ear {
    fn told(&self) -> Option<Pause> {
        let cut_off = self.cut_off.load(Ordering::Relaxed);
        cut_off.then_some((Stall::CutOff, None))
    }
}

/// The next write, whenever it comes; `None` at the end.
async fn heard(stream: &mut EventStream<Ear>) -> Option<String> {
    let bytes = stream.frame().await?.unwrap().into_data().unwrap();
    Some(String::from_utf8(bytes.to_vec()).unwrap())
}

/// The next write within this time.
async fn heard_within(stream: &mut EventStream<Ear>, ms: u64) -> Option<String> {
    tokio::time::timeout(Duration::from_millis(ms), heard(stream))
        .await
        .ok()
        .flatten()
}

fn waiting(event: &str) -> u64 {
    let data = event.split("data: ").nth(1).unwrap();
    serde_json::from_str::<serde_json::Value>(data).unwrap()["waiting"]
        .as_u64()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_first_word_is_the_line_as_it_is() {
    let mut line = Line::held();
    let first = line.join(3);
    let mut stream = line.listen(nth(first, 2), &Ear::default());
    let event = heard_within(&mut stream, 0).await.unwrap();
    assert!(
        event.starts_with("retry: 3000\nid: 7-2\nevent: status\ndata: {"),
        "{event}"
    );
    assert!(event.ends_with("}\n\n"));
    assert_eq!(waiting(&event), 3);
    assert!(event.contains("\"why\":\"held\""));
}

#[test]
fn the_place_found_in_the_room_s_own_frame_is_the_position() {
    let mut line = Line::held();
    let first = line.join(6_000);
    // Uneven gaps, and a front that has moved on.
    let leaves = (0..70).chain((70..6_000).filter(|n| n * n % 7 < 3));
    let leaves: Vec<_> = leaves.map(|n| (LaneId(0), nth(first, n))).collect();
    for some in leaves.chunks(500) {
        line.say(10, section(|section| section.leaves = some.to_vec()));
    }
    let view = line.views.borrow().clone();
    let room_view = &view.rooms[&Hand::room()];
    let line = room_view.line(&LineName::ONLY).unwrap();
    let frame = StreamFrame::of(&view, room_view, line, LaneId(0), None);
    let frame_base = line.frame(LaneId(0)).base;
    let mut compared = 0;
    for number in (0..4_000).map(|n| nth(first, n)) {
        let Standing::Waiting(waiting) = line.standing(LaneId(0), number, view.clock) else {
            continue;
        };
        let place = line.place(LaneId(0), number).unwrap();
        let event = frame.event(Some(place), false);
        let data = std::str::from_utf8(&event.bytes)
            .unwrap()
            .split("data: ")
            .nth(1)
            .unwrap();
        let found = count_before(&serde_json::from_str(data).unwrap(), place);
        // Far back a count stands for some places.
        let wrong = found.unwrap().abs_diff(waiting.ahead);
        assert!(
            wrong <= if place <= frame_base + 1_024 { 0 } else { 8 },
            "{number:?}: {wrong}"
        );
        compared += 1;
    }
    assert!(compared > 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_change_is_told_at_the_visitor_s_pace_and_silence_is_a_heartbeat() {
    let mut line = Line::held();
    let first = line.join(500);
    let (mut front, mut back) = (
        line.listen(first, &Ear::default()),
        line.listen(nth(first, 400), &Ear::default()),
    );
    for stream in [&mut front, &mut back] {
        assert_eq!(waiting(&heard(stream).await.unwrap()), 500);
    }
    line.leave(nth(first, 1));
    assert_eq!(waiting(&heard_within(&mut front, 2_000).await.unwrap()), 499);
    assert_eq!(heard_within(&mut back, 0).await, None);
    assert_eq!(waiting(&heard_within(&mut back, 12_000).await.unwrap()), 499);
    assert_eq!(heard_within(&mut front, 15_000).await.unwrap(), ":\n\n");
    assert_eq!(heard_within(&mut front, 14_000).await, None);
    assert_eq!(heard_within(&mut front, 1_000).await.unwrap(), ":\n\n");
}

#[tokio::test(start_paused = true)]
async fn an_update_for_everybody_is_encoded_once_and_sent_to_all_from_the_same_bytes() {
    let mut line = Line::held();
    let first = line.join(20);
    let mut streams: Vec<_> = (0..20).map(|n| line.listen(nth(first, n), &Ear::default())).collect();
    for stream in &mut streams {
        heard(stream).await.unwrap();
    }
    line.join(1);
    let mut updates = Vec::new();
    for stream in &mut streams {
        updates.push(stream.frame().await.unwrap().unwrap().into_data().unwrap());
    }
    assert!(String::from_utf8_lossy(&updates[0]).contains("\"waiting\":21"));
    assert!(updates.iter().all(|update| update.as_ptr() == updates[0].as_ptr()));
}

#[tokio::test(start_paused = true)]
async fn a_view_that_changes_nothing_for_the_line_is_not_told() {
    let mut line = Line::held();
    let number = line.join(1);
    let mut stream = line.listen(number, &Ear::default());
    heard(&mut stream).await.unwrap();
    for _ in 0..10 {
        line.say(250, Batch::default());
        assert_eq!(heard_within(&mut stream, 250).await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_is_called_is_told_at_once_and_the_stream_ends() {
    let mut line = Line::with(Settings {
        capacity: 1,
        ..Settings::default()
    });
    let first = line.join(2);
    let mut stream = line.listen(nth(first, 1), &Ear::default());
    assert_eq!(waiting(&heard(&mut stream).await.unwrap()), 1);
    line.leave(first);
    assert_eq!(
        heard_within(&mut stream, 0).await.unwrap(),
        "event: called\ndata: {\"state\":\"called\",\"claim_in\":90}\n\n"
    );
    assert!(stream.is_end_stream());
    assert_eq!(heard(&mut stream).await, None);
}

#[tokio::test(start_paused = true)]
async fn whoever_left_in_another_tab_or_whose_room_is_gone_is_told() {
    let mut line = Line::held();
    let first = line.join(2);
    let (mut left, mut other) = (
        line.listen(first, &Ear::default()),
        line.listen(nth(first, 1), &Ear::default()),
    );
    heard(&mut left).await.unwrap();
    heard(&mut other).await.unwrap();
    line.leave(first);
    assert_eq!(
        heard_within(&mut left, 0).await.unwrap(),
        "event: called\ndata: {\"state\":\"ended\"}\n\n"
    );
    line.change(2, Change::Remove);
    assert_eq!(
        heard_within(&mut other, 0).await.unwrap(),
        "event: called\ndata: {\"state\":\"none\"}\n\n"
    );
}

#[tokio::test(start_paused = true)]
async fn when_another_key_signs_every_stream_ends_within_a_minute_and_not_all_at_once() {
    let mut line = Line::held();
    let (first, ear) = (line.join(40), Ear::default());
    let mut streams: Vec<_> = (0..40).map(|at| line.listen(nth(first, at), &ear)).collect();
    for stream in &mut streams {
        heard(stream).await.unwrap();
    }
    ear.outdated.store(true, Ordering::Relaxed);
    let began = Instant::now();
    let ends = streams.into_iter().map(|mut stream| {
        tokio::spawn(async move {
            let mut last = String::new();
            while let Some(text) = heard(&mut stream).await {
                last = text;
            }
            (last, began.elapsed())
        })
    });
    let mut ended = Vec::new();
    for end in ends.collect::<Vec<_>>() {
        let (last, after) = end.await.unwrap();
        assert!(last.starts_with("retry: "), "{last}");
        ended.push(after);
    }
    let (soonest, last) = (ended.iter().min().unwrap(), ended.iter().max().unwrap());
    assert!(*last <= Duration::from_secs(60 + 15), "{last:?}");
    assert!(
        last.saturating_sub(*soonest) >= Duration::from_secs(30),
        "{soonest:?} to {last:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn only_an_acknowledged_heartbeat_makes_present() {
    let mut line = Line::held();
    let number = line.join(1);
    let (here, gone) = (Ear::default(), Ear::default());
    gone.deaf.store(true, Ordering::Relaxed);
    let (mut one, mut other) = (line.listen(number, &here), line.listen(number, &gone));
    for stream in [&mut one, &mut other] {
        for _ in 0..5 {
            heard(stream).await.unwrap();
        }
    }
    assert_eq!(here.marks.load(Ordering::Relaxed), 5);
    assert_eq!(gone.marks.load(Ordering::Relaxed), 0);
    // Once the mark is in the log, none is due in this generation.
    line.say(10, section(|section| section.marks = vec![(LaneId(0), number)]));
    heard(&mut one).await.unwrap();
    assert_eq!(here.marks.load(Ordering::Relaxed), 5);
}

#[tokio::test(start_paused = true)]
async fn a_drain_ends_the_stream_with_a_hint_when_to_come_back() {
    let mut line = Line::held();
    let number = line.join(1);
    let mut stream = line.listen(number, &Ear::default());
    heard(&mut stream).await.unwrap();
    assert_eq!(heard_within(&mut stream, 0).await, None);
    line.drain.cancel();
    let hint = heard_within(&mut stream, 0).await.unwrap();
    let ms: u64 = hint.strip_prefix("retry: ").unwrap().trim_end().parse().unwrap();
    assert!((1_000..5_000).contains(&ms) && hint.ends_with("\n\n"));
    assert!(stream.is_end_stream());
    // So does a replica that is no more.
    let mut line = Line::held();
    let number = line.join(1);
    let mut stream = line.listen(number, &Ear::default());
    heard(&mut stream).await.unwrap();
    assert_eq!(heard_within(&mut stream, 0).await, None);
    drop(line);
    assert!(heard_within(&mut stream, 0).await.unwrap().starts_with("retry: "));
}

#[tokio::test(start_paused = true)]
async fn no_hour_of_a_stream_costs_more_than_its_budget() {
    for ahead in [0_u32, 3_000, 7_999] {
        let mut line = Line::held();
        let first = line.join(8_000);
        line.look_out(&Ear::default());
        let mut stream = line.listen(nth(first, ahead), &Ear::default());
        let (mut hour, mut most) = (std::collections::VecDeque::new(), 0);
        let start = Instant::now();
        // A line in which something changes all the time.
        for tick in 0..9_000_u64 {
            line.say(1_000, section(|section| section.joins = vec![(LaneId(0), 1)]));
            line.say(
                1,
                section(|section| section.marks = vec![(LaneId(0), nth(first, ahead))]),
            );
            let until = start + Duration::from_secs(tick + 1);
            while let Ok(event) = tokio::time::timeout_at(until, heard(&mut stream)).await {
                hour.push_back((Instant::now(), event.unwrap().len() + 8));
            }
            while hour
                .front()
                .is_some_and(|(at, _)| until - *at > Duration::from_secs(3_600))
            {
                hour.pop_front();
            }
            most = most.max(hour.iter().map(|(_, bytes)| bytes).sum());
        }
        let budget = usize::try_from(BURST + PER_HOUR).unwrap();
        assert!(most <= budget, "{ahead}: {most}");
        assert!(most > budget / 4, "{ahead}: only {most}, the test would not notice");
    }
}

#[tokio::test]
async fn an_idle_stream_is_small() {
    let mut line = Line::held();
    let number = line.join(1);
    let visitor = Visitor {
        room: Hand::room(),
        line: LineName::ONLY,
        lane: LaneId(0),
        number,
        rehearsal: None,
    };
    let views = line.views.subscribe();
    let listener = Listener::new(visitor, views, &line.feeds, Ear::default(), line.drain.clone());
    let (listening, waiting) = (size_of_val(&listener), size_of_val(&next(listener)));
    assert!(
        waiting <= 1_024,
        "{waiting} bytes, of them {listening} for the listener"
    );
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_told_with_the_heartbeat_at_the_latest_and_to_who_comes_in_it() {
    let mut line = Line::held();
    let first = line.join(2);
    let ear = Ear::default();
    let mut stream = line.listen(nth(first, 1), &ear);
    let before = heard_within(&mut stream, 0).await.unwrap();
    assert!(!before.contains("cut_off"), "{before}");
    ear.cut_off.store(true, Ordering::Relaxed);
    let event = heard_within(&mut stream, 15_000).await.unwrap();
    assert!(event.contains("\"why\":\"cut_off\""), "{event}");
    let mut another = line.listen(nth(first, 0), &ear);
    let event = heard_within(&mut another, 0).await.unwrap();
    assert!(event.contains("\"why\":\"cut_off\""), "{event}");
    ear.cut_off.store(false, Ordering::Relaxed);
    let after = heard_within(&mut stream, 15_000).await.unwrap();
    assert!(!after.contains("cut_off"), "{after}");
}

#[test]
fn streams_that_end_together_do_not_come_back_together() {
    let hints: std::collections::BTreeSet<Bytes> = (0..1_000).map(retry).collect();
    assert!(hints.len() > 800, "{} hints for 1,000 visitors", hints.len());
}

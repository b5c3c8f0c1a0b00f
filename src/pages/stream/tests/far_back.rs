//! Resting streams, and the events that wake them.

use super::*;

const CALLED: &str = "event: called\ndata: {\"state\":\"called\",\"claim_in\":90}\n\n";

fn mode(mode: Mode) -> Change {
    Change::Override(Overrides {
        mode: Some(mode),
        ..Overrides::default()
    })
}

/// The next event that is not a heartbeat, within this time after each.
async fn told(stream: &mut EventStream<Ear>, ms: u64) -> String {
    loop {
        let word = heard_within(stream, ms).await.unwrap();
        if word != ":\n\n" {
            return word;
        }
    }
}

/// 5,000 waiting visitors, and the stream of the last one, which has the state of the line.
async fn last_of(line: &mut Line, ear: &Ear) -> (Number, EventStream<Ear>) {
    let first = line.join(5_000);
    line.look_out(ear);
    let mut stream = line.listen(nth(first, 4_999), ear);
    heard(&mut stream).await.unwrap();
    // No frame before its pace, and one that is sent then.
    line.join(1);
    told(&mut stream, 60_000).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    (first, stream)
}

#[tokio::test(start_paused = true)]
async fn far_back_in_a_line_that_never_rests_updates_are_rare() {
    let mut line = Line::with(Settings {
        mode: Mode::Hold,
        firm_within_ms: 600_000,
        ..Settings::default()
    });
    let first = line.join(20_000);
    line.look_out(&Ear::default());
    let (mut front, mut back) = (
        line.listen(first, &Ear::default()),
        line.listen(nth(first, 19_999), &Ear::default()),
    );
    let mut told = [0, 0];
    let start = Instant::now();
    for second in 1..=120 {
        line.say(1_000, section(|section| section.joins = vec![(LaneId(0), 1)]));
        for n in [0, 19_999] {
            line.say(1, section(|section| section.marks = vec![(LaneId(0), nth(first, n))]));
        }
        let until = start + Duration::from_secs(second);
        for (stream, told) in [&mut front, &mut back].into_iter().zip(&mut told) {
            while let Ok(event) = tokio::time::timeout_at(until, heard(stream)).await {
                *told += usize::from(event.unwrap().contains("event: status"));
            }
        }
    }
    // Every second or two, and every 22 to 45 seconds.
    assert!(told[0] >= 50 && (2..=6).contains(&told[1]), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn far_back_not_every_view_is_looked_at_and_a_call_is_heard_of_in_half_a_second() {
    let mut line = Line::with(Settings {
        mode: Mode::Hold,
        capacity: 5_000,
        ..Settings::default()
    });
    let first = line.join(5_000);
    line.look_out(&Ear::default());
    let (near, far) = (Ear::default(), Ear::default());
    let (mut front, mut back) = (line.listen(first, &near), line.listen(nth(first, 4_999), &far));
    for _ in 0..200 {
        line.say(10, section(|section| section.joins = vec![(LaneId(0), 1)]));
        let both = async { tokio::join!(heard_within(&mut front, 10), heard_within(&mut back, 10)) };
        both.await;
    }
    let looks = [&near, &far].map(|ear| ear.looks.load(Ordering::Relaxed));
    assert!(looks[0] >= 200 && looks[1] <= 8, "{looks:?}");
    line.change(2, mode(Mode::Auto));
    assert_eq!(heard_within(&mut front, 0).await.unwrap(), CALLED);
    assert_eq!(heard_within(&mut back, 500).await.unwrap(), CALLED);
}

#[tokio::test(start_paused = true)]
async fn while_nothing_changes_for_it_a_stream_looks_with_its_heartbeats_alone() {
    let mut line = Line::with(Settings {
        mode: Mode::Hold,
        firm_within_ms: 600_000,
        ..Settings::default()
    });
    let ear = Ear::default();
    let (first, mut stream) = last_of(&mut line, &ear).await;
    ear.looks.store(0, Ordering::Relaxed);
    for round in 0..600 {
        // Other visitors check in, which publishes a view.
        line.say(
            100,
            section(|section| section.marks = vec![(LaneId(0), nth(first, round))]),
        );
        if let Some(word) = heard_within(&mut stream, 100).await {
            assert_eq!(word, ":\n\n");
        }
    }
    // Once before and once after each.
    assert!((8..=10).contains(&ear.looks.load(Ordering::Relaxed)), "{:?}", ear.looks);
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_held_is_told_to_who_rests_and_is_due_in_half_a_second() {
    let mut line = Line::with(Settings {
        capacity: 0,
        ..Settings::default()
    });
    let (_, mut stream) = last_of(&mut line, &Ear::default()).await;
    line.change(2, mode(Mode::Hold));
    let event = told(&mut stream, 500).await;
    assert!(event.contains("\"why\":\"held\""), "{event}");
}

#[tokio::test(start_paused = true)]
async fn who_rests_hears_of_a_call_of_an_end_and_of_a_room_that_is_gone_in_half_a_second() {
    for (what, state) in [("called", "called"), ("left", "ended"), ("gone", "none")] {
        let mut line = Line::with(Settings {
            mode: Mode::Hold,
            capacity: 10_000,
            ..Settings::default()
        });
        let (first, mut stream) = last_of(&mut line, &Ear::default()).await;
        while heard_within(&mut stream, 0).await.is_some() {}
        match what {
            "called" => line.change(2, mode(Mode::Auto)),
            "left" => line.leave(nth(first, 4_999)),
            _ => line.change(2, Change::Remove),
        }
        let word = heard_within(&mut stream, 500).await;
        let expected = match what {
            "called" => CALLED.to_owned(),
            _ => format!("event: called\ndata: {{\"state\":\"{state}\"}}\n\n"),
        };
        assert_eq!(word.unwrap(), expected, "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_comes_near_the_front_looks_for_itself_though_a_frame_is_not_yet_due() {
    let (mut line, ear) = (Line::held(), Ear::default());
    let (first, mut stream) = last_of(&mut line, &ear).await;
    // One that hears at once, and one that is to hear at the pace of the far back.
    line.join(1);
    told(&mut stream, 500).await;
    line.join(1);
    assert_eq!(heard_within(&mut stream, 1_000).await, None);
    let ahead: Vec<_> = (0..4_990).map(|n| (LaneId(0), nth(first, n))).collect();
    for some in ahead.chunks(500) {
        line.say(1, section(|section| section.leaves = some.to_vec()));
    }
    heard_within(&mut stream, 500).await;
    ear.looks.store(0, Ordering::Relaxed);
    for round in 4_990..5_000 {
        line.say(
            20,
            section(|section| section.marks = vec![(LaneId(0), nth(first, round))]),
        );
        heard_within(&mut stream, 20).await;
    }
    assert!(ear.looks.load(Ordering::Relaxed) >= 10, "{:?}", ear.looks);
}

#[tokio::test(start_paused = true)]
async fn whom_the_stock_reaches_again_is_told_though_they_rest_and_nobody_has_moved() {
    let mut line = Line::with(Settings {
        stock: Some(4_999),
        capacity: 1,
        ..Settings::default()
    });
    let (first, mut stream) = last_of(&mut line, &Ear::default()).await;
    line.change(2, mode(Mode::Hold));
    let is_beyond = |event: &str| {
        let data: serde_json::Value = serde_json::from_str(event.split("data: ").nth(1).unwrap()).unwrap();
        data["revision"].as_u64().unwrap() >= 1 << 50
    };
    assert!(
        is_beyond(&told(&mut stream, 500).await),
        "a piece is held for the first"
    );
    tokio::time::sleep(Duration::from_secs(60)).await;
    while heard_within(&mut stream, 0).await.is_some() {}
    // The called visitor gives the turn back.
    line.leave(first);
    assert!(!is_beyond(&told(&mut stream, 500).await));
}

#[tokio::test(start_paused = true)]
async fn an_outage_and_that_all_is_sold_are_told_to_who_rests() {
    let mut line = Line::with(Settings {
        mode: Mode::Hold,
        stock: Some(6_000),
        ..Settings::default()
    });
    let ear = Ear::default();
    let (_, mut stream) = last_of(&mut line, &ear).await;
    ear.cut_off.store(true, Ordering::Relaxed);
    let event = told(&mut stream, 500).await;
    assert!(event.contains("\"why\":\"cut_off\""), "{event}");
    // Not due yet, so that no frame is news.
    line.join(1);
    assert_eq!(heard_within(&mut stream, 1_000).await, None);
    line.change(
        2,
        Change::Override(Overrides {
            stock: Some(0),
            ..Overrides::default()
        }),
    );
    let word = told(&mut stream, 2_500).await;
    assert!(word.contains("\"state\":\"sold_out\""), "{word}");
}

//! The place found in a frame: in Rust, and by the script of the page.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// The frame of a lane in which just these places are present, as [`Frame`] defines it.
fn frame_of(present: &BTreeSet<u64>) -> Frame {
    let base = present.first().map_or(0, |lowest| lowest / 64 * 64);
    let (mut bits, mut counts) = (vec![0_u8; 512], Vec::new());
    for offset in present.iter().map(|place| place - base) {
        match offset.checked_sub(RUN) {
            None => bits[usize::try_from(offset / 8).unwrap()] |= 1 << (offset % 8),
            Some(behind) => {
                let run = usize::try_from(behind / RUN).unwrap();
                counts.resize(counts.len().max(run + 1), 0_u16);
                counts[run] += 1;
            }
        }
    }
    bits.truncate(bits.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
    Frame {
        lane: LaneId(0),
        base,
        bits,
        counts,
    }
}

fn stream_frame(present: &BTreeSet<u64>) -> StreamFrame {
    let point = |ahead: u64| (ahead, estimate(ahead));
    StreamFrame {
        index: 0,
        id: "1-2".to_owned(),
        scalars: Scalars {
            waiting: present.len() as u64,
            revision: 3,
            pause: None,
        },
        frame: frame_of(present),
        points: vec![point(0), point(1), point(16), point(256), point(4_096), point(65_536)],
        let_in: None,
        events: Default::default(),
        beyond: Default::default(),
        reach: None,
    }
}

#[test]
fn how_many_were_called_lately_goes_with_the_news_and_is_none() {
    let frames = [None, Some(0), Some(41)].map(|let_in| StreamFrame {
        let_in,
        ..stream_frame(&[1, 5].into())
    });
    let events = frames.each_ref().map(|frame| frame.event(Some(5), false));
    let told = events.map(|event| data(event).get("let_in").and_then(Value::as_u64));
    assert_eq!(told, [None, Some(0), Some(41)]);
    for (frame, event) in frames.iter().zip(events) {
        assert!(frame.says_the_same(&frames[0]));
        assert_eq!(event.hash, events[0].hash, "no reason to send it");
        assert_eq!(data(event)["waiting"], 2);
    }
}

fn estimate(ahead: u64) -> Estimate {
    let secs = u32::try_from(ahead).unwrap();
    Estimate {
        low_secs: secs / 2,
        high_secs: secs * 2 + 10,
    }
}

fn data(event: &Event) -> Value {
    let text = std::str::from_utf8(&event.bytes).unwrap();
    let (head, data) = text.split_once("\ndata: ").unwrap();
    assert_eq!(head, "id: 1-2\nevent: status");
    serde_json::from_str(data.strip_suffix("\n\n").unwrap()).unwrap()
}

/// `countBefore` of `static/page.js`, as it has to be.
pub fn count_before(frame: &Value, place: u64) -> Option<u64> {
    let bytes = |name: &str| STANDARD.decode(frame[name].as_str().unwrap_or("")).unwrap();
    if frame["end"].as_u64().is_some_and(|end| place > end) {
        return None;
    }
    let offset = place.saturating_sub(frame["base"].as_u64().unwrap());
    let bits = bytes("bits");
    let exact =
        (0..offset.min(8 * bits.len() as u64)).filter(|at| bits[usize::try_from(at / 8).unwrap()] >> (at % 8) & 1 == 1);
    let mut count = exact.count() as u64;
    for (before, pair) in (0..).zip(bytes("counts").chunks(2)) {
        let run = frame["run"].as_u64().unwrap();
        let inside = offset.saturating_sub(before * run).min(run);
        count += (u64::from(u16::from_le_bytes([pair[0], pair[1]])) * inside * 2 + run) / (2 * run);
    }
    Some(count)
}

fn places() -> impl Strategy<Value = BTreeSet<u64>> {
    let near = prop::collection::btree_set(0_u64..9_000, 0..400);
    let far = prop::collection::btree_set(0_u64..3_000_000, 0..200);
    (near, far, 0_u64..1 << 40).prop_map(|(near, far, at)| near.union(&far).map(|place| place + at).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_place_found_in_a_frame_is_the_room_s(present in places(), pick in any::<prop::sample::Index>()) {
        prop_assume!(!present.is_empty());
        let frame = stream_frame(&present);
        let place = *pick.get(&present.iter().copied().collect::<Vec<_>>());
        let truth = present.range(..place).count() as u64;
        let found = count_before(&data(frame.event(Some(place), false)), place).unwrap();
        // Within a run people are taken to stand evenly: wrong by no more than the run holds.
        let wrong = match place - frame.frame.base {
            ..=1_024 => 0,
            1_025..=RUN => SHORT_RUN,
            offset => match usize::try_from(offset / RUN).unwrap() {
                0 => RUN,
                run => frame.frame.counts.get(run - 1).copied().unwrap_or_default().into(),
            },
        };
        prop_assert!(found.abs_diff(truth) <= wrong, "{found}, not {truth}, by {wrong}");
        // The estimate is the one by all points.
        let shown = data(frame.event(Some(place), false));
        let (all, some) = (json!(points_between(&frame.points, 0, u64::MAX)), &shown["estimate"]);
        prop_assert_eq!(estimate_at(some, found), estimate_at(&all, found));
    }
}

/// `estimateAt` of `static/page.js`, to the second.
fn estimate_at(points: &Value, ahead: u64) -> Option<(u64, u64)> {
    let points: Vec<(u64, u64, u64)> = serde_json::from_value(points.clone()).unwrap();
    let at = points
        .partition_point(|point| point.0 < ahead)
        .clamp(1, points.len().max(2) - 1)
        - 1;
    let (a, b) = (points.get(at)?, points.get(at + 1).unwrap_or(&points[at]));
    let wide = (b.0 - a.0).max(1);
    let part = ahead.saturating_sub(a.0).min(wide);
    Some((a.1 + part * (b.1 - a.1) / wide, a.2 + part * (b.2 - a.2) / wide))
}

/// Runs the pure part of the page's script; `None` where node is not installed.
fn in_node(expression: &str, input: &Value) -> Option<Value> {
    let script = include_str!("../../../../static/page.js");
    let (script, _) = script.split_once("// End of the pure part.").unwrap();
    let (_, body) = script.split_once("'use strict';").unwrap();
    let program = format!(
        "{body}\nconst input = JSON.parse(require('fs').readFileSync(0));\nconsole.log(JSON.stringify({expression}))"
    );
    crate::pages::template::tests::node::run(&program, "", input.to_string().as_bytes())
}

#[test]
fn the_script_finds_the_same_place_as_the_rust_does() {
    let present: BTreeSet<u64> = (0..60_000_u64).map(|n| 1_000_003 + n * n % 70_001).collect();
    let frame = stream_frame(&present);
    let asked: Vec<u64> = present
        .iter()
        .copied()
        .step_by(97)
        .chain([0, 1_000_000, 2_000_000])
        .collect();
    let frames: Vec<Value> = asked
        .iter()
        .map(|&place| data(frame.event(Some(place), false)))
        .collect();
    let here: Vec<Option<u64>> = frames
        .iter()
        .zip(&asked)
        .map(|(frame, &place)| count_before(frame, place))
        .collect();
    let input = serde_json::json!({ "frames": frames, "asked": asked });
    let Some(there) = in_node("input.frames.map((f, i) => countBefore(f, input.asked[i]))", &input) else {
        return;
    };
    assert_eq!(serde_json::from_value::<Vec<Option<u64>>>(there).unwrap(), here);
}

#[test]
fn the_script_reads_estimates_between_the_points_and_counts_in_minutes() {
    let input = serde_json::json!([[0, 0, 10], [16, 8, 42], [256, 128, 522]]);
    let expression = "[0, 8, 16, 136, 9999].map(n => estimateAt(input, n)).concat([estimateAt([], 1)])";
    let Some(found) = in_node(expression, &input) else {
        return;
    };
    assert_eq!(
        found,
        serde_json::json!([[0, 10], [4, 26], [8, 42], [68, 282], [128, 522], null])
    );
    let spans = in_node(
        "input.map(i => span(i[0], i[1]))",
        &serde_json::json!([[260, 410], [7_300, 12_000]]),
    );
    let range = |words, low, high| serde_json::json!({ "words": words, "low": low, "high": high });
    assert_eq!(
        spans.unwrap(),
        serde_json::json!([range("mr", 4, 7), range("hr", 2, 4)])
    );
}

/// A look at a wait: seconds passed, interval, paused.
type Look = (u64, Option<(u32, u32)>, bool);

/// Looks at a wait that wavers, jumps, pauses and is unknown at times.
fn wavering(seed: u64) -> Vec<Look> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut ends_in = 3_000_u32;
    let mut looks = Vec::new();
    for _ in 0..400 {
        let passed = rng.u64(0..40);
        ends_in = match rng.u32(0..20) {
            0 => rng.u32(0..6_000),
            _ => ends_in.saturating_sub(u32::try_from(passed).unwrap()),
        };
        let high = ends_in * rng.u32(85..115) / 100;
        let known = rng.u32(0..12) > 0;
        looks.push((
            passed,
            known.then(|| (high * rng.u32(0..100) / 100, high)),
            !known && rng.bool(),
        ));
    }
    looks
}

#[test]
fn the_script_keeps_what_was_told_as_the_rust_does() {
    for seed in 1..9 {
        let looks = wavering(seed);
        let (mut kept, mut now) = (crate::pages::Kept::default(), 1_767_225_600_000);
        let mut here = Vec::new();
        for (passed, interval, paused) in &looks {
            now += passed * 1_000;
            let shown = kept.show(*interval, *paused, now);
            here.push((shown, kept.is_slow(now)));
        }
        let expression = "input.reduce(function (a, look) {
          a.now += look[0] * 1e3;
          var shown = keep(a.kept, look[1], look[2], a.now);
          a.told.push([shown ? shown.map(Math.ceil) : null, a.now < a.kept.slow]);
          return a;
        }, {now: 1767225600000, kept: {}, told: []}).told";
        let Some(there) = in_node(expression, &serde_json::json!(looks)) else {
            return;
        };
        assert_eq!(there, serde_json::json!(here), "seed {seed}");
        let moved = here.iter().filter(|(_, slow)| *slow).count();
        assert!((10..here.len() - 10).contains(&moved), "{moved}");
    }
}

/// Two moments of a day in UTC, in milliseconds.
type Between = (i64, i64);

/// What the script has of each look, on from midnight: the times of day, and the moments that the shown wait ends between.
fn times_of(looks: &Value) -> Option<Vec<[Option<Between>; 2]>> {
    let expression = "input.reduce(function (a, look) {
      a.now += look[0] * 1e3;
      var shown = keep(a.kept, look[1], look[2], a.now), at = times(a.kept, shown);
      var since = function (moment) { return Math.round(moment - 1767225600000); };
      a.told.push([
        at ? at.map(since) : null,
        shown ? shown.map(function (secs) { return since(a.now + secs * 1e3); }) : null,
      ]);
      return a;
    }, {now: 1767225600000, kept: {}, told: []}).told";
    in_node(expression, looks).map(|told| serde_json::from_value(told).unwrap())
}

#[test]
fn times_of_day_are_rounded_outward_and_stand_while_the_estimate_wavers() {
    let looks = json!([
        [130, [720, 900], false],
        // Sixty seconds on, and the same moments.
        [60, [660, 840], false],
        // The end that was told stands within a minute, and the beginning that was told while it is not long past.
        [0, [670, 880], false],
        [0, [830, 830], false],
        // A sooner end moves it.
        [0, [480, 700], false],
        // Nobody knows any more how soon it may be, and then nothing at all.
        [10, null, false],
        [10, null, true],
        // Another wait: from 25 to 45 minutes past. Its beginning rises when it is 7 minutes and a half late, and falls at once.
        [790, [500, 1_700], false],
        [0, [949, 1_700], false],
        [0, [950, 1_700], false],
        [0, [799, 1_700], false],
        [0, [900, 1_700], false],
    ]);
    let Some(told) = times_of(&looks) else { return };
    let minutes = |(from, to): Between| (from / 60_000, to / 60_000);
    let told: Vec<_> = told.into_iter().map(|[at, _]| at.map(minutes)).collect();
    let stands = Some((10, 20));
    let expected = [
        stands,
        stands,
        stands,
        stands,
        Some((10, 15)),
        None,
        None,
        Some((25, 45)),
        Some((25, 45)),
        Some((30, 45)),
        Some((25, 45)),
        Some((25, 45)),
    ];
    assert_eq!(told, expected);
}

#[test]
fn there_are_no_times_of_day_for_waits_that_may_soon_end_nor_from_half_a_day_on() {
    let told = |low: u32, high: u32| times_of(&json!([[0, [low, high], false]])).map(|told| told[0][0]);
    let Some(soon) = told(449, 900) else { return };
    assert_eq!(soon, None);
    assert_eq!(told(450, 900).unwrap(), Some((300_000, 900_000)));
    assert_eq!(told(450, 43_199).unwrap(), Some((300_000, 43_200_000)));
    assert_eq!(told(450, 43_200).unwrap(), None);
}

#[test]
fn the_wait_that_is_shown_ends_between_its_times_of_day() {
    for seed in 1..9 {
        let Some(told) = times_of(&json!(wavering(seed))) else {
            return;
        };
        let (mut last, mut stood) = (None::<(i64, i64)>, 0);
        for &[at, shown] in &told {
            let (Some((from, to)), Some((low, high))) = (at, shown) else {
                continue;
            };
            assert!(from <= low && low < from + 450_000, "{at:?} {shown:?}");
            assert!(high <= to && to < high + 300_000, "{at:?} {shown:?}");
            assert!(from % 300_000 == 0 && to % 300_000 == 0, "{at:?}");
            if let Some((before, _)) = last.filter(|(_, was)| *was == high) {
                assert_eq!(to, before, "the same end");
                stood += 1;
            }
            last = Some((to, high));
        }
        assert!(stood > 50, "{stood}");
    }
}

#[test]
fn the_script_leaves_a_hidden_turn_unclaimed_as_long_as_the_simulation_s_page_does() {
    let remains: Vec<u64> = (0..200).chain([600, 3_600, 86_400]).collect();
    let here: Vec<[u64; 2]> = remains
        .iter()
        .map(|secs| [false, true].map(|phone| crate::pages::holds_ms(secs * 1_000, phone) / 1_000))
        .collect();
    let expression = "input.map(function (secs) { return [holds(secs, false), holds(secs, true)]; })";
    let Some(there) = in_node(expression, &serde_json::json!(remains)) else {
        return;
    };
    assert_eq!(there, serde_json::json!(here));
}

#[test]
fn whoever_is_near_the_front_is_sent_little() {
    let present: BTreeSet<u64> = (500..2_000_500).collect();
    let frame = stream_frame(&present);
    let bytes = |place| frame.event(Some(place), false).bytes.len();
    assert!(bytes(600) < 224, "{}", bytes(600));
    assert!(bytes(4_500) < 340, "{}", bytes(4_500));
    assert!(bytes(40_000) < 224, "{}", bytes(40_000));
    assert!(bytes(2_000_000) < 1_536, "{}", bytes(2_000_000));
    let near = data(frame.event(Some(600), false));
    assert_eq!(near["end"].as_u64(), Some(frame.frame.base + 256));
    assert_eq!(count_before(&near, 900), None);
    assert_eq!(data(frame.event(None, false)).get("end"), None);
}

#[test]
fn an_event_is_encoded_once_and_its_hash_is_of_what_it_says() {
    let (one, other) = (stream_frame(&(5..50).collect()), stream_frame(&(6..50).collect()));
    let again = StreamFrame {
        id: "9-9".to_owned(),
        ..stream_frame(&(5..50).collect())
    };
    assert_eq!(
        one.event(Some(20), false).bytes.as_ptr(),
        one.event(Some(30), false).bytes.as_ptr()
    );
    assert_eq!(one.event(Some(20), false).hash, again.event(Some(20), false).hash);
    assert_ne!(one.event(Some(20), false).hash, other.event(Some(20), false).hash);
}

#[test]
fn whom_the_stock_cannot_reach_gets_another_revision_and_no_estimate() {
    let frame = stream_frame(&(0..30).collect());
    let (within, beyond) = (data(frame.event(Some(20), false)), data(frame.event(Some(20), true)));
    assert_eq!(within["revision"], 3);
    assert_eq!(beyond["revision"], revision(3, true));
    assert_eq!(
        (&beyond["estimate"], &beyond["bits"]),
        (&serde_json::json!([]), &within["bits"])
    );
    assert!(revision(3, true) < 1 << 53, "exact in a browser");
}

//! The date of a pass: where a room has lost its session, only the date decides whether the visitor is inside.

use std::time::Duration;

use ropeline::room::Wall;
use ropeline::time::{uptime, wall};

use crate::guest::Guest;

use super::{House, OFTEN, ONE};

const SESSION: Duration = Duration::from_secs(20);
const TENTH: Duration = Duration::from_secs(2);
/// Most that a gate's idea of the room's clock is behind it. The gate counts on from when it published the last entry, not from when
/// the store dated it: it is late by the write and the reading back, a few milliseconds. The rest of `session_max` is longer by that.
const CLOCK_LAG: Duration = Duration::from_secs(1);

fn sessions(more: &str) -> String {
    format!("{ONE}\nclaim_deadline = \"4s\"\nsession_duration = \"20s\"\n{more}")
}

fn dated(guest: &Guest) -> Wall {
    guest.pass().unwrap().expires_at
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap()
}

/// Until this long after that uptime.
async fn until(begun: Duration, after: Duration) {
    tokio::time::sleep((begun + after).saturating_sub(uptime())).await;
}

/// Asks for a page, and shows the pass to say then that the session lasts for this long from now, or a tenth of one less.
async fn is_dated(guest: &mut Guest, left: Duration) {
    is_dated_between(guest, left.saturating_sub(TENTH), left).await;
}

/// Asks for a page, and shows the pass to say then that the session lasts for at least and at most this long from now.
async fn is_dated_between(guest: &mut Guest, least: Duration, most: Duration) {
    let asked = wall();
    assert!(guest.page("/page").await.is_the_shops());
    let (date, answered) = (dated(guest), wall());
    let least = asked.plus(ms(least));
    assert!(date >= least, "{} ms too early", least.since(date));
    let most = answered.plus(ms(most));
    assert!(date <= most, "{} ms too late", date.since(most));
}

#[tokio::test]
async fn a_pass_lacks_a_tenth_of_its_session_at_most() {
    let house = House::open(&sessions(""), OFTEN).await;
    let (mut guest, begun) = (house.guest(), uptime());
    for after in [0, 1_000, 3_200, 4_600, 8_000, 8_800, 14_000] {
        until(begun, Duration::from_millis(after)).await;
        is_dated(&mut guest, SESSION).await;
    }
}

#[tokio::test]
async fn a_pass_is_set_anew_also_while_the_room_is_off() {
    let house = House::open(&sessions(""), OFTEN).await;
    let (mut guest, begun) = (house.guest(), uptime());
    is_dated(&mut guest, SESSION).await;
    house.gate.set("{\"mode\": \"off\"}").await;
    until(begun, TENTH * 2).await;
    is_dated(&mut guest, SESSION).await;
}

#[tokio::test]
async fn a_pass_says_no_more_than_the_rest_of_session_max() {
    let house = House::open(&sessions("session_max = \"24s\"\nend_grace = \"0s\""), OFTEN).await;
    let mut guest = house.guest();
    is_dated(&mut guest, SESSION).await;
    let (begun, first) = (uptime(), dated(&guest));
    until(begun, Duration::from_secs(12)).await;
    // Without the end by `session_max` the pass would say 20 s, not 12 s.
    let left = (begun + Duration::from_secs(24)).saturating_sub(uptime());
    is_dated_between(&mut guest, left.saturating_sub(TENTH), left + CLOCK_LAG).await;
    assert!(dated(&guest) > first);
}

/// One who clicked a moment before the loss, just under a session after the click before; and one who had been idle for a session by then.
#[tokio::test]
async fn who_clicked_a_moment_before_all_was_lost_is_inside_and_who_had_been_idle_is_not() {
    let mut house = House::open(&sessions("").replace("users = 1", "users = 2"), OFTEN).await;
    let (mut clicks, mut idle) = (house.inside().await, house.inside().await);
    let begun = uptime();
    until(begun, SESSION.saturating_sub(TENTH / 2)).await;
    assert!(clicks.page("/page").await.is_the_shops());
    house.gate.kill();
    house.gate.lose_log();
    house.gate.start();
    house.gate.ready().await;
    // The dates from before that click are over now.
    until(begun, SESSION + TENTH).await;
    assert_eq!(idle.page("/page").await.word(), "waiting");
    let answer = clicks.page("/page").await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    house.until("sessions", 1).await;
}

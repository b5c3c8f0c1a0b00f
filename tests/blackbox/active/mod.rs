//! Rooms with active slots: an idle visitor gives the slot away, and is let in again before the whole line.

mod counted;
mod cut_off;
mod forms;
mod kept;
mod off;
mod returns;

use crate::contract::House;
use crate::guest::Guest;
use crate::house::{OFTEN, eventually};
use crate::http::Message;
use crate::shop::Reply;

/// A session is parked seven seconds after its last recorded use.
const ACTIVE: &str = "slots = \"active\"\nidle_after = \"4s\"\nreturn_wait = \"1s\"\nexcept = [\"/static/*\"]";

/// So long that a test fails by its own patience first.
const PATIENT: &str = "slots = \"active\"\nidle_after = \"4s\"\nreturn_wait = \"1 min\"\nexcept = [\"/static/*\"]";

/// A room with so many slots, where visitors may ask as often as a test does.
async fn house(slots: u32, room: &str) -> House {
    scripted(&[], slots, room).await
}

async fn scripted(replies: &'static [Reply], slots: u32, room: &str) -> House {
    House::scripted(replies, &format!("total_active_users = {slots}\n{room}"), OFTEN).await
}

/// A room with one slot, a visitor whose session is parked, and one who has the slot.
async fn one_parked(replies: &'static [Reply], room: &str) -> (House, Guest, Guest) {
    let house = scripted(replies, 1, room).await;
    let away = house.inside().await;
    house.until("parked", 1).await;
    let busy = house.inside().await;
    (house, away, busy)
}

/// The shop's answer, once there is one.
async fn until_served(guest: &mut Guest, target: &str) -> Message {
    let guest = tokio::sync::Mutex::new(guest);
    eventually("the shop's answer", async || {
        let answer = guest.lock().await.page(target).await;
        answer.is_the_shops().then_some(answer)
    })
    .await
}

/// The gate's answer to a request of a session without a slot.
fn assert_parked(answer: &Message) {
    assert_eq!((answer.status(), answer.word()), (503, "parked"), "{}", answer.head);
    let kept = answer.field("cache-control").unwrap_or_default();
    assert!(kept.starts_with("no-store"), "{}", answer.head);
}

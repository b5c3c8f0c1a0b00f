//! The page's script in node, with a clock and a document of the test's own: what a screen reader is told in half an hour, and what
//! the page does where something around it fails.

use super::*;

const WORLD: &str = include_str!("world.js");

/// Half an hour in which the line moves every five seconds, then two calls: the changes of the live region with their seconds.
const SAID: &str = include_str!("said.js");

/// A fault for some minutes: the questions that the page asked, and its reloads.
const FAULTS: &str = include_str!("faults.js");

/// What `scenario` prints of the page `name`; `None` where node is not installed.
fn in_node<T: serde::de::DeserializeOwned>(scenario: &str, name: &str, argument: &str) -> Option<T> {
    node::run(&[WORLD, scenario].concat(), argument, &page_of(name).body)
}

#[test]
fn a_page_asks_on_and_claims_its_turn_whatever_fails_around_it() {
    let run = |fault| in_node::<(u32, u32)>(FAULTS, "waiting.en", fault);
    let Some((asked, reloads)) = run("cut") else { return };
    assert!(
        asked >= 8 && reloads == 0,
        "five minutes without a stream: {asked} questions"
    );
    let (_, reloads) = run("other-account").unwrap();
    assert!(reloads > 0, "the place is another account's: a page says so");
    let (_, reloads) = run("no-sound").unwrap();
    assert!(reloads > 0, "a sound that fails does not cost the turn");
    let (_, reloads) = run("late").unwrap();
    assert!(reloads > 0, "a call that comes late is claimed at once");
    let (asked, shown) = run("reason").unwrap();
    assert_eq!(
        shown, 1,
        "the sentence of a reason comes, whatever fails the first time"
    );
    assert!((2..=6).contains(&asked), "in two minutes: {asked} questions");
}

#[test]
fn a_page_without_a_countdown_loads_anew_when_the_room_gets_an_opening() {
    let Some((_, reloads)) = in_node::<(u32, u32)>(FAULTS, "waiting.en", "schedule") else {
        return;
    };
    assert!(reloads > 0);
}

#[test]
fn only_an_error_before_the_page_is_complete_leads_to_the_one_without_a_script() {
    for name in ["waiting.en", "waiting-missed.en"] {
        let run = |fault| in_node::<(u32, u32)>(FAULTS, name, fault);
        let Some((_, led)) = run("error") else { return };
        assert_eq!(led, 1, "{name}");
        let (_, led) = run("late-error").unwrap();
        assert_eq!(led, 0, "{name}");
    }
}

#[test]
fn the_live_region_says_times_of_day_when_they_are_new_and_not_again() {
    let Some(changes) = in_node::<Vec<(u64, String)>>(SAID, "waiting.en", "") else {
        return;
    };
    let times = |said: &str| Some(said[said.find('(')?..=said.find(')')?].to_owned());
    let said: Vec<String> = changes.iter().filter_map(|(_, said)| times(said)).collect();
    assert!((2..=12).contains(&said.len()), "{changes:?}");
    assert!(said.windows(2).all(|pair| pair[0] != pair[1]), "{said:?}");
}

#[test]
fn the_live_region_changes_at_most_twice_a_minute_and_says_the_turn_once() {
    let Some(changes) = in_node::<Vec<(u64, String)>>(SAID, "waiting.en", "") else {
        return;
    };
    let (turns, news): (Vec<_>, Vec<_>) = changes.iter().partition(|(_, said)| said.contains("your turn"));
    assert_eq!(turns.len(), 1, "{changes:?}");
    assert!((20..=60).contains(&news.len()), "{changes:?}");
    for pair in news.windows(2) {
        let ((before, said), (after, says)) = (pair[0], pair[1]);
        assert!(after - before >= 30, "{said} at {before}, {says} at {after}");
        assert_ne!(said, says);
    }
}

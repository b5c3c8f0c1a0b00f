//! What a screen reader is told: half an hour of the page's script in node, with a clock and a document of the test's own.

use std::io::Write;
use std::process::{Command, Stdio};

use super::*;

/// Runs the script of `page` for half an hour in which the line moves every five seconds, then calls the visitor twice; prints
/// the changes of the live region with their seconds.
const PROGRAM: &str = include_str!("said.js");

fn changes(page: &str) -> Option<Vec<(u64, String)>> {
    let node = Command::new("node")
        .args(["-e", PROGRAM])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut node) = node else {
        eprintln!("no node here: nothing tells what a screen reader says");
        return None;
    };
    node.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn the_live_region_changes_at_most_twice_a_minute_and_says_the_turn_once() {
    let page = previews(&built_in())
        .into_iter()
        .find(|preview| preview.name == "waiting.en")
        .unwrap();
    let Some(changes) = changes(text(&page.page)) else {
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

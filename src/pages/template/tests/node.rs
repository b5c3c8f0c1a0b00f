//! Programs for the tests of the page's script, in node.

use std::io::Write;
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;

/// The JSON that a program prints for this input and argument; `None` where node is not installed.
pub fn run<T: DeserializeOwned>(program: &str, argument: &str, input: &[u8]) -> Option<T> {
    let node = Command::new("node")
        .args(["-e", program, "--", argument])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut node) = node else {
        eprintln!("no node here: the page's script is only run by the browser tests");
        return None;
    };
    node.stdin.take().unwrap().write_all(input).unwrap();
    let output = node.wait_with_output().unwrap();
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

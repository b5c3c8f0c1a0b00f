//! `ropeline demo` as its reader tries it: three browsers, one command.

use std::process::Command;

use crate::hall;
use crate::harness::browser::Browser;
use crate::harness::look::Look;
use crate::harness::process::Process;

#[tokio::test]
async fn of_three_browsers_two_get_in_and_the_third_follows() {
    let folder = tempfile::tempdir().expect("a folder for the demo");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ropeline"));
    command.args([
        "demo",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
        "--data",
    ]);
    let demo = Process::start(command.arg(folder.path()));
    let address = demo.line("the address to open", |line| {
        let (_, address) = line.trim().split_once("open this")?;
        Some(address.trim().trim_end_matches('/').to_owned())
    });
    let look = Look::default();
    let (first, second, third) = tokio::join!(Browser::start(look), Browser::start(look), Browser::start(look));
    for browser in [&first, &second] {
        browser.open(&format!("{address}/seats")).await;
        browser.shows("Choose your seats").await;
    }
    third.open(&format!("{address}/seats?row=C")).await;
    third.shows("You are in line").await;
    hall::buy(&first, &address, 40).await;
    third.shows("Choose your seats").await;
    assert_eq!(third.address().await, format!("{address}/seats?row=C"));
    second.open(&format!("{address}/basket")).await;
    second.shows("Your basket is empty").await;
}

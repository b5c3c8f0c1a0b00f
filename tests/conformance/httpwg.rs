//! A second, independent source of cases over HTTP/2: `httpwg-cli`, run unchanged against each proxy.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::suite::case::{OK, Shop as Manner};
use crate::suite::run::{Contestant, SETTLED};

/// Its results for one proxy.
pub struct Said {
    passed: String,
    /// The cases that did not pass, with the observation.
    failed: BTreeMap<String, String>,
}

/// Runs it against a proxy's first lane.
pub fn run(program: &Path, contestant: &Contestant) -> Said {
    let (address, shop) = &contestant.lanes[0];
    shop.begin(Manner::Says(OK));
    let ran = Command::new(program)
        .args(["--address", &address.to_string(), "--frame-timeout", "500"])
        .stdin(Stdio::null())
        .output();
    shop.end(SETTLED);
    let said = ran.map(|out| [out.stdout, out.stderr].concat()).unwrap_or_default();
    read(&without_colours(&String::from_utf8_lossy(&said)))
}

fn read(said: &str) -> Said {
    let (mut passed, mut failed, mut name) = (String::from("did not run"), BTreeMap::new(), None);
    for line in said.lines() {
        if let Some((_, test)) = line.split_once("Test failed: ") {
            name = Some(test.replace("RFC 9113 :: ", ""));
        } else if let Some((_, why)) = line.split_once("0: ")
            && let Some(name) = name.take()
        {
            failed.insert(name, in_short(why));
        } else if let Some((_, count)) = line.split_once("Passed ") {
            passed = count.split(' ').next().unwrap_or_default().replace('/', " of ");
        }
    }
    Said { passed, failed }
}

/// The end of a reason gives the observation: `but got ProtocolError`, or the last frame.
fn in_short(why: &str) -> String {
    if let Some((_, got)) = why.split_once("but got ") {
        return format!("got `{}`", got.replace('|', ","));
    }
    match why.split_once("last frame: ") {
        Some((_, frame)) if frame.contains("Data") || frame.contains("Headers") => "an answer".into(),
        _ if why.contains("Timed out") => "nothing".into(),
        _ => why.replace('|', ","),
    }
}

/// Its words come with escape sequences.
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once('m').map_or("", |(_, rest)| rest)
    })
}

/// The page's last section.
pub fn section(said: Option<&[Said]>) -> String {
    let mut page = String::from(ABOUT);
    let Some([gate, nginx, haproxy]) = said else {
        page.push_str("\nIt could not be built where this page was written.\n");
        return page;
    };
    let _ = writeln!(
        page,
        "\nPassed: gate {}, nginx {}, HAProxy {}.\n",
        gate.passed, nginx.passed, haproxy.passed
    );
    page.push_str("| did not pass | gate | nginx | HAProxy |\n| --- | --- | --- | --- |\n");
    let all = [gate, nginx, haproxy];
    let names: std::collections::BTreeSet<&String> = all.iter().flat_map(|said| said.failed.keys()).collect();
    for name in names {
        let of = |said: &Said| said.failed.get(name).map_or("passed", String::as_str).to_owned();
        let [gate, nginx, haproxy] = all.map(of);
        let _ = writeln!(page, "| {name} | {gate} | {nginx} | {haproxy} |");
    }
    page
}

const ABOUT: &str = "
## httpwg-cli

A second source, which shares no code with the cases above: httpwg-cli 0.2.5 (crates.io), 107 cases after RFC 9113, as it comes.
It asks for the very code of an error and takes no answer for a refusal, so three kinds of rows below are no fault: `ProtocolError`
where the RFC names another code (h2's way, see above; the connection is ended), `an answer` with status 400 to a malformed request
(RFC 9113, 8.1.1 allows it, and the reason is said in it), and `NoError` where a request was answered before the rest of it came.
";

//! The page with the result of every case, and the results that make the run fail.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

use crate::suite::case::{Case, Expect};
use crate::suite::judge::Verdict;
use crate::suite::run::Played;
use crate::suite::{faults, http2};
use crate::{Results, Row};

/// Results that make the run fail.
pub fn faults(results: &Results) -> Vec<String> {
    let mut faults = Vec::new();
    for (at, row) in results.rows.iter().enumerate() {
        let gate = &results.gate[at];
        let name = format!("{}: {}", results.title, row.name);
        let is_known = gate.outcome.verdict == Verdict::Lenient && !row.known.is_empty();
        if !row.listed.is_empty() && !gate.keeps_list {
            faults.push(format!("{name}: not as h2spec has it: {}", gate.outcome.tells));
        }
        if gate.outcome.verdict != Verdict::Right && !is_known {
            let why = gate.outcome.fault.as_deref().unwrap_or_default();
            faults.push(format!(
                "{name}: the gate is {:?}: {why}; {}",
                gate.outcome.verdict, gate.outcome.tells
            ));
        }
        if let Some(slow) = results.slow.get(at)
            && gate.gist != slow.gist
        {
            let (once, slow) = (&gate.gist, &slow.gist);
            faults.push(format!("{name}: otherwise byte by byte:\n  {once:.300}\n  {slow:.300}"));
        }
    }
    faults
}

/// Every case of a section, for the terminal.
pub fn tell(results: &Results) {
    for (at, row) in results.rows.iter().enumerate() {
        println!("  {}: {}", row.name, cell(&results.gate[at]));
        for (name, played) in [("nginx", &results.nginx), ("haproxy", &results.haproxy)] {
            if let Some(played) = played.get(at) {
                println!(
                    "    {name}: {} {}",
                    cell(played),
                    played.outcome.fault.as_deref().unwrap_or_default()
                );
            }
        }
    }
}

pub fn page(all: &[Results]) -> String {
    let mut page = String::from(HEAD);
    let _ = writeln!(
        page,
        "Against {} and {}.\n",
        version("nginx", "-v"),
        version("haproxy", "-v")
    );
    page.push_str("| | cases | gate | nginx | HAProxy |\n| --- | --- | --- | --- | --- |\n");
    for results in all {
        let (title, count) = (results.title, results.rows.len());
        let sums = [&results.gate, &results.nginx, &results.haproxy].map(|played| sum(played));
        let _ = writeln!(page, "| {title} | {count} | {} | {} | {} |", sums[0], sums[1], sums[2]);
    }
    page.push_str(
        "\nEach figure is right / lenient / wrong; cases about the gate's own names are not asked of the others.\n",
    );
    page.push_str(&of_list(all));
    page.push_str(&reasons(all));
    for results in all {
        let _ = write!(page, "\n## {}\n\n{}\n\n", results.title, results.about);
        page.push_str("| case | source | expected | gate | nginx | HAProxy |\n| --- | --- | --- | --- | --- | --- |\n");
        for (at, row) in results.rows.iter().enumerate() {
            let cells = [&results.gate, &results.nginx, &results.haproxy].map(|played| cell(&played[at]));
            let (name, expected) = (row.name.replace('|', "\\|"), row.expected);
            let [gate, nginx, haproxy] = cells;
            let _ = writeln!(
                page,
                "| {name} | {} | {expected} | {gate} | {nginx} | {haproxy} |",
                row.source
            );
        }
    }
    page
}

/// How many cases of h2spec's list each keeps, by the rules of that list.
fn of_list(all: &[Results]) -> String {
    let listed = |results: &Results, at: usize| !results.rows[at].listed.is_empty();
    let count = |of: fn(&Results) -> &Vec<Played>| {
        let kept = |results: &Results| {
            let played = of(results).iter().enumerate();
            played
                .filter(|(at, one)| one.keeps_list && listed(results, *at))
                .count()
        };
        all.iter().map(kept).sum::<usize>()
    };
    let lists = |results: &Results| (0..results.rows.len()).filter(|at| listed(results, *at)).count();
    format!(
        "\nOf the {} cases of h2spec's list (2.6; one of them in its strict mode only), by that list's own rules (an answer with an \
         error is no refusal, a close is one whatever was said before): gate {}, nginx {}, HAProxy {}.\n",
        all.iter().map(lists).sum::<usize>(),
        count(|results| &results.gate),
        count(|results| &results.nginx),
        count(|results| &results.haproxy),
    )
}

/// Why the gate is lenient where it is.
fn reasons(all: &[Results]) -> String {
    let mut counts = BTreeMap::new();
    for results in all {
        for (row, played) in results.rows.iter().zip(&results.gate) {
            if played.outcome.verdict == Verdict::Lenient {
                *counts.entry(row.known).or_insert(0_usize) += 1;
            }
        }
    }
    let mut text = String::new();
    for (why, count) in counts {
        let _ = writeln!(text, "- {count} cases: {why}.");
    }
    if text.is_empty() {
        text
    } else {
        format!("\nWhere the gate is lenient:\n\n{text}")
    }
}

fn sum(played: &[Played]) -> String {
    let count = |verdict: Verdict| played.iter().filter(|one| one.outcome.verdict == verdict).count();
    let [right, lenient, wrong] = [Verdict::Right, Verdict::Lenient, Verdict::Wrong].map(count);
    format!("{right} / {lenient} / {wrong}")
}

pub fn row(case: &Case) -> Row {
    let expected = match case.expect {
        Expect::Refused => "refused, closed",
        Expect::Declined => "refused",
        Expect::Passes(_) => "passes",
        Expect::Either(_) => "either",
        Expect::Protected | Expect::Alike => "kept out",
    };
    Row {
        name: case.name.clone(),
        source: case.source,
        expected,
        listed: "",
        known: "",
    }
}

pub fn row_of_fault(case: &faults::Case) -> Row {
    let expected = match case.expect {
        faults::Seen::Refused | faults::Seen::Repaired => "refused",
        faults::Seen::Clean(..) => "passes",
        faults::Seen::Either(..) => "clean",
    };
    Row {
        name: case.name.into(),
        source: case.source,
        expected,
        listed: "",
        known: "",
    }
}

pub fn row_of_flood(flood: &http2::floods::Flood) -> Row {
    Row {
        name: flood.name.into(),
        source: flood.source,
        expected: "bounded",
        listed: "",
        known: "",
    }
}

pub fn row_of_http2(case: &http2::case::Case) -> Row {
    use http2::case::Expect;
    let expected = match case.expect {
        Expect::Passes(_) => "passes",
        Expect::Either(_) => "either",
        Expect::Malformed => "refused",
        Expect::Stream(_) => "stream ended",
        Expect::Connection(_) => "connection ended",
        Expect::Alive => "goes on",
        Expect::Harmless => "no fault",
        Expect::Bytes(_) => "so many bytes",
    };
    Row {
        name: case.name.clone(),
        source: case.source,
        expected,
        listed: case.listed,
        known: case.known,
    }
}

fn cell(played: &Played) -> String {
    let tells = &played.outcome.tells;
    match played.outcome.verdict {
        Verdict::None => "–".into(),
        Verdict::Right => format!("right: {tells}"),
        Verdict::Lenient => format!("lenient: {tells}"),
        Verdict::Wrong => format!("**wrong**: {tells}"),
    }
}

fn version(program: &str, flag: &str) -> String {
    let said = Command::new(program).arg(flag).output();
    let said = said.map(|out| [out.stdout, out.stderr].concat()).unwrap_or_default();
    let line = String::from_utf8_lossy(&said)
        .lines()
        .next()
        .unwrap_or(program)
        .to_owned();
    let word = |word: &&str| word.contains('.') && word.contains(|digit: char| digit.is_ascii_digit());
    let number = line.split([' ', '/']).find(word).unwrap_or_default();
    format!("{program} {number}")
}

const HEAD: &str = "# Conformance

`scripts/conformance` wrote this page. It plays every case over real sockets against the gate and against Debian's nginx and
HAProxy, set up as plain reverse proxies (`tests/conformance/others.rs`), each before a shop that records every byte and
answers 200. What the shop got is read without any leniency. The cases with their expectations are in
`tests/conformance/suite` (`cases`, `faults`, `http2`); a number as source is an RFC and a section.

- *right*: as expected. Refused means an error or a close, nothing whole at the shop, and the connection closed.
- *lenient*: forwarded, but repaired into what has one meaning, or the connection stays open.
- **wrong**: what has more than one meaning was forwarded, or what is sound was not.

A cell says the answer's status where nothing was forwarded, else what the shop got (`+5`: a body of five bytes); `cut` is a
message of which the shop got the beginning and then the end of the connection. The gate has every case twice, the second time
byte by byte, with the same outcome.

Over HTTP/2 (in the clear, from the first byte on; `listen … http2` and `proto h2` at the others) a client of our own sends frames.
Refused means there: an answer with an error, or the stream or the connection ended, and nothing whole at the shop. Ended means: by
an error's code that the RFC names, or closed without a word; *lenient* is another code, or a request that was cleaned and passed on.

The gate is stricter than the RFCs by choice where a recipient may repair or ignore: chunk extensions, a length beside `chunked`,
equal lengths, an absolute target against `Host`, a second empty line before a request. Which targets that RFC 3986 does not
allow pass all the same, and why, is in [proxy](../reference/proxy.md).

";

/// What the section on faulty shops is about.
pub const FAULTS: &str = "The shop's answer to one visitor breaks a rule; the next is answered soundly. Refused is an error (502, 504) or an \
                         answer that anybody can tell is not whole. Connections to the shop are kept and used again by all three \
                         (nginx: `keepalive`, HAProxy: `http-reuse always`), and a silent shop has a second. *Lenient*: repaired into \
                         an answer with one meaning, or refused where it might have passed. The next visitor must have the own \
                         answer in every case.";

/// What the section on floods is about.
pub const FLOODS: &str = "One client sends without end, or takes nothing. Right is who stays bounded, whether by ending the connection, by \
                         holding the client back, or because what is sent costs nothing: at most 16 MiB more memory, few requests \
                         at the shop, and another visitor is answered meanwhile. A cell says how it ended, what had been sent \
                         by then, what reached the shop, and by how much the process grew.";

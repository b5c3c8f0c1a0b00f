//! The page with what became of every case, and what makes the run fail.

use std::fmt::Write;
use std::process::Command;

use crate::Results;
use crate::suite::case::{Case, Expect};
use crate::suite::judge::Verdict;
use crate::suite::run::Played;

/// What no run may show.
pub fn faults(results: &Results) -> Vec<String> {
    let mut faults = Vec::new();
    for (at, case) in results.section.cases.iter().enumerate() {
        let gate = &results.gate[at];
        let name = format!("{}: {}", results.section.title, case.name);
        if gate.outcome.verdict != Verdict::Right {
            let why = gate.outcome.fault.as_deref().unwrap_or_default();
            faults.push(format!(
                "{name}: the gate is {:?}: {why}; {}",
                gate.outcome.verdict, gate.outcome.tells
            ));
        }
        if gate.gist != results.slow[at].gist {
            let (once, slow) = (&gate.gist, &results.slow[at].gist);
            faults.push(format!("{name}: otherwise byte by byte:\n  {once:.300}\n  {slow:.300}"));
        }
    }
    faults
}

/// Every case of a section, for the terminal.
pub fn tell(results: &Results) {
    for (at, case) in results.section.cases.iter().enumerate() {
        println!("  {}: {}", case.name, cell(&results.gate[at]));
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
        let (title, count) = (results.section.title, results.section.cases.len());
        let sums = [&results.gate, &results.nginx, &results.haproxy].map(|played| sum(played));
        let _ = writeln!(page, "| {title} | {count} | {} | {} | {} |", sums[0], sums[1], sums[2]);
    }
    page.push_str(
        "\nEach figure is right / lenient / wrong; cases about the gate's own names are not asked of the others.\n",
    );
    for results in all {
        let _ = write!(page, "\n## {}\n\n{}\n\n", results.section.title, results.section.about);
        page.push_str("| case | source | expected | gate | nginx | HAProxy |\n| --- | --- | --- | --- | --- | --- |\n");
        for (at, case) in results.section.cases.iter().enumerate() {
            let cells = [&results.gate, &results.nginx, &results.haproxy].map(|played| cell(&played[at]));
            let (name, expected) = (case.name.replace('|', "\\|"), expected(case));
            let [gate, nginx, haproxy] = cells;
            let _ = writeln!(
                page,
                "| {name} | {} | {expected} | {gate} | {nginx} | {haproxy} |",
                case.source
            );
        }
    }
    page
}

fn sum(played: &[Played]) -> String {
    let count = |verdict: Verdict| played.iter().filter(|one| one.outcome.verdict == verdict).count();
    let [right, lenient, wrong] = [Verdict::Right, Verdict::Lenient, Verdict::Wrong].map(count);
    format!("{right} / {lenient} / {wrong}")
}

fn expected(case: &Case) -> &'static str {
    match case.expect {
        Expect::Refused => "refused, closed",
        Expect::Declined => "refused",
        Expect::Passes(_) => "passes",
        Expect::Either(_) => "either",
        Expect::Protected | Expect::Alike => "kept out",
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
HAProxy, set up as plain reverse proxies (`examples/conformance/others.rs`), each before a shop that records every byte and
answers 200. What the shop got is read without any leniency. The cases with their expectations are in
`examples/conformance/suite/cases`; a number as source is an RFC and a section.

- *right*: as expected. Refused means an error or a close, nothing whole at the shop, and the connection closed.
- *lenient*: forwarded, but repaired into what has one meaning, or the connection stays open.
- **wrong**: what has more than one meaning was forwarded, or what is sound was not.

A cell says the answer's status where nothing was forwarded, else what the shop got (`+5`: a body of five bytes); `cut` is a
message of which the shop got the beginning and then the end of the connection. The gate has every case twice, the second time
byte by byte, with the same outcome.

The gate is stricter than the RFCs by choice where a recipient may repair or ignore: chunk extensions, a length beside `chunked`,
equal lengths, an absolute target against `Host`, a second empty line before a request. Which targets that RFC 3986 does not
allow pass all the same, and why, is in [proxy](proxy.md).

";

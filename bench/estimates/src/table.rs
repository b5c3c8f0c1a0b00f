//! The results as tables in Markdown.

use std::fmt::Write as _;
use std::ops::Range;

use crate::judge::Judged;
use crate::looks::Look;
use crate::patterns::MIN;
use crate::score::{Score, Told, broken, score};

/// One row for each pattern, and how many pass.
pub fn table(judged: &[Judged]) -> String {
    let mut text =
        "| pattern | looks | told | hold | by quarter, from the front | oracle | middle off | oracle | interval score | \
                    oracle | |\n| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | --- |\n"
            .to_owned();
    for one in judged {
        let (score, oracle) = (&one.score, &one.oracle);
        let quarters = score.quarters.map(|holds| holds.map_or_else(|| "–".to_owned(), whole));
        let _ = writeln!(
            text,
            "| {} | {:.0} | {} | {} | {} | {} | {} | {} | {:.2} | {:.2} | {} |",
            one.pattern.name,
            score.looks,
            whole(score.told),
            tenth(score.holds),
            quarters.join(" "),
            tenth(oracle.holds),
            tenth(score.middle),
            tenth(oracle.middle),
            score.interval,
            oracle.interval,
            verdict(score, oracle),
        );
    }
    let pass = judged.iter().filter(|one| broken(&one.score, &one.oracle).is_empty());
    let _ = writeln!(text, "\n{} of {} patterns pass.", pass.count(), judged.len());
    text + &changes(judged) + &over_time(judged) + &runs(judged) + &censored(judged)
}

/// The looks around changes that nobody was told of.
fn changes(judged: &[Judged]) -> String {
    let with: Vec<&Judged> = judged.iter().filter(|one| one.changed.looks > 0.0).collect();
    if with.is_empty() {
        return String::new();
    }
    let mut text = "\nLooks whose wait spans a change, or that come soon after it, do not count:\n\n\
                    | pattern | looks | told | hold |\n| --- | ---: | ---: | ---: |\n"
        .to_owned();
    for one in with {
        let (name, changed) = (one.pattern.name, &one.changed);
        let (told, holds) = (whole(changed.told), tenth(changed.holds));
        let _ = writeln!(text, "| {name} | {:.0} | {told} | {holds} |", changed.looks);
    }
    text
}

/// The first run by time since the first call: of 100 looks how many hold, and the interval score; every look weighs alike.
fn over_time(judged: &[Judged]) -> String {
    let mut text =
        "\nThe first run, by minutes since the line's first call: looks that hold of 100, and their interval score \
                    (every look weighs alike).\n\n| pattern |"
            .to_owned();
    let ends = MINUTES.into_iter().skip(1).map(Some).chain([None]);
    let spans: Vec<(u64, Option<u64>)> = MINUTES.into_iter().zip(ends).collect();
    for (from, to) in &spans {
        let _ = write!(
            text,
            " {from} to {} |",
            to.map_or_else(|| "end".to_owned(), |to| to.to_string())
        );
    }
    let _ = writeln!(text, "\n| --- |{}", " ---: |".repeat(spans.len()));
    for one in judged {
        let _ = write!(text, "| {} |", one.pattern.name);
        for (from, to) in &spans {
            let span = from * MIN..to.map_or(u64::MAX, |to| to * MIN);
            let alike = alike(one.first.iter().map(|(look, _)| look), &span);
            let score = score(&alike, |look| look.told.map(Told::of));
            let figures = format!(" {}, {:.1}", whole(score.holds), score.interval);
            text += if alike.is_empty() { "" } else { &figures };
            text += " |";
        }
        text.push('\n');
    }
    text
}

/// The looks in a span of time, each as if it were a visitor's only one, so that every look weighs alike.
pub fn alike<'a>(looks: impl Iterator<Item = &'a Look>, span: &Range<u64>) -> Vec<Look> {
    let within = looks.filter(|look| span.contains(&look.at));
    (0..)
        .zip(within)
        .map(|(person, look)| Look { person, ..*look })
        .collect()
}

/// Every run: how many of its looks hold.
fn runs(judged: &[Judged]) -> String {
    let mut text =
        "\nEach run: of 100 looks, how many hold, in the order of seeds:\n\n| pattern | runs |\n| --- | --- |\n"
            .to_owned();
    for one in judged {
        let holds: Vec<String> = one.runs.iter().map(|run| whole(run.holds)).collect();
        let _ = writeln!(text, "| {} | {} |", one.pattern.name, holds.join(" "));
    }
    text
}

fn censored(judged: &[Judged]) -> String {
    let mut text = String::new();
    for one in judged.iter().filter(|one| one.censored > 0) {
        let _ = writeln!(
            text,
            "\n{}: {} looks are left out, since their runs ended before their turn.",
            one.pattern.name, one.censored
        );
    }
    text
}

fn verdict(score: &Score, oracle: &Score) -> String {
    let broken = broken(score, oracle);
    if broken.is_empty() {
        "passes".to_owned()
    } else {
        format!("fails: {}", broken.join(", "))
    }
}

fn whole(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

fn tenth(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// Where the spans of time begin, in minutes.
const MINUTES: [u64; 7] = [0, 2, 5, 10, 20, 40, 80];

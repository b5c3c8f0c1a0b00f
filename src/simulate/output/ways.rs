//! The two ways to give slots away, side by side, and the advice.

use std::fmt::Write as _;

use minijinja::HtmlEscape;

use crate::charts::in_words;
use crate::simulate::active::ways::Way;
use crate::simulate::outcome::Outcome;

/// A row of the table: its name, and the figure of each way.
type Row = (&'static str, Vec<String>);

fn rows(ways: &[Way]) -> Vec<Row> {
    let has_returns = ways.iter().any(|way| way.returns.alone + way.returns.together > 0);
    let row = |name, of: &dyn Fn(&Way) -> String| (name, ways.iter().map(of).collect());
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let mut rows = vec![
        row("half inside after", &|way| in_words(way.median_wait_secs)),
        row("95 % inside after", &|way| in_words(way.p95_wait_secs)),
        row("slots with a busy visitor", &|way| percent(way.busy)),
        row("at most, with this crowd", &|way| percent(way.ceiling)),
        row("most sessions at the shop", &|way| way.most_sessions.to_string()),
        row("of them above the slots", &|way| way.above.to_string()),
        row("session over while shopping", &|way| way.thrown_out.to_string()),
        row("requests, busiest minute", &|way| way.busiest_minute.to_string()),
    ];
    if has_returns {
        let secs = |count: u64, secs: f64| if count == 0 { "-".to_owned() } else { in_words(secs) };
        rows.extend([
            row("returns by themselves", &|way| way.returns.alone.to_string()),
            row("  within 1 s", &|way| {
                let share = way.returns.share_within_a_second();
                if way.returns.alone == 0 {
                    "-".to_owned()
                } else {
                    format!("{:.2} %", share * 100.0)
                }
            }),
            row("  99.9 % within", &|way| secs(way.returns.alone, way.returns.p999_secs)),
            row("  the longest", &|way| secs(way.returns.alone, way.returns.max_secs)),
            row("returns of many at once", &|way| way.returns.together.to_string()),
            row("  half within", &|way| {
                secs(way.returns.together, way.returns.together_median_secs)
            }),
            row("  the longest", &|way| {
                secs(way.returns.together, way.returns.together_max_secs)
            }),
            row("page shown to who returned", &|way| way.returns.pages.to_string()),
        ]);
    }
    rows
}

/// As text.
pub fn text(text: &mut String, outcome: &Outcome) {
    let ways = &outcome.ways;
    let _ = write!(text, "\n  {:<28}", "slots");
    for (at, way) in ways.iter().enumerate() {
        let note = if at == 0 { "" } else { " (not configured)" };
        let _ = write!(text, "{:>26}", format!("{}{note}", way.slots));
    }
    text.push('\n');
    for (name, figures) in rows(ways) {
        let _ = write!(text, "  {name:<28}");
        for figure in figures {
            let _ = write!(text, "{figure:>26}");
        }
        text.push('\n');
    }
    for advice in &outcome.advice {
        let _ = writeln!(text, "\nadvice: {advice}");
    }
}

/// As a section of the page.
pub fn html(page: &mut String, outcome: &Outcome) {
    page.push_str("<section>\n<h2>Ways to give slots away</h2>\n<table class=\"figures\">\n<thead><tr><th scope=\"col\">slots</th>");
    for (at, way) in outcome.ways.iter().enumerate() {
        let note = if at == 0 { "" } else { " (not configured)" };
        let _ = write!(page, "<th scope=\"col\">{}{note}</th>", way.slots);
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for (name, figures) in rows(&outcome.ways) {
        let _ = write!(page, "<tr><th scope=\"row\">{}</th>", name.trim_start());
        for figure in figures {
            let _ = write!(page, "<td>{figure}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n<ul>\n");
    for advice in &outcome.advice {
        let _ = writeln!(page, "<li>{}</li>", HtmlEscape(advice));
    }
    page.push_str("</ul>\n</section>\n");
}

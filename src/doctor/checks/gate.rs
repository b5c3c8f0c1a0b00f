//! Whether the running gate does its work, with the configuration in its file.

use crate::doctor::check::Checking;
use crate::doctor::finding::{Finding, capital};
use crate::doctor::look::Look;

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    Box::pin(async {
        let Some(running) = look.running else { return Vec::new() };
        let places = &look.subject.places;
        let trouble = |why: &String| Finding::fault(format!("{}.", capital(why))).by("ropeline gates", "what to do");
        let mut findings: Vec<Finding> = running.troubles.iter().map(trouble).collect();
        if let Some(at) = &running.refused_reload {
            let wrong = format!("The gate refused its file at {at} and goes by the one before.");
            let command = format!("ropeline check {}", places.file());
            findings.push(Finding::fault(wrong).by(command, "every mistake; then ropeline reload"));
        }
        if findings.is_empty() {
            findings.push(Finding::fine(
                "The gate reads its log, and calls visitors where a room lets it.",
            ));
        }
        findings
    })
}

//! `ropeline doctor`: each fault is made with the real thing, and found with the line to change; a healthy set-up has none.

mod healthy;
mod machine;
mod proxies;
mod shop;
mod store;

use serde_json::Value;

use crate::commands::nobody_listens;
use crate::gate::{Gate, Site};

/// What the doctor said.
#[derive(Debug)]
struct Told {
    code: Option<i32>,
    findings: Vec<Value>,
}

/// Asks the doctor in the folder of a site, and where one is given the gate that runs there.
fn doctor(site: &Site, gate: Option<&Gate>) -> Told {
    let admin = gate.map_or_else(nobody_listens, |gate| gate.admin);
    told(site, &["--admin", &format!("http://{admin}")])
}

fn told(site: &Site, more: &[&str]) -> Told {
    let ended = site.run(&[&["doctor", "config.toml", "--format", "json"], more].concat());
    let told: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    Told {
        code: ended.code,
        findings: told["findings"].as_array().unwrap().clone(),
    }
}

impl Told {
    /// The worst finding of a check.
    fn of(&self, check: &str) -> &Value {
        let found = self.findings.iter().find(|finding| finding["check"] == check);
        found.unwrap_or_else(|| panic!("nothing of {check}: {self:#?}"))
    }

    /// The finding of a check, which must be this bad and say this.
    #[track_caller]
    fn says(&self, check: &str, severity: &str, part: &str) -> &Value {
        let of_check = |finding: &&Value| finding["check"] == check && finding["severity"] == severity;
        let has = |finding: &&Value| finding["message"].as_str().unwrap().contains(part);
        let found = self.findings.iter().filter(of_check).find(has);
        found.unwrap_or_else(|| panic!("no {severity} of {check} says {part:?}: {self:#?}"))
    }
}

/// The line of the configuration that begins with this.
fn line_of(site: &Site, beginning: &str) -> usize {
    let config = std::fs::read_to_string(site.path("config.toml")).unwrap();
    let at = config.lines().position(|line| line.starts_with(beginning));
    at.unwrap_or_else(|| panic!("no {beginning} in {config}")) + 1
}

/// A site whose gate fits the descriptors of any machine.
fn small(site: Site) -> Site {
    site.edit("threads = 1\n", "threads = 1\nmax_connections = 1000\n");
    site
}

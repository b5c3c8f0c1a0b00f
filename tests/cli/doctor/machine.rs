//! Too few descriptors, too little memory, an expired certificate.

use std::os::unix::fs::PermissionsExt as _;

use crate::doctor::{doctor, line_of, small};
use crate::gate::{Gate, Site};
use crate::harness::certificates::{Authority, Issued};
use crate::program::Program;
use crate::until;

/// A site that shows this certificate.
fn secured(issued: &Issued) -> Site {
    let tls = "[tls]\nlisten = [\"127.0.0.1:0\"]\n\
               certificates = [{ cert_file = \"shop.pem\", key_file = \"shop.key\" }]";
    let site = Site::new("", tls);
    issued.write(&site.path(""), "shop");
    site
}

#[test]
fn a_gate_that_may_open_few_files_is_a_fault_however_many_this_shell_may() {
    let site = small(Site::new("", ""));
    let script = site.path("start.sh");
    let binary = env!("CARGO_BIN_EXE_ropeline");
    std::fs::write(&script, format!("#!/bin/sh\nulimit -n 300\nexec {binary} \"$@\"\n")).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let gate = Gate::serving(Program::start_as(&script, &site.path(""), &["run"]));
    let all = doctor(&site, Some(&gate));
    assert_eq!(all.code, Some(78));
    let found = all.says("open-files", "fault", "The gate may open 300 files");
    assert_eq!(found["line"], line_of(&site, "max_connections"));
    assert!(
        found["remedy"].as_str().unwrap().contains("LimitNOFILE=2000"),
        "{found}"
    );
    doctor(&site, None).says("open-files", "fine", "A gate started from here");
}

#[test]
fn more_connections_than_the_memory_holds_are_told_with_what_fits() {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap();
    let kilobytes: u64 = total.split_whitespace().next().unwrap().parse().unwrap();
    // Some twice as many as fit, at 49 KB each.
    let most = kilobytes * 1_024 / 24_500;
    let site = secured(&Authority::new().issue(&["shop.example"]));
    site.edit("threads = 1\n", &format!("threads = 1\nmax_connections = {most}\n"));
    let all = doctor(&site, None);
    let found = all.says("memory", "warning", &format!("{most} connections"));
    assert_eq!(found["key"], "server.max_connections");
    assert!(found["remedy"].as_str().unwrap().starts_with("at most "), "{found}");
}

#[test]
fn an_expired_certificate_is_a_fault_until_the_gate_has_another() {
    let authority = Authority::new();
    let site = small(secured(&authority.issue_until(&["shop.example"], 2021)));
    let gate = site.start();
    for gate in [None, Some(&gate)] {
        let all = doctor(&site, gate);
        assert_eq!(all.code, Some(78));
        let found = all.says("certificates", "fault", "expired on 2021-01-01");
        assert_eq!(found["line"], line_of(&site, "certificates"));
    }
    authority.issue(&["shop.example"]).write(&site.path(""), "shop");
    doctor(&site, None).says("certificates", "fine", "good until 2090-01-01");
    until("the new certificate", || {
        (doctor(&site, Some(&gate)).of("certificates")["severity"] == "fine").then_some(())
    });
}

//! nginx before the gate, with and without a word on whom it comes for, and visitors who make the word up.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;

use tempfile::TempDir;

use crate::commands::nobody_listens;
use crate::doctor::{doctor, line_of, small};
use crate::gate::{Gate, Site};
use crate::harness::process::Process;
use crate::until;
use crate::visitor::Visitor;

/// nginx as a reverse proxy before a gate.
struct Nginx {
    address: SocketAddr,
    _process: Process,
    _folder: TempDir,
}

impl Nginx {
    /// With this line more where it forwards.
    fn before(gate: &Gate, line: &str) -> Self {
        let (folder, address) = (tempfile::tempdir().unwrap(), nobody_listens());
        let kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|kind| format!("{kind}_temp_path {kind};"));
        let config = format!(
            "events {{}}\nhttp {{ access_log off; {} server {{ listen {address}; location / {{\n\
             proxy_pass http://{}; proxy_set_header Host $http_host; {line} }} }} }}\n",
            kept.join(" "),
            gate.address
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new("/usr/sbin/nginx");
        command.arg("-p").arg(folder.path()).arg("-c").arg(&file);
        command.args(["-e", "stderr", "-g", "daemon off; master_process off; pid pid;"]);
        let process = Process::start(&mut command);
        until("nginx", || TcpStream::connect(address).ok());
        Self {
            address,
            _process: process,
            _folder: folder,
        }
    }
}

const FORWARDED: &str = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;";

/// Nine visitors, each from an address of their own, who come and come back.
fn nine_come(at: SocketAddr) {
    for last in 2..=10 {
        let mut visitor = Visitor::from(at, IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)));
        for _ in 0..2 {
            let answer = visitor.goes_to("/");
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }
}

fn site(trusted: &str) -> Site {
    let site = small(Site::new("", ""));
    site.edit(
        "threads = 1\n",
        &format!("threads = 1\ntrusted_proxies = [{trusted}]\n"),
    );
    site
}

#[test]
fn a_proxy_that_is_not_trusted_is_noticed_by_the_gate_and_gone_with_the_right_line() {
    let site = site("");
    let gate = site.start();
    gate.lives();
    nine_come(Nginx::before(&gate, FORWARDED).address);
    let logged = gate.logs("a proxy that trusted_proxies does not name");
    assert_eq!(logged["network"], "127.0.0.0", "no whole address");
    let all = doctor(&site, Some(&gate));
    assert_eq!(all.code, Some(78));
    let found = all.says("forwarded-for", "fault", "all of them count as one client");
    assert_eq!(found["line"], line_of(&site, "trusted_proxies"));
    assert!(found["remedy"].as_str().unwrap().contains("in 127.0.0.0/24"), "{found}");
    site.edit("trusted_proxies = []", "trusted_proxies = [\"127.0.0.1\"]");
    let admin = format!("http://{}", gate.admin);
    assert_eq!(site.run(&["reload", "--admin", &admin]).code, Some(0));
    until("the end of the fault", || {
        (doctor(&site, Some(&gate)).of("forwarded-for")["severity"] == "fine").then_some(())
    });
}

#[test]
fn one_visitor_who_makes_up_many_addresses_is_no_proxy() {
    let site = site("");
    let gate = site.start();
    gate.lives();
    let mut visitor = gate.insider();
    for made_up in 1..=50 {
        let line = format!("X-Forwarded-For: 203.0.113.{made_up}\r\n");
        assert!(visitor.asks("GET /", &line, "").is_the_shops());
    }
    let all = doctor(&site, Some(&gate));
    all.says("forwarded-for", "fine", "No visitor came through a proxy");
    assert!(
        !gate
            .program
            .err()
            .contains("a proxy that trusted_proxies does not name")
    );
}

#[test]
fn a_trusted_proxy_that_names_no_client_is_a_fault() {
    let site = site("\"127.0.0.1\"");
    let gate = site.start();
    gate.lives();
    nine_come(Nginx::before(&gate, "").address);
    let all = doctor(&site, Some(&gate));
    all.says("forwarded-for", "fault", "names no client in X-Forwarded-For");
}

#[test]
fn visitors_who_come_directly_from_a_trusted_network_are_told() {
    let site = site("\"127.0.0.0/8\"");
    let gate = site.start();
    gate.lives();
    nine_come(gate.address);
    let all = doctor(&site, Some(&gate));
    let found = all.says("forwarded-for", "warning", "Visitors come directly from 127.0.0.0/24");
    assert_eq!(found["key"], "server.trusted_proxies");
}

//! Certificates and the rest of the configuration, taken together or not at all.

use std::net::SocketAddr;
use std::process::Command;

use super::{capacity, refused, taken};
use crate::gate::{Gate, Site, line_with};
use crate::harness::certificates::{Authority, Issued};

fn pairs(hosts: &[&str]) -> String {
    let pair = |host: &&str| format!("{{ cert_file = \"{host}.pem\", key_file = \"{host}.key\" }}");
    format!(
        "certificates = [{}]",
        hosts.iter().map(pair).collect::<Vec<_>>().join(", ")
    )
}

/// Whether this host is served over TLS with a certificate of its own.
fn is_served(site: &Site, gate: &Gate, host: &str, arguments: &[&str]) -> bool {
    let serving = line_with(&gate.program.err(), "serving").unwrap();
    let address: SocketAddr = serving["tls"].as_str().unwrap().parse().unwrap();
    let port = address.port();
    let asked = Command::new("curl")
        .args(["-s", "-i", "--max-time", "60", "--cacert"])
        .arg(site.path("root.pem"))
        .args(["--resolve", &format!("{host}:{port}:127.0.0.1")])
        .args(arguments)
        .arg(format!("https://{host}:{port}/robots.txt"))
        .output()
        .unwrap();
    asked.status.success()
}

/// A gate that speaks TLS as a.example.
fn secured() -> (Authority, Site, Gate) {
    let authority = Authority::new();
    let tables = format!("[tls]\nlisten = [\"127.0.0.1:0\"]\n{}", pairs(&["a.example"]));
    let site = Site::new("", &tables);
    std::fs::write(site.path("root.pem"), authority.pem()).unwrap();
    authority.issue(&["a.example"]).write(&site.path(""), "a.example");
    let gate = site.start();
    (authority, site, gate)
}

#[test]
fn a_new_host_with_its_certificate_is_served_from_one_reload_on() {
    let (authority, site, gate) = secured();
    let served = |host: &str| is_served(&site, &gate, host, &[]);
    assert!(served("a.example") && !served("b.example"));

    // The key of another: nothing is taken, the rest of the file neither.
    let mixed = Issued {
        key: authority.issue(&["b.example"]).key,
        ..authority.issue(&["b.example"])
    };
    mixed.write(&site.path(""), "b.example");
    site.edit(&pairs(&["a.example"]), &pairs(&["b.example", "a.example"]));
    site.edit("total_active_users = 1", "total_active_users = 2");
    let told = refused(&site, &gate);
    assert!(told.contains("the key in b.example.key does not belong"), "{told}");
    assert!(served("a.example") && !served("b.example"));
    assert_eq!(capacity(&gate), 1);

    authority.issue(&["b.example"]).write(&site.path(""), "b.example");
    taken(&site, &gate);
    assert!(served("a.example") && served("b.example"));
    assert_eq!(capacity(&gate), 2);
    assert!(gate.figure("ropeline_certificate_reloads_total{outcome=\"taken\"} ") >= 1);

    // A certificate that is over does not take the place of one that is good.
    authority
        .issue_until(&["a.example"], 2020)
        .write(&site.path(""), "a.example");
    site.edit("total_active_users = 2", "total_active_users = 3");
    let told = refused(&site, &gate);
    assert!(told.contains("a.example.pem"), "{told}");
    assert!(served("a.example"));
    assert_eq!(capacity(&gate), 2);
}

#[test]
fn versions_protocols_and_the_redirect_follow_the_file() {
    let (_authority, site, gate) = secured();
    let old = ["--tls-max", "1.2"];
    assert!(is_served(&site, &gate, "a.example", &old));
    assert_eq!(gate.visitor().goes_to("/robots.txt").status, 200);
    site.edit(
        "[tls]",
        "[tls]\nmin_version = \"1.3\"\nredirect = true\nredirect_port = 443",
    );
    taken(&site, &gate);
    assert!(!is_served(&site, &gate, "a.example", &old) && is_served(&site, &gate, "a.example", &[]));
    let sent = gate.visitor().goes_to("/robots.txt");
    assert_eq!(
        (sent.status, sent.header("location")),
        (308, "https://127.0.0.1/robots.txt")
    );
}

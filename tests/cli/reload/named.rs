//! Files that the configuration names: a change in one counts like a change of the configuration, and a configuration that
//! was refused because of them is taken once they exist.

use super::{capacity, taken};
use crate::gate::{Gate, Site};
use crate::harness::certificates::Authority;
use crate::until;

/// A room with its own page, and a visitor who waits before it.
fn with_page(site: &Site) -> Gate {
    std::fs::write(site.path("page.html"), "<html>one {{ title }}</html>").unwrap();
    let gate = site.start();
    gate.insider();
    assert!(gate.visitor().goes_to("/").body.contains("<html>one "));
    gate
}

fn is_refused(gate: &Gate) {
    until("the refusal", || {
        (gate.asks_admin("/api/v1/reload").json()["result"] == "refused").then_some(())
    });
}

fn is_taken(gate: &Gate) {
    until("the file", || {
        (gate.asks_admin("/api/v1/reload").json()["result"] == "taken").then_some(())
    });
    assert_eq!(gate.asks_admin("/api/v1/reload").json()["trigger"], "file");
}

#[test]
fn a_template_and_a_secret_that_change_are_taken_by_themselves() {
    let site = Site::new("", "[room.page]\ntemplate = \"page.html\"");
    let key =
        |text: &str| std::fs::write(site.path("key"), format!("{text} secret that is long enough to sign")).unwrap();
    key("a first");
    let file = "signature_key = { id = \"a\", secret = { file = \"key\" } }\n[store]";
    site.edit("[store]", file);
    let gate = with_page(&site);
    std::fs::write(site.path("page.html"), "<html>two {{ title }}</html>").unwrap();
    until("the new page", || {
        gate.visitor().goes_to("/").body.contains("<html>two ").then_some(())
    });
    is_taken(&gate);
    key("a second");
    until("the new key", || {
        let log = gate.program.err();
        log.contains("upstream.signature_key holds something else")
            .then_some(())
    });
}

#[test]
fn words_that_change_are_taken_by_themselves() {
    let site = Site::new("", "[room.page]\nwording = \"words\"");
    std::fs::create_dir(site.path("words")).unwrap();
    let heading = |text: &str| {
        let file = format!("[pages.waiting]\nheading = \"{text}\"\n");
        std::fs::write(site.path("words/en.toml"), file).unwrap();
    };
    heading("Hello");
    let gate = site.start();
    let _inside = gate.insider();
    assert!(gate.visitor().goes_to("/").body.contains("<h1>Hello</h1>"));
    heading("Welcome back");
    is_taken(&gate);
    assert!(gate.visitor().goes_to("/").body.contains("<h1>Welcome back</h1>"));
    heading("{n}");
    is_refused(&gate);
    assert!(gate.visitor().goes_to("/").body.contains("<h1>Welcome back</h1>"));
}

#[test]
fn a_file_that_names_one_which_comes_later_is_taken_when_that_is_there() {
    let site = Site::new("", "[room.page]\ntemplate = \"page.html\"");
    let gate = with_page(&site);
    site.edit("page.html", "late.html");
    site.edit("total_active_users = 1", "total_active_users = 2");
    is_refused(&gate);
    assert_eq!(capacity(&gate), 1);
    std::fs::write(site.path("late.html"), "<html>late {{ title }}</html>").unwrap();
    is_taken(&gate);
    assert_eq!(capacity(&gate), 2);
}

#[test]
fn a_file_that_was_refused_for_a_certificate_is_taken_when_that_is_there() {
    let authority = Authority::new();
    let pair = |name: &str| format!("certificates = [{{ cert_file = \"{name}.pem\", key_file = \"{name}.key\" }}]");
    let site = Site::new("", &format!("[tls]\nlisten = [\"127.0.0.1:0\"]\n{}", pair("a")));
    authority.issue(&["a.example"]).write(&site.path(""), "a");
    let gate = site.start();
    site.edit(&pair("a"), &pair("b"));
    is_refused(&gate);
    authority.issue(&["b.example"]).write(&site.path(""), "b");
    is_taken(&gate);
    // Renewed, it is the listeners' business alone.
    let taken_so_far = || gate.figure("ropeline_config_reloads_total{result=\"taken\"} ");
    let before = taken_so_far();
    let renewals = || gate.program.err().matches("certificate").count();
    let said = renewals();
    authority.issue(&["b.example"]).write(&site.path(""), "b");
    until("the renewal", || (renewals() > said).then_some(()));
    assert_eq!(taken_so_far(), before);
    taken(&site, &gate);
}

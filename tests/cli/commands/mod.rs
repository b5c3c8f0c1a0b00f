//! Help texts, and previews of the pages.

mod bad_input;
mod check;
mod gates;
mod init;
mod keygen;
mod probe;
mod shells;
mod usage;
mod version;

use std::fs;
use std::net::{SocketAddr, TcpListener};

use ropeline::token::Reference;
use rustix::process::Signal;

use crate::program::Program;
use crate::until;
use crate::visitor::Visitor;

/// An address that was free a moment ago.
pub fn nobody_listens() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn the_help_of_every_command_holds_an_example() {
    let folder = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 13] = [
        &[],
        &["run"],
        &["init"],
        &["keygen"],
        &["check"],
        &["demo"],
        &["rooms"],
        &["rooms", "set"],
        &["replay"],
        &["page"],
        &["healthcheck"],
        &["draw"],
        &["verify-draw"],
    ];
    for command in commands {
        let ended = Program::run(folder.path(), &[command, &["--help"]].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let (_, examples) = ended
            .out
            .split_once("Examples:\n")
            .unwrap_or_else(|| panic!("no example: {}", ended.out));
        let wanted = format!("  ropeline {}", command.first().unwrap_or(&"run"));
        assert!(
            examples.lines().any(|line| line.starts_with(&wanted)),
            "{command:?}: {examples}"
        );
    }
    let listed = Program::run(folder.path(), &["--help"]).out;
    for command in commands.iter().filter_map(|command| command.first()) {
        assert!(
            listed.contains(&format!("\n  {command} ")),
            "{command} is not listed:\n{listed}"
        );
    }
    assert_eq!(Program::run(folder.path(), &["sell"]).code, Some(2));
}

#[test]
fn every_page_is_written_before_a_visitor_sees_it() {
    let folder = tempfile::tempdir().unwrap();
    let ended = Program::run(folder.path(), &["page", "--preview", "pages"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let index = fs::read_to_string(folder.path().join("pages/index.html")).unwrap();
    let links: Vec<&str> = index
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(
        links.contains(&"waiting.en.html") && links.contains(&"waiting.ko.html"),
        "{links:?}"
    );
    for link in &links {
        let page = fs::read_to_string(folder.path().join("pages").join(link)).unwrap();
        assert!(
            page.starts_with("<!doctype html>") && page.contains("<title>"),
            "{link}"
        );
    }
    assert!(ended.out.starts_with(&format!("{} pages; ", links.len())), "{ended:?}");
}

#[test]
fn the_references_of_the_samples_are_such_as_the_gate_gives() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.html"), "{{ reference or \"-\" }}").unwrap();
    let ended = Program::run(
        folder.path(),
        &["page", "--preview", "pages", "--template", "mine.html"],
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut seen = 0;
    for file in fs::read_dir(folder.path().join("pages")).unwrap() {
        let file = file.unwrap().path();
        let shown = fs::read_to_string(&file).unwrap();
        if file.ends_with("index.html") || shown == "-" {
            continue;
        }
        let read = Reference::parse(&shown).map(|reference| reference.to_string());
        assert_eq!(read, Some(shown), "{}", file.display());
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn pages_are_served_with_the_rooms_brand_until_a_signal_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let config = "[upstream]\nurl = \"http://127.0.0.1:1\"\n[[room]]\nname = \"vip\"\nexcept = [\"/static/*\"]\n\
        [room.page]\nname = \"Marigold <Sale>\"\nlanguages = [\"ko\"]\n";
    fs::write(folder.path().join("config.toml"), config).unwrap();
    let args = ["page", "--serve", "127.0.0.1:0", "--config", "config.toml"];
    let served = Program::start(folder.path(), &args);
    let said = until("the address", || {
        let out = served.out();
        out.contains("Ctrl-C ends\n").then_some(out)
    });
    assert!(said.contains(" pages, each in ko; "), "{said}");
    let address = said.split('/').nth(2).unwrap().to_owned();
    let mut visitor = Visitor::new(address.parse().unwrap());
    let page = visitor.goes_to("/waiting.ko").body;
    assert!(page.contains("<b>Marigold &lt;Sale&gt;</b>"), "{page}");
    assert!(page.contains("<nav") && !page.contains("waiting.en"), "{page}");
    assert!(visitor.goes_to("/").body.contains("href=\"/early.ko\""));
    served.signal(Signal::INT);
    assert_eq!(served.ended().code, Some(0));

    let args = [
        "page",
        "--preview",
        "pages",
        "--config",
        "config.toml",
        "--room",
        "main",
    ];
    let ended = Program::run(folder.path(), &args);
    assert!(ended.code == Some(1) && ended.err.contains("it has vip"), "{ended:?}");
    fs::write(
        folder.path().join("config.toml"),
        config.replace("Marigold", &"x".repeat(300)),
    )
    .unwrap();
    let ended = Program::run(folder.path(), &args);
    assert!(
        ended.code == Some(1) && ended.err.contains("room[0].page.name: the name has 307 characters"),
        "{ended:?}"
    );
}

#[test]
fn a_template_of_ones_own_is_shown_and_its_mistake_told() {
    let folder = tempfile::tempdir().unwrap();
    let template = folder.path().join("mine.html");
    let args = ["page", "--preview", "pages", "--template", "mine.html"];

    fs::write(&template, include_str!("../../../examples/page/page.html")).unwrap();
    let ended = Program::run(folder.path(), &args);
    assert_eq!(ended.code, Some(0), "{ended:?}");

    fs::write(&template, "<h1>{{ heading }</h1>").unwrap();
    let ended = Program::run(folder.path(), &args);
    assert!(
        ended.code == Some(1) && ended.err.starts_with("ropeline page: "),
        "{ended:?}"
    );

    fs::remove_file(&template).unwrap();
    let ended = Program::run(folder.path(), &args);
    assert!(
        ended.code == Some(1) && ended.err.contains("mine.html cannot be read"),
        "{ended:?}"
    );
}

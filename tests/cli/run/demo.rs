//! `ropeline demo`: of three visitors two get in, and the third follows when one of them has paid.

use rustix::process::Signal;

use crate::program::Program;
use crate::until;
use crate::visitor::{Answer, Visitor};

const ARGS: [&str; 5] = ["demo", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];

/// A demo, and a new visitor.
fn start(folder: &std::path::Path) -> (Program, Visitor) {
    let program = Program::start(folder, &[&ARGS[..], &["--data", "data"]].concat());
    let address = until("the address to open", || {
        program
            .out()
            .split_once("http://")
            .and_then(|(_, rest)| rest.split_once("/\n")?.0.parse().ok())
    });
    (program, Visitor::new(address))
}

#[test]
fn two_of_three_get_in_and_the_third_follows_when_one_has_paid() {
    let folder = tempfile::tempdir().unwrap();
    let (program, visitor) = start(folder.path());
    let [mut payer, mut other, mut third] = [visitor.clone(), visitor.clone(), visitor];
    for inside in [&mut payer, &mut other] {
        let answer = inside.goes_to("/seats");
        assert!(is_the_shops(&answer), "{answer:?}");
    }
    let answer = third.goes_to("/seats?row=A");
    assert_eq!((answer.status, answer.word()), (200, "waiting"), "{answer:?}");
    assert_eq!(third.position(), Some(1));

    let receipt = pay(&mut payer);
    assert!(is_the_shops(&receipt) && receipt.body.contains("Total"), "{receipt:?}");
    until("the third's turn", || {
        (third.status()["state"] == "called").then_some(())
    });
    assert!(is_the_shops(&third.goes_to("/seats?row=A")));
    let again = payer.goes_to("/seats");
    assert_eq!(again.word(), "waiting", "the payer's session is over");
    assert!(is_the_shops(&other.goes_to("/basket")));

    program.signal(Signal::INT);
    let ended = program.ended();
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    assert!(folder.path().join("data").exists(), "a folder that was named is kept");
}

/// Buys a seat: through the provider, whose page posts the visitor back without cookies, to the receipt.
fn pay(visitor: &mut Visitor) -> Answer {
    let seat = visitor.sends("/seats/7", "");
    assert_eq!((seat.status, seat.header("location")), (303, "/seats#s7"), "{seat:?}");
    let order = visitor.sends("/checkout", "");
    assert_eq!(order.status, 303, "{order:?}");
    let demand = order
        .header("location")
        .strip_prefix("http://localhost:")
        .expect("another site");
    let (port, target) = demand.split_once('/').unwrap();
    let mut at_provider = Visitor::new(([127, 0, 0, 1], port.parse().unwrap()).into());
    let form = at_provider.sends(&format!("/{target}"), "pay=yes").body;
    let field = |name: &str| between(&form, &format!("name=\"{name}\" value=\""), "\"");
    let action = between(&form, "action=\"", "\"");
    let back = format!("http://{}", visitor.at);
    let target = action
        .strip_prefix(&back)
        .unwrap_or_else(|| panic!("back to {back}, not {action}"));
    let fields = ["order", "outcome", "sign"].map(|name| format!("{name}={}", field(name)));
    let answer = visitor.sends_from_elsewhere(target, &fields.join("&"));
    assert_eq!(answer.status, 303, "{answer:?}");
    visitor.goes_to(answer.header("location"))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let found = text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
    found.unwrap_or_else(|| panic!("no {before}… in {text}")).0
}

fn is_the_shops(answer: &Answer) -> bool {
    answer.status == 200 && answer.word().is_empty()
}

#[test]
fn a_demo_cleans_up_behind_itself() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(folder.path(), &ARGS);
    let log = until("where its log is", || {
        let said = program.out();
        let line = said.lines().find(|line| line.trim_start().starts_with("the log"))?;
        said.contains("Ctrl-C")
            .then(|| line.split_whitespace().last().map(std::path::PathBuf::from))?
    });
    assert!(log.join("log.redb").exists(), "{}", log.display());
    program.signal(Signal::TERM);
    assert_eq!(program.ended().code, Some(0));
    assert!(!log.exists(), "{}", log.display());
}

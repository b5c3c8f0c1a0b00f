//! What became of one visitor, by the reference of the waiting page.

use ropeline::room::{Claim, LineName, Number, Section};
use ropeline::token::Reference;
use ropeline_ids::Visitor;

use super::forged::program;
use super::hall::{room, section};
use super::line::{LANE, Line};

#[test]
fn the_report_follows_one_visitor_from_the_join_to_the_end() {
    let mut line = Line::of(2);
    let [first, second] = [line.number(0), line.number(1)];
    for _ in 0..30 {
        line.hall.hear(1, 1_000, section());
    }
    line.hears(Section {
        marks: vec![(LANE, second)],
        leaves: vec![(LANE, first)],
        ..section()
    });
    line.hears(section());
    line.hears(Section {
        claims: vec![Claim {
            lane: LANE,
            number: second,
            carried: true,
        }],
        ..section()
    });
    line.leaves(1);
    line.hall.leave(1);
    let reference = |number| {
        let visitor = Visitor {
            room: room(),
            line: LineName::ONLY,
            lane: LANE,
            number,
            rehearsal: None,
        };
        Reference::of(&visitor).to_string()
    };
    let (code, said) = program(
        &[line.folder.path()],
        &["--room", "shop", "--visitor", &reference(second)],
    );
    assert_eq!(code, 0, "{said}");
    let lines: Vec<&str> = said.lines().collect();
    let told: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("  ")?.splitn(3, "  ").nth(2))
        .collect();
    assert_eq!(
        told[..4],
        ["in line", "in line, and away", "called", "inside"],
        "{said}"
    );
    assert!(told.len() == 5 && told[4].starts_with("over: "), "{said}");
    assert!(
        lines[0].ends_with(&format!("number {}/{}", second.epoch.0, second.n)),
        "{said}"
    );
    assert!(lines.last().unwrap().starts_with("whole and fair"), "{said}");
    let page = ["--room", "shop", "--format", "html", "--visitor"];
    let (code, said) = program(&[line.folder.path()], &[&page[..], &[&reference(second)]].concat());
    assert_eq!(code, 0);
    assert!(
        said.contains(&format!("<h2>Visitor {} of shop</h2>", reference(second))),
        "{said}"
    );
    for standing in [
        "<td>in line, and away</td>",
        "<td>called</td>",
        "<td>inside</td>",
        "<td>over: ",
    ] {
        assert!(said.contains(standing), "{standing} in {said}");
    }
    let beyond = Number {
        n: second.n + 1,
        ..second
    };
    let (_, said) = program(
        &[line.folder.path()],
        &["--room", "shop", "--visitor", &reference(beyond)],
    );
    assert!(said.contains("no entry of this history gives the number"), "{said}");
    let (_, said) = program(&[line.folder.path()], &[&page[..], &[&reference(beyond)]].concat());
    assert!(said.contains("No entry of this history gives the number."), "{said}");
    let (code, said) = program(&[line.folder.path()], &["--room", "shop", "--visitor", "nobody"]);
    assert!(code == 64 && said.contains("is no reference"), "{said}");
}

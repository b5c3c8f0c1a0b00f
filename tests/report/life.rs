//! What became of one visitor, by the reference of the waiting page.

use ropeline::room::{Claim, LaneId, LineName, Number, Section, Settings};
use ropeline::token::Reference;
use ropeline_ids::Visitor;

use super::forged::program;
use super::hall::{Hall, room, section};

const LANE: LaneId = LaneId(0);

#[test]
fn the_report_follows_one_visitor_from_the_join_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    let settings = Settings {
        capacity: 1,
        ..Settings::default()
    };
    hall.configure(1, settings);
    let newcomers = Section {
        joins: vec![(LANE, 2)],
        ..section()
    };
    let first = hall.hear(1, 100, newcomers).joined[0].first.unwrap();
    let second = Number {
        n: first.n + 1,
        ..first
    };
    for _ in 0..30 {
        hall.hear(1, 1_000, section());
    }
    let back = Section {
        marks: vec![(LANE, second)],
        leaves: vec![(LANE, first)],
        ..section()
    };
    hall.hear(1, 1_000, back);
    hall.hear(1, 1_000, section());
    let comes = Section {
        claims: vec![Claim {
            lane: LANE,
            number: second,
            carried: true,
        }],
        ..section()
    };
    hall.hear(1, 1_000, comes);
    let leaves = Section {
        leaves: vec![(LANE, second)],
        ..section()
    };
    hall.hear(1, 1_000, leaves);
    hall.leave(1);
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
    let (code, said) = program(&[folder.path()], &["--room", "shop", "--visitor", &reference(second)]);
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
    let beyond = Number {
        n: second.n + 1,
        ..second
    };
    let (_, said) = program(&[folder.path()], &["--room", "shop", "--visitor", &reference(beyond)]);
    assert!(said.contains("no entry of this history gives the number"), "{said}");
    let (code, said) = program(&[folder.path()], &["--room", "shop", "--visitor", "nobody"]);
    assert!(code == 64 && said.contains("is no reference"), "{said}");
}

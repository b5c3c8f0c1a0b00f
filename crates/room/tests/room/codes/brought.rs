//! Codes of a lost history that are brought into a room of another: a full one, other lines, older epochs, a later machine version.

use ropeline_room::{
    Batch, BroughtCodes, CodeId, Denied, LineName, MAX_SPENT, Number, PendingId, Redeem, Root, Section, Spent,
    Standing, Visitor, Wall,
};

use crate::codes::code;
use crate::recovery::fork::{Fork, adopt, held};
use ropeline_room::testing::log::{EPOCH, LANE, Log, room};

fn spent(number: Number) -> Spent {
    Spent {
        holder: PendingId([9; 12]),
        expires: Wall(9_000_000),
        at: Wall(1_000_000),
        line: LineName::ONLY,
        lane: LANE,
        number,
        bypass: false,
    }
}

impl Fork {
    /// Makes this many codes spent in the new history.
    fn fill(&mut self, count: usize, number: Number) {
        let ids: Vec<[u8; 8]> = (0..count).map(|id| (id as u64 + (1 << 40)).to_be_bytes()).collect();
        for part in ids.chunks(400) {
            let brought = BroughtCodes {
                room: room(),
                spent: part
                    .iter()
                    .map(|id| (CodeId(id[2..].try_into().unwrap()), spent(number)))
                    .collect(),
                past: Vec::new(),
            };
            let batch = Batch {
                adopt: Some(adopt(EPOCH, false)),
                spent_codes: vec![brought],
                ..Batch::default()
            };
            assert_eq!(self.new.apply(0, batch).skipped, 0);
        }
    }
}

#[test]
fn what_is_brought_to_a_full_room_is_known_to_be_spent() {
    let mut log = Log::new(held(1));
    let before = log.join(1)[0];
    let mut fork = Fork::of(log);
    let ids = [21, 22];
    for id in ids {
        fork.old.redeem(code(id, 1)).unwrap();
    }
    fork.fill(MAX_SPENT - 1, before);
    assert_eq!(fork.new.spent(), MAX_SPENT - 1);
    fork.bring();
    assert_eq!(fork.new.spent(), MAX_SPENT + 1);
    for id in ids {
        assert_eq!(fork.new.redeem(code(id, 2)), Err(Denied::Spent), "{id}");
    }
    let unused = Redeem {
        issued: Wall(fork.new.time),
        ..code(23, 2)
    };
    assert_eq!(fork.new.redeem(unused), Err(Denied::NotNow), "the room is full");
}

fn line(name: &str) -> LineName {
    LineName::new(name).unwrap()
}

fn is_nobodys(log: &mut Log, line: &LineName, number: Number) -> bool {
    let marks = Section {
        marks: vec![(LANE, number)],
        ..Section::new(room(), line.clone())
    };
    let marked = log.say(marks).skipped == 0;
    let view = log.state.view();
    let visitor = Visitor {
        room: room(),
        line: line.clone(),
        lane: LANE,
        number,
        rehearsal: None,
    };
    !marked && view.standing(&visitor, view.clock) == Standing::Ended
}

#[test]
fn the_second_number_by_a_code_is_nobodys_in_a_line_that_comes_behind_it() {
    let mut fork = Fork::of(Log::new(held(1)));
    let at = |name, holder| Redeem {
        line: line(name),
        ..code(1, holder)
    };
    let there = fork.old.redeem(at("b", 1)).unwrap();
    fork.new.redeem(at("a", 2)).unwrap();
    fork.bring();
    assert!(is_nobodys(&mut fork.new, &line("b"), there));
}

#[test]
fn the_second_number_by_a_code_is_nobodys_if_its_epoch_is_not_the_last_either() {
    let mut fork = Fork::of(Log::new(held(1)));
    let there = fork.old.redeem(code(1, 1)).unwrap();
    fork.old.state.begin(EPOCH + 50, Root::Own);
    fork.old.rejoin();
    assert!(fork.old.mark(there));
    fork.new.redeem(code(1, 2)).unwrap();
    fork.bring();
    assert!(is_nobodys(&mut fork.new, &LineName::ONLY, there));
}

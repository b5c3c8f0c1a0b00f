//! Entries in words.

use super::*;
use crate::report::structured;
use crate::room::{Adopt, Entry, Epoch, GateId, LineName, Position, RoomName, Wall};

#[test]
fn what_an_epoch_that_comes_back_says_is_told_whole() {
    let number = |n| (LaneId(0), Number { epoch: Epoch(7), n });
    let mut section = Section::new(RoomName::new("shop").unwrap(), LineName::new("").unwrap());
    section.spent = vec![number(3)];
    section.voids = vec![number(9)];
    let adopt = Adopt {
        epoch: Epoch(7),
        sequence: 40,
        floor: 2,
        whole: true,
        done: false,
    };
    let said = Batch {
        adopt: Some(adopt),
        sections: vec![section],
        ..Batch::default()
    };
    assert_eq!(
        batch(&said, None),
        [
            "brings back epoch 7 up to 40, all of it",
            "shop: called in vain 3, passed by below 9"
        ]
    );
    let entry = Entry {
        position: Position::default(),
        gate: GateId(1),
        serial: 1,
        previous: [0; 8],
        nonce: [0; 8],
        time: Wall(0),
        version: 1,
        batch: said,
    };
    let stored = crate::archive::Stored {
        entry: entry.into(),
        passed_over: false,
        chain: Chain::default(),
    };
    let json = structured::entry(&stored, None);
    assert_eq!(json["gates"]["adopt"]["whole"], true);
    assert_eq!(json["gates"]["adopt"]["floor"], 2);
    assert_eq!(json["lines"][0]["spent"][0][1], "7/3");
    assert_eq!(json["lines"][0]["voids"][0][1], "7/9");
}

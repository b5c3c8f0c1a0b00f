//! Single-use codes across the lives of a gate that has its log to itself.

use std::fs;
use std::time::Duration;

use anteroom::room::{CodeId, Denied, LaneId, LineName, Number, PendingId, Redeem, Wall};
use anteroom::time;

use crate::gate::{Gate, Site, main};

fn code(id: u8, holder: u8, issued: Wall) -> Redeem {
    Redeem {
        room: main(),
        line: LineName::ONLY,
        lane: LaneId(0),
        tags: Vec::new(),
        code: CodeId([id; 6]),
        holder: PendingId([holder; 12]),
        issued,
        expires: Some(Wall(issued.0 + 3_600_000)),
        single: true,
        bypass: false,
        leaves: None,
    }
}

impl Gate {
    /// What a code comes to once it is taken or refused for good; issued anew for every try if it has no date.
    fn redeem(&self, id: u8, holder: u8, issued: Option<Wall>) -> Result<Number, Denied> {
        let until = time::uptime() + Duration::from_secs(60);
        loop {
            let redeem = code(id, holder, issued.unwrap_or_else(time::wall));
            let done = self.wait(self.replica.redeem(redeem));
            let again = matches!(done, Err(Denied::NotNow)) || (issued.is_none() && done.is_err());
            if !again || time::uptime() > until {
                return done.map(|granted| granted.number);
            }
        }
    }
}

/// How the log of the last life is found.
const LOSSES: [(&str, bool); 3] = [("whole", true), ("log deleted", false), ("log damaged", false)];

#[test]
fn codes_that_a_lost_end_of_the_log_may_have_spent_are_in_doubt() {
    for (loss, whole) in LOSSES {
        let site = Site::new(0);
        let log = site.path().join("log.redb");
        let gate = site.start();
        gate.numbered();
        let issued = time::wall();
        let number = gate.redeem(1, 1, Some(issued)).unwrap();
        gate.crash();
        match loss {
            "log deleted" => fs::remove_file(&log).unwrap(),
            "log damaged" => fs::write(&log, [7; 5_000]).unwrap(),
            _ => {}
        }
        let gate = site.start();
        let (other, unused) = (gate.redeem(1, 2, Some(issued)), gate.redeem(2, 3, Some(issued)));
        if whole {
            assert_eq!(other, Err(Denied::Spent), "{loss}");
            assert_eq!(gate.redeem(1, 1, Some(issued)), Ok(number), "{loss}");
            assert!(unused.is_ok(), "{loss}: {unused:?}");
        } else {
            assert_eq!(other, Err(Denied::Doubtful), "{loss}");
            assert_eq!(unused, Err(Denied::Doubtful), "{loss}");
        }
        assert!(gate.redeem(3, 4, None).is_ok(), "{loss}");
        gate.stop();
    }
}

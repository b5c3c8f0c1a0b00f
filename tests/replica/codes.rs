//! Single-use codes across the lives of a gate that has its log to itself.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ropeline::room::{CodeId, Denied, LaneId, LineName, Number, PendingId, Redeem, Wall};
use ropeline::time;

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
    /// The result of a code once it is taken or refused for good; issued anew for every try if it has no date.
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

/// How the files of the last life are found.
const LOSSES: [(&str, bool); 7] = [
    ("whole", true),
    ("log deleted", false),
    ("log damaged", false),
    ("log and snapshot deleted", false),
    ("folder emptied", false),
    ("folder deleted", false),
    ("folder emptied under the gate", false),
];

/// All files of a folder, or those of these names.
fn remove(folder: &Path, names: &[&str]) {
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        if names.is_empty() || names.contains(&file.file_name().to_str().unwrap()) {
            fs::remove_file(file.path()).unwrap();
        }
    }
}

#[test]
fn codes_that_a_lost_end_of_the_log_may_have_spent_are_in_doubt() {
    for (loss, whole) in LOSSES {
        let site = Site::new(0);
        let log = site.path().join("log.redb");
        let gate = site.start();
        gate.numbered();
        let begun = time::wall();
        gate.until("a later time", |_| time::wall() > begun);
        let issued = time::wall();
        if loss == "folder emptied under the gate" {
            // It goes on, in files that have no name any more.
            remove(&site.path(), &[]);
        }
        let number = gate.redeem(1, 1, Some(issued)).unwrap();
        gate.crash();
        match loss {
            "log deleted" => remove(&site.path(), &["log.redb"]),
            "log damaged" => fs::write(&log, [7; 5_000]).unwrap(),
            "log and snapshot deleted" => remove(&site.path(), &["log.redb", "snapshot"]),
            "folder emptied" => remove(&site.path(), &[]),
            "folder deleted" => fs::remove_dir_all(site.path()).unwrap(),
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

/// Both are under way before either is answered, so that no view can tell them apart.
#[test]
fn of_two_who_show_a_code_at_once_one_has_it() {
    let site = Site::new(0);
    let gate = site.start();
    gate.numbered();
    let begun = time::wall();
    gate.until("a later time", |_| time::wall() > begun);
    let issued = time::wall();
    let both = gate.wait(async {
        let one = gate.replica.redeem(code(1, 1, issued));
        let other = gate.replica.redeem(code(1, 2, issued));
        tokio::join!(one, other)
    });
    let taken = [both.0.is_ok(), both.1.is_ok()];
    assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "{both:?}");
    assert!([both.0.err(), both.1.err()].contains(&Some(Denied::Spent)));
    gate.stop();
}

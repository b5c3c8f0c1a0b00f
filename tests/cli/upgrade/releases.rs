//! Data of earlier releases: the log and the snapshot of a gate that was killed, and the cookies of its visitors.
//!
//! Each folder has the data folder, the configuration and the cookies: two visitors inside, four in line, and one inside at the
//! room of the press. To add a release, run its binary with that configuration, let seven visitors come, and kill it.
//!
//! Passes and tickets run out, so the gate's clock stands at the date of the data (libfaketime).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::gate::{Gate, Site};
use crate::program::Program;
use crate::until;
use crate::visitor::Visitor;

/// The data of a release.
struct Release {
    folder: &'static str,
    /// Ten seconds after the gate was killed.
    after: &'static str,
}

const FROM_0_1_0: Release = Release {
    folder: "from-0.1.0",
    after: "@2026-11-29 00:32:56",
};

/// The same without `[tokens] keys`: the gate has made its key.
const FROM_0_1_0_OWN_KEY: Release = Release {
    folder: "from-0.1.0-own-key",
    after: "@2026-11-29 01:04:26",
};

impl Release {
    /// A site with its data, and the visitors of its gate.
    fn site(&self) -> (Site, Vec<BTreeMap<String, String>>) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/cli/upgrade")
            .join(self.folder);
        let site = Site::new("", "");
        fs::copy(from.join("config.toml"), site.path("config.toml")).unwrap();
        site.edit("http://shop.example", &site.shop.url());
        fs::create_dir(site.path("data")).unwrap();
        for file in fs::read_dir(from.join("data")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), site.path("data").join(file.file_name())).unwrap();
        }
        let visitors = fs::read(from.join("visitors.json")).unwrap();
        (site, serde_json::from_slice(&visitors).unwrap())
    }

    /// Starts a gate at that date. The command `faketime` would stay its parent, and leave it behind when it is killed itself.
    fn start(&self, site: &Site) -> Gate {
        let script = format!(
            "for file in /usr/lib/*/faketime/libfaketime.so.1; do export LD_PRELOAD=\"$file\"; done\nexec {} run",
            env!("CARGO_BIN_EXE_ropeline")
        );
        let date = format!("FAKETIME={}", self.after);
        let args = ["TZ=UTC", "FAKETIME_DONT_FAKE_MONOTONIC=1", &date, "sh", "-c", &script];
        Gate::serving(Program::start_as(Path::new("/usr/bin/env"), &site.path(""), &args))
    }
}

fn visitor(gate: &Gate, jar: &BTreeMap<String, String>) -> Visitor {
    Visitor {
        host: "shop.example".to_owned(),
        jar: jar.clone(),
        ..gate.visitor()
    }
}

#[test]
fn visitors_of_0_1_0_keep_their_places_and_their_slots() {
    go_on_from(&FROM_0_1_0);
}

#[test]
fn visitors_of_0_1_0_keep_them_where_the_gate_has_made_its_key() {
    go_on_from(&FROM_0_1_0_OWN_KEY);
}

fn go_on_from(release: &Release) {
    let (site, visitors) = release.site();
    let gate = release.start(&site);
    let mut visitors: Vec<Visitor> = visitors.iter().map(|jar| visitor(&gate, jar)).collect();
    let mut newcomer = visitor(&gate, &BTreeMap::new());
    assert_eq!(newcomer.goes_to("/").word(), "waiting");
    for (ahead, waits) in visitors[2..6].iter_mut().enumerate() {
        assert_eq!(waits.position(), Some(ahead as u64 + 1));
    }
    assert_eq!(newcomer.position(), Some(5));
    for inside in &mut visitors[..2] {
        assert!(inside.goes_to("/").is_the_shops());
    }
    assert!(visitors[6].goes_to("/press/x").is_the_shops());
    assert_eq!(visitors[0].leaves().status, 200);
    until("the turn", || visitors[2].goes_to("/").is_the_shops().then_some(()));
}

/// The tickets and passes alone bring everybody back, where the log is lost.
#[test]
fn cookies_of_0_1_0_bring_the_line_back() {
    let (site, visitors) = FROM_0_1_0.site();
    fs::remove_dir_all(site.path("data")).unwrap();
    let gate = FROM_0_1_0.start(&site);
    let mut visitors: Vec<Visitor> = visitors.iter().map(|jar| visitor(&gate, jar)).collect();
    for waits in visitors[2..6].iter_mut().rev() {
        assert_eq!(waits.goes_to("/").word(), "waiting");
    }
    for inside in &mut visitors[..2] {
        assert!(inside.goes_to("/").is_the_shops());
    }
    until("the order", || {
        let places: Vec<_> = visitors[2..6].iter_mut().map(Visitor::position).collect();
        (places == [Some(1), Some(2), Some(3), Some(4)]).then_some(())
    });
}

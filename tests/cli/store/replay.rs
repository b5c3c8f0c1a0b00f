//! `ropeline replay`: proves a kept log, and finds one that was altered.

use std::fs;

use crate::gate::Site;

const ENTRIES: redb::TableDefinition<u64, &[u8]> = redb::TableDefinition::new("entries");

#[test]
fn a_kept_log_is_proved_and_one_with_an_entry_taken_out_is_not() {
    let site = Site::new("", "");
    let gate = site.start();
    gate.insider();
    gate.waits(1).leaves();
    gate.waits(1);
    assert_eq!(gate.stop().code, Some(0));

    let before = fs::read(site.path("data/log.redb")).unwrap();
    let proved = site.run(&["replay", "data"]);
    assert_eq!((proved.code, proved.err.as_str()), (Some(0), ""), "{proved:?}");
    assert!(
        proved.out.ends_with("the log gives the same rooms again\n"),
        "{proved:?}"
    );
    let joins = proved.out.lines().find(|line| line.starts_with("joins"));
    assert_eq!(joins.and_then(|line| line.split_whitespace().last()), Some("3"));
    assert_eq!(
        fs::read(site.path("data/log.redb")).unwrap(),
        before,
        "nothing is changed"
    );

    let db = redb::Database::open(site.path("data/log.redb")).unwrap();
    let tx = db.begin_write().unwrap();
    drop(tx.open_table(ENTRIES).unwrap().remove(3).unwrap().expect("an entry"));
    tx.commit().unwrap();
    drop(db);
    let found = site.run(&["replay", "data"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(
        found.out.contains("fault ") && found.out.contains("does NOT give the same rooms"),
        "{found:?}"
    );

    let nothing = site.run(&["replay", "elsewhere"]);
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
    assert!(
        nothing.err.starts_with("ropeline replay: ") && nothing.err.contains("elsewhere"),
        "{nothing:?}"
    );
}

#[test]
fn a_running_gates_log_is_not_touched() {
    let site = Site::new("", "");
    let gate = site.start();
    let refused = site.run(&["replay", "data"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.starts_with("ropeline replay: "), "{refused:?}");
    gate.insider();
}

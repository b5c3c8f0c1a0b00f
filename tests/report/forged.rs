//! Every kind of tampering with an archive, by a forger who recomputes all that can be recomputed: the program's findings,
//! with and without a hash that was kept elsewhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ropeline::archive::{Folder, Name, Segment};
use ropeline::draw::{AdmissionOrder, Hash};
use ropeline::room::{
    Batch, Chain, Change, Edition, Entry, Forms, Overrides, Position, RehearsalId, RoomChange, State,
};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::crowd::{Crowd, settings};
use super::hall::{Hall, room};

/// Exit code and output of `ropeline report`.
pub fn program(folders: &[&Path], args: &[&str]) -> (i32, String) {
    let ended = Command::new(env!("CARGO_BIN_EXE_ropeline"))
        .arg("report")
        .args(folders)
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8(ended.stdout).unwrap() + &String::from_utf8(ended.stderr).unwrap();
    (ended.status.code().unwrap(), said)
}

/// Fails unless the program ends with exit code 1 and says this.
pub fn refused(what: &str, folders: &[&Path], args: &[&str], says: &str) {
    let (code, said) = program(folders, args);
    let last = said.lines().last().unwrap_or_default();
    assert!(code == 1 && last.starts_with('N'), "{what}: exit {code}, {last}");
    assert!(said.contains(says), "{what}: {says:?} is not in\n{said}");
}

pub fn sound(what: &str, folders: &[&Path], args: &[&str]) {
    let (code, said) = program(folders, args);
    assert_eq!(code, 0, "{what}:\n{said}");
}

/// One file, taken apart.
#[derive(Clone)]
pub struct Piece {
    before: Chain,
    pub base: Option<Vec<u8>>,
    entries: Vec<(Entry, bool)>,
}

/// How much a forger works out anew.
#[derive(Clone, Copy, PartialEq)]
pub enum Anew {
    /// Chain and checksum of each file, from the predecessor that it names.
    Files,
    /// Everything to the end: positions, the nonces that name each other, chains, names.
    All,
}

pub fn pieces(folder: &Path) -> Vec<Piece> {
    let names = Folder::new(folder).names().unwrap();
    let read = |name: &Name| Folder::new(folder).read(*name).unwrap().unwrap();
    let piece = |segment: Segment| Piece {
        before: segment.before,
        base: segment.base.clone(),
        entries: segment
            .entries()
            .map(|stored| stored.unwrap())
            .map(|stored| (stored.entry.into_entry(), stored.passed_over))
            .collect(),
    };
    names.iter().map(read).map(piece).collect()
}

/// Files of the pieces in a folder of their own.
pub fn forge(mut pieces: Vec<Piece>, anew: Anew) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    if anew == Anew::All {
        let mut last: Option<(Position, [u8; 8])> = None;
        for (entry, _) in pieces.iter_mut().flat_map(|piece| &mut piece.entries) {
            if let Some((before, nonce)) = last {
                entry.position = Position {
                    sequence: before.sequence + 1,
                    ..before
                };
                entry.previous = nonce;
            }
            last = Some((entry.position, entry.nonce));
        }
    }
    let mut end: Option<Chain> = None;
    for piece in &pieces {
        let first = piece.entries[0].0.position;
        let at = Position {
            sequence: first.sequence - 1,
            ..first
        };
        let before = end.filter(|_| anew == Anew::All).unwrap_or(piece.before);
        let mut segment = Segment::behind(at, before, piece.base.clone());
        let mut chain = before;
        for (entry, passed_over) in &piece.entries {
            chain = chain.then(&entry.encode(), *passed_over);
            segment.push(&entry.clone().into(), *passed_over, chain);
        }
        end = Some(chain);
        let mut bytes = Vec::new();
        segment.write(&mut bytes).unwrap();
        fs::write(folder.path().join(Name::of(&segment).file()), bytes).unwrap();
    }
    folder
}

/// A sale of several files, and the hash at its end.
fn archived() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let (mut hall, mut crowd) = (Hall::new(), Crowd::new(17));
    hall.archive(1, folder.path());
    hall.configure(1, settings());
    crowd.pass(&mut hall, &[1], 260, 2);
    hall.leave(1);
    sound("as it was filed", &[folder.path()], &[]);
    (folder, hall.state.chain().to_string())
}

/// A forgery of the pieces of a sale, all of it in the second file.
type Forgery = fn(&mut Vec<Piece>);

const FORGERIES: [(&str, Forgery); 6] = [
    ("an entry is changed", |pieces| {
        for section in &mut pieces[1].entries[9].0.batch.sections {
            section.bypasses += 1;
        }
        pieces[1].entries[9].0.batch.lag_us += 1;
    }),
    ("an entry is put in", |pieces| {
        let (mut entry, _) = pieces[1].entries[9].clone();
        (entry.nonce, entry.batch) = ([9; 8], Batch::default());
        pieces[1].entries.insert(10, (entry, false));
    }),
    ("an entry is taken out", |pieces| {
        pieces[1].entries.remove(9);
    }),
    ("two entries change places", |pieces| pieces[1].entries.swap(9, 10)),
    ("an entry is marked as passed over", |pieces| {
        pieces[1].entries[9].1 = true;
    }),
    ("all entries are marked as passed over", |pieces| {
        for (_, passed_over) in pieces.iter_mut().flat_map(|piece| &mut piece.entries) {
            *passed_over = true;
        }
    }),
];

#[test]
fn entries_and_marks_that_are_forged_do_not_give_the_hash_that_was_kept() {
    let (folder, end) = archived();
    let honest = pieces(folder.path());
    for anew in [Anew::Files, Anew::All] {
        let copied = forge(honest.clone(), anew);
        sound(
            "pieces put together as they were",
            &[copied.path()],
            &["--expect", &end],
        );
        for (what, forgery) in FORGERIES {
            let mut forged = honest.clone();
            forgery(&mut forged);
            let forged = forge(forged, anew);
            let says = match anew {
                Anew::Files => "",
                Anew::All => "is nowhere in this history",
            };
            refused(what, &[forged.path()], &["--expect", &end], says);
            if anew == Anew::Files {
                refused(what, &[forged.path()], &[], "");
            }
        }
    }
}

/// Entry 40 was passed over by an operator, and a forger says that it was not.
#[test]
fn a_mark_that_is_taken_away_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (mut hall, mut crowd) = (Hall::new(), Crowd::new(3));
    hall.archive(1, folder.path());
    hall.configure(1, settings());
    crowd.pass(&mut hall, &[1], 50, 2);
    hall.skip(1);
    crowd.pass(&mut hall, &[1], 50, 2);
    hall.leave(1);
    let end = hall.state.chain().to_string();
    let honest = pieces(folder.path());
    assert_eq!(
        honest
            .iter()
            .flat_map(|piece| &piece.entries)
            .filter(|entry| entry.1)
            .count(),
        1
    );
    let kept = forge(honest.clone(), Anew::All);
    sound("an entry was passed over", &[kept.path()], &["--expect", &end]);
    let mut forged = honest;
    for (_, passed_over) in forged.iter_mut().flat_map(|piece| &mut piece.entries) {
        *passed_over = false;
    }
    let forged = forge(forged, Anew::All);
    refused(
        "no mark",
        &[forged.path()],
        &["--expect", &end],
        "is nowhere in this history",
    );
}

/// The head of a file, each byte changed and its checksum recomputed.
#[test]
fn a_header_that_is_forged_does_not_fit_the_file() {
    let (folder, _) = archived();
    let name = Folder::new(folder.path()).names().unwrap()[1];
    let path = folder.path().join(name.file());
    let honest = fs::read(&path).unwrap();
    let foot = honest.len() - 32 - 32 - 24;
    // Epoch, first, chain before, time of the first; last, count, time of the last, chain after.
    for at in [19, 27, 35, 67, foot, foot + 8, foot + 16, foot + 24] {
        let mut forged = honest.clone();
        forged[at] ^= 1;
        let body = forged.len() - 32;
        let sum: [u8; 32] = Sha256::digest(&forged[..body]).into();
        forged[body..].copy_from_slice(&sum);
        fs::write(&path, forged).unwrap();
        refused(&format!("byte {at}"), &[folder.path()], &[], "is damaged");
    }
}

#[test]
fn files_that_are_gone_or_older_are_missed() {
    let (folder, end) = archived();
    let honest = pieces(folder.path());
    let without = |at: usize| {
        let mut left = honest.clone();
        left.remove(at);
        forge(left, Anew::Files)
    };
    let first = without(0);
    refused(
        "the first file",
        &[first.path()],
        &[],
        "the history begins in the middle",
    );
    refused(
        "the first file",
        &[first.path()],
        &["--expect", &end],
        "could not be replayed",
    );
    refused("a file between", &[without(1).path()], &[], "entries are missing");
    let last = without(honest.len() - 1);
    sound("nothing says that there was more", &[last.path()], &[]);
    refused(
        "the last file",
        &[last.path()],
        &["--expect", &end],
        "is nowhere in this history",
    );
    for at in [1, honest.len() - 1] {
        let mut older = honest.clone();
        older[at].entries.truncate(20);
        let older = forge(older, Anew::Files);
        refused("an older copy", &[older.path()], &["--expect", &end], "");
    }
}

#[test]
fn the_folder_of_one_gate_of_two_is_missed() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut hall, mut crowd) = (Hall::new(), Crowd::new(5));
    hall.archive(1, one.path());
    hall.configure(1, settings());
    crowd.pass(&mut hall, &[1], 95, 2);
    hall.archive(2, two.path());
    crowd.pass(&mut hall, &[1, 2], 95, 2);
    hall.leave(1);
    crowd.pass(&mut hall, &[2], 95, 2);
    hall.leave(2);
    let end = hall.state.chain().to_string();
    sound("both", &[one.path(), two.path()], &["--expect", &end]);
    refused(
        "the second alone",
        &[two.path()],
        &["--expect", &end],
        "begins in the middle",
    );
    refused(
        "the first alone",
        &[one.path()],
        &["--expect", &end],
        "is nowhere in this history",
    );
}

/// Visitors come, then none for more than an hour, then some again; returns the hash at the end.
fn over_an_hour(folder: &Path) -> String {
    let (mut hall, mut crowd) = (Hall::new(), Crowd::new(23));
    hall.archive(1, folder);
    hall.configure(1, settings());
    crowd.pass(&mut hall, &[1], 70, 2);
    for _ in 0..920 {
        hall.say(1, 4_000, Batch::default());
    }
    crowd.pass(&mut hall, &[1], 70, 2);
    hall.leave(1);
    hall.state.chain().to_string()
}

#[test]
fn older_files_may_go_with_a_hash_for_where_the_rest_begins() {
    let folder = tempfile::tempdir().unwrap();
    let end = over_an_hour(folder.path());
    sound("all of it", &[folder.path()], &["--expect", &end]);
    let mut later = pieces(folder.path());
    let at = later.iter().skip(1).position(|piece| piece.base.is_some()).unwrap() + 1;
    later.drain(..at);
    let (before, base) = (later[0].before.to_string(), later[0].base.clone().unwrap());
    let left = forge(later.clone(), Anew::Files);
    refused("what is left", &[left.path()], &["--expect", &end], &before);
    let known = ["--expect", &end, "--from", &before];
    sound("what is left, behind a hash that is known", &[left.path()], &known);
    refused(
        "another hash",
        &[left.path()],
        &["--from", &end],
        "does not begin behind the hash",
    );
    // A checkpoint of another history, at the same place and with the same chain.
    let (was, mut tried) = (State::decode(&base).unwrap(), base.clone());
    let body = base.len() - 32;
    let forged = (100..body).rev().find_map(|byte| {
        tried.copy_from_slice(&base);
        tried[byte] ^= 1;
        let sum: [u8; 32] = Sha256::digest(&tried[..body]).into();
        tried[body..].copy_from_slice(&sum);
        let state = State::decode(&tried).ok()?;
        (state.position() == was.position() && state.chain() == was.chain()).then(|| tried.clone())
    });
    later[0].base = forged;
    let forged = forge(later.clone(), Anew::Files);
    refused(
        "a forged checkpoint",
        &[forged.path()],
        &known,
        "is not the one that gates voted on",
    );
    later[0].base = None;
    let bare = forge(later, Anew::Files);
    refused("no checkpoint", &[bare.path()], &known, "could not be replayed");
    let mut all = pieces(folder.path());
    all[at].base = Some(tried);
    let all = forge(all, Anew::Files);
    refused(
        "a forged checkpoint in the middle",
        &[all.path()],
        &["--expect", &end],
        "is not the one that the entries lead to",
    );
}

#[test]
fn a_store_that_was_lost_is_in_the_verdict() {
    for (kept, says) in [(false, "without the last 7 entries"), (true, "begins from nothing")] {
        let folder = tempfile::tempdir().unwrap();
        let (mut hall, mut crowd) = (Hall::new(), Crowd::new(9));
        hall.archive(1, folder.path());
        hall.configure(1, settings());
        crowd.pass(&mut hall, &[1], 65, 2);
        let before = hall.state.encode();
        for _ in 0..7 {
            hall.say(1, 500, Batch::default());
        }
        if kept {
            hall.leave(1);
            hall = hall.after_a_wiped_store();
            hall.archive(1, folder.path());
            hall.configure(1, settings());
        } else {
            hall.lose_store(&before);
        }
        crowd.pass(&mut hall, &[1], 65, 2);
        hall.leave(1);
        let end = hall.state.chain().to_string();
        refused("a lost store", &[folder.path()], &["--expect", &end], says);
    }
}

#[test]
fn more_messages_than_a_report_lists_are_counted_and_no_verdict_is_given_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    hall.configure(1, settings());
    for message in 0..10_002 {
        let overrides = Overrides {
            message: Some(message.to_string()),
            ..Overrides::default()
        };
        hall.change(1, Change::Override(overrides));
    }
    hall.leave(1);
    refused(
        "messages",
        &[folder.path()],
        &[],
        "more than a report lists: 3 more changes",
    );
    let json = program(&[folder.path()], &["--format", "json"]).1;
    assert!(json.contains("\"changes\": 3"), "{}", &json[..2_000]);
    let page: PathBuf = folder.path().join("page.html");
    program(
        &[folder.path()],
        &["--format", "html", "--output", page.to_str().unwrap()],
    );
    let page = fs::read_to_string(page).unwrap();
    assert!(
        page.contains("9000 more are in the JSON form") && page.contains("3 more changes"),
        "the page"
    );
}

/// Three days of a script that says the shop's load every five seconds, and of a rehearsal that is kept up.
#[test]
fn what_is_said_again_and_again_is_counted_and_does_not_fill_the_list_of_changes() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    hall.configure(1, settings());
    let said = |revision, change| RoomChange {
        room: room(),
        revision,
        change,
        who: None,
    };
    let periodic = [
        Change::Load(None),
        Change::Renew(RehearsalId([1; 8])),
        Change::Windows {
            rule: "another".to_owned(),
            windows: Vec::new(),
        },
        Change::Commit {
            order: AdmissionOrder::default(),
            edition: Edition(9),
            beacon: None,
            forms: Forms::default(),
            salt: [0; 16],
            commitment: Hash([0; 32]),
        },
    ];
    for _ in 0..52 {
        let rooms = periodic.iter().flat_map(|change| {
            // One of them comes too late to count.
            (0..1_000 / periodic.len() as u64).map(|turn| said(turn % 2 * 1_000, change.clone()))
        });
        let batch = Batch {
            rooms: rooms.collect(),
            ..Batch::default()
        };
        hall.say(1, 1_000, batch);
    }
    hall.leave(1);
    let end = hall.state.chain().to_string();
    sound("what is periodic", &[folder.path()], &["--expect", &end]);
    let text = program(&[folder.path()], &[]).1;
    let says = "13000 load figures, 13000 renewals of rehearsals, 13000 windows of schedules, 13000 promises of draws";
    assert!(text.contains(says), "{text}");
    let json = program(&[folder.path()], &["--format", "json"]).1;
    assert!(json.contains("\"load_figures\": 13000"), "{}", &json[..2_000]);
}

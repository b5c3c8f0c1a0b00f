//! Possible alterations of an archive, each found by the report.

use std::fs;
use std::path::{Path, PathBuf};

use ropeline::archive::{Folder, Name, Segment, Stored};
use ropeline::report::{Findings, Options, audit};
use ropeline::room::{Chain, Encoded, Entry, Position, State};
use tempfile::TempDir;

use super::crowd::{Crowd, settings};
use super::fair::report;
use super::hall::Hall;

/// A sale of a few minutes, archived by one gate; says the chain at its end.
fn archived() -> (TempDir, Chain) {
    let folder = tempfile::tempdir().unwrap();
    let (mut hall, mut crowd) = (Hall::new(), Crowd::new(11));
    hall.archive(1, folder.path());
    hall.configure(1, settings());
    crowd.pass(&mut hall, &[1], 260, 2);
    hall.leave(1);
    assert!(report(&folder).verdict.whole);
    assert!(names(folder.path()).len() >= 4);
    (folder, hall.state.chain())
}

fn names(folder: &Path) -> Vec<Name> {
    Folder::new(folder).names().unwrap()
}

fn path(folder: &Path, at: usize) -> PathBuf {
    folder.join(names(folder)[at].file())
}

fn wrong(findings: &Findings) -> &str {
    assert!(!findings.verdict.whole, "{:#?}", findings.verdict);
    findings.verdict.first_wrong.as_deref().unwrap()
}

fn expecting(folders: &[&TempDir], expect: Option<Chain>) -> Findings {
    let folders: Vec<PathBuf> = folders.iter().map(|folder| folder.path().to_owned()).collect();
    let options = Options {
        expect,
        ..Options::default()
    };
    audit(&folders, &options, &mut |_| {}).unwrap()
}

fn copy(of: &TempDir) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names(of.path()) {
        fs::copy(of.path().join(name.file()), folder.path().join(name.file())).unwrap();
    }
    folder
}

/// The file with its entries changed, and its chain and checksum recomputed from `before`.
fn forge(folder: &Path, name: Name, before: Chain, change: impl Fn(&mut Entry)) -> Chain {
    let was = Folder::new(folder).read(name).unwrap().unwrap();
    let at = Position {
        epoch: was.epoch,
        sequence: was.first - 1,
    };
    let mut forged = Segment::behind(at, before, was.base.clone());
    let mut chain = before;
    for stored in was.entries() {
        let Stored { entry, passed_over, .. } = stored.unwrap();
        let mut entry = entry.into_entry();
        change(&mut entry);
        let entry = Encoded::from(entry);
        chain = chain.then(entry.bytes(), passed_over);
        forged.push(&entry, passed_over, chain);
    }
    let mut bytes = Vec::new();
    forged.write(&mut bytes).unwrap();
    fs::write(folder.join(name.file()), bytes).unwrap();
    chain
}

/// Three visitors fewer let past the line, which no one would notice.
fn fewer_bypasses(entry: &mut Entry) {
    for section in &mut entry.batch.sections {
        section.bypasses = 0;
    }
}

/// Reading it would wait for ever.
#[test]
fn a_pipe_in_place_of_a_file_is_told() {
    let (folder, _) = archived();
    let path = path(folder.path(), 1);
    fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let findings = expecting(&[&folder], None);
    assert!(
        wrong(&findings).contains("this is no regular file"),
        "{}",
        wrong(&findings)
    );
}

#[test]
fn an_edited_byte_is_found() {
    let (folder, _) = archived();
    for at in 0..3 {
        let path = path(folder.path(), at);
        let bytes = fs::read(&path).unwrap();
        for byte in [200, bytes.len() / 2, bytes.len() - 3] {
            let mut edited = bytes.clone();
            edited[byte] ^= 1;
            fs::write(&path, edited).unwrap();
            let findings = report(&folder);
            assert!(wrong(&findings).contains(path.file_name().unwrap().to_str().unwrap()));
            assert!(wrong(&findings).contains("is damaged"), "{}", wrong(&findings));
        }
        fs::write(&path, bytes).unwrap();
    }
    assert!(report(&folder).verdict.whole);
}

#[test]
fn a_removed_file_leaves_a_gap_that_is_told_with_its_ends() {
    let (folder, _) = archived();
    let gone = names(folder.path())[1];
    fs::remove_file(path(folder.path(), 1)).unwrap();
    let findings = report(&folder);
    let told = wrong(&findings);
    let before = format!("between {}-{}", gone.epoch, gone.first - 1);
    assert!(told.contains("entries are missing") && told.contains(&before), "{told}");
    assert!(findings.covers.entries_not_replayed > 0);
}

#[test]
fn swapped_files_are_found() {
    let (folder, _) = archived();
    let (one, two) = (path(folder.path(), 1), path(folder.path(), 2));
    let bytes = fs::read(&one).unwrap();
    fs::copy(&two, &one).unwrap();
    fs::write(&two, bytes).unwrap();
    assert!(wrong(&report(&folder)).contains("do not fit together"));
}

#[test]
fn a_cut_at_the_very_end_is_seen_only_against_a_hash() {
    let (folder, end) = archived();
    let whole = expecting(&[&folder], Some(end));
    assert!(whole.verdict.whole);
    assert_eq!(whole.verdict.expected.unwrap().entries_after, Some(0));
    let last = names(folder.path()).len() - 1;
    let bytes = fs::read(path(folder.path(), last)).unwrap();
    fs::write(path(folder.path(), last), &bytes[..bytes.len() - 100]).unwrap();
    assert!(wrong(&report(&folder)).contains("cut short"));
    fs::remove_file(path(folder.path(), last)).unwrap();
    let earlier = report(&folder);
    assert!(earlier.verdict.whole, "nothing in the files says that there was more");
    assert!(wrong(&expecting(&[&folder], Some(end))).contains("nowhere in this history"));
    let kept = Chain::parse(&earlier.covers.hash).unwrap();
    assert!(expecting(&[&folder], Some(kept)).verdict.whole);
}

#[test]
fn a_forged_file_does_not_fit_what_follows_and_not_the_other_gates_copy() {
    let (folder, _) = archived();
    let honest = copy(&folder);
    let name = names(folder.path())[1];
    let before = Folder::new(folder.path()).read(name).unwrap().unwrap().before;
    forge(folder.path(), name, before, fewer_bypasses);
    let faults = report(&folder).faults;
    assert!(faults.iter().any(|fault| fault.contains("were altered")), "{faults:#?}");
    for order in [[&folder, &honest], [&honest, &folder]] {
        let faults = expecting(&order, None).faults;
        assert!(
            faults.iter().any(|fault| fault.contains("tells something else")),
            "{faults:#?}"
        );
    }
}

#[test]
fn a_history_forged_to_its_end_is_at_odds_with_the_gates_own_words() {
    let (folder, end) = archived();
    let mut chain = Folder::new(folder.path())
        .read(names(folder.path())[0])
        .unwrap()
        .unwrap()
        .before;
    for name in names(folder.path()) {
        chain = forge(folder.path(), name, chain, fewer_bypasses);
    }
    let findings = report(&folder);
    assert!(wrong(&findings).contains("most gates confirmed another state"));
    assert!(!findings.checks.votes_against.is_empty());
    assert!(!expecting(&[&folder], Some(end)).verdict.expected.unwrap().found);
    // A forger who also changes the hashes gets another hash at the end.
    let mut chain = Folder::new(folder.path())
        .read(names(folder.path())[0])
        .unwrap()
        .unwrap()
        .before;
    for name in names(folder.path()) {
        chain = forge(folder.path(), name, chain, |entry| entry.batch.vote = None);
    }
    assert!(report(&folder).verdict.whole);
    assert!(wrong(&expecting(&[&folder], Some(end))).contains("nowhere in this history"));
}

#[test]
fn a_state_of_another_history_to_begin_from_is_found() {
    let (folder, _) = archived();
    let name = names(folder.path())[0];
    let was = Folder::new(folder.path()).read(name).unwrap().unwrap();
    let begin_from = |state: &State| {
        let mut other = was.clone();
        other.base = Some(state.encode());
        let mut bytes = Vec::new();
        other.write(&mut bytes).unwrap();
        fs::write(folder.path().join(name.file()), bytes).unwrap();
    };
    // It would have called no visitor for five seconds.
    begin_from(&State::after_a_loss(was.epoch));
    assert!(wrong(&report(&folder)).contains("most gates confirmed another state"));
    let mut state = State::empty(was.epoch);
    state.apply(&was.entries().next().unwrap().unwrap().entry);
    begin_from(&state);
    assert!(wrong(&report(&folder)).contains("is not the one before the entries"));
}

#[test]
fn folders_of_their_own_are_one_history_and_copies_do_no_harm() {
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
    let both = expecting(&[&one, &two], Some(hall.state.chain()));
    assert_eq!(both.verdict.first_wrong, None);
    assert_eq!(both.covers.entries, hall.state.position().sequence);
    let twice = copy(&one);
    let thrice = expecting(&[&twice, &two, &one], Some(hall.state.chain()));
    assert_eq!(thrice.verdict.first_wrong, None);
    assert_eq!(thrice.lines, both.lines);
    let late = expecting(&[&two], Some(hall.state.chain()));
    assert!(
        late.verdict.wrong[0].contains("begins in the middle"),
        "{:?}",
        late.verdict
    );
    assert!(wrong(&late).contains("no gate vouches"), "{:?}", late.verdict);
    assert!(late.covers.entries < both.covers.entries && late.lines[0].tally.waits_unknown > 0);
}

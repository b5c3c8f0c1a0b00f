//! The effect of every entry on codes, by rules that are independent of the room's: a map of used codes in each history.

use std::collections::{BTreeMap, BTreeSet};

use ropeline::room::{CodeId, Denied, Effects, Entry, LaneId, Number, PendingId, Redeem, Redeemed, Standing, View};

use super::codes::{MOST, lives, room, standing};
use super::observer::Watch;

type Seat = (LaneId, Number);

/// How often everything was seen.
#[derive(Clone, Copy, Default, Debug)]
pub struct Seen {
    pub granted: u64,
    /// Repeated answers to repeated questions.
    pub again: u64,
    pub spent: u64,
    pub doubtful: u64,
    pub not_now: u64,
    /// As many as may be were past the line.
    pub full: u64,
    /// Used codes that a gate brought back, and second numbers that were void then.
    pub brought: u64,
    pub voided: u64,
}

impl Seen {
    pub fn add(&mut self, other: Self) {
        self.granted += other.granted;
        self.again += other.again;
        self.spent += other.spent;
        self.doubtful += other.doubtful;
        self.not_now += other.not_now;
        self.full += other.full;
        self.brought += other.brought;
        self.voided += other.voided;
    }

    pub fn denied(&mut self, denied: Denied, full: bool) {
        match denied {
            Denied::Spent => self.spent += 1,
            Denied::Doubtful => self.doubtful += 1,
            Denied::NotNow if full => self.full += 1,
            Denied::NotNow | Denied::Refused => self.not_now += 1,
            Denied::Expired => {}
        }
    }
}

/// All histories.
#[derive(Default)]
pub struct CodeBook {
    pub on: bool,
    pub seen: Seen,
    logs: BTreeMap<u64, Log>,
}

/// The codes of one history.
#[derive(Clone, Default)]
struct Log {
    sequence: u64,
    /// The entry in which each code was used, its holder and its place.
    spent: BTreeMap<CodeId, (u64, PendingId, Seat)>,
    past: BTreeSet<Seat>,
}

impl Log {
    /// The same history as it was after `sequence`, as the beginning of another.
    fn back_at(&self, sequence: u64) -> Self {
        let kept = self.spent.iter().filter(|(_, (at, ..))| *at <= sequence);
        Self {
            sequence: 0,
            spent: kept
                .map(|(code, (_, holder, seat))| (*code, (0, *holder, *seat)))
                .collect(),
            past: self.past.clone(),
        }
    }
}

/// After every entry, in the rooms of the first gate that applies it.
pub fn look(watch: &mut Watch, entry: &Entry, effects: &Effects) {
    let (Some(view), true) = (watch.last.clone(), watch.codes.on) else {
        return;
    };
    let at = entry.position;
    let root = watch.roots.get(&watch.acting).copied();
    let book = &mut watch.codes;
    if at.sequence == 1 && !book.logs.contains_key(&at.epoch) {
        let before = root.and_then(|root| Some(book.logs.get(&root.epoch)?.back_at(root.sequence)));
        book.logs.insert(at.epoch, before.unwrap_or_default());
    }
    let Some(mut log) = book.logs.remove(&at.epoch) else {
        return;
    };
    if at.sequence > log.sequence {
        log.sequence = at.sequence;
        let faults = judge(&mut log, &mut book.seen, entry, effects, &view);
        let faults = faults.into_iter().map(|fault| format!("{at:?}: {fault}"));
        watch.ledger.faults.extend(faults);
    }
    book.logs.insert(at.epoch, log);
}

fn judge(log: &mut Log, seen: &mut Seen, entry: &Entry, effects: &Effects, view: &View) -> Vec<String> {
    let mut faults = Vec::new();
    if effects.ignored {
        return faults;
    }
    for brought in &entry.batch.spent_codes {
        for (code, spent) in &brought.spent {
            let seat = (spent.lane, spent.number);
            let is = view.rooms.get(&room()).and_then(|room| room.spent.get(*code));
            let Some(is) = is.map(|is| (is.lane, is.number)) else {
                continue;
            };
            seen.brought += u64::from(is == seat && !log.spent.contains_key(code));
            log.spent.entry(*code).or_insert((log.sequence, spent.holder, is));
            seen.voided += u64::from(is != seat);
        }
    }
    let pairs = entry.batch.redeems.iter().zip(&effects.redeemed);
    for (redeem, done) in pairs.filter(|(redeem, _)| redeem.room == room()) {
        faults.extend(redeemed(log, seen, (redeem, done), entry, view));
    }
    // A visitor who missed the turn waits, and is called as others are.
    log.past.retain(|seat| is_inside(view, *seat));
    if effects.redeemed.iter().any(|done| done.past) && log.past.len() > MOST as usize {
        faults.push(format!("more are past the line than may be: {:?}", log.past));
    }
    let known = view.rooms.get(&room()).map_or(0, |room| room.spent.len());
    if known > log.spent.len() {
        faults.push(format!("{known} codes are spent, and {} were used", log.spent.len()));
    }
    faults
}

fn redeemed(
    log: &mut Log,
    seen: &mut Seen,
    (redeem, done): (&Redeem, &Redeemed),
    entry: &Entry,
    view: &View,
) -> Option<String> {
    let code = redeem.code;
    let before = log.spent.get(&code).map(|(_, holder, seat)| (*holder, *seat));
    let Some(number) = done.joined.first else {
        let is = view.rooms.get(&room()).and_then(|room| room.spent.get(code)).is_some();
        return (before.is_none() && is).then(|| format!("{code} was not taken, and is spent"));
    };
    let seat = (done.joined.lane, number);
    if done.past {
        log.past.insert(seat);
    }
    seen.granted += u64::from(done.new);
    seen.again += u64::from(!done.new);
    if !done.new {
        let same = before == Some((redeem.holder, seat)) || redeem.leaves == Some(seat) || !redeem.single;
        return (!same).then(|| format!("{code} is {seat:?} for {:?}, and was {before:?}", redeem.holder));
    }
    if !redeem.single {
        return None;
    }
    log.spent.insert(code, (log.sequence, redeem.holder, seat));
    let in_time = redeem.issued <= entry.time && redeem.expires.is_some_and(|expires| entry.time < expires);
    if let Some(before) = before {
        return Some(format!("{code} is good once more: for {before:?}, and for {seat:?}"));
    }
    if entry.batch.adopt.is_some() || super::ledger::book::is_quiet(view, &room()) {
        return Some(format!("{code} is taken while something lost may come back"));
    }
    (!in_time).then(|| format!("{code} is taken at {:?}, outside its dates", entry.time))
}

fn is_inside(view: &View, seat: Seat) -> bool {
    lives(view, seat) && !matches!(standing(view, seat), Standing::Waiting(_))
}

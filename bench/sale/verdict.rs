//! The winners by the log, the gates, the visitors and the shop; and whether the load generator met its requirements.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use ropeline::accounts::Identity;
use ropeline::room::{Epoch, Number, RoomName, Tag};
use ropeline::token::{Key, KeyId, Keyring, Secret, account_tags};
use serde_json::Value;

use crate::house::{ROOM, Receipts, SECRET};
use crate::order::{self, Order};
use crate::people::{Browser, Crowd, Ended, account};
use crate::plan::{Fate, Kind};
use crate::tally::{Answered, Figures};

/// The requirements on the answers to joins.
const MOST_MEAN: Duration = Duration::from_millis(500);
const MOST_P95: Duration = Duration::from_millis(800);
const MOST_MAX: Duration = Duration::from_secs(1);

/// The evidence collected before the gates were stopped.
pub struct Evidence {
    sold_out: bool,
    /// `ropeline winners` at each gate.
    lists: Vec<Vec<Value>>,
    /// Wrong answers, with their receivers.
    mistold: Vec<String>,
    asked: usize,
    receipts: BTreeMap<String, u64>,
}

/// Asks every gate for its winners, and for each buyer, idler and some who waited in vain, whether they have won.
pub async fn ask_everybody(crowd: &Crowd, receipts: &Receipts, sold_out: bool) -> Evidence {
    let mut evidence = Evidence {
        sold_out,
        lists: crowd.gates.iter().map(crate::house::Gate::winners).collect(),
        mistold: Vec::new(),
        asked: 0,
        receipts: receipts.lock().expect("nobody panics").clone(),
    };
    let buyers = crowd.buyers.lock().expect("nobody panics").clone();
    let others = crowd.others.lock().expect("nobody panics").clone();
    let won = buyers.into_iter().map(|browser| (browser, Value::Bool(true)));
    let not = others.into_iter().map(|(browser, ended)| match ended {
        Ended::Idle => (browser, Value::Bool(false)),
        Ended::InVain => (browser, Value::Null),
    });
    for (browser, right) in won.chain(not) {
        for gate in 0..crowd.gates.len() {
            evidence.asked += 1;
            let told = ask(crowd, browser.clone(), gate).await;
            if told != Some(right.clone()) {
                let who = account(browser.account);
                evidence.mistold.push(format!(
                    "gate {} told {who} won {told:?}, and right is {right}",
                    gate + 1
                ));
            }
        }
    }
    evidence
}

async fn ask(crowd: &Crowd, mut browser: Browser, gate: usize) -> Option<Value> {
    let told = crowd.told(&mut browser, gate).await?;
    Some(told["won"].clone())
}

/// Stops the gates, reads the log, and says what failed.
pub fn pronounce(crowd: &Crowd, evidence: &Evidence, folder: &Path) -> ExitCode {
    let mut faults = of_answers(crowd);
    crowd.gates.iter().for_each(crate::house::Gate::stop);
    match order::read(&folder.join("archive")) {
        Ok(order) => faults.extend(of_winners(crowd, evidence, &order)),
        Err(error) => faults.push(format!("the archive cannot be read: {error}")),
    }
    for fault in faults.iter().take(MOST_SHOWN) {
        eprintln!("failed: {fault}");
    }
    if faults.is_empty() {
        println!(
            "the first {} accounts who were there have won, and nobody else",
            crowd.plan.stock
        );
        return ExitCode::SUCCESS;
    }
    if faults.len() > MOST_SHOWN {
        eprintln!("and {} more", faults.len() - MOST_SHOWN);
    }
    ExitCode::FAILURE
}

fn of_answers(crowd: &Crowd) -> Vec<String> {
    let tally = crowd.tally.lock().expect("nobody panics");
    let mut faults: Vec<String> = tally.faults().collect();
    let figures = Figures::of(tally.joins.iter());
    let unanswered = crowd.plan.joins() - tally.answered();
    if unanswered > 0 {
        faults.push(format!("{unanswered} joins were never answered"));
    }
    for (what, took, most) in [
        ("mean", figures.mean, MOST_MEAN),
        ("p95", figures.p95, MOST_P95),
        ("max", figures.max, MOST_MAX),
    ] {
        if took > most {
            faults.push(format!("joins: {what} {took:.1?}, and right is at most {most:?}"));
        }
    }
    if tally.joins.iter().all(|join| join.answered == Answered::SoldOut) {
        faults.push("nobody could join".to_owned());
    }
    faults
}

fn of_winners(crowd: &Crowd, evidence: &Evidence, order: &Order) -> Vec<String> {
    let mut faults = evidence.mistold.clone();
    faults.extend(order.faults.iter().map(|fault| format!("the archive: {fault}")));
    if !evidence.sold_out {
        faults.push("the stock was never sold".to_owned());
    }
    if evidence.lists.iter().any(|list| *list != evidence.lists[0]) {
        faults.push("the gates do not name the same winners".to_owned());
    }
    let names = names(crowd);
    let place_of: HashMap<u64, usize> = order
        .accounts
        .iter()
        .enumerate()
        .filter_map(|(place, tag)| Some((*names.get(tag)?, place + 1)))
        .collect();
    let right: BTreeSet<u64> = first(crowd, order, &names);
    let listed: Vec<Option<u64>> = evidence.lists[0]
        .iter()
        .map(|winner| whose(winner, order, &names))
        .collect();
    let winners: BTreeSet<u64> = listed.iter().copied().flatten().collect();
    println!(
        "{} accounts in {} entries of {} logs (each goes on from: {}); {} winners at each gate, the last of them account {} of the log; {} asked for results",
        order.accounts.len(),
        order.entries,
        order.logs.len(),
        order.logs.join(", "),
        evidence.lists[0].len(),
        winners
            .iter()
            .filter_map(|winner| place_of.get(winner))
            .max()
            .unwrap_or(&0),
        evidence.asked
    );
    if listed.contains(&None) {
        faults.push("a winner's number is nobody's by the log".to_owned());
    }
    if winners.len() != listed.len() {
        faults.push(format!("{} winners are {} accounts", listed.len(), winners.len()));
    }
    let bought: BTreeSet<String> = evidence.receipts.keys().cloned().collect();
    if bought != winners.iter().map(|winner| account(*winner)).collect() {
        faults.push(format!(
            "the shop has sold to {} accounts, which are not the winners",
            bought.len()
        ));
    }
    for (what, one, other) in [
        ("was first and has not won", &right, &winners),
        ("has won and was not first", &winners, &right),
    ] {
        faults.extend(
            one.difference(other)
                .map(|index| format!("account {} of the log {what}", place_of[index])),
        );
    }
    faults
}

/// The accounts by their tags.
fn names(crowd: &Crowd) -> HashMap<Tag, u64> {
    let key = Key {
        id: KeyId::new("load").expect("an id"),
        secret: Secret::new(SECRET.as_bytes()),
    };
    let ring = Keyring::new(vec![key]).expect("a ring");
    let room = RoomName::new(ROOM).expect("a name");
    let tag = |index: u64| {
        let identity = Identity::new(&account(index)).expect("an account");
        account_tags(&ring, &room, &identity)[0]
    };
    let joins = (0..crowd.plan.joins()).filter(|index| crowd.plan.join(*index).kind == Kind::First);
    joins.map(|index| (tag(index), index)).collect()
}

/// The rightful winners: of the accounts in the order of the log, the first ones that stay, come and finish.
fn first(crowd: &Crowd, order: &Order, names: &HashMap<Tag, u64>) -> BTreeSet<u64> {
    let accounts = order.accounts.iter().filter_map(|tag| names.get(tag).copied());
    let buys = accounts.filter(|account| crowd.plan.fate(*account) == Fate::Buys);
    buys.take(usize::try_from(crowd.plan.stock).unwrap_or(usize::MAX))
        .collect()
}

fn whose(winner: &Value, order: &Order, names: &HashMap<Tag, u64>) -> Option<u64> {
    let number = Number {
        epoch: Epoch(winner["era"].as_u64()?),
        n: u32::try_from(winner["number"].as_u64()?).ok()?,
    };
    names.get(order.numbers.get(&number)?).copied()
}

/// Faults that are listed one by one.
const MOST_SHOWN: usize = 30;

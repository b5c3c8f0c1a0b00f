//! Faulty shops: the visitor's view of an answer that breaks the rules, and whether the next visitor is unharmed.

pub mod cases;
mod ends;

use std::net::SocketAddr;

use super::case::{Case as Asked, Expect, SERVED, Shop as Manner, get};
use super::client::{Answer, Delivery, Heard, play};
use super::judge::{Outcome, Verdict};
use super::run::{Contestant, Played, SETTLED, by_lanes};
use super::shop::Shop;

/// One answer.
pub struct Case {
    pub name: &'static str,
    pub source: &'static str,
    pub request: String,
    pub answer: Faulty,
    pub expect: Seen,
}

/// The shop's behaviour for any request except [`SERVED`].
#[derive(Clone, Copy)]
pub struct Faulty {
    pub bytes: &'static str,
    pub end: End,
}

/// Its behaviour behind its answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    Holds,
    Closes,
    Resets,
    /// Holds, and has sent byte by byte.
    Drips,
    /// Says the same again and again.
    Repeats,
    /// Has answered before it was asked.
    Ahead,
}

/// The required view of the visitor.
#[derive(Clone, Copy)]
pub enum Seen {
    /// An error, or an answer that is visibly incomplete. One that looks complete is wrong.
    Refused,
    /// The same; one that was made into something with a single meaning is lenient.
    Repaired,
    /// This status with this body and nothing behind it.
    Clean(u16, &'static str),
    /// That, or an error.
    Either(u16, &'static str),
}

/// Plays all cases, in any order; outcomes are in theirs.
pub fn play_all(cases: &[&Case], contestant: &Contestant, delivery: Delivery) -> Vec<Played> {
    by_lanes(cases, contestant, |case, address, shop| {
        play_one(case, address, shop, contestant, delivery)
    })
}

fn play_one(case: &Case, address: SocketAddr, shop: &Shop, contestant: &Contestant, delivery: Delivery) -> Played {
    shop.begin(Manner::Faulty(case.answer));
    let ask = |request: &str| {
        let asked = Asked::new("", "", request, Expect::Refused);
        play(&asked, address, delivery, contestant.patience).expect("the proxy takes connections")
    };
    let heard = ask(&case.request);
    let next = ask(&get(SERVED, ""));
    shop.end(SETTLED);
    let is_unharmed = matches!(next.answers.as_slice(), [one] if one.status == 200 && one.is_whole && one.body == b"hi")
        && next.odd == 0;
    let (mut verdict, mut fault) = judge(case.expect, &heard);
    if !is_unharmed {
        (verdict, fault) = (Verdict::Wrong, Some("the next visitor is harmed"));
    }
    let told = told(&heard);
    let harm = if is_unharmed { "" } else { ", the next visitor harmed" };
    Played {
        // How much of a cut answer comes, and whether an early one is taken, is as it happens.
        gist: format!("{verdict:?}"),
        outcome: Outcome {
            verdict,
            tells: told + harm,
            fault: fault.map(str::to_owned),
        },
        keeps_list: true,
    }
}

fn judge(expect: Seen, heard: &Heard) -> (Verdict, Option<&'static str>) {
    let wrong = |fault| (Verdict::Wrong, Some(fault));
    if heard.odd > 0 {
        return wrong("bytes that are no answer");
    }
    let refused = match heard.answers.as_slice() {
        [] => heard.closed,
        [one] => one.status >= 500 || !one.is_whole && heard.closed,
        _ => return wrong("more than one answer"),
    };
    let is_clean = |status, body: &str| matches!(heard.answers.as_slice(), [one] if one.status == status && one.is_whole && one.body == body.as_bytes());
    match expect {
        Seen::Refused | Seen::Repaired | Seen::Either(..) if refused => (Verdict::Right, None),
        Seen::Clean(status, body) | Seen::Either(status, body) if is_clean(status, body) => (Verdict::Right, None),
        Seen::Repaired if heard.answers.iter().all(is_sound) && !heard.answers.is_empty() => {
            (Verdict::Lenient, Some("repaired"))
        }
        Seen::Clean(..) if refused => (Verdict::Lenient, Some("refused")),
        _ => wrong("passed on as if it were sound"),
    }
}

/// It can be read in one way only.
fn is_sound(answer: &Answer) -> bool {
    let is_framing = |name: &str| matches!(name, "content-length" | "transfer-encoding");
    let framings = answer.fields.iter().filter(|(name, _)| is_framing(name)).count();
    let plain = |text: &str| text.bytes().all(|byte| byte == b'\t' || !byte.is_ascii_control());
    answer.is_whole && framings <= 1 && answer.fields.iter().all(|(name, value)| plain(name) && plain(value))
}

/// A short text of the visitor's view.
fn told(heard: &Heard) -> String {
    if heard.odd > 0 {
        return "bytes that are no answer".into();
    }
    match heard.answers.as_slice() {
        [] if heard.closed => "closed".into(),
        [] => "waits".into(),
        [one] if one.status >= 500 => one.status.to_string(),
        [one] if !one.is_whole => format!("{}, visibly cut", one.status),
        [one] => {
            let text: String = String::from_utf8_lossy(&one.body).chars().take(20).collect();
            let text = text.replace(['\r', '\n', '`', '|'], " ");
            format!("{} `{}`", one.status, text.trim()).replace(" ``", "")
        }
        more => format!("{} answers", more.len()),
    }
}

//! A shop behind a closed room with one visitor in it, and the judgement of a row's cases.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, Ordering};

use super::case::{Body, Case, Fate, Row};
use super::gate::Gate;
use super::http::{Message, Pool, Wire};
use super::shop::Shop;

/// A way to the shop.
pub trait Way: Sized {
    /// As [`Case::not_over`] names it.
    const NAME: &str;
    /// The shop is behind it; else whether a request would reach the shop is what the gate answers.
    const HAS_SHOP: bool = true;
    /// Further lines of the room.
    const ROOM: &str = "";
    /// The gate's tables for it.
    fn tables(shop: SocketAddr) -> String;
    async fn open(gate: &Gate, shop: SocketAddr) -> Self;
    /// Sends a request and reads the answer.
    async fn send(&self, case: &Case, fields: &[(String, String)]) -> Message;
}

/// Sends every case of a row and tells all that went wrong.
pub async fn judge<W: Way>(row: &Row) {
    judge_in::<W>(row, "", "/claim").await;
}

/// As [`judge`], where the visitor inside has joined by this query and loaded this page.
pub async fn judge_in<W: Way>(row: &Row, line: &str, page: &'static str) {
    let site = Site::<W>::open(row, line, page).await;
    let mut wrong = Vec::new();
    for case in row.cases.iter().filter(|case| !case.not_over.contains(&W::NAME)) {
        if let Err(what) = site.judge(case).await {
            wrong.push(format!("{} ({} {}): {what}", case.name, case.method, case.target));
        }
    }
    assert!(wrong.is_empty(), "over {}:\n{}", W::NAME, wrong.join("\n"));
}

struct Site<W> {
    shop: Shop,
    way: W,
    /// The pass of the visitor inside.
    pass: String,
    gate: Gate,
}

impl<W: Way> Site<W> {
    async fn open(row: &Row, line: &str, page: &'static str) -> Self {
        let shop = Shop::open(&[]).await;
        let room = format!("total_active_users = 1\n{}\n{}", W::ROOM, row.room);
        let mut gate = Gate::configured("embedded:data", &W::tables(shop.address), &room, row.tables);
        gate.amend("[server]\n", "[server]\nh2c = true\n");
        gate.start();
        gate.ready().await;
        let way = W::open(&gate, shop.address).await;
        let pass = join(&gate, line).await;
        let site = Self { shop, way, pass, gate };
        let claim = super::case::ordinary("the visitor inside", "GET", page).inside();
        site.judge(&claim).await.unwrap();
        site.gate.set("{\"mode\": \"closed\"}").await;
        site
    }

    async fn judge(&self, case: &Case) -> Result<(), String> {
        let before = self.shop.seen().len();
        let answer = self.way.send(case, &case.sent(&self.pass)).await;
        let seen = self.shop.seen().split_off(before);
        let passed = if W::HAS_SHOP {
            !seen.is_empty()
        } else {
            is_leave(&answer)
        };
        let told = || format!("{} {:?}", answer.status(), answer.word());
        match case.fate {
            Fate::Passes { with, without } => {
                if !passed {
                    return Err(format!("it is held back: {}", told()));
                }
                seen.iter()
                    .try_for_each(|seen| check_fields(&seen.request, with, without))
            }
            _ if passed => Err("it reaches the shop".to_owned()),
            // HAProxy and nginx ask twice, and so a gate that refuses cannot tell everything.
            Fate::Refused(status) if answer.status() != status && !matches!(answer.status(), 401 | 403) => Err(told()),
            Fate::Waits if !matches!(answer.word(), "closed" | "waiting") && !is_in_chunks(case, &answer) => {
                Err(told())
            }
            _ => Ok(()),
        }
    }
}

fn check_fields(request: &Message, with: &[&str], without: &[&str]) -> Result<(), String> {
    let lacks = with.iter().find(|name| request.field(name).is_none());
    let trailed = |name: &str| {
        request
            .trailers
            .lines()
            .any(|line| line.to_lowercase().starts_with(&name.to_lowercase()))
    };
    let has = without
        .iter()
        .find(|name| request.field(name).is_some() || trailed(name));
    match (lacks, has) {
        (Some(name), _) => Err(format!("the shop lacks {name}: {}", request.head)),
        (_, Some(name)) => Err(format!("the shop is sent {name}: {}", request.head)),
        _ => Ok(()),
    }
}

/// The examples for `HAProxy` and Caddy turn chunks away by themselves, as they could not take trailers out.
fn is_in_chunks(case: &Case, answer: &Message) -> bool {
    answer.status() == 411 && matches!(case.body, Body::Untold(_) | Body::Trailed(..))
}

/// A gate that is asked lets the request pass.
fn is_leave(answer: &Message) -> bool {
    answer.status() == 200 && answer.word() == "pass"
}

/// Takes the one slot of an empty room, as an app does.
async fn join(gate: &Gate, line: &str) -> String {
    let pool = Pool::new(gate.address);
    let join =
        format!("POST /.ropeline/rooms/shop/join{line} HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 0\r\n\r\n");
    let joined = pool.ask(join.as_bytes()).await.unwrap();
    let ticket = joined.json()["ticket"].as_str().unwrap().to_owned();
    let asked = async || {
        let status = format!(
            "GET /.ropeline/rooms/shop/status{line} HTTP/1.1\r\nHost: shop.test\r\nRopeline-Ticket: {ticket}\r\n\r\n"
        );
        let answer = pool.ask(status.as_bytes()).await.unwrap();
        Some(answer.json()["pass"].as_str()?.to_owned())
    };
    match joined.json()["pass"].as_str() {
        Some(pass) => pass.to_owned(),
        None => super::crowd::house::eventually("a pass", asked).await,
    }
}

/// A connection from an address of its own.
pub async fn wire(to: SocketAddr) -> Wire {
    Wire::open_from(stranger(), to).await.unwrap()
}

pub fn stranger() -> std::net::IpAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let [high, low] = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    std::net::IpAddr::from([127, 77, high, low.max(1)])
}

/// A request over HTTP/1.1 from start line to the end of its body.
pub fn http1(start: &str, fields: &[(String, String)], body: Body) -> String {
    let mut text = format!("{start} HTTP/1.1\r\n");
    for (name, value) in fields {
        text.extend([name, ": ", value, "\r\n"]);
    }
    match body {
        Body::None => text.push_str("\r\n"),
        Body::Told(body) => text += &["Content-Length: ", &body.len().to_string(), "\r\n\r\n", body].concat(),
        Body::Untold(_) | Body::Trailed(..) => {
            let (body, trailers) = (body.text(), body.trailers());
            let lines = trailers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
            let lines: String = lines.collect();
            let framed = format!(
                "Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n{lines}\r\n",
                body.len()
            );
            text.push_str(&framed);
        }
    }
    text
}

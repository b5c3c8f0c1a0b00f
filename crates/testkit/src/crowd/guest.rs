//! One visitor: an address, a cookie jar, and the fields that a browser or an app sends.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use ropeline::room::{LineName, Number};
use ropeline::token::{Pass, Ticket, TicketPlace};

use super::gate::{keyring, pass_name, room, ticket_name};
use super::http::{Message, Pool};

/// Fields of a navigation.
pub const PAGE: &str = "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nAccept: text/html\r\n";

/// Fields of a script's request.
pub const SCRIPT: &str = "Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\nAccept: application/json\r\n";

/// Fields of a frame in another site's page.
pub const FRAME: &str =
    "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\nSec-Fetch-Site: cross-site\r\nAccept: text/html\r\n";

/// How often a browser of the tests lets itself be sent back for one page.
const MOST_TIMES_BACK: u32 = 3;

/// A visitor's browser.
#[derive(Clone)]
pub struct Guest {
    pool: Arc<Pool>,
    /// The address that the proxy before the gate says.
    pub address: String,
    pub jar: BTreeMap<String, String>,
    /// False for a client that drops its cookies.
    pub keeps: bool,
    /// Fields sent with every request.
    always: String,
}

impl Guest {
    /// Each `index` has an address and a network of its own, up to 250 networks.
    pub fn new(pool: &Arc<Pool>, index: u32) -> Self {
        let address = format!("10.{}.{}.{}", index % 250, index / 250 % 250, index / 62_500 + 1);
        Self::at(pool, &address, index)
    }

    /// A visitor at this address, who connects through this pool.
    pub fn at(pool: &Arc<Pool>, address: &str, index: u32) -> Self {
        let always = format!("X-Visitor: {index}\r\n");
        Self {
            pool: Arc::clone(pool),
            address: address.to_owned(),
            jar: BTreeMap::new(),
            keeps: true,
            always,
        }
    }

    /// Comes from the other's address from now on.
    pub fn moves_to(&mut self, other: &Self) {
        self.pool = Arc::clone(&other.pool);
        self.address.clone_from(&other.address);
    }

    /// Sends this field with every request from now on.
    pub fn says(&mut self, name: &str, value: &str) {
        self.always.extend([name, ": ", value, "\r\n"]);
    }

    /// A request as this visitor sends it.
    pub fn request(&self, method: &str, target: &str, fields: &str, body: &str) -> String {
        let cookies: Vec<String> = self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = if cookies.is_empty() {
            String::new()
        } else {
            format!("Cookie: {}\r\n", cookies.join("; "))
        };
        let length = match method {
            "GET" | "HEAD" | "OPTIONS" => String::new(),
            _ => format!("Content-Length: {}\r\n", body.len()),
        };
        let (address, always) = (&self.address, &self.always);
        let own = format!("Host: shop.test\r\nX-Forwarded-For: {address}\r\n{always}");
        format!("{method} {target} HTTP/1.1\r\n{own}{fields}{cookies}{length}\r\n{body}")
    }

    /// Sends a request and keeps the cookies of the answer. As a browser does, it goes where it is sent, here only back to
    /// the same address, by the gate's look at its cookies or not: that is how a gate that a proxy asks sets a cookie.
    pub async fn send(&mut self, method: &str, target: &str, fields: &str, body: &str) -> io::Result<Message> {
        let mut answer = self.once(method, target, fields, body).await?;
        for _ in 0..MOST_TIMES_BACK {
            let again = match answer.status() {
                303 => "GET",
                307 => method,
                _ => break,
            };
            let there = answer.field("location").unwrap_or_default().to_owned();
            if there != target && !is_check(&there) {
                break;
            }
            answer = self.once(again, &there, fields, body).await?;
        }
        Ok(answer)
    }

    /// Sends a request, keeps the cookies of the answer and goes nowhere.
    pub async fn once(&mut self, method: &str, target: &str, fields: &str, body: &str) -> io::Result<Message> {
        let answer = self
            .pool
            .ask(self.request(method, target, fields, body).as_bytes())
            .await?;
        if self.keeps {
            self.take_cookies(&answer);
        }
        Ok(answer)
    }

    /// Opens a page.
    pub async fn page(&mut self, target: &str) -> Message {
        self.send("GET", target, PAGE, "").await.unwrap()
    }

    /// A request of a page's script or an app.
    pub async fn script(&mut self, method: &str, target: &str) -> Message {
        let body = if method == "POST" { "{}" } else { "" };
        self.send(method, target, SCRIPT, body).await.unwrap()
    }

    /// One of the room's endpoints.
    pub async fn own(&mut self, method: &str, endpoint: &str) -> Message {
        self.script(method, &format!("/.ropeline/rooms/shop/{endpoint}")).await
    }

    pub fn ticket(&self) -> Option<Ticket> {
        read_ticket(self.jar.get(&ticket_name())?)
    }

    pub fn pass(&self) -> Option<Pass> {
        read_pass(self.jar.get(&pass_name())?)
    }

    pub fn take_cookies(&mut self, answer: &Message) {
        for line in answer.fields("set-cookie") {
            let Some((name, value)) = line.split(';').next().and_then(|pair| pair.split_once('=')) else {
                continue;
            };
            if line.contains("Max-Age=0") {
                self.jar.remove(name);
            } else {
                self.jar.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

/// Where the gate looks whether cookies are kept.
pub fn is_check(target: &str) -> bool {
    target.starts_with("/.ropeline/rooms/") && target.contains("/check?")
}

/// The ticket that a cookie is, if it is genuine.
pub fn read_ticket(value: &str) -> Option<Ticket> {
    Ticket::read(&keyring(), &room(), &LineName::ONLY, value)
}

/// The pass that a cookie is, if it is genuine.
pub fn read_pass(value: &str) -> Option<Pass> {
    Pass::read(&keyring(), &room(), &LineName::ONLY, value)
}

/// The number of a ticket that has one.
pub fn number_of(ticket: &Ticket) -> Option<Number> {
    match ticket.place {
        TicketPlace::Numbered(number) => Some(number),
        TicketPlace::Pending(_) => None,
    }
}

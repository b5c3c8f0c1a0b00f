//! The server that has the log now: the named one, the cluster node that serves the keys, or the master that the sentinels name.
//! By hand, because redis' cluster and sentinel clients keep connections to every node and retry without a bound of ours; here
//! one connection goes to one server, with a few attempts a call, and the next call continues with the others.

use redis::Value;

use super::fault::Fault;
use super::link::{Dial, Link};
use super::url::{Login, Node, Place, RedisUrl};

pub(super) struct Route {
    url: RedisUrl,
    dial: Dial,
    /// Any key of the log: all are in one slot.
    key: String,
    /// Where a node of the cluster has sent us.
    hint: Option<Hint>,
    /// Nodes of the cluster that were heard of, the last home of the keys first.
    heard: Vec<Node>,
    /// Which of the nodes or sentinels is asked first.
    turn: usize,
}

struct Hint {
    node: Node,
    asking: bool,
}

impl Route {
    pub fn new(url: RedisUrl, dial: Dial, key: String) -> Self {
        Self {
            url,
            dial,
            key,
            hint: None,
            heard: Vec::new(),
            turn: 0,
        }
    }

    pub fn url(&self) -> &RedisUrl {
        &self.url
    }

    /// Takes from a call's fault where the next connection should go.
    pub fn learn(&mut self, fault: &Fault) {
        self.hint = match fault {
            Fault::Moved { to, asking } => Some(Hint {
                node: to.clone(),
                asking: *asking,
            }),
            _ => None,
        };
    }

    /// Connects to the server that has the log.
    pub fn connect(&mut self) -> Result<Link, Fault> {
        match self.url.place.clone() {
            Place::One(node) => self.open(&node),
            Place::Cluster(seeds) => self.by_cluster(&seeds),
            Place::Sentinel {
                sentinels,
                master,
                login,
            } => self.by_sentinels(&sentinels, &master, &login),
        }
    }

    fn open(&self, node: &Node) -> Result<Link, Fault> {
        Link::open(&self.dial, node, &self.url.login, self.url.db)
    }

    fn by_cluster(&mut self, seeds: &[Node]) -> Result<Link, Fault> {
        if let Some(hint) = self.hint.take() {
            let mut link = self.open(&hint.node)?;
            if hint.asking {
                link.set_asking();
            }
            return Ok(link);
        }
        let nodes: Vec<_> = self.heard.iter().chain(seeds).cloned().collect();
        self.first(&nodes, Self::home)
    }

    /// The node that serves the keys, as `node` tells.
    fn home(&mut self, node: &Node) -> Result<Link, Fault> {
        let mut link = self.open(node)?;
        let mut slot = redis::cmd("CLUSTER");
        let slot = slot.arg("KEYSLOT").arg(&self.key).to_owned();
        let mut replies = link
            .ask(&[redis::cmd("CLUSTER").arg("SLOTS").to_owned(), slot])?
            .into_iter();
        let ranges = replies.next().map(|reply| ranges(reply, node)).unwrap_or_default();
        let Some(Value::Int(slot)) = replies.next() else {
            return Err(Fault::Elsewhere(format!("{node} does not know the keys' slot")));
        };
        let range = ranges.iter().find(|range| (range.first..=range.last).contains(&slot));
        let Some(home) = range.and_then(|range| range.nodes.first()) else {
            return Err(Fault::Elsewhere(format!("no node serves slot {slot}, says {node}")));
        };
        // The home's replicas next: one of them is the home when it is gone.
        let others = ranges.iter().flat_map(|range| &range.nodes);
        let mut heard: Vec<Node> = Vec::new();
        for other in range.iter().flat_map(|range| &range.nodes).chain(others) {
            if heard.len() < MOST_NODES && !heard.contains(other) {
                heard.push(other.clone());
            }
        }
        self.heard = heard;
        if home == node { Ok(link) } else { self.open(home) }
    }

    fn by_sentinels(&mut self, sentinels: &[Node], master: &str, login: &Login) -> Result<Link, Fault> {
        self.first(sentinels, |route, sentinel| {
            let mut asked = Link::open(&route.dial, sentinel, login, 0)?;
            let mut question = redis::cmd("SENTINEL");
            let question = question.arg("GET-MASTER-ADDR-BY-NAME").arg(master).to_owned();
            let address = asked.ask(&[question])?.pop().unwrap_or(Value::Nil);
            let Ok((host, port)) = redis::from_redis_value::<(String, u16)>(address) else {
                return Err(Fault::Passing(format!(
                    "sentinel {sentinel} knows no master \"{master}\""
                )));
            };
            let mut link = route.open(&Node { host, port })?;
            let role = link.ask(&[redis::cmd("ROLE")])?.pop();
            match role {
                Some(Value::Array(role)) if role.first() == Some(&Value::BulkString(b"master".to_vec())) => Ok(link),
                _ => Err(Fault::Elsewhere(format!(
                    "{} is not yet master, as {sentinel} says it is",
                    link.node()
                ))),
            }
        })
    }

    /// The result of the first usable node, beginning with the one whose turn it is; a fault if none of a few is usable. The
    /// usable one is asked first again.
    fn first(
        &mut self,
        nodes: &[Node],
        mut attempt: impl FnMut(&mut Self, &Node) -> Result<Link, Fault>,
    ) -> Result<Link, Fault> {
        let mut fault = Fault::Lost("nobody to ask".into());
        for _ in 0..nodes.len().min(ATTEMPTS) {
            let node = &nodes[self.turn % nodes.len()];
            match attempt(self, node) {
                Ok(link) => {
                    // Servers that were named are asked first, and the home before all.
                    self.turn = if self.heard.is_empty() { self.turn } else { 0 };
                    return Ok(link);
                }
                // A node that did not answer says less than another node's answer.
                Err(failed) if failed.silent() && !fault.silent() => {}
                Err(failed) => fault = failed,
            }
            self.turn = self.turn.wrapping_add(1);
        }
        Err(fault)
    }
}

/// A part of the slots, and the nodes that have it, the master first.
struct Range {
    first: i64,
    last: i64,
    nodes: Vec<Node>,
}

/// `CLUSTER SLOTS`: arrays of first slot, last slot, and for each node its host, port, and more.
fn ranges(reply: Value, asked: &Node) -> Vec<Range> {
    let Value::Array(ranges) = reply else {
        return Vec::new();
    };
    let range = |value| {
        let Value::Array(parts) = value else { return None };
        let [Value::Int(first), Value::Int(last), nodes @ ..] = &parts[..] else {
            return None;
        };
        let nodes = nodes.iter().filter_map(|value| node(value, asked)).collect();
        Some(Range {
            first: *first,
            last: *last,
            nodes,
        })
    };
    ranges.into_iter().filter_map(range).collect()
}

/// A node without a host of its own, or with an unknown one, has the host that was asked.
fn node(value: &Value, asked: &Node) -> Option<Node> {
    let Value::Array(parts) = value else { return None };
    let (host, Value::Int(port)) = (parts.first()?, parts.get(1)?) else {
        return None;
    };
    let host = match host {
        Value::BulkString(host) if !matches!(&host[..], b"" | b"?") => String::from_utf8(host.clone()).ok()?,
        _ => asked.host.clone(),
    };
    Some(Node {
        host,
        port: u16::try_from(*port).ok()?,
    })
}

/// Nodes or sentinels that one call tries.
const ATTEMPTS: usize = 3;

/// Nodes of a cluster that are kept in mind; Redis advises no more than a thousand.
const MOST_NODES: usize = 1_000;

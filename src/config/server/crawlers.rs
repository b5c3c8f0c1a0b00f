//! Crawlers, and how their requests are verified.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use crate::config::document::value::{name, text, wrong};
use crate::config::document::{Node, Read, Reader, Section};
use crate::config::keys::Form;

/// The crawlers there are, and how they are looked up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crawlers {
    /// The first that a request's agent names is the one that it has to be. Empty: nothing is looked up.
    pub list: Vec<Crawler>,
    /// Empty: those of the system.
    pub resolvers: Vec<SocketAddr>,
    pub lookups_per_second: u32,
    /// Number of verified addresses; of others twice as many are kept.
    pub remember: usize,
}

/// One crawler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crawler {
    pub name: String,
    /// In lower case.
    pub agent: String,
    /// Each has a dot in it.
    pub domains: Vec<String>,
    pub networks: Vec<IpNet>,
}

/// Most crawlers: the agent of every request is held against each.
const MAX_CRAWLERS: usize = 32;

/// User agents of browsers, in lower case.
const BROWSERS: &str = "mozilla/5.0 (macintosh; windows nt 10.0; win64; x64; x11; linux x86_64; iphone; android; mobile; rv:109.0) \
                        applewebkit/537.36 (khtml, like gecko) version/17.0 chrome/130.0.0.0 safari/537.36 edg/130.0 gecko/20100101 \
                        firefox/130.0 opr/ samsungbrowser/";

pub(in crate::config) fn crawlers(reader: &Reader<'_>) -> Crawlers {
    let sections = reader.tables("crawler");
    if sections.len() > MAX_CRAWLERS {
        let wrong = format!("{} crawlers", sections.len());
        reader.mistake("crawler", wrong, format!("at most {MAX_CRAWLERS}"));
    }
    let mut list: Vec<Crawler> = Vec::new();
    for section in &sections {
        let Some(crawler) = crawler(section) else { continue };
        if list.iter().any(|other| other.name == crawler.name) {
            let wrong = format!("another crawler is called \"{}\"", crawler.name);
            section.mistake("name", wrong, "a name of its own for each");
        }
        if let Some(before) = list.iter().find(|other| crawler.agent.contains(&other.agent)) {
            let wrong = format!(
                "a client with this agent is taken for \"{}\", which stands before it",
                before.name
            );
            section.mistake("agent", wrong, "the longer one first");
        }
        list.push(crawler);
    }
    let section = reader.table("crawlers");
    Crawlers {
        list,
        resolvers: section.list("resolvers"),
        lookups_per_second: section.need("lookups_per_second"),
        remember: section.need("remember"),
    }
}

fn crawler(section: &Section<'_>) -> Option<Crawler> {
    let (name, agent) = (section.get_as("name", name), section.get_as("agent", agent));
    let (domains, networks) = (section.list_as("domains", domain), section.list::<IpNet>("networks"));
    let unread = section.has_mistake("domains") || section.has_mistake("networks");
    if domains.is_empty() && networks.is_empty() && !unread {
        let wrong = "nothing tells this crawler from clients that pretend to be it";
        section.mistake(
            "domains",
            wrong,
            "the domains or the networks that its operator documents",
        );
    }
    for everybody in networks.iter().filter(|network| network.prefix_len() == 0) {
        let wrong = format!("{everybody} is everybody");
        section.mistake("networks", wrong, "the networks that its operator publishes");
    }
    Some(Crawler {
        name: name?,
        agent: agent?,
        domains,
        networks,
    })
}

fn agent(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    let agent = text.to_ascii_lowercase();
    let plain = |b: u8| b.is_ascii_graphic() || b == b' ';
    if !(3..=64).contains(&agent.len()) || !agent.bytes().all(plain) || BROWSERS.contains(&agent) {
        return wrong(node, format!("\"{text}\" names no crawler"), form);
    }
    Ok(agent)
}

fn domain(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(plain);
    let named = text.len() <= 253 && text.contains('.') && text.split('.').all(label);
    if !named || text.parse::<IpAddr>().is_ok() {
        return wrong(node, format!("\"{text}\" is no domain"), form);
    }
    Ok(text.to_ascii_lowercase())
}

//! Keys of crawlers and of their verification.

use super::form::{ADDRESS, Form, NAME, NETWORK};
use super::key::{Brackets, Table, key, list, number, text};

pub(super) const CRAWLER: Table = Table {
    name: "crawler",
    brackets: Brackets::Two,
    about: "A crawler, such as a search engine's. A request is verified by the DNS name of its address, or by the \
        crawler's networks. Without any `[[crawler]]`, nothing is looked up. See docs/guides/bots.md#crawlers.",
    keys: &[
        key("name", NAME).about("Name of the crawler in the log."),
        text(
            "agent",
            "3 to 64 visible letters of ASCII that no browser says, such as \"Googlebot\"",
        )
        .about(
            "Part of the crawler's `User-Agent`, in any letter case. Only clients whose `User-Agent` has it are \
            looked up.",
        ),
        list("domains", &DOMAIN).or("[]").about(
            "Domains in which the DNS name (PTR) of the crawler's address must lie, compared by whole labels. That \
                name must resolve to the address. List only domains that the crawler's operator documents and in \
                which nobody else has a machine.",
        ),
        list("networks", &NETWORK).or("[]").about(
            "The crawler's addresses, if its operator publishes them. They need no DNS, and must be kept up \
                to date.",
        ),
    ],
};

pub(super) const CRAWLERS: Table = Table {
    name: "crawlers",
    brackets: Brackets::One,
    about: "Lookups of crawlers' addresses. No request waits for a lookup.",
    keys: &[
        list("resolvers", &ADDRESS)
            .or("[]")
            .about("Recursive name servers to ask. An empty list: those of /etc/resolv.conf."),
        number("lookups_per_second", 1..=1_000)
            .or("20")
            .about("Maximum number of addresses looked up in a second, each with two or three DNS queries."),
        number("remember", 1_000..=1_000_000).or("10000").about(
            "Number of verified addresses that are remembered. Twice as many addresses that could not be verified \
                are remembered too. Each takes some 100 bytes.",
        ),
    ],
};

const DOMAIN: Form = Form::Text("a domain with a dot in it, such as \"googlebot.com\", without \"*\" or port");

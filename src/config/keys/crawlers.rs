//! Keys of crawlers, and of how they are told from those who only say so.

use super::form::{ADDRESS, Form, NAME, NETWORK};
use super::key::{Table, key, list, number, text};

pub(super) const CRAWLER: Table = Table {
    name: "crawler",
    many: true,
    about: "A crawler, such as a search engine's, whose requests are told from those of others that give its name: by \
            the name of their address in DNS, or by its networks. Without any nothing is looked up. See \
            docs/guides/bots.md#crawlers.",
    keys: &[
        key("name", NAME).about("What it is called in the log."),
        text(
            "agent",
            "3 to 64 visible letters of ASCII that no browser says, such as \"Googlebot\"",
        )
        .about("What its `User-Agent` has in it, in any letter case: only who says so is looked up."),
        list("domains", &DOMAIN).or("[]").about(
            "Where the name of its address ends, by whole labels; the name must have the address, too. Only \
                    those that its operator documents, and in which nobody else can have a machine.",
        ),
        list("networks", &NETWORK)
            .or("[]")
            .about("Its addresses, where its operator publishes them: known without DNS. To be kept up to date."),
    ],
};

pub(super) const CRAWLERS: Table = Table {
    name: "crawlers",
    many: false,
    about: "How crawlers' addresses are looked up: never while a request waits.",
    keys: &[
        list("resolvers", &ADDRESS)
            .or("[]")
            .about("The name servers to ask, which resolve for others; with none, those of /etc/resolv.conf."),
        number("lookups_per_second", 1..=1_000)
            .or("20")
            .about("Addresses looked up at most, two questions or three for each."),
        number("remember", 1_000..=1_000_000)
            .or("10000")
            .about("So many verified addresses are remembered, and twice as many others, about 100 bytes for each."),
    ],
};

const DOMAIN: Form = Form::Text("a domain with a dot in it, such as \"googlebot.com\", without \"*\" or port");

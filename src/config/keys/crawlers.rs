//! Keys of crawlers, and of how they are told from those who only say so.

use super::{Key, Table, key, required};

pub(super) const CRAWLER: Table = Table {
    name: "crawler",
    many: true,
    about: "A crawler, such as a search engine's, whose requests are told from those of others that give its name: by the name of \
            their address in DNS, or by its networks. Without any nothing is looked up. See [bots](../guides/bots.md#crawlers).",
    keys: &CRAWLER_KEYS,
};

const CRAWLER_KEYS: [Key; 4] = [
    required("name", "1 to 32 of a-z, 0-9 and \"-\"", "What it is called in the log."),
    required(
        "agent",
        "text, 3 to 64 bytes",
        "What its `User-Agent` has in it, in any letter case: only who says so is looked up.",
    ),
    key(
        "domains",
        "domains",
        "[]",
        "Where the name of its address ends, by whole labels; the name must have the address, too. Only those that its operator \
         documents, and in which nobody else can have a machine.",
    ),
    key(
        "networks",
        "networks",
        "[]",
        "Its addresses, where its operator publishes them: known without DNS. To be kept up to date.",
    ),
];

pub(super) const CRAWLERS: Table = Table {
    name: "crawlers",
    many: false,
    about: "How crawlers' addresses are looked up: never while a request waits.",
    keys: &CRAWLERS_KEYS,
};

const CRAWLERS_KEYS: [Key; 3] = [
    key(
        "resolvers",
        "addresses with ports",
        "[]",
        "The name servers to ask, which resolve for others; with none, those of /etc/resolv.conf.",
    ),
    key(
        "lookups_per_second",
        "number, 1 to 1000",
        "20",
        "Addresses looked up at most, two questions or three for each.",
    ),
    key(
        "remember",
        "number, 1000 to 1000000",
        "10000",
        "So many verified addresses are remembered, and twice as many others, about 100 bytes for each.",
    ),
];

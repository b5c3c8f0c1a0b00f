//! Keys of the store and of the signing keys.

use super::form::{AUTHORITIES, DAY, Form, MINUTE};
use super::key::{Brackets, Table, duration, key, list, number, text};

pub(super) const STORE: Table = Table {
    name: "store",
    brackets: Brackets::One,
    about: "The store of the rooms.",
    keys: &[
        text(
            "url",
            "\"embedded:\" and a folder, such as \"embedded:./ropeline-data\", or \"redis://host:6379\"",
        )
        .or("embedded:./ropeline-data")
        .about(
            "The store of the rooms' log. `embedded:` is a folder for one gate; it is created if it is missing. \
                 Gates that share rooms use Redis or Valkey: `redis://` or `rediss://` (with TLS), with \
                 user:password@, host, port and /database. `redis+cluster://host,host` names nodes of a cluster, \
                 `redis+sentinel://host,host/master-name` names sentinels. `valkey` in place of `redis` means the \
                 same. A shared store needs `[tokens] keys`.",
        )
        .at_start(),
        text("prefix", "1 to 64 of letters, digits and \"-\", \"_\", \".\" or \":\"")
            .or("ropeline")
            .about(
                "First part of the names of all keys in a shared store. Gates with the same url and prefix share \
                 their rooms.",
            )
            .at_start(),
        key("password", Form::Secret(1))
            .unset("the one in the url, or none")
            .about("Password of the shared store, to keep it out of the url.")
            .at_start(),
        key("ca_file", AUTHORITIES)
            .unset("the system's authorities")
            .about("Authorities for the certificate of a store with TLS.")
            .at_start(),
        text("archive", "the path of a folder that the gate may write to")
            .unset("no archive")
            .about(
                "Folder in which every entry of the log is kept for good, in files chained by hashes, for `ropeline \
                 report`. With several gates, one of them writes at a time. Nothing in it is ever deleted.",
            )
            .at_start(),
        duration("log_keep", MINUTE..=3650 * DAY)
            .or("7 days")
            .about("How long an embedded log is kept for `ropeline replay`. A shared store keeps about a minute.")
            .at_start(),
        number("machine_version", 1..=65_535)
            .unset("the newest that all gates know")
            .about(
                "Highest version of the rooms' rules (machine version) that may be used. Before an upgrade, set \
                    this key to the version in force. Then you can still go back to the older binary.",
            )
            .at_start(),
    ],
};

pub(super) const TOKENS: Table = Table {
    name: "tokens",
    brackets: Brackets::One,
    about: "Keys that sign tickets (the cookies of a place in line) and passes (the cookies of an admission).",
    keys: &[
        list("keys", &SIGNING_KEY).or("[]").about(
            "Signing keys of tickets and passes. The first one signs, all verify. To rotate: add the new key second \
                on every gate, make it first on every gate, and remove the old one a week later. See \
                docs/guides/runbook.md. With an empty list, the gate makes a key and keeps it in its data folder.",
        ),
        key("audience", Form::Either(&Form::List(&AUDIENCE), &AUDIENCE))
            .or("[]")
            .about(
                "Name of this installation, the same on all its gates. It is mixed into the keys, so that production \
                    refuses what staging signs with the same keys. With a list, the gate signs with the first name \
                    and verifies with all of them, so that the name can be changed. In the list, \"\" stands for no \
                    name.",
            ),
    ],
};

/// A key with its id.
pub(super) const SIGNING_KEY: Form = Form::Fields(
    &[
        ("id", Form::Text("1 to 16 of a-z, 0-9 and \"-\"")),
        ("secret", Form::Secret(32)),
    ],
    "{ id = \"2026-11\", secret = { env = \"ROPELINE_KEY\" } }",
);

const AUDIENCE: Form = Form::Text("up to 64 letters, digits and \".-_:/\", such as \"shop.example\"");

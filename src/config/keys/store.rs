//! Keys of the store, and of what signs tickets and passes.

use super::form::{AUTHORITIES, DAY, Form, MINUTE};
use super::key::{Table, duration, key, list, number, text};
use crate::room::{OLDEST, VERSION};

pub(super) const STORE: Table = Table {
    name: "store",
    many: false,
    about: "Where the rooms are kept.",
    keys: &[
        text("url", "\"embedded:\" and a folder, such as \"embedded:./ropeline-data\", or \"redis://host:6379\"")
            .or("embedded:./ropeline-data")
            .about("The log of the rooms. embedded: a file in this folder, which is made if missing and which one gate \
                    at a time can use. For gates that share their rooms `redis://` or `rediss://` (with TLS), \
                    user:password@, host, port and /database; `redis+cluster://host,host` for nodes of a cluster, \
                    `redis+sentinel://host,host/master-name` for sentinels; `valkey` for `redis` means the same. It \
                    needs `[tokens] keys`.")
            .at_start(),
        text("prefix", "1 to 64 of letters, digits and \"-\", \"_\", \".\" or \":\"")
            .or("ropeline")
            .about("What the names of a shared store's keys begin with: gates with the same url and prefix share their \
                    rooms.")
            .at_start(),
        key("password", Form::Secret(1))
            .unset("the one in the url, or none")
            .about("The shared store's password, where it is not to stand in the url.")
            .at_start(),
        key("ca_file", AUTHORITIES)
            .unset("the system's authorities")
            .about("The authorities that the certificate of a store with TLS is checked against.")
            .at_start(),
        text("archive", "the path of a folder that the gate may write to")
            .unset("no archive")
            .about("Every entry of the log is kept here for good, in files chained by hashes, for `ropeline report`: a \
                    disk, or whatever is mounted there. Of many gates the one whose turn it is writes; nothing in it is \
                    ever deleted.")
            .at_start(),
        duration("log_keep", MINUTE..=3650 * DAY)
            .or("7 days")
            .about("How long an embedded log is kept for `ropeline replay`; a shared store keeps about a minute of \
                    it.")
            .at_start(),
        number("machine_version", OLDEST as u32..=VERSION as u32)
            .unset("the newest that all gates know")
            .about("The rooms' machine version that is not gone above: the present one keeps the way back open after \
                    an upgrade.")
            .at_start(),
    ],
};

pub(super) const TOKENS: Table = Table {
    name: "tokens",
    many: false,
    about: "What signs tickets and passes.",
    keys: &[
        list("keys", &SIGNING_KEY)
            .or("[]")
            .about("The first key signs, all verify. To rotate without losing anybody: the new key second on every \
                    gate, then first on every gate, and the old one out a week later: docs/guides/runbook.md. With \
                    none the gate makes one and keeps it in its data folder."),
        key("audience", Form::Either(&Form::List(&AUDIENCE), &AUDIENCE))
            .or("[]")
            .about("The name of this installation, the same on all its gates. It is mixed into the keys, so that \
                    production refuses what staging signs with the same ones. Of a list the first signs and all verify, \
                    to rename as keys are rotated; \"\" stands for the keys as they are."),
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

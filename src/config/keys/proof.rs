//! Keys of the proof of work on joining.

use super::{Key, Table, key};

pub(super) const PROOF: Table = Table {
    name: "room.proof_of_work",
    many: false,
    about: "What a newcomer's browser has to work out before it joins: the page does it in the background, and without JavaScript one \
            waits instead. See [bots](../guides/bots.md).",
    keys: &KEYS,
};

const KEYS: [Key; 3] = [
    key("enabled", "true or false", "false", "Newcomers are asked for it."),
    key(
        "price",
        "{ least, most } in hashes, 0 to 50000000",
        "{ least = 200000, most = 4000000 }",
        "SHA-256 hashes that a join takes on average while few join, and while very many do; with a `least` of 0 nobody is asked \
         while few join.",
    ),
    key(
        "joins_per_minute",
        "{ few, many }, 1 to 10000000",
        "{ few = 300, many = 6000 }",
        "Joins of the room at one gate up to which the least price holds, and from which on the highest does; between them it rises \
         evenly.",
    ),
];

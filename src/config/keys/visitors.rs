//! Keys of what a room asks of its visitors and shows them: its page, accounts, lanes, proof of work.

use super::form::{Form, MINUTE, NAME, NETWORK};
use super::key::{Table, duration, flag, key, list, number, text, words};

pub(super) const PAGE: Table = Table {
    name: "room.page",
    many: false,
    about: "The room's waiting page.",
    keys: &[
        text("template", "the path of a template file that the gate may read")
            .unset("the built-in page")
            .about("A template of your own; `ropeline page --preview FOLDER --template FILE` shows it."),
        flag("refresh")
            .or("true")
            .about("Without JavaScript the page reloads by itself; false leaves that to a link."),
        list("languages", &LANGUAGE)
            .or("[\"en\", \"ko\"]")
            .about("The languages offered; the first is for browsers that ask for none of them."),
    ],
};

pub(super) const PROOF: Table = Table {
    name: "room.proof_of_work",
    many: false,
    about: "What a newcomer's browser has to work out before it joins: the page does it in the background, and without \
            JavaScript one waits instead. See docs/guides/bots.md.",
    keys: &[
        flag("enabled").or("false").about("Newcomers are asked for it."),
        key("price", PRICE).or("{ least = 200000, most = 4000000 }").about(
            "SHA-256 hashes that a join takes on average while few join, and while very many do; with a `least` \
                    of 0 nobody is asked while few join.",
        ),
        key("joins_per_minute", JOINS).or("{ few = 300, many = 6000 }").about(
            "Joins of the room at one gate up to which the least price holds, and from which on the highest \
                    does; between them it rises evenly.",
        ),
    ],
};

pub(super) const IDENTITY: Table = Table {
    name: "room.identity",
    many: false,
    about: "Who an account is: an account has one place in a line, in whichever browser. Without `from` the room knows \
            no accounts. See docs/guides/accounts.md.",
    keys: &[
        words("from", &["header", "cookie", "jwt", "field"])
            .unset("no accounts")
            .about(
                "What names the account: a header that a trusted proxy sets, a cookie's value, a claim of a signed \
                    token, or a field of one form or JSON object.",
            ),
        text(
            "name",
            "a name, such as \"X-User\" for a header or \"session\" for a cookie",
        )
        .unset("for `jwt` the header `Authorization: Bearer`")
        .about("The header's, the cookie's or the field's name; for `jwt` the cookie that holds the token."),
        text("on", "a method and a path, such as \"POST /enter\"")
            .unset("only for `field`, which needs it")
            .about("The request whose body has the field, such as `\"POST /enter\"`; up to 16 KiB of it are read."),
        text(
            "key_file",
            "the path of a PEM file with 1 to 4 public keys (BEGIN PUBLIC KEY)",
        )
        .unset("only for `jwt`, which needs it")
        .about("The public keys that tokens are verified with, 1 to 4 of them; each is tried."),
        words("algorithm", &["EdDSA", "RS256"])
            .unset("only for `jwt`, which needs it")
            .about("The only algorithm that is taken, whatever a token says."),
        key("claim", PLAIN)
            .unset("`\"sub\"`")
            .about("The claim that names the account."),
        key("issuer", PLAIN).unset("any").about("What `iss` must be."),
        key("audience", PLAIN)
            .unset("only tokens without one")
            .about("What `aud` must be, or hold."),
        duration("leeway", 0..=5 * MINUTE)
            .unset("`\"0s\"`")
            .about("How far the clocks of issuer and gate may be apart."),
        key("lane_claim", PLAIN).unset("no lane by claim").about(
            "Only for `jwt`: the claim of the same token that says which lane its account stands in, by the \
                    lanes' `claims`.",
        ),
        words("missing", &["join", "refuse"]).unset("`\"join\"`").about(
            "A visitor without an account joins without one, or must sign in first. An account's ticket or pass \
                    lets in only with the account.",
        ),
        text(
            "sign_in",
            "a path on the shop's host, such as \"/login\", that stands in except or in no room",
        )
        .unset("no link")
        .about(
            "Where the page that tells to sign in leads. It and the form on it must be reachable without a \
                    place: both in `except` (`\"/login\"` is for reads, `\"POST /login\"` for the form, `\"/login?*\"` \
                    where it is asked for with a query), or outside every room.",
        ),
    ],
};

pub(super) const LANE: Table = Table {
    name: "room.lane",
    many: true,
    about: "Classes of visitors with an order of their own, one to eight; whoever stands in one stays in it. One of \
            them has neither networks nor claims nor codes: it is for everybody else. Without any, there is one. See \
            docs/guides/lanes.md.",
    keys: &[
        key("name", NAME).or("main").about(
            "The lane's name. A lane of another name is another lane: the one before goes on until its visitors \
                    are gone.",
        ),
        number("weight", 1..=1_000)
            .or("1")
            .about("Its share of the calls against the other lanes' weights, while all have visitors."),
        list("networks", &NETWORK).or("[]").about("Clients who stand in it."),
        list("claims", &PLAIN)
            .or("[]")
            .about("Accounts stand in it whose token has one of these as its `lane_claim`, byte for byte."),
        flag("code").or("false").about("Whether codes lead to it."),
    ],
};

const LANGUAGE: Form = Form::Words(&["en", "ko"]);

const PRICE: Form = Form::Fields(
    &[("least", HASHES), ("most", HASHES)],
    "{ least = 200000, most = 8000000 }",
);

/// Over this a phone would work for minutes.
const HASHES: Form = Form::Number(0, 50_000_000);

const JOINS: Form = Form::Fields(
    &[
        ("few", Form::Number(1, 10_000_000)),
        ("many", Form::Number(1, 10_000_000)),
    ],
    "{ few = 300, many = 6000 }",
);

const PLAIN: Form = Form::Text("1 to 200 bytes without control characters");

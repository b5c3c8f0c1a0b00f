//! Keys of the tables below a room: its page, proof of work, accounts and lanes.

use super::form::{Form, MINUTE, NAME, NETWORK};
use super::key::{Brackets, Table, duration, flag, key, list, number, text, words};

pub(super) const PAGE: Table = Table {
    name: "room.page",
    brackets: Brackets::One,
    about: "The room's waiting page.",
    keys: &[
        text(
            "template",
            "the path of a file of at most 262144 bytes that the gate may read",
        )
        .unset("the built-in page")
        .about("Template of your own. `ropeline page --preview FOLDER --template FILE` shows it."),
        flag("refresh")
            .or("true")
            .about("Without JavaScript the page reloads by itself. `false`: visitors use a link."),
        list("languages", &LANGUAGE)
            .unset("all languages that there are, English first")
            .about("Languages of the page. The first is for browsers that ask for none of them."),
        text(
            "wording",
            "the path of a folder of at most 64 files TAG.toml of at most 65536 bytes each that the gate may read",
        )
        .unset("the built-in words")
        .about(
            "Folder with words of your own: a file for each language, which changes some words of a built-in one \
                or brings a language of your own. See docs/guides/page.md.",
        ),
        key("name", Form::ByLanguage("1 to 80 characters of plain text in one line"))
            .unset("no name")
            .about("Name of the event or shop, shown above the heading."),
        text(
            "logo",
            "the path of a PNG, JPEG, WebP or SVG file of at most 16384 bytes that the gate may read",
        )
        .unset("no logo")
        .about(
            "Logo above the heading. It is sent within each page. Up to 6144 bytes, the page still arrives in one \
                round trip. The content decides on its kind. It may not be animated, and an SVG may not have scripts, \
                links or files from elsewhere.",
        ),
        text("accent", "a colour such as \"#0b6b5e\"")
            .unset("the built-in colour")
            .about(
                "Colour of numbers, links and buttons. It needs a contrast of 4.5:1 with the light page. The dark \
                    page gets the nearest shade that has it there.",
            ),
        text("help", MAIL_LINK)
            .unset("no link")
            .about("Target of the link *Help*."),
        text("imprint", LINK)
            .unset("no link")
            .about("Target of the link *Legal notice*."),
        text("privacy", LINK)
            .unset("no link")
            .about("Target of the link *Privacy*. See docs/privacy.md."),
    ],
};

pub(super) const PROOF: Table = Table {
    name: "room.proof_of_work",
    brackets: Brackets::One,
    about: "Work that a new visitor's browser does before it joins. The page does it in the background; a browser \
            without JavaScript waits instead. See docs/guides/bots.md.",
    keys: &[
        flag("enabled").or("false").about("New visitors are asked for a proof."),
        key("price", PRICE).or("{ least = 200000, most = 4000000 }").about(
            "SHA-256 hashes that a join takes on average: `least` while few visitors join, `most` while very many do. \
                 With a `least` of 0 nobody is asked while few join.",
        ),
        key("joins_per_minute", JOINS).or("{ few = 300, many = 6000 }").about(
            "Joins of the room at one gate: up to `few` the price is `least`, from `many` on it is `most`. In \
                between it rises evenly.",
        ),
    ],
};

pub(super) const IDENTITY: Table = Table {
    name: "room.identity",
    brackets: Brackets::One,
    about: "Source of accounts. An account has one place in a line, in all browsers. Without `from` the room knows \
            no accounts. See docs/guides/accounts.md.",
    keys: &[
        words("from", &["header", "cookie", "jwt", "field"])
            .unset("no accounts")
            .about(
                "Source of the account: a header of a trusted proxy, the value of a cookie, a claim of a signed \
                 token, or a field of one form or JSON object.",
            ),
        text(
            "name",
            "a name, such as \"X-User\" for a header or \"session\" for a cookie",
        )
        .unset("`jwt` reads the header `Authorization: Bearer`; the other sources need a name")
        .about("Name of the header, the cookie or the field; for `jwt` the cookie that holds the token."),
        text("on", "a method and a path, such as \"POST /enter\"")
            .unset("none")
            .about(
                "The request whose body has the field, such as `\"POST /enter\"`. Up to 16 KiB of the body are read. \
                    `field` needs this key; no other source uses it.",
            ),
        text(
            "key_file",
            "the path of a PEM file with 1 to 4 public keys (BEGIN PUBLIC KEY)",
        )
        .unset("none")
        .about(
            "1 to 4 public keys that verify tokens. Each key is tried. `jwt` needs this key; no other source uses \
                it.",
        ),
        words("algorithm", &["EdDSA", "RS256"]).unset("none").about(
            "The only accepted algorithm, `EdDSA` or `RS256`, whatever a token says. `jwt` needs this key; no other \
                source uses it.",
        ),
        key("claim", PLAIN)
            .unset("`\"sub\"`")
            .about("For `jwt`: claim that names the account."),
        key("issuer", PLAIN)
            .unset("any")
            .about("For `jwt`: required value of `iss`."),
        key("audience", PLAIN)
            .unset("only tokens without `aud` are accepted")
            .about("For `jwt`: required value of `aud`, or one of its values."),
        duration("leeway", 0..=5 * MINUTE)
            .unset("`\"0s\"`")
            .about("For `jwt`: largest difference between the clocks of issuer and gate."),
        key("lane_claim", PLAIN).unset("no lane by claim").about(
            "For `jwt`: claim of the same token that selects the lane of the account. Each lane lists its \
                values in `claims`.",
        ),
        words("missing", &["join", "refuse"]).unset("`\"join\"`").about(
            "`join`: a visitor without an account joins without one. `refuse`: the visitor must sign in first. A \
                 ticket or pass of an account is valid only in requests that name this account.",
        ),
        text(
            "sign_in",
            "a path on the shop's host, such as \"/login\", that stands in except or in no room",
        )
        .unset("no link")
        .about(
            "Target of the link to sign in. The page and its form must be reachable without a place in line: by \
                `except` of the room, or because no room protects them. As entries of `except`, `\"/login\"` allows \
                reads, `\"POST /login\"` the form, `\"/login?*\"` reads with a query.",
        ),
    ],
};

pub(super) const LANE: Table = Table {
    name: "room.lane",
    brackets: Brackets::Two,
    about: "One to eight classes of visitors, each with its own order. Visitors stay in their lane. One lane has \
        neither networks nor claims nor codes: it is for all others. Without any `[[room.lane]]` there is one lane. \
        See docs/guides/lanes.md.",
    keys: &[
        key("name", NAME).or("main").about(
            "Name of the lane. After a change of the name, the lane of the old name goes on until its visitors \
                 are gone.",
        ),
        number("weight", 1..=1_000)
            .or("1")
            .about("Share of the calls, relative to the weights of the other lanes, while all of them have visitors."),
        list("networks", &NETWORK)
            .or("[]")
            .about("Networks whose clients belong to the lane."),
        list("claims", &PLAIN).or("[]").about(
            "Values of `lane_claim`, compared byte for byte. An account whose token has one of them belongs \
                to the lane.",
        ),
        flag("code")
            .or("false")
            .about("`true`: codes can be issued for the lane."),
    ],
};

const MAIL_LINK: &str = "\"https://…\", \"mailto:…\" or a path of the shop such as \"/help\", at most 300 characters";
const LINK: &str = "\"https://…\" or a path of the shop such as \"/legal\", at most 300 characters";

const LANGUAGE: Form = Form::Text("the tag of a language of the page, such as \"en\"");

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

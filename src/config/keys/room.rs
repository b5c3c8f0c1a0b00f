//! Keys of a room, of its page and of its lanes.

use super::{Key, Table, key, optional};

pub(super) const ROOM: Table = Table {
    name: "room",
    many: true,
    about: "Routes that are protected together, and their line. Where several rooms take a request, the first one in the \
            file has it. Without any, one room with these values stands over the whole site.",
    keys: &ROOM_KEYS,
};

const ROOM_KEYS: [Key; 38] = [
    key(
        "name",
        "1 to 32 of a-z, 0-9 and \"-\"",
        "\"shop\"",
        "Stands in cookies, in metrics and in the admin API.",
    ),
    key(
        "hosts",
        "hosts",
        "[]",
        "The hosts it is for, such as `\"shop.example\"` or `\"*.shop.example\"`, with the port unless it is 80 or 443; with none, every host.",
    ),
    key("routes", "routes", "[\"/*\"]", "What is protected, in any letter case."),
    key(
        "except",
        "exceptions",
        "[]",
        "What is left outside, compared exactly. An entry without a method takes GET and HEAD without a body, with no query but the \
         names `v`, `ver`, `version`, `t`, `h` and `hash`, or with any query if it ends in `?*`; one that names a method takes \
         everything by it, as a payment provider's callback needs. A WebSocket passes by an entry that names its method alone. A later \
         room that takes such a path has the request.",
    ),
    key(
        "return_routes",
        "routes",
        "[]",
        "Where a payment provider sends the visitor back: forwarded without a pass, under a limit and a body cap, since the \
         browser may hold the cookies back there.",
    ),
    optional(
        "per",
        "\"{name}\" or \"?name\"",
        "one line for all",
        "One line for each value of a path variable that all its routes have, or of a query parameter.",
    ),
    key(
        "allow",
        "texts",
        "[]",
        "With `per`, the only values there are: anything else is 404. Name them where you can; `\"{uuid}\"` stands for any UUID. \
         With none, a value led by a digit or a sign must be a whole number, and letter case makes no difference.",
    ),
    key(
        "max_lines",
        "number, 1 to 100000",
        "1000",
        "With `per`, most lines at once; beyond it the answer is 503.",
    ),
    key(
        "mode",
        "\"auto\", \"hold\", \"closed\" or \"off\"",
        "\"auto\"",
        "auto: people wait only when the room is full. hold: everybody new waits and nobody is called. closed: nobody \
         joins. off: no line, measures only.",
    ),
    key(
        "total_active_users",
        "number, 1 to 10000000",
        "100",
        "How many visitors the shop can serve at once: called and inside together are never more.",
    ),
    optional(
        "prequeue_from",
        "date",
        "no prequeue",
        "From when on visitors join the line before the opening; nobody is called yet. Each prequeue begins a new sale: who \
         waited in the last one joins anew, and its sessions run out. Before it, visitors see a countdown.",
    ),
    optional(
        "opens_at",
        "date",
        "open at once",
        "From when on visitors are called, in the order in which they joined. Once: `2026-12-01T13:00:00+09:00`, or \
         `2026-12-01 13:00 Asia/Seoul`. Again and again: `daily 13:00 Asia/Seoul`, or `weekly mon,thu 13:00 Asia/Seoul`. See \
         [schedule](../guides/schedule.md).",
    ),
    optional(
        "closes_at",
        "date",
        "open until the next prequeue or opening",
        "From when on nobody joins and nobody is called; those inside go on.",
    ),
    optional(
        "results_at",
        "date",
        "with the end of the sale",
        "From when on it is told who has bought a piece of the `stock` and who has not; before that nobody is told either.",
    ),
    optional(
        "stock",
        "number, 1 to 1000000",
        "nothing is counted",
        "Pieces that there are, in each line: nobody is called beyond them, and when all are sold everybody is told so. See \
         [stock](../guides/stock.md).",
    ),
    key(
        "completes_on",
        "list of { route, status }",
        "[]",
        "Answers of the shop that say that the visitor has bought a piece: counted against `stock`, and the session ends as by \
         `ends_on`. Name the answer that places the order, or the receipt page: see [stock](../guides/stock.md).",
    ),
    key(
        "queueing_method",
        "\"fifo\" or \"random\"",
        "\"fifo\"",
        "How those are called who have joined in the prequeue: in the order in which they joined, or in one that is drawn at the \
         opening and that anyone can check. Whoever joins later stands behind. See [draw](draw.md).",
    ),
    optional(
        "draw_beacon",
        "text of at most 200 bytes",
        "none: the draw proves no later change, not impartiality",
        "Names a public value that is known only after the opening, and that decides a draw together with the gates' secret. \
         Nobody is called until an operator gives the value.",
    ),
    optional(
        "new_users_per_minute",
        "number, 1 to 10000000",
        "no limit but the capacity",
        "Most visitors called per minute.",
    ),
    key(
        "call_every",
        "duration, 250 ms to 10 min",
        "\"1s\"",
        "The step in which `new_users_per_minute` is given out: `\"10s\"` lets a sixth of it in every ten seconds. \
         The steps follow the clock, so any one minute may have one step's share more.",
    ),
    key(
        "session_duration",
        "duration",
        "\"5 min\"",
        "How long a visitor inside may be idle; each request in the room begins it anew, the first that is forwarded included, but none \
         that `except` leaves outside. A request within a tenth of it after another is not recorded, so a slot is held for up to a \
         tenth longer.",
    ),
    key(
        "session_max",
        "duration",
        "\"2 h\"",
        "The longest a session can last, however busy.",
    ),
    key(
        "claim_deadline",
        "duration",
        "\"90s\"",
        "How long a visitor whose turn it is has to send the shop a request. Whose request was forwarded is inside.",
    ),
    key(
        "grace",
        "duration",
        "\"4 min\"",
        "How long somebody waiting may be away, at most, and still count as present; at least half of it is sure.",
    ),
    key(
        "firm_within",
        "duration",
        "\"20s\"",
        "Who has just joined counts as present for this long; who has not checked in by then is gone.",
    ),
    key(
        "late_window",
        "duration, up to 24 h",
        "\"10 min\"",
        "Who comes back within this time after their turn is called next; who comes later joins at the back.",
    ),
    key(
        "ends_on",
        "list of { route, status }",
        "[]",
        "Answers of the shop that end the session of the request they answer. Name the receipt page, not the return.",
    ),
    key(
        "end_grace",
        "duration",
        "\"30s\"",
        "How long after such an answer the session really ends.",
    ),
    optional(
        "outage_extension",
        "duration",
        "one `session_duration`",
        "How long those inside go on while the gate is cut off from its store; \"0s\": not at all, once it has noticed, \
         which takes some seconds.",
    ),
    key(
        "on_outage",
        "\"wait\" or \"open\"",
        "\"wait\"",
        "What becomes of newcomers while the gate is cut off from its store. wait: they get the page, and are numbered when \
         it is back, those of each gate in order of arrival. open: in mode auto everybody is forwarded, without line or capacity, \
         and counted.",
    ),
    key(
        "waiting_status",
        "200, 202, 429 or 503",
        "200",
        "The status of the waiting page.",
    ),
    key(
        "same_site",
        "\"lax\", \"strict\" or \"none\"",
        "\"lax\"",
        "The cookies' SameSite; \"none\" needs TLS. With \"strict\", browsers hold a visitor's place back when a link of another site \
         leads here: the visitor, or a newcomer, is shown a page that goes on by itself after a second. A browser that sends no \
         Sec-Fetch-Site (any without TLS, Safari before 16.4) loses its place by such a link.",
    ),
    optional(
        "cookie_domain",
        "domain",
        "the host of the request only",
        "Shares the room's cookies with all hosts below this domain. Each of these can replace a visitor's cookies, so trust them all.",
    ),
    optional(
        "message",
        "text of up to 1000 bytes",
        "no message",
        "Shown to everybody waiting; can be changed live.",
    ),
    key(
        "bypass_networks",
        "networks",
        "[]",
        "Clients who never wait and take no slot, such as a monitor. Take care with addresses that others can come from.",
    ),
    key(
        "bypass_codes",
        "number, 0 to 1000",
        "0",
        "How many whom [codes](../guides/codes.md) let past each line may be called or inside at once, above `total_active_users`: the shop must be \
         able to bear both. 0: no such codes are taken.",
    ),
    optional(
        "pass_networks",
        "number, 2 to 16",
        "any number of networks",
        "From so many networks a pass may be used at one gate; from another one it is refused, and the others go on. A phone on its way has \
         several: 8 leaves room for people. See [bots](../guides/bots.md).",
    ),
    key(
        "crawler_max",
        "number, 0 to 1000",
        "4",
        "Requests of a verified `[[crawler]]` that are forwarded at once past the line, at each gate, without a place or a slot; \
         further ones, and with 0 all, get 503 with `Retry-After` while there is a line.",
    ),
];

pub(super) const PAGE: Table = Table {
    name: "room.page",
    many: false,
    about: "The room's waiting page.",
    keys: &PAGE_KEYS,
};

const PAGE_KEYS: [Key; 3] = [
    optional(
        "template",
        "path of a file",
        "the built-in page",
        "A template of your own; `ropeline page --preview FOLDER --template FILE` shows it.",
    ),
    key(
        "refresh",
        "true or false",
        "true",
        "Without JavaScript the page reloads by itself; false leaves that to a link.",
    ),
    key(
        "languages",
        "language tags",
        "[\"en\", \"ko\"]",
        "The languages offered; the first is for browsers that ask for none of them.",
    ),
];

pub(super) const IDENTITY: Table = Table {
    name: "room.identity",
    many: false,
    about: "Who an account is: an account has one place in a line, in whichever browser. Without `from` the room knows no \
            accounts. See [accounts.md](../guides/accounts.md).",
    keys: &IDENTITY_KEYS,
};

const IDENTITY_KEYS: [Key; 12] = [
    optional(
        "from",
        "\"header\", \"cookie\", \"jwt\" or \"field\"",
        "no accounts",
        "What names the account: a header that a trusted proxy sets, a cookie's value, a claim of a signed token, or a field \
         of one form or JSON object.",
    ),
    optional(
        "name",
        "text",
        "for `jwt` the header `Authorization: Bearer`",
        "The header's, the cookie's or the field's name; for `jwt` the cookie that holds the token.",
    ),
    optional(
        "on",
        "\"POST\" and a path",
        "only for `field`, which needs it",
        "The request whose body has the field, such as `\"POST /enter\"`; up to 16 KiB of it are read.",
    ),
    optional(
        "key_file",
        "path of a PEM file",
        "only for `jwt`, which needs it",
        "The public keys that tokens are verified with, 1 to 4 of them; each is tried.",
    ),
    optional(
        "algorithm",
        "\"EdDSA\" or \"RS256\"",
        "only for `jwt`, which needs it",
        "The only algorithm that is taken, whatever a token says.",
    ),
    optional("claim", "text", "`\"sub\"`", "The claim that names the account."),
    optional("issuer", "text", "any", "What `iss` must be."),
    optional(
        "audience",
        "text",
        "only tokens without one",
        "What `aud` must be, or hold.",
    ),
    optional(
        "leeway",
        "duration, up to 5min",
        "`\"0s\"`",
        "How far the clocks of issuer and gate may be apart.",
    ),
    optional(
        "lane_claim",
        "text",
        "no lane by claim",
        "Only for `jwt`: the claim of the same token that says which lane its account stands in, by the lanes' `claims`.",
    ),
    optional(
        "missing",
        "\"join\" or \"refuse\"",
        "`\"join\"`",
        "A visitor without an account joins without one, or must sign in first. An account's ticket or pass lets in only with the account.",
    ),
    optional(
        "sign_in",
        "path",
        "no link",
        "Where the page that tells to sign in leads. It and the form on it must be reachable without a place: both in `except` (`\"/login\"` is \
         for reads, `\"POST /login\"` for the form, `\"/login?*\"` where it is asked for with a query), or outside every room.",
    ),
];

pub(super) const LANE: Table = Table {
    name: "room.lane",
    many: true,
    about: "Classes of visitors with an order of their own, one to eight; whoever stands in one stays in it. One of them has \
            neither networks nor claims nor codes: it is for everybody else. Without any, there is one. See docs/guides/lanes.md.",
    keys: &LANE_KEYS,
};

const LANE_KEYS: [Key; 5] = [
    key(
        "name",
        "1 to 32 of a-z, 0-9 and \"-\"",
        "\"main\"",
        "The lane's name. A lane of another name is another lane: the one before goes on until its visitors are gone.",
    ),
    key(
        "weight",
        "number, 1 to 1000",
        "1",
        "Its share of the calls against the other lanes' weights, while all have visitors.",
    ),
    key("networks", "networks", "[]", "Clients who stand in it."),
    key(
        "claims",
        "texts, up to 16",
        "[]",
        "Accounts stand in it whose token has one of these as its `lane_claim`, byte for byte.",
    ),
    key("code", "true or false", "false", "Whether codes lead to it."),
];

//! Keys of a room.

use super::form::{DAY, Form, HOST, MINUTE, NAME, NETWORK, ROUTE};
use super::key::{Table, duration, key, list, number, text, words};
use crate::calendar::FORMS;
use crate::room::{MAX_BYPASS, MAX_STOCK};

pub(super) const ROOM: Table = Table {
    name: "room",
    many: true,
    about: "Routes that are protected together, and their line. Where several rooms take a request, the first one in \
            the file has it. Without any, one room with these values stands over the whole site.",
    keys: &[
        key("name", NAME)
            .or("shop")
            .about("Stands in cookies, in metrics and in the admin API."),
        list("hosts", &HOST)
            .or("[]")
            .about("The hosts it is for, such as `\"shop.example\"` or `\"*.shop.example\"`, with the port unless it \
                    is 80 or 443; with none, every host."),
        list("routes", &ROUTE)
            .or("[\"/*\"]")
            .about("What is protected, in any letter case."),
        list("except", &EXCEPTION)
            .or("[]")
            .about("What is left outside, compared exactly. An entry without a method takes GET and HEAD without a \
                    body, with no query but the names `v`, `ver`, `version`, `t`, `h` and `hash`, or with any query if \
                    it ends in `?*`; one that names a method takes everything by it, as a payment provider's callback \
                    needs. A WebSocket passes by an entry that names its method alone. A later room that takes such a \
                    path has the request."),
        list("return_routes", &ROUTE)
            .or("[]")
            .about("Where a payment provider sends the visitor back: forwarded without a pass, under a limit and a \
                    body cap, since the browser may hold the cookies back there."),
        text("per", "\"{id}\" for the variable of a route such as \"/event/{id}/*\", or \"?id\" for a query parameter")
            .unset("one line for all")
            .about("One line for each value of a path variable that all its routes have, or of a query parameter."),
        list("allow", &LINE)
            .or("[]")
            .about("With `per`, the only values there are: anything else is 404. Name them where you can; `\"{uuid}\"` \
                    stands for any UUID. With none, a value led by a digit or a sign must be a whole number, and letter \
                    case makes no difference."),
        number("max_lines", 1..=100_000)
            .or("1000")
            .about("With `per`, most lines at once; beyond it the answer is 503."),
        words("mode", &["auto", "hold", "closed", "off"])
            .or("auto")
            .about("auto: people wait only when the room is full. hold: everybody new waits and nobody is called. \
                    closed: nobody joins. off: no line, measures only."),
        number("total_active_users", 1..=10_000_000)
            .or("100")
            .about("How many visitors the shop can serve at once: called and inside together are never more."),
        text("prequeue_from", FORMS)
            .unset("no prequeue")
            .about("From when on visitors join the line before the opening; nobody is called yet. Each prequeue begins \
                    a new sale: who waited in the last one joins anew, and its sessions run out. Before it, visitors \
                    see a countdown."),
        text("opens_at", FORMS)
            .unset("open at once")
            .about("From when on visitors are called, in the order in which they joined. Once: \
                    `2026-12-01T13:00:00+09:00`, or `2026-12-01 13:00 Asia/Seoul`. Again and again: `daily 13:00 \
                    Asia/Seoul`, or `weekly mon,thu 13:00 Asia/Seoul`. See docs/guides/schedule.md."),
        text("closes_at", FORMS)
            .unset("open until the next prequeue or opening")
            .about("From when on nobody joins and nobody is called; those inside go on."),
        text("results_at", FORMS)
            .unset("with the end of the sale")
            .about("From when on it is told who has bought a piece of the `stock` and who has not; before that nobody \
                    is told either."),
        number("stock", 1..=MAX_STOCK)
            .unset("nothing is counted")
            .about("Pieces that there are, in each line: nobody is called beyond them, and when all are sold everybody \
                    is told so. See docs/guides/stock.md."),
        list("completes_on", &ANSWER)
            .or("[]")
            .about("Answers of the shop that say that the visitor has bought a piece: counted against `stock`, and the \
                    session ends as by `ends_on`. Name the answer that places the order, or the receipt page: see \
                    docs/guides/stock.md."),
        words("queueing_method", &["fifo", "random"])
            .or("fifo")
            .about("How those are called who have joined in the prequeue: in the order in which they joined, or in one \
                    that is drawn at the opening and that anyone can check. Whoever joins later stands behind. See \
                    docs/reference/draw.md."),
        text("draw_beacon", "which public value, such as \"drand quicknet round 22000000, randomness\"")
            .unset("none: the draw proves no later change, not impartiality")
            .about("Names a public value that is known only after the opening, and that decides a draw together with \
                    the gates' secret. Nobody is called until an operator gives the value."),
        number("new_users_per_minute", 1..=10_000_000)
            .unset("no limit but the capacity")
            .about("Most visitors called per minute."),
        duration("call_every", 250..=10 * MINUTE)
            .or("1s")
            .about("The step in which `new_users_per_minute` is given out: `\"10s\"` lets a sixth of it in every ten \
                    seconds. The steps follow the clock, so any one minute may have one step's share more."),
        duration("session_duration", 0..=DAY)
            .or("5 min")
            .about("How long a visitor inside may be idle; each request in the room begins it anew, the first that is \
                    forwarded included, but none that `except` leaves outside. A request within a tenth of it after \
                    another is not recorded, so a slot is held for up to a tenth longer."),
        duration("session_max", 0..=7 * DAY)
            .or("2 h")
            .about("The longest a session can last, however busy."),
        duration("claim_deadline", 0..=DAY)
            .or("90s")
            .about("How long a visitor whose turn it is has to send the shop a request. Whose request was forwarded is \
                    inside."),
        duration("grace", 0..=DAY)
            .or("4 min")
            .about("How long somebody waiting may be away, at most, and still count as present; at least half of it is \
                    sure."),
        duration("firm_within", 0..=DAY)
            .or("20s")
            .about("Who has just joined counts as present for this long; who has not checked in by then is gone."),
        duration("late_window", 0..=DAY)
            .or("10 min")
            .about("Who comes back within this time after their turn is called next; who comes later joins at the \
                    back."),
        list("ends_on", &ANSWER)
            .or("[]")
            .about("Answers of the shop that end the session of the request they answer. Name the receipt page, not \
                    the return."),
        duration("end_grace", 0..=DAY)
            .or("30s")
            .about("How long after such an answer the session really ends."),
        duration("outage_extension", 0..=7 * DAY)
            .unset("one `session_duration`")
            .about("How long those inside go on while the gate is cut off from its store; \"0s\": not at all, once it \
                    has noticed, which takes some seconds."),
        words("on_outage", &["wait", "open"])
            .or("wait")
            .about("What becomes of newcomers while the gate is cut off from its store. wait: they get the page, and \
                    are numbered when it is back, those of each gate in order of arrival. open: in mode auto everybody \
                    is forwarded, without line or capacity, and counted."),
        key("waiting_status", Form::Numbers(&[200, 202, 429, 503]))
            .or("200")
            .about("The status of the waiting page."),
        words("same_site", &["lax", "strict", "none"])
            .or("lax")
            .about("The cookies' SameSite; \"none\" needs TLS. With \"strict\", browsers hold a visitor's place back \
                    when a link of another site leads here: the visitor, or a newcomer, is shown a page that goes on by \
                    itself after a second. A browser that sends no Sec-Fetch-Site (any without TLS, Safari before 16.4) \
                    loses its place by such a link."),
        text("cookie_domain", "a domain with a dot in it, such as \"shop.example\", without \"*\" or port")
            .unset("the host of the request only")
            .about("Shares the room's cookies with all hosts below this domain. Each of these can replace a visitor's \
                    cookies, so trust them all."),
        text("message", "a text of at most 1000 bytes without control characters")
            .unset("no message")
            .about("Shown to everybody waiting; can be changed live."),
        list("bypass_networks", &NETWORK)
            .or("[]")
            .about("Clients who never wait and take no slot, such as a monitor. Take care with addresses that others \
                    can come from."),
        number("bypass_codes", 0..=MAX_BYPASS)
            .or("0")
            .about("How many whom docs/guides/codes.md let past each line may be called or inside at once, \
                    above `total_active_users`: the shop must be able to bear both. 0: no such codes are taken."),
        number("pass_networks", 2..=16)
            .unset("any number of networks")
            .about("From so many networks a pass may be used at one gate; from another one it is refused, and the \
                    others go on. A phone on its way has several: 8 leaves room for people. See \
                    docs/guides/bots.md."),
        number("crawler_max", 0..=1_000)
            .or("4")
            .about("Requests of a verified `[[crawler]]` that are forwarded at once past the line, at each gate, \
                    without a place or a slot; further ones, and with 0 all, get 503 with `Retry-After` while there is \
                    a line."),
    ],
};

const EXCEPTION: Form = Form::Text("an exception such as \"/static/*\" or \"POST /payment/callback\"");

const LINE: Form = Form::Text("1 to 64 bytes without control characters, as they stand in the path after decoding");

const ANSWER: Form = Form::Fields(
    &[("route", ROUTE), ("status", Form::Number(200, 599))],
    "{ route = \"/order/complete\", status = 200 }",
);

//! Keys of a room.

use super::form::{DAY, Form, HOST, MINUTE, NAME, NETWORK, ROUTE, SECOND};
use super::key::{Brackets, Table, duration, key, list, number, text, words};
use crate::calendar::FORMS;
use crate::draw::{ARRIVAL, METHODS};
use crate::room::{MAX_BYPASS, MAX_STOCK};

pub(super) const ROOM: Table = Table {
    name: "room",
    brackets: Brackets::Two,
    about: "Routes that are protected together, and their line. If several rooms match a request, the first one in \
        the file gets it. Without any `[[room]]`, one room with these values protects the whole site.",
    keys: &[
        key("name", NAME)
            .or("main")
            .about("Name of the room in cookies, in metrics and in the admin API."),
        key("upstream", NAME)
            .unset("the only upstream")
            .about("Name of the upstream that the room is in front of. With several upstreams it must be set."),
        list("hosts", &HOST).or("[]").about(
            "Hosts of the room, such as `\"shop.example\"` or `\"*.shop.example\"`, with the port unless it is 80 or \
                443. An empty list: every host of its upstream.",
        ),
        list("routes", &ROUTE)
            .or("[\"/*\"]")
            .about("Protected routes. Letter case does not matter."),
        list("except", &EXCEPTION).or("[]").about(
            "Paths that the room does not protect. Unlike `routes`, they match exactly: `/payment` matches neither \
                `/Payment` nor `/payment/`. `/payment/*` matches `/payment` and `/payment/`. An entry without a \
                method matches GET and HEAD without a body. The query of such a request may hold only `v`, `ver`, \
                `version`, `t`, `h` and `hash`; an entry that ends in `?*` matches any query. An entry with a \
                method matches every request by that method, as a payment provider's callback needs. A WebSocket is \
                let through only by an entry with a method, as in `GET /socket`. If a later room protects such a \
                path, that room gets the request.",
        ),
        list("return_routes", &ROUTE).or("[]").about(
            "Routes to which a payment provider sends the visitor back. Requests there are forwarded even without a \
                pass (the admission cookie), since some browsers do not send it. `returns` and `return_body` in \
                `[limits]` bound them.",
        ),
        text(
            "per",
            "\"{id}\" for the variable of a route such as \"/event/{id}/*\", or \"?id\" for a query parameter",
        )
        .unset("one line for all")
        .about("One line for each value of a path variable that all routes have (`\"{id}\"`), or of a query \
            parameter (`\"?id\"`)."),
        list("allow", &LINE).or("[]").about(
            "With `per`, the only values that name a line; a request with any other value gets 404. List the values \
                if you know them; `\"{uuid}\"` stands for any UUID. Without a list, letter case does not matter, \
                and a value that begins with a digit or sign must be a whole number.",
        ),
        number("max_lines", 1..=100_000)
            .or("1000")
            .about("With `per`, maximum number of lines at once. A further one gets 503."),
        words("mode", &["auto", "hold", "closed", "off"]).or("auto").about(
            "`auto`: visitors wait only while the room is full. `hold`: new visitors wait and nobody is called. \
                 `closed`: nobody joins. `off`: there is no line, and requests are only measured.",
        ),
        number("total_active_users", 1..=10_000_000)
            .or("100")
            .about("Maximum number of visitors who are called or inside at once: the number that the upstream can \
                serve."),
        words("slots", &["session", "active"]).or("session").about(
            "Who holds a slot. `session`: each visitor inside, until the session ends. `active`: each visitor whose \
                last request is less than `idle_after` ago. An idle session is then parked: it goes on without a \
                slot, and its next request waits for one, before the whole line. See docs/guides/active-slots.md.",
        ),
        duration("idle_after", 0..=DAY).or("60s").about(
            "With `slots = \"active\"`, idle time after which a session is parked. The gate records use at most once in a \
                quarter of this time, or in a tenth of `session_duration` if that is shorter. A slot is held for up to that and \
                two seconds longer. `session_duration` must be longer than the sum.",
        ),
        number("max_sessions", 1..=30_000_000)
            .unset("three times the capacity in force")
            .about("With `slots = \"active\"`, maximum number of visitors who are called, active or parked: the number of carts \
                and shop sessions that the upstream can hold. At that number the room calls no further visitor."),
        duration("return_wait", 1_000..=MINUTE).or("10s").about(
            "With `slots = \"active\"`, longest time for which a request of a parked session waits for a slot. After it a \
                page says that the visitor comes before the whole line, and tries again. A form is sent again by the browser, and a \
                program gets 503 with `Retry-After`.",
        ),
        list("hold_slot", &HOLD).or("[]").about(
            "With `slots = \"active\"`, requests after which the slot is kept for a time without further requests, such as the step \
                before a payment page on another host. `Ropeline-Session: hold=900` from the upstream does the same, \
                in seconds. At most 16.",
        ),
        list("background", &ROUTE).or("[]").about(
            "With `slots = \"active\"`, routes that pages ask by themselves, such as a cart that is polled. These requests are \
                no use of a session: they keep no slot, and while the session is parked they get 503. A socket there \
                is closed when the session is parked.",
        ),
        text("prequeue_from", FORMS).unset("no prequeue").about(
            "Time from which visitors join the line before the opening. Nobody is called yet. Each prequeue begins \
                a new sale. Visitors who are still waiting for the former sale join anew. Sessions of the former \
                sale run out. Before this time visitors see a countdown.",
        ),
        text("opens_at", FORMS).unset("open at once").about(
            "Time from which visitors are called, in the order in which they joined. Once: \
                 `2026-12-01T13:00:00+09:00`, or `2026-12-01 13:00 Asia/Seoul`. Repeated: `daily 13:00 Asia/Seoul`, \
                 or `weekly mon,thu 13:00 Asia/Seoul`. See docs/guides/schedule.md.",
        ),
        text("closes_at", FORMS)
            .unset("open until the next prequeue or opening")
            .about("Time from which nobody joins and nobody is called. Visitors inside go on."),
        text("results_at", FORMS)
            .unset("buyers are told at once, all others at the end of the sale")
            .about("Time from which visitors are told whether they have bought a piece of the `stock`."),
        number("stock", 1..=MAX_STOCK).unset("nothing is counted").about(
            "Number of pieces for sale, for each line of visitors. No more visitors are called than there are pieces, and \
                the page says when all are sold. See docs/guides/stock.md.",
        ),
        list("completes_on", &ANSWER).or("[]").about(
            "Responses of the upstream to a purchase. Each counts one piece of the `stock` and ends the session as \
                `ends_on` does. Name the response to the order, or the receipt page. See docs/guides/stock.md.",
        ),
        words("queueing_method", &METHODS).or(ARRIVAL).about(
            "Order in which visitors of the prequeue are called. `fifo`: the order of joining. `random`: an order \
                drawn at the opening, which anyone can verify. Visitors who join after the opening stand behind \
                those of the prequeue. See docs/reference/draw.md.",
        ),
        text(
            "draw_beacon",
            "which public value, such as \"drand quicknet round 22000000, randomness\"",
        )
        .unset("no beacon. The draw then proves that nothing was changed afterwards, but not that it was impartial")
        .about(
            "Name of a public random value (a beacon) that becomes known only after the opening. That value and the \
                gates' secret decide the draw. Nobody is called until an operator enters the value.",
        ),
        number("new_users_per_minute", 1..=10_000_000)
            .unset("no limit but the capacity")
            .about("Maximum number of visitors called per minute."),
        duration("call_every", 250..=10 * MINUTE).or("1s").about(
            "Interval at which a share of `new_users_per_minute` is called: `\"10s\"` calls a sixth of it every ten \
                seconds. Intervals need not start on the minute, so one minute may have the calls of one more \
                interval: seven of ten seconds, for example.",
        ),
        duration("session_duration", 0..=DAY).or("5 min").about(
            "Longest idle time of a visitor inside. It starts anew with each forwarded request in the room, but not \
                with requests that match `except`. The gate records a visitor's requests at most once in a tenth of \
                this time, by default every 30 seconds. So a slot may be held for a tenth longer.",
        ),
        duration("session_max", 0..=7 * DAY)
            .or("2 h")
            .about("Longest duration of a session."),
        duration("claim_deadline", 0..=DAY).or("90s").about(
            "Longest time from a call to the visitor's first request. A visitor is inside once a request has been \
                forwarded.",
        ),
        duration("grace", 0..=DAY)
            .or("4 min")
            .about("A waiting visitor who has been away for longer than this counts as absent. A visitor who has \
                been away for up to half of it always counts as present. In between the visitor may count as \
                either, since presence is counted in steps of half of it."),
        duration("firm_within", 0..=DAY).or("20s").about(
            "Time for which a new visitor counts as present before the page has sent its first heartbeat (check-in). \
                A visitor who has not checked in by then counts as absent.",
        ),
        duration("late_window", 0..=DAY).or("10 min").about(
            "Time after a missed turn within which a returning visitor is called next. A visitor who returns later \
                joins at the back.",
        ),
        list("ends_on", &ANSWER).or("[]").about(
            "Responses of the upstream that end the visitor's session. Name the receipt page, not the return from \
                the payment provider.",
        ),
        duration("end_grace", 0..=DAY)
            .or("30s")
            .about(
                "Time from a response of `ends_on` or `completes_on` to the end of the session, in which the visitor can \
                 still load the receipt. The slot is free after it: in a full room each second here is a second for \
                 which the next visitor waits. `Ropeline-Session: end` from the upstream frees the slot at once.",
            ),
        duration("outage_extension", 0..=7 * DAY)
            .unset("one `session_duration`")
            .about(
                "Time for which sessions go on while the gate is cut off from its store. \"0s\": they end once the \
                 gate notices, which takes some seconds.",
            ),
        words("on_outage", &["wait", "open"]).or("wait").about(
            "What new visitors get while the gate is cut off from its store. `wait`: they get the waiting page, and \
                their places when the store is back, in the order of arrival at each gate. `open`: in mode `auto` \
                all are forwarded and counted, without a line and beyond the capacity.",
        ),
        key("waiting_status", Form::Numbers(&[200, 202, 429, 503]))
            .or("200")
            .about("Status of the waiting page."),
        words("same_site", &["lax", "strict", "none"]).or("lax").about(
            "SameSite of the cookies; \"none\" needs TLS. With \"strict\", browsers send no cookies when a visitor \
                follows a link of another site to this one. Such a visitor sees a page that goes on by itself after \
                a second. In a browser without Sec-Fetch-Site (without TLS, or Safari before 16.4) the visitor loses \
                the place.",
        ),
        text(
            "cookie_domain",
            "a domain with a dot in it, such as \"shop.example\", without \"*\" or port",
        )
        .unset("the host of the request only")
        .about(
            "Domain of the room's cookies, which are then shared with all hosts below it. Each of these hosts \
                 can replace a visitor's cookies, so all must be trusted.",
        ),
        key(
            "message",
            Form::ByLanguage("a text of at most 1000 bytes without control characters"),
        )
        .unset("no message")
        .about("Message to all waiting visitors. It can be changed live."),
        list("bypass_networks", &NETWORK).or("[]").about(
            "Clients that never wait and take no slot, such as a monitor. Do not list addresses that visitors \
                 share.",
        ),
        number("bypass_codes", 0..=MAX_BYPASS).or("0").about(
            "Maximum number of visitors with bypass codes who are called or inside at once in each line. They come \
                on top of `total_active_users`. The upstream must be able to serve `total_active_users` + \
                `bypass_codes` visitors. 0: no bypass codes are accepted. See docs/guides/codes.md.",
        ),
        number("pass_networks", 2..=16).unset("any number of networks").about(
            "Maximum number of networks from which one pass may be used at one gate. From any further network the \
                pass is refused. A phone on the move has several: 8 leaves room. See docs/guides/bots.md.",
        ),
        number("crawler_max", 0..=1_000).or("4").about(
            "Maximum number of requests of verified crawlers that are forwarded past the line at once, at each gate, \
                without a place or a slot. While there is a line, further ones get 503 with `Retry-After`; with 0, \
                all do.",
        ),
    ],
};

const EXCEPTION: Form = Form::Text("an exception such as \"/static/*\" or \"POST /payment/callback\"");

const LINE: Form = Form::Text("1 to 64 bytes without control characters, as they stand in the path after decoding");

const HOLD: Form = Form::Fields(
    &[("route", ROUTE), ("for", Form::Duration(SECOND, DAY))],
    "{ route = \"POST /checkout\", for = \"15 min\" }",
);

const ANSWER: Form = Form::Fields(
    &[("route", ROUTE), ("status", Form::Number(200, 599))],
    "{ route = \"/order/complete\", status = 200 }",
);

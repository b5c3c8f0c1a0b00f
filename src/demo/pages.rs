//! The pages of the shop and of the provider. Designed for phones first, and usable without JavaScript.

use std::fmt::Write as _;

use super::hall::{MAX_BASKET, Order, ROW, Seat, label, price};
use super::provider::Demand;

pub(super) fn start(basket: &[usize]) -> String {
    let body = r#"<section class="hero"><p class="eyebrow">One night only</p><h1>The Lantern Quartet</h1>
<p>An evening of strings by candlelight. 120 seats, and everybody wants one.</p>
<p><a class="button" href="/seats">Choose your seats</a></p></section>
<h2>Try everything</h2><ul class="cards">
<li><a href="/seats">Seat map</a><span>live, as an event stream</span></li>
<li><a href="/basket">Basket and checkout</a><span>pays on another site, which sends you back by POST</span></li>
<li><a href="/upload">Upload</a><span>streamed, of any size, not kept</span></li>
<li><a href="/slow?ms=3000">A slow page</a><span>answers after three seconds</span></li>
<li><a href="/ticker">Ticker</a><span>a WebSocket</span></li>
<li><a href="/api/stock">Stock</a><span>JSON for apps</span></li>
<li><a href="/echo">Echo</a><span>the request as this shop received it</span></li></ul>"#;
    page("Lantern Hall", basket, body)
}

pub(super) fn seats(seats: &[Seat], basket: &[usize]) -> String {
    let mut body = String::from(
        "<h1>Choose your seats</h1><p class=\"legend\"><i class=\"seat\"></i> free <i class=\"seat mine\"></i> yours \
         <i class=\"seat h\"></i> held <i class=\"seat s\"></i> sold</p><p class=\"stage\">Stage</p><div class=\"hall\">",
    );
    for (number, seat) in (1..).zip(seats) {
        let (class, says) = match seat {
            _ if basket.contains(&number) => ("mine", "yours"),
            Seat::Free => ("f", "free"),
            Seat::Held { .. } => ("h", "held"),
            Seat::Sold { .. } => ("s", "sold"),
        };
        let label = label(number);
        let price = price(number);
        // Writing to a string cannot fail.
        let _ = write!(
            body,
            "<form method=\"post\" action=\"/seats/{number}\" id=\"s{number}\"><button class=\"seat {class}\" \
             aria-label=\"Seat {label}, {price} euros, {says}\">{label}</button></form>"
        );
    }
    let _ = write!(
        body,
        "</div><p class=\"note\">Rows A to C cost €60, the others €40; up to {MAX_BASKET} seats, held for ten minutes. \
         <span id=\"live\" role=\"status\"></span></p><p><a class=\"button\" href=\"/basket\">To the basket</a></p>{SEATS_SCRIPT}"
    );
    page("Seats", basket, &body)
}

pub(super) fn basket(basket: &[usize]) -> String {
    if basket.is_empty() {
        let body = "<h1>Your basket is empty</h1><p><a class=\"button\" href=\"/seats\">Choose your seats</a></p>";
        return page("Basket", basket, body);
    }
    let body = format!(
        "<h1>Your basket</h1>{}<p><a class=\"button\" href=\"/checkout\">Check out</a></p>\
         <form method=\"post\" action=\"/basket/clear\"><button class=\"quiet\">Put everything back</button></form>",
        bill(basket)
    );
    page("Basket", basket, &body)
}

pub(super) fn checkout(basket: &[usize]) -> String {
    if basket.is_empty() {
        return self::basket(basket);
    }
    let body = format!(
        "<h1>Check out</h1>{}<form method=\"post\" action=\"/checkout\"><button class=\"button\">Pay at the provider\
         </button></form><p class=\"note\">You are sent to a payment page on another site, and back.</p>",
        bill(basket)
    );
    page("Check out", basket, &body)
}

pub(super) fn receipt(order: &Order) -> String {
    let body = format!(
        "<h1>Thank you</h1><p>Order <code id=\"order\">{}</code> is paid. See you at the concert.</p>{}\
         <p><a href=\"/\">Back to the start</a></p>",
        escape(&order.id),
        bill(&order.seats)
    );
    page("Order complete", &[], &body)
}

/// `received` is shown after an upload.
pub(super) fn upload(basket: &[usize], received: Option<u64>) -> String {
    let done = received.map_or_else(String::new, |bytes| {
        format!("<p role=\"status\">{bytes} bytes received.</p>")
    });
    let body = format!(
        "<h1>Upload</h1>{done}<p>A photo for the wall of the foyer. It is streamed, counted and forgotten.</p>\
         <form method=\"post\" enctype=\"multipart/form-data\" action=\"/upload\"><p><label>File \
         <input type=\"file\" name=\"file\"></label></p><button class=\"button\">Send</button></form>"
    );
    page("Upload", basket, &body)
}

pub(super) fn slow(basket: &[usize], waited_ms: u64) -> String {
    let body = format!(
        "<h1>A slow page</h1><p>This page took {waited_ms} ms to make.</p><p><a href=\"/slow?ms=10000\">Ten seconds</a></p>"
    );
    page("A slow page", basket, &body)
}

pub(super) fn ticker(basket: &[usize]) -> String {
    page("Ticker", basket, TICKER)
}

pub(super) fn message(title: &str, text: &str) -> String {
    let body = format!("<h1>{title}</h1><p>{text}</p><p><a href=\"/seats\">To the seats</a></p>");
    page(title, &[], &body)
}

/// The provider's page; `query` is the query that the shop signed.
pub(super) fn pay(demand: &Demand, query: &str) -> String {
    let body = format!(
        "<h1>Pay €{amount}</h1><p>Lantern Hall asks for €{amount} for order <code>{order}</code>.</p>\
         <form method=\"post\" action=\"/pay?{query}\"><button class=\"button\" name=\"pay\" value=\"yes\">Pay now</button> \
         <button class=\"quiet\" name=\"pay\" value=\"no\">Cancel</button></form>\
         <p class=\"note\">No money moves. This is the demo's payment provider, on a site of its own.</p>",
        amount = escape(&demand.amount),
        order = escape(&demand.order),
        query = escape(query),
    );
    provider_page("Payment", &body)
}

/// Posts the outcome to the shop by itself, or by the button where there is no JavaScript.
pub(super) fn send_back(demand: &Demand, outcome: &str, sign: &str) -> String {
    let body = format!(
        "<h1>Back to the shop</h1><form method=\"post\" action=\"{return_to}\"><input type=\"hidden\" name=\"order\" \
         value=\"{order}\"><input type=\"hidden\" name=\"outcome\" value=\"{outcome}\"><input type=\"hidden\" name=\"sign\" \
         value=\"{sign}\"><button class=\"button\">Continue</button></form><script>document.forms[0].submit()</script>",
        return_to = escape(&demand.return_to),
        order = escape(&demand.order),
    );
    provider_page("Back to the shop", &body)
}

fn bill(seats: &[usize]) -> String {
    let mut rows = String::new();
    for number in seats {
        // Writing to a string cannot fail.
        let _ = write!(
            rows,
            "<tr><td>Seat {}</td><td>€{}</td></tr>",
            label(*number),
            price(*number)
        );
    }
    let total: u64 = seats.iter().map(|number| price(*number)).sum();
    format!("<table>{rows}<tfoot><tr><th>Total</th><th>€{total}</th></tr></tfoot></table>")
}

fn page(title: &str, basket: &[usize], body: &str) -> String {
    let count = basket.len();
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{title}</title><link rel=\"stylesheet\" \
         href=\"/static/style.css\"></head><body><header><a class=\"brand\" href=\"/\">Lantern Hall</a><nav>\
         <a href=\"/seats\">Seats</a> <a href=\"/basket\">Basket ({count})</a></nav></header><main>{body}</main>\
         <footer>A demo shop. Nothing here is for sale.</footer></body></html>"
    )
}

/// The provider has no stylesheet of the shop's: it is another company.
fn provider_page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{title}</title><style>:root{{color-scheme:light dark}}\
         body{{font:1.05rem/1.5 system-ui,sans-serif;max-width:26rem;margin:3rem auto;padding:0 1rem}}\
         button{{font:inherit;padding:.7rem 1.2rem;min-height:44px}}code{{overflow-wrap:anywhere}}</style></head>\
         <body>{body}</body></html>"
    )
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Repaints other customers' seats as they change; one's own stay as in the page.
const SEATS_SCRIPT: &str = r#"<script>
const seats = document.querySelectorAll(".hall .seat"), live = document.getElementById("live");
const says = {f: "free", h: "held", s: "sold"};
new EventSource("/seats/events").addEventListener("seats", event => {
  const {chart, free} = JSON.parse(event.data);
  seats.forEach((seat, at) => {
    if (seat.classList.contains("mine")) return;
    seat.className = "seat " + chart[at];
    seat.ariaLabel = seat.ariaLabel.replace(/[a-z]+$/, says[chart[at]]);
  });
  live.textContent = free + " seats are free.";
});
</script>"#;

const TICKER: &str = r#"<h1>Ticker</h1><p>Seats free, once a second, over a WebSocket.</p>
<p class="figure" id="free">…</p><p class="note" id="state" role="status">connecting</p>
<noscript><p>The ticker needs JavaScript.</p></noscript>
<script>
const free = document.getElementById("free"), state = document.getElementById("state");
const socket = new WebSocket(location.origin.replace(/^http/, "ws") + "/ticker");
socket.onopen = () => state.textContent = "connected";
socket.onclose = () => state.textContent = "closed";
socket.onmessage = message => free.textContent = JSON.parse(message.data).free;
</script>"#;

/// Keeps the hall's grid and the stylesheet's in step.
const _: () = assert!(ROW == 12, "style.css has twelve columns");

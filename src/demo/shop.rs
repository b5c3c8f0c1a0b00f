//! The shop: which request gets which answer.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{COOKIE, HOST, HeaderMap, HeaderValue, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::answer::{Body, HTML, JSON, TEXT, count_body, see_other, small_body, wants_json, whole, with, wrong_method};
use super::hall::{Hall, Order, Refusal, Seat};
use super::provider::{Demand, PAID};
use super::seal::Seal;
use super::{form, live, pages};

pub(super) struct Shop {
    hall: Mutex<Hall>,
    /// Counts the hall's changes.
    revision: watch::Sender<u64>,
    seal: Arc<Seal>,
    provider_port: u16,
    tickers: Arc<Semaphore>,
    stop: CancellationToken,
}

impl Shop {
    pub(super) fn new(provider_port: u16, seal: Arc<Seal>, stop: CancellationToken) -> Self {
        let tickers = Arc::new(Semaphore::new(MAX_TICKERS));
        let (revision, _) = watch::channel(0);
        Self {
            hall: Mutex::new(Hall::new()),
            revision,
            seal,
            provider_port,
            tickers,
            stop,
        }
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    pub(super) fn stopped(&self) -> impl Future<Output = ()> {
        self.stop.cancelled()
    }

    pub(super) fn ticker_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.tickers).try_acquire_owned().ok()
    }

    pub(super) fn let_holds_run_out(&self) {
        let changed = self.hall().let_holds_run_out(Instant::now());
        if changed {
            self.say_changed();
        }
    }

    /// `f`, `h` or `s` for every seat, and how many of each.
    pub(super) fn stock_json(&self) -> String {
        let chart: String = self.hall().seats().iter().map(letter).collect();
        let [free, held, sold] = ["f", "h", "s"].map(|letter| chart.matches(letter).count());
        format!(r#"{{"free":{free},"held":{held},"sold":{sold},"chart":"{chart}"}}"#)
    }

    /// Changes the hall and tells every stream.
    fn change<T>(&self, change: impl FnOnce(&mut Hall, Instant) -> T) -> T {
        let outcome = change(&mut self.hall(), Instant::now());
        self.say_changed();
        outcome
    }

    fn say_changed(&self) {
        self.revision.send_modify(|revision| *revision += 1);
    }

    fn hall(&self) -> MutexGuard<'_, Hall> {
        self.hall.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way of every request through the shop.
pub(super) async fn answer(shop: Arc<Shop>, request: Request<Incoming>) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let reads = matches!(method, Method::GET | Method::HEAD);
    match path.as_str() {
        "/echo" => echo(request).await,
        "/checkout/return" | "/webhook" | "/basket/clear" if method != Method::POST => wrong_method("POST"),
        "/checkout/return" => payment_returned(&shop, request).await,
        "/webhook" => webhook(request).await,
        "/basket/clear" => clear_basket(&shop, request.headers()),
        "/checkout" if method == Method::POST => order(&shop, request.headers()),
        "/upload" if method == Method::POST => upload(request).await,
        "/upload" | "/checkout" if !reads => wrong_method("GET, HEAD, POST"),
        "/seats/events" if method == Method::GET => live::seat_stream(shop),
        "/ticker" if method == Method::GET && live::asks_for_socket(request.headers()) => live::ticker(shop, request),
        other => match other.strip_prefix("/seats/") {
            Some(seat) if method == Method::POST => toggle_seat(&shop, seat, request.headers()),
            Some(_) => wrong_method("POST"),
            None if reads => page(&shop, &path, &request).await,
            None => wrong_method("GET, HEAD"),
        },
    }
}

/// The pages, which are only read.
async fn page(shop: &Shop, path: &str, request: &Request<Incoming>) -> Response<Body> {
    let customer = customer(request.headers()).unwrap_or_default();
    let query = request.uri().query().unwrap_or_default();
    let basket = shop.hall().basket(customer);
    let html = match path {
        "/" => pages::start(&basket),
        "/seats" => pages::seats(shop.hall().seats(), &basket),
        "/basket" => pages::basket(&basket),
        "/checkout" => pages::checkout(&basket),
        "/upload" => pages::upload(&basket, None),
        "/ticker" => pages::ticker(&basket),
        "/slow" => pages::slow(&basket, wait(query).await),
        "/checkout/complete" => return receipt(shop, query),
        "/api/stock" => return whole(StatusCode::OK, JSON, shop.stock_json()),
        "/static/style.css" => return stylesheet(),
        _ => {
            return whole(
                StatusCode::NOT_FOUND,
                HTML,
                pages::message("Not found", "There is no such page here."),
            );
        }
    };
    whole(StatusCode::OK, HTML, html)
}

fn toggle_seat(shop: &Shop, seat: &str, headers: &HeaderMap) -> Response<Body> {
    let known = customer(headers).map(str::to_owned);
    let (customer, is_new) = known.map_or_else(|| (shop.seal.draw(), true), |known| (known, false));
    let number = seat.parse().unwrap_or(0);
    let outcome = shop.change(|hall, now| hall.toggle(number, &customer, now));
    let response = match outcome {
        Err(refusal) => refused(refusal, headers),
        Ok(()) if wants_json(headers) => whole(StatusCode::OK, JSON, shop.stock_json()),
        Ok(()) => see_other(&format!("/seats#s{number}")),
    };
    let cookie = format!("{COOKIE_NAME}={customer}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400");
    match HeaderValue::from_str(&cookie) {
        Ok(cookie) if is_new => with(response, SET_COOKIE, cookie),
        _ => response,
    }
}

fn clear_basket(shop: &Shop, headers: &HeaderMap) -> Response<Body> {
    if let Some(customer) = customer(headers) {
        shop.change(|hall, _| hall.clear(customer));
    }
    see_other("/basket")
}

/// Makes the order and sends the customer to the provider.
fn order(shop: &Shop, headers: &HeaderMap) -> Response<Body> {
    let customer = customer(headers).unwrap_or_default();
    let id = shop.seal.draw();
    let Some(amount) = shop.change(|hall, now| hall.order(customer, id.clone(), now).map(Order::total)) else {
        return see_other("/basket");
    };
    let host = headers
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or("localhost");
    let secure = headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
    let scheme = if secure { "https" } else { "http" };
    let return_to = format!("{scheme}://{host}/checkout/return");
    let demand = Demand {
        order: id,
        amount: amount.to_string(),
        return_to,
    };
    // Sites are distinguished by host, not by port: the provider must be on the other name of this machine.
    let provider = if host.starts_with("localhost") {
        "127.0.0.1"
    } else {
        "localhost"
    };
    see_other(&format!(
        "http://{provider}:{}/pay?{}",
        shop.provider_port,
        demand.query(&shop.seal)
    ))
}

/// The provider's page has posted the visitor back: nothing but the signed form says who this is.
async fn payment_returned(shop: &Shop, request: Request<Incoming>) -> Response<Body> {
    let headers = request.headers().clone();
    let Some(body) = small_body(request.into_body()).await else {
        return too_large();
    };
    let body = String::from_utf8_lossy(&body);
    let [id, outcome, sign] = ["order", "outcome", "sign"].map(|name| form::value(&body, name).unwrap_or_default());
    if !shop.seal.is_signed(&["outcome", &id, &outcome], &sign) {
        let text = "This payment was not confirmed by the provider. Nothing was charged.";
        return whole(
            StatusCode::BAD_REQUEST,
            HTML,
            pages::message("Payment not confirmed", text),
        );
    }
    if outcome != PAID {
        return see_other("/basket");
    }
    match shop.change(|hall, now| hall.pay(&id, now)) {
        Ok(()) => see_other(&format!("/checkout/complete?order={id}")),
        Err(refusal) => refused(refusal, &headers),
    }
}

fn receipt(shop: &Shop, query: &str) -> Response<Body> {
    let id = form::value(query, "order").unwrap_or_default();
    let page = shop.hall().paid_order(&id).map(pages::receipt);
    page.map_or_else(
        || {
            let text = "It is not known here, or it has not been paid.";
            whole(StatusCode::NOT_FOUND, HTML, pages::message("No such order", text))
        },
        |page| whole(StatusCode::OK, HTML, page),
    )
}

fn refused(refusal: Refusal, headers: &HeaderMap) -> Response<Body> {
    let (status, reason) = match refusal {
        Refusal::NoSuchSeat => (StatusCode::NOT_FOUND, "There is no such seat."),
        Refusal::Taken => (StatusCode::CONFLICT, "Somebody else has just taken this seat."),
        Refusal::BasketFull => (StatusCode::CONFLICT, "Your basket is full."),
        Refusal::NoSuchOrder => (StatusCode::NOT_FOUND, "This order is not known here."),
        Refusal::SeatsGone => (
            StatusCode::CONFLICT,
            "The seats were held for ten minutes and are gone. Nothing was charged.",
        ),
    };
    if wants_json(headers) {
        return whole(status, JSON, format!(r#"{{"error":"{reason}"}}"#));
    }
    whole(status, HTML, pages::message("That did not work", reason))
}

async fn upload(request: Request<Incoming>) -> Response<Body> {
    let headers = request.headers().clone();
    match count_body(request.into_body()).await {
        None => whole(StatusCode::BAD_REQUEST, TEXT, "the upload was cut\n"),
        Some(bytes) if wants_json(&headers) => received(bytes),
        Some(bytes) => whole(StatusCode::OK, HTML, pages::upload(&[], Some(bytes))),
    }
}

async fn webhook(request: Request<Incoming>) -> Response<Body> {
    match small_body(request.into_body()).await {
        None => too_large(),
        Some(body) => received(u64::try_from(body.len()).unwrap_or(u64::MAX)),
    }
}

/// The received request line and headers, then the body's length.
async fn echo(request: Request<Incoming>) -> Response<Body> {
    let mut text = format!("{} {} {:?}\n", request.method(), request.uri(), request.version());
    for (name, value) in request.headers() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {}", String::from_utf8_lossy(value.as_bytes()));
    }
    match count_body(request.into_body()).await {
        None => whole(StatusCode::BAD_REQUEST, TEXT, "the body was cut\n"),
        Some(bytes) => whole(StatusCode::OK, TEXT, format!("{text}\n{bytes} bytes of body\n")),
    }
}

fn received(bytes: u64) -> Response<Body> {
    whole(StatusCode::OK, JSON, format!(r#"{{"received":{bytes}}}"#))
}

fn too_large() -> Response<Body> {
    whole(
        StatusCode::PAYLOAD_TOO_LARGE,
        TEXT,
        "the body is too large, or was cut\n",
    )
}

/// Waits as the query asks; the milliseconds waited.
async fn wait(query: &str) -> u64 {
    let asked = form::value(query, "ms").and_then(|ms| ms.parse().ok()).unwrap_or(2_000);
    let ms = asked.min(MAX_WAIT_MS);
    tokio::time::sleep(Duration::from_millis(ms)).await;
    ms
}

fn stylesheet() -> Response<Body> {
    let mut response = whole(
        StatusCode::OK,
        "text/css; charset=utf-8",
        include_str!("../../static/demo/style.css"),
    );
    let an_hour = HeaderValue::from_static("public, max-age=3600");
    response.headers_mut().insert(hyper::header::CACHE_CONTROL, an_hour);
    response
}

/// The customer's own cookie, if it is one that this shop may have given.
fn customer(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == COOKIE_NAME)?;
    (value.len() == 32 && value.bytes().all(|b| b.is_ascii_hexdigit())).then_some(value)
}

fn letter(seat: &Seat) -> char {
    match seat {
        Seat::Free => 'f',
        Seat::Held { .. } => 'h',
        Seat::Sold { .. } => 's',
    }
}

const COOKIE_NAME: &str = "shop-customer";
const MAX_TICKERS: usize = 8_192;
const MAX_WAIT_MS: u64 = 60_000;

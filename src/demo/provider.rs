//! The payment provider: another site, to which the shop sends its customers and which sends them back by POST.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};

use super::answer::{Body, HTML, TEXT, small_body, whole, wrong_method};
use super::seal::Seal;
use super::{form, pages};

pub(super) struct Provider {
    seal: Arc<Seal>,
}

/// The payment that the shop asks for, signed by it, so that the page posts to no other address.
pub(super) struct Demand {
    pub order: String,
    /// In whole euros.
    pub amount: String,
    pub return_to: String,
}

impl Demand {
    /// The query of the provider's page.
    pub(super) fn query(&self, seal: &Seal) -> String {
        let fields = [
            ("order", &self.order),
            ("amount", &self.amount),
            ("return", &self.return_to),
            ("sign", &self.sign(seal)),
        ];
        fields
            .map(|(name, value)| format!("{name}={}", form::encode(value)))
            .join("&")
    }

    fn read(seal: &Seal, query: &str) -> Option<Self> {
        let [order, amount, return_to, sign] =
            ["order", "amount", "return", "sign"].map(|name| form::value(query, name));
        let demand = Self {
            order: order?,
            amount: amount?,
            return_to: return_to?,
        };
        seal.is_signed(&demand.parts(), &sign?).then_some(demand)
    }

    fn sign(&self, seal: &Seal) -> String {
        seal.sign(&self.parts())
    }

    fn parts(&self) -> [&str; 4] {
        ["demand", &self.order, &self.amount, &self.return_to]
    }
}

impl Provider {
    pub(super) fn new(seal: Arc<Seal>) -> Self {
        Self { seal }
    }
}

/// Serves `/pay`.
pub(super) async fn answer(provider: Arc<Provider>, request: Request<Incoming>) -> Response<Body> {
    if request.uri().path() != "/pay" {
        return whole(StatusCode::NOT_FOUND, TEXT, "nothing here but /pay\n");
    }
    let query = request.uri().query().unwrap_or_default();
    let Some(demand) = Demand::read(&provider.seal, query) else {
        return whole(StatusCode::BAD_REQUEST, TEXT, "no shop has asked for this payment\n");
    };
    match *request.method() {
        Method::GET | Method::HEAD => whole(StatusCode::OK, HTML, pages::pay(&demand, query)),
        Method::POST => send_back(&provider.seal, &demand, request.into_body()).await,
        _ => wrong_method("GET, HEAD, POST"),
    }
}

/// The page that posts the outcome to the shop by itself.
async fn send_back(seal: &Seal, demand: &Demand, body: Incoming) -> Response<Body> {
    let Some(body) = small_body(body).await else {
        return whole(
            StatusCode::PAYLOAD_TOO_LARGE,
            TEXT,
            "the form is too large, or was cut\n",
        );
    };
    let paid = form::value(&String::from_utf8_lossy(&body), "pay").as_deref() == Some("yes");
    let outcome = if paid { PAID } else { CANCELLED };
    let sign = seal.sign(&["outcome", &demand.order, outcome]);
    whole(StatusCode::OK, HTML, pages::send_back(demand, outcome, &sign))
}

pub(super) const PAID: &str = "paid";
const CANCELLED: &str = "cancelled";

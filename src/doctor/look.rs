//! What several checks look at, asked for once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use http::{HeaderMap, HeaderValue, Method, header};
use tokio::sync::OnceCell;

use super::subject::{Running, Shop, Subject};
use crate::proxy::{Examined, examine};
use crate::store::redis::{self, Examined as StoreExamined};
use crate::store::{Trouble, Unavailable};
use crate::time;
use crate::token::RequestSigner;
use ropeline_ids::GateId;

/// A subject under examination.
pub struct Look<'s> {
    pub subject: &'s Subject,
    /// `None`: only the file and the machine are examined.
    pub running: Option<&'s Running>,
    shops: OnceCell<Vec<Answered>>,
    store: OnceCell<Option<Result<Arc<StoreExamined>, Unavailable>>>,
}

impl<'s> Look<'s> {
    pub fn new(subject: &'s Subject, running: Option<&'s Running>) -> Self {
        Self {
            subject,
            running,
            shops: OnceCell::new(),
            store: OnceCell::new(),
        }
    }

    /// Each shop with its answers to a request as the gate sends it.
    pub async fn shops(&self) -> impl Iterator<Item = (&'s Shop, &Answered)> {
        let shops = &self.subject.shops;
        let ask = async || join_all(shops.iter().map(|shop| asked(shop, true))).await;
        shops.iter().zip(self.shops.get_or_init(ask).await)
    }

    /// The shared store; `None` without one.
    pub async fn store(&self) -> Option<&Result<Arc<StoreExamined>, Unavailable>> {
        let ask = async || {
            let store = self.subject.store.clone()?;
            let gates = self.others();
            let look = move || redis::examine(&store.url, store.options, &gates);
            let fault = |_| {
                Err(Unavailable::new(
                    Trouble::Odd,
                    "a fault of the program in asking it".to_owned(),
                ))
            };
            let seen = tokio::task::spawn_blocking(look).await.unwrap_or_else(fault);
            Some(seen.map(Arc::new))
        };
        self.store.get_or_init(ask).await.as_ref()
    }

    /// The other gates that are there now, whose notes [`Self::store`] reads, in this order.
    pub fn others(&self) -> Vec<GateId> {
        let Some(running) = self.running else {
            return Vec::new();
        };
        let there = running
            .gates
            .iter()
            .filter(|gate| gate.heard_ago < SILENT && gate.id != running.me);
        there.map(|gate| gate.id).collect()
    }
}

/// What each server of a shop answers. An error names a certificate that cannot be used.
pub type Answered = Result<Vec<Examined>, String>;

/// Asks every server of a shop, with the gate's signature if it has one, or as a client that goes round the gate.
pub async fn asked(shop: &Shop, by_gate: bool) -> Answered {
    let mut fields = HeaderMap::new();
    if let Some(host) = &shop.host {
        fields.insert(header::HOST, host.clone());
    }
    let sign = |signer: &RequestSigner| {
        let signature = signer.sign(Method::GET.as_str(), shop.path.as_str(), "", time::wall());
        HeaderValue::try_from(signature).ok()
    };
    if let Some(signature) = shop.signer.as_ref().filter(|_| by_gate).and_then(sign) {
        fields.insert("ropeline-signature", signature);
    }
    let examined = examine(&shop.settings, &shop.path, &fields, ANSWER_WITHIN).await;
    examined.map_err(|error| error.to_string())
}

/// How long the shop may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// A gate that has not spoken for so long is gone, or about to be.
const SILENT: Duration = Duration::from_secs(10);

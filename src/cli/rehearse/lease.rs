//! The lease of a rehearsal: begun, renewed every few seconds, and ended at the admin listener.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use tokio::time::sleep;

use super::options::{GRACE_MS, RehearseArgs};
use super::stage::Stage;
use crate::cli::remote::{Client, Failure, path_of};
use crate::room::LEASE_MS;
use crate::time;

/// One rehearsal, from the operator's side.
pub struct Lease {
    client: Client,
    /// Of the API.
    path: String,
    id: String,
}

impl Lease {
    /// Begins a rehearsal.
    pub async fn begin(args: &RehearseArgs, client: Client, id: String) -> Result<Self, Failure> {
        let body = json!({
            "id": id,
            "visitors": args.size(),
            // The room's own end, should this one not come.
            "seconds": (args.length_ms + GRACE_MS).div_ceil(1_000),
            "forward": args.forward,
            "anyway": args.anyway,
            "reason": args.reason,
        });
        let path = path_of(&[&args.room, "rehearsal"]);
        client.post(&path, &body).await?;
        Ok(Self { client, path, id })
    }

    /// Renews it again and again, until the room takes it no more. While the log takes nothing, the room's clock stands still
    /// and its lease with it.
    pub async fn keep(&self, stage: &Stage) {
        let (path, body) = (format!("{}/renew", self.path), json!({ "id": self.id }));
        let mut renewed = time::uptime();
        while !stage.is_over() {
            sleep(EVERY).await;
            match self.client.post(&path, &body).await {
                Ok(_) => renewed = time::uptime(),
                Err(Failure::Refused { status, .. }) if status == StatusCode::SERVICE_UNAVAILABLE => {
                    renewed = time::uptime();
                }
                Err(Failure::Refused { status, .. }) if status == StatusCode::CONFLICT => stage.stop(Some(
                    "the rehearsal is over at the gate: an operator ended it, the room was reset, or a sale by stock or by a draw \
                     has begun"
                        .to_owned(),
                )),
                Err(failure) if time::uptime().saturating_sub(renewed) > Duration::from_millis(LEASE_MS) => {
                    stage.stop(Some(format!("the rehearsal could not be renewed: {failure}")));
                }
                Err(_) => {}
            }
        }
    }

    /// All virtual visitors go at once. That it is over already is a success.
    pub async fn end(&self) -> Result<(), Failure> {
        let body = json!({ "id": self.id, "reason": "the rehearsal is done" });
        match self.client.post(&format!("{}/end", self.path), &body).await {
            Err(Failure::Refused { status, .. }) if status == StatusCode::CONFLICT => Ok(()),
            other => other.map(|_| ()),
        }
    }
}

/// How often the rehearsal is renewed.
const EVERY: Duration = Duration::from_secs(4);

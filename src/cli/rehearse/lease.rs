//! The lease of a rehearsal: renewed at the room every few seconds, with a fresh mark.

use std::time::Duration;

use http::{HeaderValue, StatusCode};
use serde_json::json;
use tokio::time::sleep;

use super::known::Known;
use super::options::RehearseArgs;
use super::stage::{Asks, Jar, MARK, Stage, word};
use crate::cli::remote::{Client, Failure};
use crate::time;
use crate::token::{Keyring, Mark};
use ropeline_ids::{RehearsalId, RoomName};

/// One rehearsal, from the operator's side.
pub struct Lease {
    client: Client,
    /// Of the API.
    path: String,
    id: RehearsalId,
    room: RoomName,
    keyring: Keyring,
    size: u32,
    length_ms: u64,
    forward: bool,
    anyway: bool,
    reason: Option<String>,
}

impl Lease {
    pub fn new(args: &RehearseArgs, client: Client, path: String, known: Known) -> Result<Self, Failure> {
        let mut id = [0; 8];
        getrandom::fill(&mut id)
            .map_err(|_| Failure::Local("the operating system gives no random bytes".to_owned()))?;
        Ok(Self {
            client,
            path,
            id: RehearsalId(id),
            room: known.room().name.clone(),
            keyring: known.keyring,
            size: args.size(),
            length_ms: args.length_ms()?,
            forward: args.forward,
            anyway: args.anyway,
            reason: args.reason.clone(),
        })
    }

    pub fn id(&self) -> String {
        self.id.to_string()
    }

    /// What visitors show for the next minutes.
    pub fn mark(&self) -> Result<HeaderValue, Failure> {
        let mark = Mark {
            rehearsal: self.id,
            forward: self.forward,
        };
        let text = mark.sign(&self.keyring, &self.room);
        HeaderValue::try_from(text).map_err(|error| Failure::Local(error.to_string()))
    }

    pub async fn begin(&self) -> Result<(), Failure> {
        let body = json!({
            "id": self.id(),
            "visitors": self.size,
            // The room's own end, should this one not come.
            "seconds": self.length_ms.div_ceil(1_000) + 60,
            "forward": self.forward,
            "anyway": self.anyway,
            "reason": self.reason,
        });
        self.client.post(&self.path, &body).await?;
        Ok(())
    }

    /// Waits until the gate that the visitors go to has read of it, which may be another than the admin listener's.
    pub async fn is_known(&self, stage: &Stage) -> Result<(), Failure> {
        for _ in 0..TRIES {
            if let Ok(answer) = stage.send(Asks::Status, &Jar::new()).await
                && answer.headers.get(MARK).is_some_and(|id| id == stage.id.as_str())
                && word(&answer) != "rehearsal_over"
            {
                return Ok(());
            }
            sleep(Duration::from_millis(100)).await;
        }
        Err(Failure::Foreign(
            "the gate that the visitors would go to knows nothing of the rehearsal: is it one of those behind the admin listener?"
                .to_owned(),
        ))
    }

    /// Renews it again and again, until the room takes it no more. While the log takes nothing, the room's clock stands still
    /// and its lease with it.
    pub async fn keep(&self, stage: &Stage) {
        let mut renewed = time::uptime();
        while !stage.is_over() {
            sleep(EVERY).await;
            let path = format!("{}/renew", self.path);
            match self.client.post(&path, &json!({ "id": self.id() })).await {
                Ok(_) => renewed = time::uptime(),
                Err(Failure::Refused { status, .. }) if status == StatusCode::CONFLICT => {
                    let why = "the rehearsal is over at the gate: an operator ended it, the room was reset, or a sale by stock \
                               or by a draw has begun";
                    stage.stop(Some(why.to_owned()));
                }
                Err(Failure::Refused { status, .. }) if status == StatusCode::SERVICE_UNAVAILABLE => {
                    renewed = time::uptime();
                }
                Err(failure) if time::uptime().saturating_sub(renewed) > LEASE => {
                    stage.stop(Some(format!("the rehearsal could not be renewed: {failure}")));
                }
                Err(_) => {}
            }
            if let Ok(mark) = self.mark() {
                stage.show(mark);
            }
        }
    }

    /// All virtual visitors go at once. That it is over already is a success.
    pub async fn end(&self) -> Result<(), Failure> {
        let body = json!({ "id": self.id(), "reason": "the rehearsal is done" });
        match self.client.post(&format!("{}/end", self.path), &body).await {
            Err(Failure::Refused { status, .. }) if status == StatusCode::CONFLICT => Ok(()),
            other => other.map(|_| ()),
        }
    }
}

/// How often the rehearsal is renewed, and how long the room goes on without.
const EVERY: Duration = Duration::from_secs(4);
const LEASE: Duration = Duration::from_secs(15);

/// Tenths of a second that the gate has to read of a rehearsal.
const TRIES: u32 = 50;

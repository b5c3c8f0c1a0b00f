//! One order (RFC 8555, section 7.1.3), from the account to the certificate, by instant-acme.

use std::time::Duration;

use http::StatusCode;
use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Error, ExternalAccountKey, Identifier, NewAccount, NewOrder, Order,
    OrderStatus, Problem, RetryPolicy, RevocationReason, RevocationRequest,
};
use rcgen::{CertificateParams, DistinguishedName, KeyPair};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;

use super::client::Client;
use super::{plan, record};
use crate::config::{Acme, ChallengeKind};
use ropeline_ids::Wall;

/// A failure, and whose it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub blame: Blame,
    /// For people, on one line.
    pub said: String,
    /// Before this time the authority does not want to be asked.
    pub retry_after: Option<Wall>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blame {
    /// It does not answer, or not as one does, or does not take the account: no order has a chance now.
    Authority,
    /// It does not know the account any more.
    Account,
    /// Other hosts are not concerned.
    Host,
    /// The store is away, the lease is lost, or the gate stops: the authority has no part in it.
    Gate,
}

/// A challenge that the authority sets, with its answer.
#[derive(Clone, PartialEq, Eq)]
pub struct Set {
    pub token: String,
    pub key_authorization: String,
}

/// A certificate and its private key, both in PEM.
pub struct Issued {
    pub chain: String,
    pub key: String,
}

impl Failure {
    pub fn new(blame: Blame, said: &str) -> Self {
        let one_line = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown = one_line.chars().filter(|letter| !letter.is_control());
        Self {
            blame,
            said: shown.take(MOST_WORDS).collect(),
            retry_after: None,
        }
    }

    fn of(client: &Client, error: &Error) -> Self {
        let (blame, said) = match error {
            Error::Api(problem) => (blame(problem), problem.to_string()),
            Error::Json(_) => (Blame::Authority, not_acme(client.said().status)),
            Error::Timeout(_) => (
                Blame::Authority,
                "the authority did not come to a decision in time".to_owned(),
            ),
            other => (Blame::Authority, other.to_string()),
        };
        Self {
            retry_after: client.said().retry_after,
            ..Self::new(blame, &said)
        }
    }
}

fn not_acme(status: Option<StatusCode>) -> String {
    match status {
        Some(status) => format!("the authority answers {status}, and not as ACME has it"),
        None => "the authority does not answer as ACME has it".to_owned(),
    }
}

/// RFC 8555, section 6.7; empty for a problem that is not of ACME.
fn kind(problem: &Problem) -> &str {
    let kind = problem.r#type.as_deref().unwrap_or_default();
    kind.strip_prefix("urn:ietf:params:acme:error:").unwrap_or_default()
}

fn blame(problem: &Problem) -> Blame {
    match kind(problem) {
        "accountDoesNotExist" => Blame::Account,
        // Limits count orders for one name, or all of an account: those of one name are far more common.
        "rateLimited"
        | "rejectedIdentifier"
        | "unsupportedIdentifier"
        | "caa"
        | "dns"
        | "connection"
        | "tls"
        | "incorrectResponse"
        | "unauthorized"
        | "orderNotReady"
        | "badCSR" => Blame::Host,
        _ => Blame::Authority,
    }
}

/// The account of the store, or a new one, which is then to be stored. It has the contacts of the configuration.
pub async fn account(
    client: &Client,
    acme: &Acme,
    stored: Option<record::Account>,
    now: Wall,
) -> Result<(Account, Option<record::Account>), Failure> {
    let failed = |error: Error| Failure::of(client, &error);
    let contact: Vec<String> = acme.contact.iter().map(|address| format!("mailto:{address}")).collect();
    let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
    let builder = Account::builder_with_http(Box::new(client.clone()));
    let garbled = |_| Failure::new(Blame::Account, "the account in the store cannot be read");
    let is_good = |stored: &record::Account| {
        stored.directory == acme.directory && !plan::is_replaced(acme.replace_before, stored.made, now)
    };
    if let Some(stored) = stored.filter(is_good) {
        let credentials = serde_json::from_value(stored.credentials.clone()).map_err(garbled)?;
        let account = builder.from_credentials(credentials).await.map_err(failed)?;
        if stored.contact == acme.contact {
            return Ok((account, None));
        }
        account.update_contacts(&contact).await.map_err(failed)?;
        let contact = acme.contact.clone();
        return Ok((account, Some(record::Account { contact, ..stored })));
    }
    let new = NewAccount {
        contact: &contact,
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let external = acme.external_account.as_ref();
    let external = external.map(|own| ExternalAccountKey::new(own.id.clone(), own.key.expose()));
    let created = builder.create(&new, acme.directory.clone(), external.as_ref()).await;
    let (account, credentials) = created.map_err(failed)?;
    let record = record::Account {
        directory: acme.directory.clone(),
        contact: acme.contact.clone(),
        made: now,
        credentials: serde_json::to_value(credentials).map_err(garbled)?,
    };
    Ok((account, Some(record)))
}

/// Opens an order; its challenges are to be answered before [`finish`].
pub async fn begin(
    client: &Client,
    account: &Account,
    (host, kind): (&str, ChallengeKind),
) -> Result<(Order, Vec<Set>), Failure> {
    let failed = |error: Error| Failure::of(client, &error);
    let names = [Identifier::Dns(host.to_owned())];
    let mut order = account.new_order(&NewOrder::new(&names)).await.map_err(failed)?;
    let mut set = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(next) = authorizations.next().await {
        let mut authorization = next.map_err(failed)?;
        match authorization.status {
            AuthorizationStatus::Valid => continue,
            AuthorizationStatus::Pending if set.len() < MOST_CHALLENGES => {}
            other => {
                return Err(Failure::new(
                    Blame::Host,
                    &format!("an authorization is {other:?} from the start"),
                ));
            }
        }
        let Some(challenge) = authorization.challenge(kind_of(kind)) else {
            return Err(Failure::new(
                Blame::Host,
                "the authority does not offer the challenge of [tls.acme] challenge",
            ));
        };
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
        if challenge.token.is_empty() || !challenge.token.bytes().all(is_plain) {
            return Err(Failure::new(
                Blame::Authority,
                "the authority sets a challenge with a malformed token",
            ));
        }
        set.push(Set {
            token: challenge.token.clone(),
            key_authorization: challenge.key_authorization().as_str().to_owned(),
        });
    }
    Ok((order, set))
}

/// Has the authority ask, and takes the certificate.
pub async fn finish(client: Client, mut order: Order, host: String, kind: ChallengeKind) -> Result<Issued, Failure> {
    let failed = |error: Error| Failure::of(&client, &error);
    let mut authorizations = order.authorizations();
    while let Some(next) = authorizations.next().await {
        let mut authorization = next.map_err(failed)?;
        if authorization.status == AuthorizationStatus::Pending
            && let Some(mut challenge) = authorization.challenge(kind_of(kind))
        {
            challenge.set_ready().await.map_err(failed)?;
        }
    }
    let policy = RetryPolicy::new().timeout(DECIDED_WITHIN);
    match order.poll_ready(&policy).await {
        Ok(OrderStatus::Ready) => {}
        Ok(_) => return Err(why(&client, &mut order).await),
        Err(error) => return Err(failed(error)),
    }
    let own = |error: rcgen::Error| {
        Failure::new(
            Blame::Gate,
            &format!("no request for the certificate can be made: {error}"),
        )
    };
    let key = KeyPair::generate().map_err(own)?;
    let mut params = CertificateParams::new([host]).map_err(own)?;
    params.distinguished_name = DistinguishedName::new();
    let request = params.serialize_request(&key).map_err(own)?;
    order.finalize_csr(request.der()).await.map_err(failed)?;
    let chain = order.poll_certificate(&policy).await.map_err(failed)?;
    Ok(Issued {
        chain,
        key: key.serialize_pem(),
    })
}

/// Has the authority revoke a certificate whose key somebody else may have (RFC 8555, section 7.6), by the account that it was issued
/// to, or by one that has proved control of the host.
pub async fn revoke(client: &Client, account: &Account, chain: &str) -> Result<(), Failure> {
    let chain = CertificateDer::from_pem_slice(chain.as_bytes())
        .map_err(|_| Failure::new(Blame::Host, "the former certificate cannot be read"))?;
    let request = RevocationRequest {
        certificate: &chain,
        reason: Some(RevocationReason::KeyCompromise),
    };
    match account.revoke(&request).await {
        Err(error) if !is_revoked_already(&error) => Err(Failure::of(client, &error)),
        _ => Ok(()),
    }
}

/// The same by the former account, which ends with its last certificate, since authorities let an account order for a while without
/// another proof.
pub async fn revoke_by_former(
    client: Client,
    former: record::Account,
    (chain, is_last): (String, bool),
) -> Result<(), Failure> {
    let failed = |error: Error| Failure::of(&client, &error);
    let credentials = serde_json::from_value(former.credentials)
        .map_err(|_| Failure::new(Blame::Host, "the former account cannot be read"))?;
    let builder = Account::builder_with_http(Box::new(client.clone()));
    let former = builder.from_credentials(credentials).await.map_err(failed)?;
    revoke(&client, &former, &chain).await?;
    if is_last {
        former.deactivate().await.map_err(failed)?;
    }
    Ok(())
}

/// RFC 8555, section 7.6: the certificate was revoked before, as by a try whose answer was lost.
fn is_revoked_already(error: &Error) -> bool {
    matches!(error, Error::Api(problem) if kind(problem) == "alreadyRevoked")
}

/// The authority's own words on an order that it refused.
async fn why(client: &Client, order: &mut Order) -> Failure {
    let mut authorizations = order.authorizations();
    while let Some(next) = authorizations.next().await {
        let Ok(mut authorization) = next else { continue };
        let refreshed = authorization.refresh().await;
        let Ok(state) = refreshed else { continue };
        if let Some(problem) = state.challenges.iter().find_map(|challenge| challenge.error.as_ref()) {
            return Failure::new(Blame::Host, &problem.to_string());
        }
    }
    let retry_after = client.said().retry_after;
    Failure {
        retry_after,
        ..Failure::new(Blame::Host, "the authority refuses the order, and does not say why")
    }
}

fn kind_of(kind: ChallengeKind) -> ChallengeType {
    match kind {
        ChallengeKind::Http01 => ChallengeType::Http01,
        ChallengeKind::TlsAlpn01 => ChallengeType::TlsAlpn01,
    }
}

/// How long an authority may take to verify a host, and again to issue.
const DECIDED_WITHIN: Duration = Duration::from_secs(60);
/// An order for one host has one.
const MOST_CHALLENGES: usize = 4;
/// Most characters of what an authority says.
const MOST_WORDS: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_authority_says_stays_on_one_short_line() {
        let failure = Failure::new(Blame::Host, &format!("one\n\ttwo\u{1B}[31m {}", "x".repeat(1_000)));
        assert!(failure.said.starts_with("one two[31m x"), "{}", failure.said);
        assert_eq!(failure.said.chars().count(), MOST_WORDS);
    }

    #[test]
    fn whose_failure_it_is_depends_on_the_kind_of_problem() {
        for (kind, right) in [
            ("urn:ietf:params:acme:error:dns", Blame::Host),
            ("urn:ietf:params:acme:error:rateLimited", Blame::Host),
            ("urn:ietf:params:acme:error:accountDoesNotExist", Blame::Account),
            ("urn:ietf:params:acme:error:serverInternal", Blame::Authority),
            ("urn:ietf:params:acme:error:badNonce", Blame::Authority),
            ("dns", Blame::Authority),
        ] {
            let problem = Problem {
                r#type: Some(kind.to_owned()),
                detail: None,
                status: None,
                subproblems: Vec::new(),
            };
            assert_eq!(blame(&problem), right, "{kind}");
        }
    }
}

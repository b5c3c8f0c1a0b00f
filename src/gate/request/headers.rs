//! The gate's own fields on a forwarded request: its id, the session name, and the gate's signature.

use http::HeaderValue;
use http::header::HeaderName;
use http::request::Parts;

use crate::proxy::{RequestId, X_REQUEST_ID};
use crate::token::RequestSigner;
use ropeline_ids::Wall;

pub const SESSION_HEADER: HeaderName = HeaderName::from_static("ropeline-session");
/// Apps may carry their tokens in these instead of cookies.
pub const TICKET_HEADER: HeaderName = HeaderName::from_static("ropeline-ticket");
pub const PASS_HEADER: HeaderName = HeaderName::from_static("ropeline-pass");
const SIGNATURE: HeaderName = HeaderName::from_static("ropeline-signature");

/// At most three.
pub struct Fields(Vec<(HeaderName, HeaderValue)>);

impl Fields {
    /// For a request as the shop will see it: its target in origin form, its method its own.
    #[must_use]
    pub fn of(id: &RequestId, session: Option<&str>, head: &Parts, signer: Option<&RequestSigner>, now: Wall) -> Self {
        let mut fields = Self(vec![(X_REQUEST_ID, id.value().clone())]);
        if let Some(session) = session {
            fields.add(SESSION_HEADER, session);
        }
        if let Some(signer) = signer {
            let target = head.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
            let signature = signer.sign(head.method.as_str(), target, session.unwrap_or_default(), now);
            fields.add(SIGNATURE, &signature);
        }
        fields
    }

    #[must_use]
    pub fn as_slice(&self) -> &[(HeaderName, HeaderValue)] {
        &self.0
    }

    fn add(&mut self, name: HeaderName, value: &str) {
        let value = HeaderValue::from_str(value).expect("names and signatures are plain ASCII");
        self.0.push((name, value));
    }
}

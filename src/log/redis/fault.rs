//! What an answer that is none means: where to go next, and what to tell the operator.

use redis::{ErrorKind, RedisError, ServerError, ServerErrorKind};

use super::url::Node;
use crate::log::Unavailable;

/// Why a call got no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// The connection is gone, or nobody knows what of the call will still be answered on it.
    Lost(String),
    /// The server is not, or not now, the one that has the log: others are to be asked.
    Elsewhere(String),
    /// Another node of the cluster has the keys; for `asking` only while they are on their way there.
    Moved { to: Node, asking: bool },
    /// The script is not known to the server.
    NoScript,
    /// The store's memory is full.
    Full(String),
    /// The server takes the call for wrong: what is set there or here is to be changed.
    Refused(String),
    /// It will pass.
    Passing(String),
}

impl Fault {
    /// The connection is of no more use; after a refusal a new one may come to other rights.
    pub fn parts(&self) -> bool {
        !matches!(self, Self::NoScript | Self::Full(_) | Self::Passing(_))
    }

    /// From an error reply of the node that was asked.
    pub fn reply(error: &ServerError, asked: &Node) -> Self {
        let said = said(error);
        match error.kind() {
            Some(ServerErrorKind::Moved) => moved(error, asked, false).unwrap_or(Self::Elsewhere(said)),
            Some(ServerErrorKind::Ask) => moved(error, asked, true).unwrap_or(Self::Elsewhere(said)),
            Some(ServerErrorKind::NoScript) => Self::NoScript,
            Some(
                ServerErrorKind::ReadOnly
                | ServerErrorKind::MasterDown
                | ServerErrorKind::BusyLoading
                | ServerErrorKind::ClusterDown,
            ) => Self::Elsewhere(said),
            Some(ServerErrorKind::TryAgain) => Self::Passing(said),
            Some(ServerErrorKind::NoPerm) => {
                Self::Refused(format!("the user may not do all that the log needs: {said}"))
            }
            _ => by_words(said),
        }
    }

    /// From an error of the connection.
    pub fn connection(error: &RedisError, asked: &Node) -> Self {
        if error.kind() == ErrorKind::InvalidClientConfig {
            return Self::Refused(format!("{asked}: {}", short(&error.to_string())));
        }
        let said = short(&error.to_string());
        if said.contains("certificate") {
            return Self::Refused(format!(
                "{asked}: {said}; [store] ca_file names the authorities, and the url a host that is in the certificate"
            ));
        }
        let why = if error.is_timeout() {
            "no answer in time".to_owned()
        } else {
            said
        };
        Self::Lost(format!("{asked}: {why}"))
    }
}

/// Codes that the client has no kind for, and errors that 6.2 wraps in an ERR of the script.
fn by_words(said: String) -> Fault {
    let has = |code: &str| said.contains(code);
    if has("OOM ") {
        return Fault::Full(said);
    }
    if has("READONLY") || has("MASTERDOWN") || has("LOADING") {
        return Fault::Elsewhere(said);
    }
    // Of a script, in the words of 6.2, of 7 and of Valkey.
    if has("NOPERM") || has("can't run this command") || has("ACL failure") {
        return Fault::Refused(format!("the user may not do all that the log needs: {said}"));
    }
    if has("NOAUTH") {
        return Fault::Refused("the server asks for a password: [store] password, or user:password@ in the url".into());
    }
    if has("WRONGPASS") || has("invalid password") {
        return Fault::Refused("the server does not take this user name and password".into());
    }
    if has("WRONGTYPE") {
        let right = "another program seems to use them, [store] prefix sets others apart";
        return Fault::Refused(format!("a key of the log is of another type: {right}"));
    }
    if has("cluster support disabled") {
        return Fault::Refused("the server is no node of a cluster: redis://host:6379 as the url".into());
    }
    if has("unknown command") && has("SENTINEL") {
        return Fault::Refused("the url names sentinels, and this server is none: redis://host:6379 as the url".into());
    }
    if has("NOREPLICAS") || has("MISCONF") || has("BUSY") || has("NOTBUSY") || has("TRYAGAIN") {
        return Fault::Passing(said);
    }
    Fault::Refused(said)
}

/// `MOVED slot host:port`; an empty host is the one that was asked (Redis Cluster specification, redirection).
fn moved(error: &ServerError, asked: &Node, asking: bool) -> Option<Fault> {
    let (host, port) = error.details()?.split_ascii_whitespace().nth(1)?.rsplit_once(':')?;
    let host = if matches!(host, "" | "?") { &asked.host } else { host };
    let to = Node {
        host: host.trim_matches(['[', ']']).to_owned(),
        port: port.parse().ok()?,
    };
    Some(Fault::Moved { to, asking })
}

fn said(error: &ServerError) -> String {
    let code = error.code();
    short(
        &error
            .details()
            .map_or_else(|| code.to_owned(), |details| format!("{code} {details}")),
    )
}

/// A server's words, bounded and on one line.
fn short(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MOST_WORDS)
        .collect()
}

impl From<Fault> for Unavailable {
    fn from(fault: Fault) -> Self {
        Self(match fault {
            Fault::Lost(why) | Fault::Elsewhere(why) | Fault::Refused(why) | Fault::Passing(why) => why,
            Fault::Moved { to, .. } => format!("the log has moved to {to}"),
            Fault::NoScript => "the store forgets scripts as soon as it has them".into(),
            Fault::Full(why) => format!("the store's memory is full: {why}"),
        })
    }
}

/// Most characters of a server's own words that are passed on.
const MOST_WORDS: usize = 300;

//! Faults of a call to the store: the next server to try, and the report to the operator.

use redis::{ErrorKind, RedisError, ServerError, ServerErrorKind};

use super::url::Node;
use crate::store::{Trouble, Unavailable};

/// Why a call got no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// The connection is gone, or none could be made.
    Lost(String),
    /// No answer in time: later bytes on the connection may still answer the call.
    Late(String),
    /// The server is not, or not now, the one that has the log: others are to be asked.
    Elsewhere(String),
    /// Another node of the cluster has the keys; for `asking` only while they are on their way there.
    Moved { to: Node, asking: bool },
    /// The script is not known to the server.
    NoScript,
    /// The store's memory is full.
    Full(String),
    /// The server refuses the call: a setting there or here is to be changed.
    Refused(String),
    /// It will pass.
    Passing(String),
}

impl Fault {
    /// The connection is unusable; after a refusal a new one may have other rights.
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
        if said.contains("corrupt message") {
            return Self::Refused(format!(
                "{asked} does not speak TLS: redis:// in place of rediss:// as the url"
            ));
        }
        if error.is_timeout() {
            return Self::late(asked);
        }
        Self::Lost(format!("{asked}: {said}"))
    }

    pub fn late(asked: &Node) -> Self {
        Self::Late(format!("{asked}: no answer in time"))
    }

    /// The server has not answered.
    pub fn silent(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Late(_))
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
    if has("NOAUTH") || has("unauthenticated") {
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
    // A server with too many clients says so to the next one, in answer to any command; proxies have their own words.
    if has("max number of clients") || has("no upstream host") || has("upstream failure") {
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
        let (trouble, reason) = match fault {
            Fault::Lost(why) => (Trouble::Unreachable, why),
            Fault::Late(why) => (Trouble::Timeout, why),
            Fault::Elsewhere(why) => (Trouble::Elsewhere, why),
            Fault::Moved { to, .. } => (Trouble::Elsewhere, format!("the log has moved to {to}")),
            Fault::NoScript => (Trouble::Odd, "the store forgets scripts as soon as it has them".into()),
            Fault::Full(why) => (Trouble::Full, format!("the store's memory is full: {why}")),
            Fault::Refused(why) => (Trouble::Refused, why),
            Fault::Passing(why) => (Trouble::Declined, why),
        };
        Self { trouble, reason }
    }
}

/// Most characters of a server's own words that are passed on.
const MOST_WORDS: usize = 300;

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::*;

    fn fault(reply: &str) -> Fault {
        let Ok(Value::ServerError(error)) = redis::parse_redis_value(format!("-{reply}\r\n").as_bytes()) else {
            panic!("{reply}")
        };
        let asked = Node {
            host: "here".into(),
            port: 1,
        };
        Fault::reply(&error, &asked)
    }

    fn to(host: &str, port: u16, asking: bool) -> Fault {
        let host = host.into();
        let to = Node { host, port };
        Fault::Moved { to, asking }
    }

    #[test]
    fn a_redirection_names_its_node() {
        assert_eq!(fault("MOVED 7 10.0.0.1:7001"), to("10.0.0.1", 7001, false));
        assert_eq!(fault("ASK 7 10.0.0.1:7001"), to("10.0.0.1", 7001, true));
        assert_eq!(
            fault("MOVED 7 :7001"),
            to("here", 7001, false),
            "no host: the one that was asked"
        );
        assert_eq!(
            fault("MOVED 7 ?:7001"),
            to("here", 7001, false),
            "a host that nobody knows"
        );
        assert_eq!(fault("MOVED 7 fd00::7:7001"), to("fd00::7", 7001, false));
        assert!(matches!(fault("MOVED 7"), Fault::Elsewhere(_)));
    }

    #[test]
    fn each_error_asks_for_what_helps() {
        for (reply, right) in [
            ("READONLY You can't write against a read only replica.", "Elsewhere"),
            ("LOADING Redis is loading the dataset in memory", "Elsewhere"),
            ("MASTERDOWN Link with MASTER is down", "Elsewhere"),
            ("CLUSTERDOWN The cluster is down", "Elsewhere"),
            ("TRYAGAIN Multiple keys request during rehashing of slot", "Passing"),
            ("NOREPLICAS Not enough good replicas to write.", "Passing"),
            ("MISCONF Redis is configured to save RDB snapshots", "Passing"),
            ("BUSY Redis is busy running a script", "Passing"),
            ("ERR max number of clients reached", "Passing"),
            ("ERR max number of clients + cluster connections reached", "Passing"),
            ("upstream failure", "Passing"),
            ("NOSCRIPT No matching script.", "NoScript"),
            ("OOM command not allowed when used memory > 'maxmemory'.", "Full"),
            (
                "ERR Error running script: @user_script:14: -OOM command not allowed",
                "Full",
            ),
            (
                "ERR Error running script: @user_script:5: -READONLY You can't write",
                "Elsewhere",
            ),
            (
                "NOPERM this user has no permissions to run the 'xadd' command",
                "Refused",
            ),
            ("NOAUTH Authentication required.", "Refused"),
            (
                "WRONGPASS invalid username-password pair or user is disabled.",
                "Refused",
            ),
            (
                "WRONGTYPE Operation against a key holding the wrong kind of value",
                "Refused",
            ),
            ("ERR something new", "Refused"),
        ] {
            let fault = format!("{:?}", fault(reply));
            assert!(fault.starts_with(right), "{reply}: {fault}");
        }
    }

    #[test]
    fn a_servers_words_stay_on_one_short_line() {
        let long = fault(&format!("ERR one\ttwo {}", "x".repeat(1_000)));
        let Unavailable { reason: why, .. } = long.into();
        assert!(why.starts_with("ERR one two") && why.len() <= MOST_WORDS, "{why}");
    }
}

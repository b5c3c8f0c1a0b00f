//! A check of the store before it is used for the log: errors and warnings that say what to set.
//!
//! `INFO` gives nearly all of it, since managed services often forbid `CONFIG`; a setting that cannot be read is a warning.

use redis::Value;

use super::fault::Fault;
use super::keys::Keys;
use super::link::Link;
use super::script::{By, Scripts};
use super::url::{Place, RedisUrl};

/// A store that may be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Checked {
    /// Such as `Redis 7.0.15`.
    pub server: String,
    pub warnings: Vec<String>,
}

/// Asks the server about itself.
///
/// # Errors
/// [`Fault::Refused`] for a store that would not keep the log; any other when it did not answer as it should just now.
pub(super) fn look(link: &mut Link, url: &RedisUrl, scripts: &Scripts, keys: &Keys) -> Result<Checked, Fault> {
    let mut config = redis::cmd("CONFIG");
    let mut commands = vec![redis::cmd("INFO"), config.arg("GET").arg("save").to_owned()];
    commands.extend(keys.shared().map(|(key, _)| redis::cmd("TYPE").arg(key).to_owned()));
    let trial = keys.trial.each_ref().map(String::as_str);
    commands.extend([By::Code, By::Hash].map(|by| scripts.may.on(by, &trial)));
    let mut replies = link.call(&commands)?.into_iter();

    let info = replies.next().unwrap_or(Value::Nil);
    if let Some(fault) = link.fault(&info) {
        return Err(fault);
    }
    let info: String = redis::from_redis_value(info).unwrap_or_default();
    // An array of name and value; an error where CONFIG is forbidden.
    let save = replies
        .next()
        .and_then(|reply| redis::from_redis_value::<Vec<String>>(reply).ok());
    let checked = judge(
        &Info(&info),
        save.as_ref().and_then(|pair| pair.get(1)).map(String::as_str),
        url,
    )?;
    for ((key, right), reply) in keys.shared().into_iter().zip(replies.by_ref()) {
        allowed(link, &reply)?;
        of_type(key, right, &reply)?;
    }
    for reply in replies {
        allowed(link, &reply)?;
    }
    Ok(checked)
}

/// A temporary refusal does not show the user's rights.
fn allowed(link: &Link, reply: &Value) -> Result<(), Fault> {
    match link.fault(reply) {
        Some(fault @ Fault::Refused(_)) => Err(fault),
        _ => Ok(()),
    }
}

fn of_type(key: &str, right: &str, reply: &Value) -> Result<(), Fault> {
    match reply {
        Value::SimpleString(found) if found != right && found != "none" => Err(Fault::Refused(format!(
            "the key {key} is a {found} and should be a {right}: another program seems to use it, [store] prefix sets \
             others apart"
        ))),
        _ => Ok(()),
    }
}

/// The answer to `INFO`.
struct Info<'a>(&'a str);

impl<'a> Info<'a> {
    fn field(&self, name: &str) -> Option<&'a str> {
        self.0
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(str::trim_end)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.field(name)?.parse().ok()
    }

    /// The version that Redis would have, by which features go; Valkey names its own beside it.
    fn version(&self) -> Option<(u32, u32)> {
        let mut parts = self.field("redis_version")?.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    }

    fn server(&self) -> String {
        match (self.field("valkey_version"), self.field("redis_version")) {
            (Some(valkey), _) => format!("Valkey {valkey}"),
            (None, Some(redis)) => format!("Redis {redis}"),
            (None, None) => "a server that does not tell its version".into(),
        }
    }
}

/// `save` is the server's setting of that name, `None` if it may not be asked.
fn judge(info: &Info<'_>, save: Option<&str>, url: &RedisUrl) -> Result<Checked, Fault> {
    of_the_kind(info, url)?;
    let server = info.server();
    if info.version().is_none_or(|version| version < OLDEST) {
        let (major, minor) = OLDEST;
        return refuse(format!(
            "the store is {server}: Redis {major}.{minor} or later is needed, or Valkey"
        ));
    }
    if info.field("role") == Some("slave") {
        let master = [info.field("master_host"), info.field("master_port")].map(Option::unwrap_or_default);
        return Err(Fault::Elsewhere(format!(
            "the server is a replica, its master is {}",
            master.join(":")
        )));
    }
    if !info
        .field("master_replid")
        .is_some_and(|id| id.chars().any(|c| c != '0'))
    {
        return refuse(format!(
            "{server} does not show its replication id (master_replid of INFO replication), which tells a store that has \
             lost something: use one that does"
        ));
    }
    let mut warnings = Vec::new();
    memory(info, &mut warnings)?;
    persistence(info, save, &mut warnings);
    let guarded = info.field("min_slaves_good_slaves").is_some();
    if info.number("connected_slaves").is_some_and(|replicas| replicas > 0) && !guarded {
        warnings.push(
            "the store has replicas, and min-replicas-to-write is 0: a master cut off from them goes on taking what will \
             be lost; set min-replicas-to-write 1 and min-replicas-max-lag 10"
                .into(),
        );
    }
    Ok(Checked { server, warnings })
}

/// The server is of the kind that the URL says.
fn of_the_kind(info: &Info<'_>, url: &RedisUrl) -> Result<(), Fault> {
    // Valkey's word for it is another.
    match (info.field("redis_mode").or(info.field("server_mode")), &url.place) {
        (Some("sentinel"), _) => {
            refuse("the server is a sentinel: redis+sentinel://host:26379/master-name as the url".into())
        }
        (Some("cluster"), Place::One(node)) => refuse(format!(
            "the server is a node of a cluster: redis+cluster://{node} as the url"
        )),
        (Some("cluster"), Place::Sentinel { .. }) => {
            refuse("the sentinels name a node of a cluster: redis+cluster:// and its nodes as the url".into())
        }
        _ => Ok(()),
    }
}

fn memory(info: &Info<'_>, warnings: &mut Vec<String>) -> Result<(), Fault> {
    match (info.number("maxmemory"), info.field("maxmemory_policy")) {
        (Some(0), _) | (Some(_), Some("noeviction")) => Ok(()),
        (Some(_), Some(policy)) => refuse(format!(
            "the store's maxmemory-policy is {policy}: it may throw away the log; set maxmemory-policy noeviction"
        )),
        _ => {
            warnings.push("maxmemory-policy cannot be seen here: make sure that it is noeviction".into());
            Ok(())
        }
    }
}

fn persistence(info: &Info<'_>, save: Option<&str>, warnings: &mut Vec<String>) {
    if info.number("aof_enabled") == Some(1) {
        return;
    }
    match save {
        Some("") => warnings.push(
            "the store keeps nothing on disk: if it and all gates end together, everybody's place comes back with the \
             tickets only; set appendonly yes"
                .into(),
        ),
        Some(_) => {}
        None => {
            warnings
                .push("whether the store keeps its data on disk cannot be seen here: appendonly yes is best".into());
        }
    }
}

fn refuse<T>(why: String) -> Result<T, Fault> {
    Err(Fault::Refused(why))
}

/// XTRIM MINID, which keeps the log short, came with 6.2.
const OLDEST: (u32, u32) = (6, 2);

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "redis_version:7.0.15\r\nredis_mode:standalone\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n\
                        aof_enabled:1\r\nrole:master\r\nconnected_slaves:0\r\nmaster_replid:00f1\r\n";

    fn look(info: &str, save: Option<&str>) -> Result<Vec<String>, String> {
        let url = "redis://h".parse().unwrap();
        let found = judge(&Info(info), save, &url);
        found
            .map(|checked| checked.warnings)
            .map_err(|fault| format!("{fault:?}"))
    }

    fn with(field: &str, value: &str) -> String {
        let line = |line: &str| line.starts_with(&format!("{field}:"));
        let others: Vec<_> = GOOD.lines().filter(|text| !line(text)).map(str::to_owned).collect();
        format!("{}\r\n{field}:{value}\r\n", others.join("\r\n"))
    }

    #[test]
    fn a_store_in_order_raises_no_word() {
        assert_eq!(look(GOOD, Some("")), Ok(vec![]));
        assert_eq!(look(&with("redis_version", "6.2.0"), None), Ok(vec![]));
        assert_eq!(look(&with("aof_enabled", "0"), Some("3600 1")), Ok(vec![]));
        let valkey = format!("{GOOD}valkey_version:8.0.1\r\n");
        assert_eq!(Info(&valkey).server(), "Valkey 8.0.1");
    }

    #[test]
    fn what_would_lose_the_log_is_refused_with_what_to_set() {
        let full = format!(
            "{}maxmemory_policy:allkeys-lru\r\n",
            with("maxmemory_policy", "x").replace("maxmemory_policy:x\r\n", "")
        );
        for (info, part) in [
            (with("redis_version", "6.0.16"), "6.2 or later"),
            (with("redis_version", "none"), "6.2 or later"),
            (with("master_replid", &"0".repeat(40)), "replication id"),
            (GOOD.replace("master_replid", "hidden"), "replication id"),
            (full.replace("maxmemory:0", "maxmemory:9"), "noeviction"),
            (with("redis_mode", "cluster"), "redis+cluster://h:6379"),
            (with("redis_mode", "sentinel"), "redis+sentinel://"),
            (
                GOOD.replace("redis_mode:standalone", "server_mode:cluster"),
                "redis+cluster://h:6379",
            ),
        ] {
            let found = look(&info, Some(""));
            assert!(
                matches!(&found, Err(why) if why.starts_with("Refused") && why.contains(part)),
                "{found:?}: {part}"
            );
        }
        assert!(look(&with("role", "slave"), None).unwrap_err().starts_with("Elsewhere"));
    }

    #[test]
    fn what_may_be_meant_is_a_warning() {
        let warns = |info: &str, save, part: &str| {
            let warnings = look(info, save).unwrap();
            assert!(
                warnings.len() == 1 && warnings[0].contains(part),
                "{warnings:?}: {part}"
            );
        };
        warns(&with("aof_enabled", "0"), Some(""), "appendonly yes");
        warns(&with("aof_enabled", "0"), None, "cannot be seen");
        warns(&with("connected_slaves", "1"), None, "min-replicas-to-write 1");
        warns(&GOOD.replace("maxmemory", "hidden"), None, "maxmemory-policy");
        let guarded = format!("{}min_slaves_good_slaves:1\r\n", with("connected_slaves", "1"));
        assert_eq!(look(&guarded, None), Ok(vec![]));
    }
}

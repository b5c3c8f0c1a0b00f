//! The differences of two configurations, for an operator who changed one into the other.

use std::collections::BTreeMap;
use std::fmt;

use super::configuration::Config;
use super::document::{InForce, Mistake, Origin};
use super::keys;
use super::room::Room;
use super::server::acme::Acme;
use super::upstream::Upstream;
use super::upstream::tls::Tls;

/// A key whose value differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// With its table in front; rooms and limits by their names, as in `room.shop.mode`.
    pub key: String,
    /// As TOML, secrets masked; `None` where it is not set, and has no default.
    pub before: Option<String>,
    pub after: Option<String>,
    /// Only a start reads it.
    pub at_start: bool,
    origin: Origin,
}

/// A value, and whether its key is read at the start only.
type Known<'c> = (&'c InForce, bool);

impl Config {
    /// All differences in `after`, in the order of its keys. Values that must not be shown (a secret, or a file's content)
    /// are left out.
    #[must_use]
    pub fn differences(&self, after: &Self) -> Vec<Difference> {
        let (old, new) = (by_key(&self.in_force), by_key(&after.in_force));
        let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let mut found: Vec<Difference> = Vec::new();
        for key in keys {
            let (before, after) = (old.get(key), new.get(key));
            let value = |known: Option<&Known<'_>>| known.map(|(entry, _)| entry.value.clone());
            if value(before) != value(after) {
                found.push(Difference {
                    key: key.clone(),
                    before: value(before),
                    after: value(after),
                    at_start: before.or(after).is_some_and(|(_, at_start)| *at_start),
                    origin: after.map_or(Origin::Defaults, |(entry, _)| entry.origin.clone()),
                });
            }
        }
        for (key, table, name) in self.unseen(after) {
            if !found.iter().any(|one| one.key == key) {
                found.push(Difference {
                    at_start: at_start(table, name),
                    origin: new
                        .get(&key)
                        .map_or(Origin::Defaults, |(entry, _)| entry.origin.clone()),
                    key,
                    before: None,
                    after: None,
                });
            }
        }
        found
    }

    /// Keys whose secret, or whose file, may have changed although their text is the same: each with its table and its name
    /// there.
    fn unseen(&self, after: &Self) -> Vec<(String, &'static str, &'static str)> {
        let known = [
            ("server", "admin_token", self.admin.token != after.admin.token),
            ("server", "admin_tokens", self.admin.tokens != after.admin.tokens),
            (
                "server",
                "verify_token",
                self.admin.verify_token != after.admin.verify_token,
            ),
            ("tokens", "keys", self.keys != after.keys),
            (
                "tls.acme",
                "external_account",
                of_acme(self, |acme| acme.external_account.clone())
                    != of_acme(after, |acme| acme.external_account.clone()),
            ),
            (
                "tls.acme",
                "ca_file",
                of_acme(self, |acme| acme.ca_file.clone()) != of_acme(after, |acme| acme.ca_file.clone()),
            ),
            ("store", "ca_file", self.store.ca_file != after.store.ca_file),
            ("store", "password", self.store.kind != after.store.kind),
        ];
        let known = known.into_iter().filter(|(.., differs)| *differs);
        let mut found: Vec<_> = known
            .map(|(table, name, _)| (format!("{table}.{name}"), table, name))
            .collect();
        for upstream in &after.upstreams {
            let before = self.upstreams.iter().find(|old| old.name == upstream.name);
            let differ = before.map(|before| unseen_of(before, upstream)).unwrap_or_default();
            let table = upstream.name.as_ref().filter(|_| upstream.place != "upstream");
            let table = table.map_or_else(|| "upstream".to_owned(), |name| format!("upstream.{name}"));
            found.extend(
                differ
                    .into_iter()
                    .map(|name| (format!("{table}.{name}"), "upstream", name)),
            );
        }
        for room in &after.rooms {
            let before = self.rooms.iter().find(|old| old.name == room.name);
            if before.is_some_and(|before| before.page.template != room.page.template) {
                let key = format!("room.{}.page.template", room.name);
                found.push((key, "room.page", "template"));
            }
            if before.is_some_and(|before| before.page.wording != room.page.wording) {
                found.push((format!("room.{}.page.wording", room.name), "room.page", "wording"));
            }
            if before.is_some_and(|before| before.page.brand.logo != room.page.brand.logo) {
                found.push((format!("room.{}.page.logo", room.name), "room.page", "logo"));
            }
            // Of the keys the configuration contains only the file's name.
            let keys = |room: &Room| Some(room.identity.as_ref()?.verifier()?.keys.clone());
            if before.is_some_and(|before| keys(before) != keys(room)) {
                let name = format!("room.{}.identity.key_file", room.name);
                found.push((name, "room.identity", "key_file"));
            }
        }
        found
    }
}

/// As [`Config::unseen`], of one upstream.
fn unseen_of(before: &Upstream, after: &Upstream) -> Vec<&'static str> {
    let of_tls = |pick: fn(&Tls) -> Option<Vec<u8>>| pick(&before.tls) != pick(&after.tls);
    let known = [
        ("signature_key", before.signature_key != after.signature_key),
        ("ca_file", of_tls(|tls| Some(tls.ca_file.as_ref()?.pem.clone()))),
        (
            "client_cert_file",
            of_tls(|tls| Some(tls.client.as_ref()?.0.pem.clone())),
        ),
        (
            "client_key_file",
            of_tls(|tls| Some(tls.client.as_ref()?.1.expose().to_vec())),
        ),
    ];
    known
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
}

fn of_acme<T>(config: &Config, pick: impl Fn(&Acme) -> Option<T>) -> Option<T> {
    config.tls.acme.as_ref().and_then(pick)
}

impl Difference {
    /// The mistake for a reload, which cannot apply it.
    #[must_use]
    pub fn needs_restart(&self) -> Mistake {
        Mistake {
            origin: self.origin.clone(),
            key: self.key.clone(),
            wrong: format!("this is read when the gate starts, and never again ({self})"),
            right: "the value as it was; or restart the gate with this one, or `ropeline upgrade`: no place in line is lost"
                .to_owned(),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.after) {
            (None, None) => write!(f, "{} holds something else", self.key),
            (Some(before), Some(after)) => write!(f, "{} = {after}, was {before}", self.key),
            (None, Some(after)) => write!(f, "{} = {after}, was not set", self.key),
            (Some(before), None) => write!(f, "{} is not set, was {before}", self.key),
        }
    }
}

fn by_key(in_force: &[InForce]) -> BTreeMap<String, Known<'_>> {
    let named = |entry: &&InForce| entry.name == "name" && entry.section.ends_with(']');
    let names: BTreeMap<&str, &str> = in_force
        .iter()
        .filter(named)
        .map(|entry| (entry.section.as_str(), entry.value.trim_matches('"')))
        .collect();
    let label = |section: &str| {
        let (first, rest) = section
            .split_once("].")
            .map_or((section, ""), |(first, rest)| (first, rest));
        let whole = if rest.is_empty() {
            first.to_owned()
        } else {
            format!("{first}]")
        };
        let table = whole.split('[').next().unwrap_or_default();
        let own = names
            .get(whole.as_str())
            .map_or_else(|| whole.clone(), |name| format!("{table}.{name}"));
        if rest.is_empty() { own } else { format!("{own}.{rest}") }
    };
    let key = |entry: &InForce| format!("{}.{}", label(&entry.section), entry.name);
    in_force
        .iter()
        .map(|entry| (key(entry), (entry, is_at_start(entry))))
        .collect()
}

fn is_at_start(entry: &InForce) -> bool {
    let parts = entry
        .section
        .split('.')
        .map(|part| part.split('[').next().unwrap_or_default());
    at_start(&parts.collect::<Vec<_>>().join("."), entry.name)
}

/// Whether only a start reads a key, by its table's name and its own.
fn at_start(table: &str, name: &str) -> bool {
    let key = keys::table(table).and_then(|table| table.key(name));
    key.is_some_and(|key| key.at_start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    fn config(text: &str) -> Config {
        let base = "[upstream]\nurl = \"http://127.0.0.1:1\"\n";
        config::check(&format!("{base}{text}"), "test").finish().unwrap().0
    }

    fn told(before: &str, after: &str) -> Vec<(String, bool)> {
        let differences = config(before).differences(&config(after));
        differences.iter().map(|one| (one.to_string(), one.at_start)).collect()
    }

    #[test]
    fn a_room_is_named_and_not_numbered() {
        let before =
            "[[room]]\nname = \"a\"\nhosts = [\"a.example\"]\n[[room]]\nname = \"b\"\nhosts = [\"b.example\"]\n";
        let after = "[[room]]\nname = \"b\"\nhosts = [\"c.example\"]\n[room.page]\nrefresh = false\n[[room]]\nname = \"a\"\nhosts = [\"a.example\"]\n";
        let expected = [
            "room.b.hosts = [\"c.example\"], was [\"b.example\"]",
            "room.b.page.refresh = false, was true",
        ];
        assert_eq!(told(before, after), expected.map(|line| (line.to_owned(), false)));
        assert_eq!(told(before, before), []);
    }

    #[test]
    fn an_upstream_is_named_and_its_secret_is_its_own() {
        let upstream = |name: &str, port: u16, secret: &str| {
            format!(
                "[[upstream]]\nname = \"{name}\"\nhosts = [\"{name}.example\"]\nurl = \"http://10.0.0.1:{port}\"\n\
                 signature_key = {{ id = \"a\", secret = \"{secret}-which-is-long-enough-for-a-key\" }}\n"
            )
        };
        let read = |upstreams: String| {
            let rooms = "[[room]]\nname = \"a\"\nupstream = \"a\"\n[[room]]\nname = \"b\"\nupstream = \"b\"\n";
            config::check(&(upstreams + rooms), "test").finish().unwrap().0
        };
        let before = read(upstream("b", 2, "two") + &upstream("a", 1, "one"));
        let after = read(upstream("a", 3, "one") + &upstream("b", 2, "other"));
        let told: Vec<_> = before.differences(&after).iter().map(ToString::to_string).collect();
        let expected = [
            "upstream.a.url = \"http://10.0.0.1:3\", was \"http://10.0.0.1:1\"",
            "upstream.b.signature_key holds something else",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_secret_is_named_and_not_shown() {
        let key = |secret: &str| format!("[tokens]\nkeys = [{{ id = \"a\", secret = \"{secret}{secret}\" }}]\n");
        let told = told(&key("sixteen bytes ..."), &key("other bytes ....."));
        assert_eq!(told, [("tokens.keys holds something else".to_owned(), false)]);
    }

    #[test]
    fn what_only_a_start_reads_is_marked_with_its_line() {
        let after = config("[store]\nlog_keep = \"1 day\"\n[server]\nlisten = [\"127.0.0.1:1000\"]\nh2c = true\n");
        let differences = config("").differences(&after);
        let marked: Vec<_> = differences.iter().filter(|one| one.at_start).collect();
        let keys: Vec<_> = marked.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, ["server.listen", "store.log_keep"]);
        assert_eq!(
            marked[0].origin,
            Origin::File(crate::config::Place { line: 6, column: 10 })
        );
        let mistake = marked[0].needs_restart().to_string();
        assert!(
            mistake.starts_with("line 6: server.listen: this is read when the gate starts"),
            "{mistake}"
        );
    }

    #[test]
    fn a_stores_password_is_no_difference_that_goes_unnoticed() {
        let store = |password: &str| {
            let keys = "[tokens]\nkeys = [{ id = \"a\", secret = \"long enough, long enough, long enough\" }]\n";
            format!("{keys}[store]\nurl = \"redis://gate:{password}@127.0.0.1\"\n")
        };
        assert_eq!(
            told(&store("one"), &store("two")),
            [("store.password holds something else".to_owned(), true)]
        );
    }
}

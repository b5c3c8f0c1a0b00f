//! Values as `ropeline run` prints them: as TOML, with secrets masked.

use toml::de::{DeTable, DeValue};

use crate::store::redis::RedisUrl;

/// Replaces a secret in the file.
const MASK: &str = "\"********\"";

/// Keys whose texts are secrets.
const SECRET: [&str; 5] = ["secret", "token", "admin_token", "verify_token", "password"];

pub(in crate::config) fn value(name: &str, value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(_) if SECRET.contains(&name) => MASK.to_owned(),
        // SECURITY: a store's URL may carry a password; it masks it by itself.
        DeValue::String(text) if name == "url" => quoted(
            &text
                .parse::<RedisUrl>()
                .map_or_else(|_| text.to_string(), |url| url.to_string()),
        ),
        DeValue::String(text) => quoted(text),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(yes) => yes.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(list) => {
            let items: Vec<String> = list.iter().map(|item| self::value(name, item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(table) => inline(name, table),
    }
}

fn inline(name: &str, table: &DeTable<'_>) -> String {
    let pair = |(key, item): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        // Where a secret comes from is no secret.
        let own = if SECRET.contains(&name) { "" } else { key };
        format!("{key} = {}", value(own, item.get_ref()))
    };
    let pairs: Vec<String> = table.iter().map(pair).collect();
    format!("{{ {} }}", pairs.join(", "))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

//! A JSON Schema (draft 2020-12) of the configuration, made from the tables of keys, for editors that check and complete
//! TOML. Dependencies between keys are not in it; `ropeline check` reports those.

use serde_json::{Map, Value, json};

use super::keys::{Brackets, Form, Key, Preset, Table, below};

/// The schema of a whole file.
#[must_use]
pub fn schema() -> Value {
    let mut schema = object(&[], "");
    if let Value::Object(schema) = &mut schema {
        schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        schema.insert("title".into(), json!("Configuration of Ropeline"));
    }
    schema
}

fn table(table: &Table) -> Value {
    let mut schema = object(table.keys, table.name);
    let list = |one: &Value| json!({ "type": "array", "items": one });
    match table.brackets {
        Brackets::One => {}
        Brackets::Two => schema = list(&schema),
        Brackets::Either => schema = json!({ "anyOf": [schema, list(&schema)] }),
    }
    schema["description"] = json!(table.about);
    schema
}

/// The keys of a table, and the tables below it.
fn object(keys: &[Key], name: &str) -> Value {
    let mut properties: Map<String, Value> = keys.iter().map(|one| (one.name.to_owned(), key(one))).collect();
    properties.extend(below(name).map(|(name, below)| (name.to_owned(), table(below))));
    let required = keys.iter().filter(|key| key.preset == Preset::Required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn key(key: &Key) -> Value {
    let mut schema = form(&key.form);
    schema["description"] = json!(key.about);
    let default = key
        .default_value()
        .map(|value| format!("default = {value}").parse::<toml::Table>());
    if let Some(Ok(default)) = default {
        schema["default"] = json!(default["default"]);
    }
    schema
}

fn form(of: &Form) -> Value {
    match of {
        Form::YesOrNo => json!({ "type": "boolean" }),
        Form::Number(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Form::Numbers(all) => json!({ "enum": all }),
        Form::Words(words) => json!({ "enum": words }),
        Form::Duration(..) => json!({ "type": "string", "pattern": DURATION }),
        Form::Size(..) => json!({ "type": "string", "pattern": SIZE }),
        Form::Text(words) => match PATTERNS.iter().find(|(text, _)| text == words) {
            Some((_, pattern)) => json!({ "type": "string", "pattern": pattern }),
            None => json!({ "type": "string" }),
        },
        Form::ByLanguage(_) => json!({ "anyOf": [
            { "type": "string" },
            { "type": "object", "propertyNames": { "pattern": TAG }, "minProperties": 1,
              "additionalProperties": { "type": "string" } },
        ] }),
        Form::Secret(_) => {
            let elsewhere = |name: &str| {
                json!({ "type": "object", "properties": { name: { "type": "string" } },
                        "required": [name], "additionalProperties": false })
            };
            json!({ "anyOf": [{ "type": "string" }, elsewhere("env"), elsewhere("file")] })
        }
        Form::List(item) => json!({ "type": "array", "items": form(item) }),
        Form::Fields(fields, _) => {
            let properties: Map<String, Value> = fields
                .iter()
                .map(|(name, own)| ((*name).to_owned(), form(own)))
                .collect();
            let needed = fields.iter().filter(|(_, own)| !matches!(own, Form::Optional(_)));
            let required: Vec<&str> = needed.map(|(name, _)| *name).collect();
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
        }
        Form::Optional(own) => form(own),
        Form::Either(usual, other) => json!({ "anyOf": [form(usual), form(other)] }),
    }
}

/// Texts whose whole form their words say.
/// The tag of a language.
const TAG: &str = "^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$";

const PATTERNS: [(&str, &str); 5] = [
    ("the tag of a language of the page, such as \"en\"", TAG),
    ("1 to 16 of a-z, 0-9 and \"-\"", "^[a-z0-9-]{1,16}$"),
    ("1 to 32 of a-z, 0-9 and \"-\"", "^[a-z0-9-]{1,32}$"),
    (
        "1 to 32 of a-z, A-Z, 0-9, \"-\", \"_\", \".\" and \"@\"",
        "^[a-zA-Z0-9_.@-]{1,32}$",
    ),
    (
        "up to 64 letters, digits and \".-_:/\", such as \"shop.example\"",
        "^[a-zA-Z0-9._:/-]{0,64}$",
    ),
];

/// What every duration has: a number with a unit, or hours and minutes with a colon.
const DURATION: &str = r"[0-9]\s*[A-Za-zµμ]|[0-9]:[0-9]";

const SIZE: &str = r"^\s*[0-9]+\s*(B|KiB|MiB|GiB|kB|KB|MB|GB)\s*$";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_of_a_text_that_there_is() {
        let schema = schema().to_string();
        for (text, pattern) in PATTERNS {
            let pattern = Value::from(pattern).to_string();
            assert!(
                schema.contains(&format!("\"pattern\":{pattern}")),
                "no key has the form {text:?}"
            );
        }
    }
}

//! A waiting page as a visitor reads it: what it says itself, and what its script shows.

use ropeline::pages::FACTS;
use serde_json::{Map, Value};

/// The facts in the page's blocks of JSON, by their names in `static/page.js`: those that many visitors share, and the visitor's own.
/// Empty on a page without them.
pub fn facts(page: &str) -> Map<String, Value> {
    let block = |id: &str| {
        let (_, rest) = page.split_once(&format!(" id=\"{id}\">"))?;
        let json = rest.split_once("</script>")?.0;
        serde_json::from_str::<Map<String, Value>>(json).ok()
    };
    let mut facts = block("words").unwrap_or_default();
    let named = |(key, value): (String, Value)| {
        let name = FACTS.iter().find(|(_, short)| *short == key);
        (name.map_or(key, |(name, _)| (*name).to_owned()), value)
    };
    facts.extend(block("data").unwrap_or_default().into_iter().map(named));
    facts
}

/// The visitor's reference.
pub fn reference(page: &str) -> Option<String> {
    let in_text = || {
        let (_, rest) = page.split_once(" id=\"reference\">")?;
        Some(rest.split_once('<')?.0.to_owned())
    };
    let told = facts(page).get("reference").and_then(Value::as_str).map(str::to_owned);
    told.or_else(in_text).filter(|reference| !reference.is_empty())
}

/// The page without its scripts and their words, and with the facts that its script only shows: each between `>` and `<`.
pub fn shown(page: &str) -> String {
    let mut parts = page.split("<script");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    shown.extend(parts.filter_map(|part| Some(part.split_once("</script>")?.1)));
    let facts = facts(page);
    let position = facts
        .get("ahead")
        .and_then(Value::as_u64)
        .map(|ahead| (ahead + 1).to_string());
    let texts = facts
        .get("text")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::values);
    let texts = texts.filter_map(Value::as_str).map(str::to_owned);
    let more: Vec<String> = texts.chain(position).chain(reference(page)).collect();
    if more.is_empty() {
        return shown;
    }
    shown + ">" + &more.join("<>") + "<"
}

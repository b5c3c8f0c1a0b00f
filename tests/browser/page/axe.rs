//! Every state of the page, and the example templates, by the rules of axe-core: in light, dark and forced colours, with a script
//! and without.

use std::collections::BTreeMap;
use std::path::Path;

use ropeline::pages::{Language, Pages, preview, states};
use serde_json::{Value, json};

use super::served::serve;
use crate::harness::browser::Browser;
use crate::harness::look::Look;

/// `scripts/test setup` installs it.
const AXE: &str = "target/node_modules/axe-core/axe.min.js";

/// Set where axe-core cannot be had: the tests then pass without it.
const WITHOUT: &str = "ROPELINE_WITHOUT_AXE";

/// Those of a browser's settings that change its colours.
const COLOURS: [&[(&str, &str)]; 3] = [
    &[("prefers-color-scheme", "light"), ("forced-colors", "none")],
    &[("prefers-color-scheme", "dark"), ("forced-colors", "none")],
    &[("prefers-color-scheme", "light"), ("forced-colors", "active")],
];

#[tokio::test]
async fn the_built_in_page_has_no_violation_in_any_state() {
    finds_nothing(None).await;
}

#[tokio::test]
async fn nor_have_the_example_templates() {
    for name in ["page", "concert", "shop"] {
        finds_nothing(Some(&format!("examples/page/{name}.html"))).await;
    }
}

async fn finds_nothing(template: Option<&str>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(AXE);
    let axe = match std::fs::read_to_string(file) {
        Ok(axe) => axe,
        Err(e) if is_without() => return eprintln!("skipped, since {WITHOUT} is set and {AXE} cannot be read ({e})"),
        Err(e) => {
            panic!("{AXE} cannot be read ({e}): run 'scripts/test setup', or set {WITHOUT}=1 to go on without it")
        }
    };
    let template = template.map(|file| std::fs::read_to_string(file).expect("an example"));
    let pages = Pages::new(template.as_deref()).expect("a template that works");
    let mut bodies = BTreeMap::new();
    for state in states() {
        let page = preview(&pages, state, Language::ENGLISH).expect("a state of them");
        let page = String::from_utf8(page.body.to_vec()).expect("markup");
        bodies.insert(format!("/without/{state}"), without_scripts(&page));
        bodies.insert(format!("/with/{state}"), page);
    }
    let names: Vec<String> = bodies.keys().cloned().collect();
    let address = serve(bodies).await;
    let browser = Browser::start(Look::default()).await;
    let before = json!({ "source": axe });
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", before).await;
    let mut found = Vec::new();
    for name in names {
        browser.open(&format!("http://{address}{name}")).await;
        for colours in COLOURS {
            let features: Vec<Value> = colours
                .iter()
                .map(|(name, value)| json!({ "name": name, "value": value }))
                .collect();
            browser
                .devtools("Emulation.setEmulatedMedia", json!({ "features": features }))
                .await;
            let violations = browser.run(RUN).await;
            assert!(violations.is_array(), "{name}: {violations}");
            if violations != json!([]) {
                found.push(format!("{name} in {colours:?}: {violations:#}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a test runs on is no configuration of the gate"
)]
fn is_without() -> bool {
    std::env::var_os(WITHOUT).is_some()
}

/// What is folded is looked at too.
const RUN: &str = "document.querySelectorAll('details').forEach(one => { one.open = true; });\
return axe.run(document).then(found => found.violations.map(one => [one.id, one.nodes.map(node => node.failureSummary + node.html)]))";

/// Words of what became of a turn, a session, a line and a form.
const SAID_ONCE: [&str; 6] = [
    "Your turn came at",
    "You missed your turn,",
    "Your time inside is over",
    "The line was restarted",
    "did not go through",
    "We do not know whether",
];

/// The page as a browser shows it that runs no script. Its `meta` leads on at once, which no rule forbids, and would lead away from
/// here. What is said once waits some seconds, a limit that `docs/reports/accessibility.md` names.
fn without_scripts(page: &str) -> String {
    let mut left = String::new();
    let mut rest = page;
    while let Some((before, script)) = rest.split_once("<script") {
        left.push_str(before);
        rest = script.split_once("</script>").expect("a script that ends").1;
    }
    left.push_str(rest);
    let left = left.replace("<noscript>", "").replace("</noscript>", "");
    let Some((before, meta)) = left.split_once("<meta http-equiv=\"refresh\"") else {
        return left;
    };
    let (meta, after) = meta.split_once('>').expect("an element that ends");
    assert!(
        meta.contains("content=\"0;") || SAID_ONCE.iter().any(|said| left.contains(said)),
        "{meta}"
    );
    [before, after].concat()
}

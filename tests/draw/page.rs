//! The page without a server, as a file: that it can load and send nothing, and that its own script may run.

use base64::Engine as _;
use sha2::{Digest as _, Sha256};

const PAGE: &str = include_str!("../../static/draw.html");

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

#[test]
fn its_policy_lets_nothing_in_but_its_own_style_and_script() {
    let source = |text: &str| {
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
        format!("'sha256-{hash}'")
    };
    let (style, script) = (
        between(PAGE, "<style>", "</style>"),
        between(PAGE, "<script>", "</script>"),
    );
    let policy = between(PAGE, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    let wanted = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {}",
        source(style),
        source(script)
    );
    assert_eq!(
        policy, wanted,
        "the file was changed: its policy is to be what is wanted here"
    );
}

#[test]
fn it_names_no_address_and_has_one_script_and_no_handlers() {
    for part in [
        "http:",
        "https:",
        "//cdn",
        " src=",
        "url(",
        "@import",
        "fetch(",
        "XMLHttp",
        "eval(",
        "innerHTML",
        " onclick",
    ] {
        assert!(!PAGE.contains(part), "{part}");
    }
    assert_eq!(PAGE.matches("<script").count(), 1);
    assert_eq!(PAGE.matches("style=").count(), 0);
}

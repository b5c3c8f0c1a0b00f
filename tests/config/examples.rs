//! The configurations in `examples/kubernetes`, `examples/compose` and the guides are good, without a warning, once their secrets are
//! filled in.

use std::path::Path;

use ropeline::config;

/// Secrets as files, by their names in the examples.
const FILES: [&str; 4] = ["token-key", "admin-token", "metrics-token", "store-password"];
const VARIABLES: [&str; 2] = ["ROPELINE_ADMIN_TOKEN", "ROPELINE_STORE_PASSWORD"];

/// The file in the `ConfigMap`.
fn config_map() -> String {
    let manifest = super::text("examples/kubernetes/config.yaml");
    let lines = manifest.lines().skip_while(|line| *line != "  config.toml: |").skip(1);
    let lines: Vec<&str> = lines.map(|line| line.get(4..).unwrap_or_default()).collect();
    lines.join("\n")
}

/// The block of a guide below the comment that names its file.
fn block(page: &str, file: &str) -> String {
    let text = super::text(page);
    let mark = format!("<!-- file: {file} -->");
    let lines = text.lines().skip_while(|line| *line != mark).skip(2);
    let block: Vec<&str> = lines.take_while(|line| !line.starts_with("```")).collect();
    block.join("\n")
}

/// The text with files in the folder in place of all secrets.
fn with_secrets(text: &str, folder: &Path, secret: impl Fn(&str) -> String) -> String {
    let mut text = text.to_owned();
    for name in FILES.iter().chain(&VARIABLES) {
        let own = folder.join(name);
        std::fs::write(&own, secret(name)).expect("written");
        let own = own.display();
        for place in ["/etc/ropeline", "/etc/ropeline-secrets", "/run/secrets"] {
            text = text.replace(&format!("\"{place}/{name}\""), &format!("\"{own}\""));
        }
        text = text.replace(&format!("env = \"{name}\""), &format!("file = \"{own}\""));
    }
    text
}

#[test]
fn the_examples_and_the_guides_have_configurations_without_a_mistake_or_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let examples = [
        ("the ConfigMap", config_map()),
        ("compose", super::text("examples/compose/ropeline/config.toml")),
        (
            "three machines",
            block("docs/guides/three-machines.md", "/etc/ropeline/config.toml"),
        ),
        ("migration", block("docs/guides/migrate.md", "config.toml")),
        ("several shops", block("docs/guides/several-shops.md", "config.toml")),
    ];
    for (name, text) in examples {
        assert!(text.contains("[[room]]"), "{name}: {text}");
        let text = with_secrets(&text, folder.path(), |name| format!("{name:->48}"));
        let report = config::check(&text, name);
        assert!(report.mistakes().is_empty() && report.warnings().is_empty(), "{report}");
    }
}

#[test]
fn the_secret_of_the_manifests_must_be_filled_in_before_a_gate_starts() {
    let manifest = super::text("examples/kubernetes/secret.yaml");
    let placeholder = |name: &str| {
        let lines = manifest.lines();
        let mut own = lines.filter_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
        own.next_back().unwrap_or("none").to_owned()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let report = config::check(
        &with_secrets(&config_map(), folder.path(), placeholder),
        "the ConfigMap",
    );
    let said = report.to_string();
    for key in ["server.admin_token:", "server.admin_tokens:", "tokens.keys:"] {
        assert!(said.contains(&format!("{key} the secret has")), "{key}: {said}");
    }
}

//! The configuration that the packages install, and the unit that starts the gate with it.

use ropeline::config;

fn packaged() -> String {
    super::text("packaging/config.toml")
}

#[test]
fn the_packaged_file_lacks_the_address_of_the_shop_and_nothing_else() {
    let report = config::check(&packaged(), "config.toml");
    let keys: Vec<&str> = report.mistakes().iter().map(|mistake| mistake.key.as_str()).collect();
    assert_eq!(keys, ["upstream.url"], "{report}");
}

#[test]
fn the_packaged_file_with_all_its_examples_is_good() {
    let examples = ["#url = ", "#trusted_proxies = ", "#access = "];
    let text = examples.iter().fold(packaged(), |text, example| {
        assert!(text.contains(example), "{example}");
        text.replace(example, &example[1..])
    });
    let report = config::check(&text, "config.toml");
    assert!(report.mistakes().is_empty() && report.warnings().is_empty(), "{report}");
}

#[test]
fn the_units_and_logrotate_serve_the_packaged_file() {
    let (file, unit) = (packaged(), super::text("examples/systemd/ropeline.service"));
    for (of_file, of_unit) in [
        ("listen = [\"systemd\"]", "Wants=network-online.target ropeline.socket"),
        ("url = \"embedded:/var/lib/ropeline\"", "StateDirectory=ropeline"),
        (
            "#access = \"file:/var/log/ropeline/access.log\"",
            "LogsDirectory=ropeline",
        ),
        (
            "ropeline check /etc/ropeline/config.toml",
            "ExecStart=/usr/bin/ropeline run --config /etc/ropeline/config.toml",
        ),
    ] {
        assert!(file.contains(of_file), "config.toml: {of_file}");
        assert!(unit.lines().any(|line| line == of_unit), "ropeline.service: {of_unit}");
    }
    assert!(super::text("packaging/logrotate").contains("/var/log/ropeline/*.log {"));
}

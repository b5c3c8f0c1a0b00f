use anteroom::config;

/// Each good file is good, with exactly the warnings that it names in `# warning:` lines.
#[test]
fn every_good_file_is_good() {
    let files = super::files("tests/config/good");
    assert!(files.len() >= 6, "{} files", files.len());
    for (name, text) in files {
        let report = config::check(&text, &name);
        let warnings: Vec<String> = report.warnings().iter().map(ToString::to_string).collect();
        let expected: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# warning: "))
            .collect();
        assert!(report.mistakes().is_empty(), "{report}");
        assert_eq!(warnings.len(), expected.len(), "{report}");
        for part in expected {
            assert!(
                warnings.iter().any(|warning| warning.contains(part)),
                "no warning \"{part}\" in\n{report}"
            );
        }
        let config = report.config().expect("no mistake, so a configuration");
        let again = config::check(&described(config), &name);
        assert!(
            again.mistakes().is_empty(),
            "what {name} describes is no configuration:\n{again}"
        );
    }
}

/// The values in force, with the masks replaced by something that is long enough.
fn described(config: &config::Config) -> String {
    let mut text = config.describe();
    while let Some(at) = text.find("********") {
        text.replace_range(
            at..at + 8,
            &format!("another secret, long enough, at {at:04}").replace([' ', ','], "-"),
        );
    }
    text
}

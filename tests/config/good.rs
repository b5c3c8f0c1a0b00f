use ropeline::config;

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
        let of = |report: &config::Report| -> Vec<(String, String)> {
            let each = |warning: &config::Mistake| (warning.key.clone(), warning.wrong.clone());
            let mut of: Vec<_> = report.warnings().iter().map(each).collect();
            of.sort();
            of
        };
        let same = of(&again) == of(&report);
        assert!(
            same,
            "{name}: a default that is written out changes the warnings:\n{again}\n{report}"
        );
    }
}

#[test]
fn the_passwords_of_a_store_are_not_described() {
    let text = super::text("tests/config/good/shared-store.toml");
    let (config, _) = config::check(&text, "shared-store.toml").finish().expect("good");
    let told = format!("{} {config:?}", config.describe());
    assert!(
        told.contains("redis+sentinel://ropeline:***@s1:26379,s2:26380,s3:26379/shop"),
        "{told}"
    );
    assert!(!told.contains("hunter2") && !told.contains("hunter3"), "{told}");
    let text = super::text("tests/config/good/store-of-one-gate.toml");
    let (config, _) = config::check(&text, "store-of-one-gate.toml").finish().expect("good");
    assert!(
        config.describe().contains("password = \"********\"\n"),
        "{}",
        config.describe()
    );
}

#[test]
fn what_a_shop_shares_with_the_gate_is_not_described() {
    let text = super::text("tests/config/good/back-door.toml");
    let (config, _) = config::check(&text, "back-door.toml").finish().expect("good");
    let told = format!("{} {config:?}", config.describe());
    assert!(
        told.contains("signature_key = { id = \"2026-11\", secret = \"********\" }"),
        "{told}"
    );
    assert!(!told.contains("share!") && !told.contains("a-token-for"), "{told}");
}

#[test]
fn a_signature_key_that_two_shops_know_is_a_warning() {
    let text = super::text("tests/config/good/several-upstreams.toml");
    let warns = |text: &str| {
        let report = config::check(text, "several-upstreams.toml");
        let of_key = |warning: &&config::Mistake| warning.key.ends_with(".signature_key");
        report
            .warnings()
            .iter()
            .filter(of_key)
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(warns(&text), [""; 0]);
    let same = text.replace("known-to-the-books-shop", "known-to-the-music-shop");
    let warned = warns(&same);
    let [warning] = &warned[..] else { panic!("{warned:?}") };
    assert!(
        warning.starts_with("line 15: upstream[1].signature_key: another upstream has this secret too")
            && !warning.contains("known-to"),
        "{warning}"
    );
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

#[test]
fn a_simulation_supposes_the_default_of_idle_after() {
    let text = format!(
        "{}[[room]]\nslots = \"active\"\n",
        super::text("tests/config/good/smallest.toml")
    );
    let (config, _) = config::check(&text, "smallest.toml").finish().expect("good");
    let active = config.rooms[0].settings.active.expect("active slots");
    assert_eq!(active.idle_after_ms, ropeline::simulate::IDLE_AFTER_MS);
}

use ropeline::config;

/// Each bad file gives exactly the mistakes that it names in `# expect:` lines, each with line and key, and no other.
#[test]
fn every_bad_file_is_refused_with_all_its_mistakes() {
    let files = super::files("tests/config/bad");
    assert!(files.len() >= 30, "{} files", files.len());
    for (name, text) in files {
        let report = config::check(&text, &name);
        let mistakes: Vec<String> = report.mistakes().iter().map(ToString::to_string).collect();
        let expected: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# expect: "))
            .collect();
        assert!(!expected.is_empty(), "{name} expects nothing; it gives\n{report}");
        for part in &expected {
            assert!(
                mistakes.iter().any(|mistake| mistake.contains(part)),
                "no \"{part}\" in\n{report}"
            );
        }
        assert_eq!(mistakes.len(), expected.len(), "{report}");
        assert!(report.config().is_none(), "{name} gives a configuration");
        assert!(report.finish().is_err(), "{name} is accepted");
    }
}

/// Every mistake says what would be right, and none shows a secret.
#[test]
fn every_mistake_says_what_is_right_and_no_secret() {
    for (name, text) in super::files("tests/config/bad") {
        let report = config::check(&text, &name);
        for mistake in report.mistakes() {
            assert!(
                !mistake.right.is_empty() && !mistake.wrong.is_empty(),
                "{name}: {mistake}"
            );
        }
        assert!(
            !report.to_string().contains("hunter2"),
            "{name} shows a secret:\n{report}"
        );
    }
}

#[test]
fn a_file_that_is_not_there_is_a_mistake() {
    let path = super::path("tests/config/no-such.toml");
    let report = config::read(Some(&path), &config::Overrides::none());
    assert!(report.to_string().contains("the file cannot be opened"), "{report}");
    assert!(report.finish().is_err());
}

#[test]
fn a_mistake_in_an_option_names_the_option() {
    let overrides = config::Overrides::none().text("upstream.url", "--upstream", "127.0.0.1:3000");
    let report = config::read(None, &overrides);
    assert!(report.to_string().contains("--upstream: upstream.url: "), "{report}");
}

/// A template's mistakes come out with all the others.
#[test]
fn a_broken_template_is_a_mistake_at_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    std::fs::write(&page, "<p>{{ positoin }}</p>").expect("written");
    let text = format!(
        "[upstream]\nurl = \"nowhere\"\n\n[[room]]\nexcept = [\"/static/*\"]\n\n[room.page]\ntemplate = \"{}\"\n",
        page.display()
    );
    let report = config::check(&text, "config.toml");
    let told = report.to_string();
    assert_eq!(report.mistakes().len(), 2, "{told}");
    assert!(
        told.contains("line 8: room[0].page.template: ") && told.contains("positoin"),
        "{told}"
    );
}

/// So do those of a folder of wordings, each with its file and line there.
#[test]
fn every_mistake_of_a_folder_of_wordings_is_one_of_its_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("en.toml");
    std::fs::write(&file, "[words]\nopen = \"x\"\nopens = \"at noon\"\n").expect("written");
    let text = format!(
        "[upstream]\nurl = \"http://127.0.0.1:1\"\n[[room]]\nexcept = [\"/static/*\"]\n[room.page]\nwording = \"{}\"\n",
        folder.path().display()
    );
    let report = config::check(&text, "config.toml");
    let told: Vec<String> = report.mistakes().iter().map(ToString::to_string).collect();
    let start = format!("line 6: room[0].page.wording: {}: line ", file.display());
    let rest: Vec<&str> = told.iter().filter_map(|told| told.strip_prefix(&start)).collect();
    assert_eq!(
        rest,
        [
            "2: words.open: there is no such key; right: a key of en.toml",
            "3: words.opens: the braces of the text are none; right: {time}",
        ],
        "{told:#?}"
    );
    std::fs::write(&file, "[words]\nopens = \"<b>{time}</b>\"\n").expect("written");
    let own = "[room.page]\nlanguages = [\"tlh\"]\n";
    let report = config::check(&text.replace("[room.page]\n", own), "config.toml");
    assert!(report.to_string().contains("there is no \"tlh\""), "{report}");
    std::fs::copy("static/locales/ko.toml", folder.path().join("tlh.toml")).expect("copied");
    let report = config::check(&text.replace("[room.page]\n", own), "config.toml");
    assert_eq!(report.mistakes(), [], "{report}");
    assert!(report.to_string().contains("tlh: CLDR has no plural rules"), "{report}");
}

/// A large logo is read no further than it may be, and a name with markup is no mistake.
#[test]
fn a_logo_of_ten_megabytes_is_a_mistake_at_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let logo = folder.path().join("logo.png");
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    picture.resize(10 << 20, 0);
    std::fs::write(&logo, picture).expect("written");
    let text = format!(
        "[upstream]\nurl = \"http://127.0.0.1:1\"\n[[room]]\nexcept = [\"/static/*\"]\nmessage = \"<script>alert(1)</script>\"\n\
         [room.page]\nname = \"<img src=x onerror=alert(1)>\"\nlogo = \"{}\"\n",
        logo.display()
    );
    let report = config::check(&text, "config.toml");
    let [mistake] = report.mistakes() else {
        panic!("{report}")
    };
    let told = mistake.to_string();
    assert!(
        told.starts_with("line 8: room[0].page.logo: the logo has more than 16384 bytes")
            && told.ends_with("right: a PNG, JPEG, WebP or SVG file of at most 16384 bytes"),
        "{told}"
    );
    let picture = b"\x89PNG\r\n\x1a\n".iter().copied().chain([0; 7_000]);
    std::fs::write(&logo, picture.collect::<Vec<u8>>()).expect("written");
    let report = config::check(&text, "config.toml");
    assert_eq!(report.mistakes(), [], "{report}");
    assert!(
        report
            .to_string()
            .contains("room[0].page.logo: with a logo of 7008 bytes"),
        "{report}"
    );
}

#[test]
fn a_room_named_with_three_hundred_characters_is_a_mistake_at_its_line() {
    let name = "x".repeat(300);
    let text =
        format!("[upstream]\nurl = \"http://127.0.0.1:1\"\n[[room]]\nname = \"{name}\"\nexcept = [\"/static/*\"]\n");
    let report = config::check(&text, "config.toml");
    let [mistake] = report.mistakes() else {
        panic!("{report}")
    };
    let told = mistake.to_string();
    assert!(
        told.starts_with("line 4: room[0].name: \"xxx") && told.ends_with("right: 1 to 32 of a-z, 0-9 and \"-\""),
        "{told}"
    );
}

/// Whoever waits would see the waiting page in place of the page for help.
#[test]
fn a_link_into_the_room_is_warned_of() {
    let text = "[upstream]\nurl = \"http://127.0.0.1:1\"\n[[room]]\nexcept = [\"/static/*\", \"/legal\"]\n\
        [room.page]\nhelp = \"/help?a#b\"\nimprint = \"/legal\"\nprivacy = \"https://other.example/\"\n";
    let report = config::check(text, "config.toml");
    let told = report.to_string();
    assert_eq!(
        (report.mistakes().len(), told.matches("room[0].page").count()),
        (0, 1),
        "{told}"
    );
    assert!(
        told.contains("line 6: room[0].page.help: \"/help?a\" lies in the room \"main\"")
            && told.contains("\"/help?*\" in that room's except"),
        "{told}"
    );
}

/// An option stands over the one upstream of a file, and over none of several.
#[test]
fn an_address_on_the_command_line_is_refused_beside_several_upstreams() {
    let overrides = config::Overrides::none().text("upstream.url", "--upstream", "http://127.0.0.1:3000");
    let path = super::path("tests/config/good/several-upstreams.toml");
    let report = config::read(Some(&path), &overrides);
    let wrong = "--upstream: upstream.url: the file has its upstreams in [[upstream]]; right: the option left out";
    assert!(report.to_string().contains(wrong), "{report}");
    assert!(report.finish().is_err());
}

/// Each upstream costs a thread and pools.
#[test]
fn a_hundred_upstreams_are_read_and_one_more_is_a_mistake() {
    let file = |count: usize| {
        let one = |at: usize| {
            format!(
                "[[upstream]]\nname = \"u{at}\"\nhosts = [\"u{at}.test\"]\nurl = \"http://10.0.0.1\"\n[[room]]\nname = \"r{at}\"\nupstream = \"u{at}\"\n"
            )
        };
        config::check(&(0..count).map(one).collect::<String>(), "many.toml")
    };
    assert!(file(100).mistakes().is_empty());
    let refused = file(101);
    let [mistake] = refused.mistakes() else {
        panic!("{refused}")
    };
    assert!(
        mistake
            .to_string()
            .contains("upstream[100].name: 101 upstreams; right: at most 100"),
        "{mistake}"
    );
}

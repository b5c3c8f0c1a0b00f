//! The command line of `ropeline simulate`.

use std::process::{Command, Output};

fn simulate(args: &[&str]) -> Output {
    with("", args)
}

/// As [`simulate`], where a file `seen` holds this.
fn with(seen: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("seen"), seen).unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, CONFIG).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ropeline"));
    command.arg("simulate").arg("--config").arg(config).args(args);
    command.current_dir(folder.path()).output().unwrap()
}

const CONFIG: &str = "
[upstream]
url = \"http://127.0.0.1:3000\"

[[room]]
name = \"sale\"
routes = [\"/sale\"]
total_active_users = 5

[[room]]
name = \"quiet\"
routes = [\"/quiet\"]
mode = \"off\"

[[room]]
name = \"held\"
routes = [\"/held\"]
mode = \"hold\"

[[room]]
name = \"follows\"
routes = [\"/follows\"]
[room.load_control]
by = \"linear\"

[[room]]
name = \"shop\"
total_active_users = 50
";

fn told(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_operators_own_room_is_run_and_gives_the_same_bytes_again() {
    let args = [
        "--room",
        "sale",
        "--visitors",
        "60",
        "--stay",
        "30s",
        "--format",
        "json",
    ];
    let (first, second) = (simulate(&args), simulate(&args));
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    assert_eq!(told(&first), told(&second));
    let outcome: serde_json::Value = serde_json::from_str(&told(&first)).unwrap();
    assert_eq!((&outcome["room"], &outcome["visitors"]), (&"sale".into(), &60.into()));
    let slots = outcome["over_time"]["steps"].as_array().unwrap().iter();
    assert_eq!(slots.filter_map(|step| step["slots"].as_u64()).max(), Some(5));
}

#[test]
fn the_text_has_the_waits_the_slots_and_what_estimates_were_worth() {
    let output = simulate(&["--room", "sale", "--visitors", "60", "--stay", "30s"]);
    let text = told(&output);
    for part in [
        "room sale: 60 visitors, spike",
        "called after",
        "slots while",
        "estimates:",
        "waiting",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("events/s"));
}

#[test]
fn ways_to_claim_a_turn_that_nobody_sees_are_compared() {
    let args = ["--room", "sale", "--visitors", "60", "--stay", "30s", "--hidden", "50%"];
    let text = told(&simulate(&args));
    let (_, table) = text
        .split_once("visitors in hidden tabs; turns by when")
        .expect("a table");
    let rows = table.lines().skip(3).take(4);
    let ways: Vec<_> = rows.map(|row| row[2..24].trim()).collect();
    assert_eq!(
        ways,
        ["at once", "as the page does", "at the deadline's end", "only when seen"],
        "{text}"
    );
    assert!(!told(&simulate(&args[..6])).contains("hidden"));
}

#[test]
fn both_ways_to_give_slots_away_are_shown_side_by_side_with_advice() {
    let args = ["--room", "sale", "--visitors", "60", "--stay", "30s", "--pause", "5s"];
    let text = told(&simulate(&args));
    let head = text
        .lines()
        .find(|line| line.trim_start().starts_with("slots ") && line.contains("active"));
    assert!(
        head.is_some_and(|head| head.contains("session") && head.ends_with("active (not configured)")),
        "{text}"
    );
    for part in [
        "half inside after",
        "at most, with this crowd",
        "advice: slots: ",
        "advice: session_duration: ",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let page = told(&simulate(&[&args[..], &["--format", "html"]].concat()));
    assert!(
        page.contains("<th scope=\"col\">active (not configured)</th>"),
        "{page}"
    );
    let one = told(&simulate(&[&args[..], &["--slots", "as-configured"]].concat()));
    assert!(
        !one.contains("not configured") && !one.contains("advice: slots"),
        "{one}"
    );
    let polled = told(&simulate(&[&args[..], &["--polling", "20%"]].concat()));
    assert!(polled.contains("must stand in `background`"), "{polled}");
}

#[test]
fn what_cannot_be_is_refused_with_what_would_be_right() {
    let refused = [
        (vec!["--arrive", "tide"], "one of spike, wave"),
        (vec!["--leave", "120%"], "0% to 100%"),
        (vec!["--over", "soon"], "4min"),
        (vec!["--visitors", "0"], "1.."),
        (vec!["--room", "fair"], "one of sale, quiet"),
        (vec!["--room", "quiet"], "has no line"),
        (vec!["--room", "follows"], "say with --shop what that is"),
        (vec!["--like", "seen", "--leave", "5%"], "cannot be used with"),
        (vec!["--replay", "seen"], "none of its 0 lines"),
        (vec!["--replay", "seen", "--visitors", "5"], "cannot be used with"),
        (vec!["--like", "seen"], "no report of ropeline rehearse"),
        (vec!["--shop", "fast"], "60/s"),
        (vec!["--lane", "early=20%"], "no lane that codes lead to"),
        (vec!["--lane", "early=20%", "--lane", "early=5%"], "twice"),
        (
            vec!["--visitors", "16000000", "--bots", "10%"],
            "more than 16000000 browsers",
        ),
        (vec!["--change", "5min:colour=red"], "capacity, rate"),
        (vec!["--leave", "60%", "--no-show", "60%"], "together at most 100 %"),
        (vec!["--hidden", "60%", "--no-show", "60%"], "together at most 100 %"),
        (vec!["--pause", "15s", "--pages", "3"], "cannot be used with"),
        (vec!["--pay", "10%"], "--pause"),
        (vec!["--silent", "90s"], "30min:5min"),
        (vec!["--gates", "0"], "1..=1000"),
        (vec!["--gates", "1,1001"], "1..=1000"),
        (
            vec!["--gates", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"],
            "at most 16 numbers",
        ),
    ];
    for (args, right) in refused {
        let output = simulate(&args);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && words.contains(right), "{args:?}: {words}");
    }
}

#[test]
fn an_access_log_says_who_comes_and_what_of_it_cannot_be_read_is_told() {
    let line = |at: u32| {
        let (minute, second) = (at / 60, at % 60);
        format!("192.0.2.{at} - - [10/Oct/2026:13:{minute:02}:{second:02} +0200] \"GET / HTTP/1.1\" 200 12\n")
    };
    let log: String = (0..200).map(line).collect();
    let args = ["--room", "sale", "--replay", "seen", "--stay", "10s"];
    let text = told(&with(&format!("{log}no request\n"), &args));
    assert!(text.contains("200 visitors, replay"), "{text}");
    assert!(
        text.contains("1 lines of the log could not be read, first of all line 201; 200 could"),
        "{text}"
    );
    let cut = "--for ends before everybody has come";
    assert!(!text.contains(cut), "{text}");
    let text = told(&with(&log, &[&args[..], &["--for", "1min"]].concat()));
    assert!(text.contains(cut), "{text}");
}

#[test]
fn the_page_has_its_plots_and_needs_nothing_else() {
    let page = told(&simulate(&[
        "--room",
        "sale",
        "--visitors",
        "60",
        "--stay",
        "30s",
        "--format",
        "html",
    ]));
    assert!(
        page.starts_with("<!doctype html>") && page.matches("<svg ").count() == 6,
        "{page}"
    );
    for foreign in ["<script", "http:", "https:", "url(", "@import"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(
        page.contains("default-src 'none'") && page.contains("room sale: 60 visitors"),
        "{page}"
    );
}

#[test]
fn a_shop_that_takes_little_keeps_people_inside_and_fails_some() {
    let json = |shop: &[&str]| -> serde_json::Value {
        let args = [&["--visitors", "400", "--room", "shop", "--format", "json"], shop].concat();
        serde_json::from_str(&told(&simulate(&args))).unwrap()
    };
    let (well, slow) = (
        json(&["--shop", "60/s"]),
        json(&["--shop", "60/s", "--shop-then", "3min:1/s"]),
    );
    let failed = |outcome: &serde_json::Value| outcome["upstream"]["failed"].as_u64().unwrap();
    assert!(failed(&well) == 0 && failed(&slow) > 100, "{slow}");
    let median = |outcome: &serde_json::Value| outcome["upstream"]["times"]["p99_secs"].as_f64().unwrap();
    assert!(median(&slow) > 5.0 * median(&well), "{slow}");
    assert_eq!(json(&[])["upstream"], serde_json::Value::Null);
}

#[test]
fn a_room_that_follows_its_shop_is_run_with_it_and_told_over_time_and_as_a_page() {
    let args = [
        "--room",
        "follows",
        "--shop",
        "60/s",
        "--visitors",
        "200",
        "--gates",
        "10,1,10",
    ];
    let text = told(&simulate(&args));
    for part in [
        "admission linear: ",
        "what stood in the way of calls",
        "allowed/s     p95  why",
        "At the busiest second:\n  gates    entries/s",
        "cores of a gate  for streams  of all",
        "For streams: everybody in line holds one, 5.5 µs a second each",
        "limits and static files are not in the bill",
        "the store is a file, which one gate has",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let rows = text.lines().skip_while(|line| !line.contains("commands/s")).skip(1);
    let gates: Vec<_> = rows.filter_map(|row| row.split_whitespace().next()).take(2).collect();
    assert_eq!(gates, ["1", "10"], "{text}");
    let (_, why) = text.split_once("while there was a line: ").unwrap();
    let why = why.lines().next().unwrap();
    assert!(why.contains("nothing ") && !why.contains("free "), "{why}");
    let page = told(&simulate(&[&args[..], &["--format", "html"]].concat()));
    assert!(
        page.matches("<svg ").count() == 9 && page.contains("Calls allowed a second"),
        "{page}"
    );
}

#[test]
fn what_a_room_has_that_is_not_run_is_said() {
    let text = told(&simulate(&[
        "--room",
        "held",
        "--visitors",
        "20",
        "--for",
        "10min",
        "--over",
        "20min",
    ]));
    for note in [
        "note: nobody is called as it is configured",
        "note: --for ends before everybody has come",
    ] {
        assert!(text.contains(note), "{note}: {text}");
    }
}

#[test]
fn the_crowd_of_a_rehearsal_comes_again() {
    let report = serde_json::json!({ "visitors": 150, "seed": 9, "profile": {
        "name": "spike", "arrive_ms": 30_000, "inside_ms": 20_000, "leave": 100, "sleep": 50, "sleep_ms": 20_000,
        "patience_ms": 90_000, "late": 50, "no_show": 100,
    }});
    let args = ["--room", "sale", "--like", "seen", "--format", "json"];
    let outcome: serde_json::Value = serde_json::from_str(&told(&with(&report.to_string(), &args))).unwrap();
    let count = |key: &str| outcome[key].as_u64().unwrap();
    assert!(outcome["finished"] == true && count("visitors") == 150, "{outcome}");
    assert!(
        count("gave_up") > 3 && count("no_shows") > 3 && count("claims") > 100,
        "{outcome}"
    );
}

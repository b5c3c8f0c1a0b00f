//! The command line of `anteroom simulate`.

use std::process::{Command, Output};

fn simulate(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, CONFIG).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_anteroom"));
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
fn what_cannot_be_is_refused_with_what_would_be_right() {
    let refused = [
        (vec!["--arrive", "tide"], "one of spike, wave"),
        (vec!["--leave", "120%"], "0% to 100%"),
        (vec!["--over", "soon"], "4min"),
        (vec!["--visitors", "0"], "1.."),
        (vec!["--room", "fair"], "one of sale, shop"),
        (vec!["--lane", "early=20%"], "no lane that codes lead to"),
        (vec!["--change", "5min:colour=red"], "capacity, rate"),
        (vec!["--leave", "60%", "--no-show", "60%"], "together at most 100 %"),
    ];
    for (args, right) in refused {
        let output = simulate(&args);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && words.contains(right), "{args:?}: {words}");
    }
}

//! `ropeline keygen`: a secret that a gate takes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::gate::Site;
use crate::program::Program;

#[test]
fn a_printed_secret_is_taken_for_tokens_and_for_the_signature_and_is_another_each_time() {
    let made = [(); 2].map(|()| Program::run(Path::new("/"), &["keygen"]));
    assert!(
        made.iter().all(|ended| ended.code == Some(0) && ended.err.is_empty()),
        "{made:?}"
    );
    let [first, second] = made.map(|ended| ended.out.trim_end().to_owned());
    assert!(first.len() == 64 && first.bytes().all(|byte| byte.is_ascii_hexdigit()) && first != second);
    let keys = format!("[tokens]\naudience = \"shop.test\"\nkeys = [{{ id = \"a\", secret = \"{first}\" }}]");
    let site = Site::new("", &keys);
    let signature = format!("[upstream]\nsignature_key = {{ id = \"b\", secret = \"{second}\" }}\n");
    site.edit("[upstream]\n", &signature);
    let checked = site.run(&["check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn a_secret_goes_to_a_new_file_that_only_its_owner_reads_and_the_printed_line_names_it() {
    let site = Site::new("", "");
    let ended = site.run(&["keygen", "--out", "tokens.key"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    let file = site.path("tokens.key");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let secret = std::fs::read_to_string(&file).unwrap();
    assert!(!ended.out.contains(secret.trim_end()), "{ended:?}");
    let (_, tables) = ended.out.split_once("\n\n").expect("the lines for the configuration");
    site.edit("[limits]", &format!("{tables}audience = \"shop.test\"\n[limits]"));
    let checked = site.run(&["check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    site.start().insider();
    assert!(!site.path("data/token.key").exists(), "the configured key is used");

    let again = site.run(&["keygen", "--out", "tokens.key"]);
    assert!(again.code == Some(1) && again.err.contains("tokens.key"), "{again:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), secret, "no key is lost");
}

#[test]
fn two_keys_of_one_month_have_two_names_and_can_stand_in_one_list() {
    let site = Site::new("", "");
    let entry = |file: &str| {
        let ended = site.run(&["keygen", "--out", file]);
        let (_, rest) = ended
            .out
            .split_once("keys = [")
            .expect("the line for the configuration");
        rest.split_once("}]").unwrap().0.to_owned() + "}"
    };
    let (old, new) = (entry("old.key"), entry("new.key"));
    site.edit(
        "[limits]",
        &format!("[tokens]\naudience = \"shop.test\"\nkeys = [{old}, {new}]\n[limits]"),
    );
    let checked = site.run(&["check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

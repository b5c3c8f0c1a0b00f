//! nginx with TLS towards visitors, as on a real site: it tells the gate so, and the gate's cookies are for TLS alone.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::certificates::Authority;
use crate::guest::PAGE;
use crate::house::{House, ONE};
use crate::proxies::{Behind, Nginx, Program};

/// The example with the two lines that its page names.
struct Secured;

impl Program for Secured {
    const NAME: &str = Nginx::NAME;
    const EXAMPLE: &str = Nginx::EXAMPLE;
    const GATE_AWAY: u16 = Nginx::GATE_AWAY;

    fn command(folder: &Path) -> Command {
        let issued = Authority::new().issue(&["shop.test"]);
        let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
        fs::write(&certificate, issued.chain).unwrap();
        fs::write(&key, issued.key).unwrap();
        let file = folder.join(Self::EXAMPLE);
        let text = fs::read_to_string(&file).unwrap();
        let (before, rest) = text.split_once("listen ").unwrap();
        let (port, after) = rest.split_once(';').unwrap();
        let own = format!(
            "ssl_certificate {};\nssl_certificate_key {};",
            certificate.display(),
            key.display()
        );
        fs::write(&file, format!("{before}listen {port} ssl;\n{own}{after}")).unwrap();
        Nginx::command(folder)
    }
}

/// A browser's navigation, with its cookies in a file; head and body of the last answer.
fn curl(house: &House<Behind<Secured>>, jar: &Path, arguments: &[&str], target: &str) -> String {
    let port = house.entrance.port();
    let mut command = Command::new("curl");
    command.args(["--silent", "--include", "--insecure", "--max-time", "20", "--resolve"]);
    command.arg(format!("shop.test:{port}:127.0.0.1"));
    command.arg("--cookie").arg(jar).arg("--cookie-jar").arg(jar);
    for field in PAGE.lines() {
        command.args(["--header", field]);
    }
    let said = command.args(arguments).arg(format!("https://shop.test:{port}{target}"));
    String::from_utf8(said.output().unwrap().stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn over_tls_the_cookies_are_for_tls_alone_and_let_their_owner_in() {
    let house = House::<Behind<Secured>>::open(ONE, "").await;
    let folder = tempfile::tempdir().unwrap();
    let first = curl(&house, &folder.path().join("first"), &[], "/seats?row=7").to_lowercase();
    let set: Vec<&str> = first.lines().filter(|line| line.starts_with("set-cookie:")).collect();
    assert_eq!(set.len(), 2, "{first}");
    for cookie in set {
        assert!(
            cookie.contains(": __host-ropeline-") && cookie.contains("; secure"),
            "{cookie}"
        );
    }
    // No visitor would be redirected to an address in the clear.
    assert!(!first.contains("location: http:"), "{first}");
    let inside = curl(&house, &folder.path().join("first"), &["--location"], "/seats?row=7");
    assert!(inside.contains("X-Shop: 1") && inside.ends_with("come in"), "{inside}");
    let seen = house.shop.seen();
    assert_eq!(seen[0].request.field("x-forwarded-proto"), Some("https"));
    assert!(seen[0].session().is_some());
    let second = curl(&house, &folder.path().join("second"), &["--location"], "/");
    assert!(
        second.contains("\nHTTP/1.1 503") || second.starts_with("HTTP/1.1 503"),
        "{second}"
    );
    assert_eq!(house.shop.seen().len(), 1);
}

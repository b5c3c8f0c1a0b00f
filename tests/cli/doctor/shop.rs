//! The shop that is down, wrong, slow, or reached round the gate.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};

use ropeline::time::wall;
use ropeline::token::{Key, KeyId, RequestCheck, Secret};

use crate::commands::nobody_listens;
use crate::doctor::{doctor, line_of, small, told};
use crate::gate::{Site, line_with};
use crate::harness::certificates::Authority;

/// A shop that answers with what `answer` makes of each head.
fn shop(answer: impl Fn(&str) -> String + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|count| count > 0) {}
            let _ = reader.get_mut().write_all(answer(&head).as_bytes());
        }
    });
    address
}

fn empty(status: &str, fields: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{fields}Content-Length: 0\r\n\r\n")
}

/// A site with another shop.
fn before(url: &str) -> Site {
    let site = small(Site::new("", ""));
    site.edit(&format!("url = \"{}\"", site.shop.url()), &format!("url = \"{url}\""));
    site
}

#[test]
fn a_shop_that_is_down_is_a_fault_at_its_line() {
    let site = before(&format!("http://{}", nobody_listens()));
    let line = line_of(&site, "[upstream]") + 1;
    let gate = site.start();
    for gate in [None, Some(&gate)] {
        let all = doctor(&site, gate);
        assert_eq!(all.code, Some(78));
        let shop = all.says("shop", "fault", "does not answer: no connection");
        let place = (&shop["file"], &shop["line"], &shop["key"]);
        assert_eq!(
            place,
            (&"config.toml".into(), &line.into(), &"upstream.url".into()),
            "{shop}"
        );
    }
}

#[test]
fn a_unix_socket_without_a_shop_and_a_clear_shop_asked_for_tls_are_faults() {
    let site = before("unix:/nowhere/shop.sock");
    doctor(&site, None).says("shop", "fault", "unix:/nowhere/shop.sock does not answer");
    let clear = shop(|_| empty("200 OK", ""));
    let site = before(&format!("https://localhost:{}", clear.port()));
    let all = doctor(&site, None);
    let found = all.says("shop", "fault", "does not prove who it is: TLS");
    assert_eq!(found["key"], "upstream.ca_file");
}

#[test]
fn a_shop_that_fails_and_one_that_does_not_know_the_host_are_told() {
    let failing = shop(|_| empty("503 Service Unavailable", ""));
    doctor(&before(&format!("http://{failing}")), None).says("shop", "fault", "503 Service Unavailable");
    let strict = shop(|head| {
        let known = head.to_ascii_lowercase().contains("\r\nhost: shop.example\r\n");
        empty(if known { "200 OK" } else { "421 Misdirected Request" }, "")
    });
    let site = before(&format!("http://{strict}"));
    let all = doctor(&site, None);
    assert_eq!(
        all.says("shop", "warning", "may not know the host")["key"],
        "upstream.host"
    );
    site.edit("[upstream]\n", "[upstream]\nhost = \"shop.example\"\n");
    doctor(&site, None).says("shop", "fine", "200 OK");
}

#[test]
fn a_shop_that_never_answers_does_not_keep_the_doctor() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let site = before(&format!("http://{}", silent.local_addr().unwrap()));
    doctor(&site, None).says("shop", "fault", "no answer within 5 s");
}

#[test]
fn a_shop_whose_clock_is_wrong_is_told() {
    let late = shop(|_| empty("200 OK", "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"));
    let all = doctor(&before(&format!("http://{late}")), None);
    all.says("clocks", "warning", "ahead of the shop's");
}

const SECRET: &str = "a secret that gate and shop share, of the tests";

#[test]
fn a_shop_that_answers_without_the_gates_signature_is_a_fault() {
    let site = small(Site::new("", ""));
    let key = format!("[upstream]\nsignature_key = {{ id = \"test\", secret = \"{SECRET}\" }}\n");
    site.edit("[upstream]\n", &key);
    let all = doctor(&site, None);
    assert_eq!(all.code, Some(78));
    let found = all.says("back-door", "fault", "a request that the gate has not signed");
    assert_eq!(found["line"], line_of(&site, "signature_key"));
    let checking = shop(|head| {
        let field = |name: &str| {
            let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(name))?;
            Some(line[name.len() + 1..].trim().to_owned())
        };
        let key = Key {
            id: KeyId::new("test").unwrap(),
            secret: Secret::new(SECRET),
        };
        let check = RequestCheck::new(&[key]).unwrap();
        let signed = field("ropeline-signature").is_some_and(|field| check.is_signed("GET", "/", "", &field, wall()));
        empty(if signed { "200 OK" } else { "403 Forbidden" }, "")
    });
    site.edit(
        &format!("url = \"{}\"", site.shop.url()),
        &format!("url = \"http://{checking}\""),
    );
    let all = doctor(&site, None);
    all.says("shop", "fine", "200 OK");
    all.says("back-door", "fine", "refuses");
    site.edit(SECRET, &SECRET.to_uppercase());
    let all = doctor(&site, None);
    assert_eq!(
        all.says("shop", "fault", "may not take the gate's signature")["key"],
        "upstream.signature_key"
    );
}

#[test]
fn an_address_that_answers_round_the_gate_is_a_fault() {
    let site = small(Site::new("", ""));
    let gate = format!("http://{}", nobody_listens());
    let tried = |url: &str| told(&site, &["--admin", &gate, "--back-door", url]);
    let all = tried(&site.shop.url());
    assert_eq!(all.code, Some(78));
    all.says("back-door", "fault", "answers at http://127.0.0.1");
    let shut = format!("http://{}", nobody_listens());
    tried(&shut).says("back-door", "fine", "or it refuses");
    // A gate that has found nothing either does not take the answer's place.
    let running = site.start();
    running.lives();
    let admin = format!("http://{}", running.admin);
    let all = told(&site, &["--admin", &admin, "--back-door", &shut]);
    all.says("back-door", "fine", "or it refuses");
    all.says("back-door", "fine", "no public address");
}

/// A client who goes round the gate does not mind the certificate.
#[test]
fn an_address_that_answers_over_tls_with_a_certificate_for_another_name_is_a_fault() {
    let tls = "[tls]\nlisten = [\"127.0.0.1:0\"]\n\
               certificates = [{ cert_file = \"shop.pem\", key_file = \"shop.key\" }]";
    let site = small(Site::new("", tls));
    Authority::new().issue(&["shop.example"]).write(&site.path(""), "shop");
    let gate = site.start();
    let serving = line_with(&gate.program.err(), "serving").unwrap();
    let url = format!("https://{}", serving["tls"].as_str().unwrap());
    let nobody = format!("http://{}", nobody_listens());
    let tried = |url: &str| told(&site, &["--admin", &nobody, "--back-door", url]);
    let all = tried(&url);
    assert_eq!(all.code, Some(78));
    all.says(
        "back-door",
        "fault",
        "a server answers, no TLS: invalid peer certificate",
    );
    // It speaks no TLS at all.
    tried(&format!("https://{}", gate.address)).says("back-door", "fine", "or it refuses");
}

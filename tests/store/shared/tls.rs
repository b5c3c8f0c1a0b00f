//! The log over TLS, with a certificate of an authority of our own.

use std::path::Path;
use std::process::{Command, Output};

use ropeline::store::redis::{OpenError, Options as LogOptions, RedisLog};
use tempfile::TempDir;

use crate::contract::{begin, fill};
use crate::harness::redis::{Options, Server};

fn openssl(folder: &Path, arguments: &str) {
    let made = Command::new("openssl")
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// An authority, and a certificate of it for 127.0.0.1.
fn certificates() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(
        folder.path(),
        &format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"),
    );
    openssl(
        folder.path(),
        &format!("req {key} -keyout store.key -out store.csr -subj /CN=store"),
    );
    std::fs::write(folder.path().join("names"), "subjectAltName=IP:127.0.0.1").unwrap();
    let sign = "x509 -req -in store.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out store.pem -days 2 -extfile names";
    openssl(folder.path(), sign);
    folder
}

#[test]
fn the_certificate_must_come_from_the_named_authority() {
    let (folder, strangers) = (certificates(), certificates());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let tls = format!(
        "tls-cert-file {}\ntls-key-file {}\ntls-ca-cert-file {}\ntls-auth-clients no",
        at("store.pem"),
        at("store.key"),
        at("ca.pem")
    );
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let _server = Server::start(&Options::password("hush").line(&tls).line(&format!("tls-port {port}")));
    let open = |ca: Option<&TempDir>| -> Result<RedisLog, OpenError> {
        let options = LogOptions {
            ca: ca.map(|folder| std::fs::read(folder.path().join("ca.pem")).unwrap()),
            ..LogOptions::default()
        };
        RedisLog::open(&format!("rediss://:hush@127.0.0.1:{port}").parse().unwrap(), options)
    };
    let mut log = open(Some(&folder)).unwrap();
    let start = begin(&mut log);
    fill(&mut log, start, 3);
    let shows = |ca: &TempDir| -> Output {
        let url = format!("rediss://127.0.0.1:{port}");
        let ca = ca.path().join("ca.pem");
        Command::new(env!("CARGO_BIN_EXE_ropeline"))
            .env("ROPELINE_STORE_PASSWORD", "hush")
            .args(["log", &url, "--ca-file"])
            .arg(ca)
            .output()
            .unwrap()
    };
    let shown = shows(&folder);
    let lines = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.status.success() && lines.lines().count() >= 3, "{lines}");
    let refused = shows(&strangers);
    assert!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("certificate"),
        "{refused:?}"
    );
    for ca in [Some(&strangers), None] {
        assert!(
            open(ca).is_err_and(|error| error.reason.contains("ca_file")),
            "not known to {ca:?}"
        );
    }
}

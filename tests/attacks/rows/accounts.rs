//! Bodies on the route that names the account, of which stacks read different accounts: one person would have many.

use crate::case::{Body, Case, Fate, Row, attack};

pub const ROW: Row = Row {
    room: "[room.identity]\nfrom = \"field\"\nname = \"email\"\non = \"POST /enter\"",
    tables: "",
    cases: &CASES,
};

type Fields = &'static [(&'static str, &'static str)];

/// Where a proxy asks, the gate hears of no body: every form is refused there, with another status.
const ASKED: &[&str] = &["nginx", "haproxy", "caddy", "traefik", "envoy"];

const FORM: Fields = &[("Content-Type", "application/x-www-form-urlencoded")];
const JSON: Fields = &[("Content-Type", "application/json")];
const PARTS: Fields = &[("Content-Type", "multipart/form-data; boundary=b")];

const fn sent(name: &'static str, fields: Fields, body: &'static str, status: u16) -> Case {
    attack(name, "POST", "/enter")
        .fields(fields)
        .body(Body::Told(body))
        .fate(Fate::Refused(status))
        .not_over(ASKED)
}

/// A form that is longer than the part of one that is read.
static PADDED: [u8; 20_000] = {
    let (start, mut form) = (b"email=a&rest=", [b'x'; 20_000]);
    let (field, _) = form.split_at_mut(start.len());
    field.copy_from_slice(start);
    form
};

const fn padded() -> &'static str {
    match std::str::from_utf8(&PADDED) {
        Ok(form) => form,
        Err(_) => panic!("it is ASCII"),
    }
}

const CASES: [Case; 25] = [
    sent("a name that PHP trims", FORM, "email=a&%20email=b", 400),
    sent("a name that a NUL ends", FORM, "email=a&email%00x=b", 400),
    sent("a list", FORM, "email=a&email[]=b", 400),
    sent("a name in brackets alone", FORM, "[email]=a", 400),
    sent("a doubled name", FORM, "email=a&email=a", 400),
    sent("a name behind a dot", FORM, "email=a&.email=b", 400),
    sent(
        "a name with a percent sign that is no escape",
        FORM,
        "email=a&email%=b",
        400,
    ),
    sent(
        "a part within a part",
        PARTS,
        "--b\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\na\r\n--b\r\nContent-Disposition: form-data; name=\"x\"\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\nb\r\n--c--\r\n\r\n--b--\r\n",
        400,
    ),
    sent("a doubled name behind a semicolon", FORM, "email=a;email=b", 400),
    sent("no name", FORM, "seat=7", 400),
    Case {
        target: "/enter?email=b",
        ..sent("the name in the query beside the form", FORM, "email=a", 400)
    },
    Case {
        target: "/enter?x=1&%65mail=b",
        ..sent("the name in the query beside an object", JSON, "{\"email\":\"a\"}", 400)
    },
    sent(
        "a part that PHP reads without its single quotes",
        PARTS,
        "--b\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\na\r\n--b\r\nContent-Disposition: form-data; name='email'\r\n\r\nb\r\n--b--\r\n",
        400,
    ),
    sent("a doubled member", JSON, "{\"email\":\"a\",\"email\":\"b\"}", 400),
    sent(
        "a member in another letter case",
        JSON,
        "{\"email\":\"a\",\"EMail\":\"b\"}",
        400,
    ),
    sent(
        "an escaped member",
        JSON,
        "{\"email\":\"a\",\"\\u0065mail\":\"b\"}",
        400,
    ),
    sent("an array on top", JSON, "[{\"email\":\"a\"}]", 400),
    sent(
        "parts by line feeds",
        PARTS,
        "--b\nContent-Disposition: form-data; name=\"email\"\n\na\n--b--\n",
        400,
    ),
    sent(
        "a name that is an encoded word",
        PARTS,
        "--b\r\nContent-Disposition: form-data; name=\"=?utf-8?Q?email?=\"\r\n\r\nb\r\n--b\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\na\r\n--b--\r\n",
        400,
    ),
    sent(
        "a boundary that some cut at its comma",
        &[("Content-Type", "multipart/form-data; boundary=b,c")],
        "--b,c\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\na\r\n--b,c\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\nb\r\n--b--\r\n--b,c--\r\n",
        415,
    ),
    sent(
        "a packed form",
        &[
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Content-Encoding", "gzip"),
        ],
        "email=a",
        415,
    ),
    sent(
        "another charset",
        &[("Content-Type", "application/x-www-form-urlencoded; charset=utf-16")],
        "email=a",
        415,
    ),
    sent("padding", FORM, padded(), 413),
    sent("no type", &[], "email=a", 415),
    sent("a body of unknown length without a name", FORM, "seat=7", 400).body(Body::Untold("seat=7")),
];

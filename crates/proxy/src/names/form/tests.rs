use http::{HeaderName, HeaderValue};

use super::*;

fn head(lines: &[(&'static str, &'static str)]) -> HeaderMap {
    let lines = lines
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    let mut head = HeaderMap::new();
    head.extend(lines);
    head
}

fn typed(kind: &'static str) -> Kind {
    Kind::of(&head(&[("content-type", kind)]))
}

#[test]
fn a_body_is_what_every_stack_takes_it_for_or_unclear() {
    for kind in [
        "application/x-www-form-urlencoded",
        " Application/X-WWW-Form-URLencoded ; charset=UTF-8;",
        "application/x-www-form-urlencoded; charset=\"utf-8\"",
    ] {
        assert_eq!(typed(kind), Kind::Urlencoded, "{kind}");
    }
    assert_eq!(typed("application/json;charset=utf8"), Kind::Json);
    assert_eq!(
        typed("multipart/form-data; boundary=\"a-b\""),
        Kind::Multipart("a-b".to_owned())
    );
    for boundary in [
        "----WebKitFormBoundary7MA4YWxkTrZu0gW",
        "----geckoformboundary2a6d0c5e",
        "---------------------------974767299852498929531610575",
        "------------------------d74496d66958873e",
        "axios-0.28.0-boundary-Xb1",
    ] {
        let kind = kind(&format!("multipart/form-data; boundary={boundary}"));
        assert_eq!(kind, Kind::Multipart(boundary.to_owned()));
    }
    assert_eq!((Kind::of(&HeaderMap::new()), typed("")), (Kind::Untyped, Kind::Untyped));
    for kind in [
        "application/x-www-form-urlencoded, text/plain",
        "application/x-www-form-urlencoded text",
        "application/x-www-form-urlencoded; charset=utf-16",
        "application/x-www-form-urlencoded; charset=utf-7",
        "application/x-www-form-urlencoded; charset=utf-8; charset=utf-7",
        "application/x-www-form-urlencoded; charset*=utf-8\'\'utf-7",
        "multipart/form-data",
        "multipart/form-data; boundary=a; boundary=b",
        "multipart/form-data; boundary=\"a",
        "multipart/form-data; boundary=a b",
        "multipart/form-data; boundary= a",
        "multipart/form-data; boundary =a",
        "multipart/form-data; boundary=a,b",
        "multipart/form-data; boundary=\"a,b\"",
        "multipart/form-data; boundary=a(b",
        "multipart/form-data; boundary=a:b",
        "multipart/form-data; boundary=a=b",
        "multipart/form-data; boundary=a/b",
        "multipart/form-data; boundary=a?b",
        "multipart/form-data; xboundary=b; boundary=a",
        "multipart/form-data; boundary=a; XBoundary=b",
        "multipart/form-data; a=boundary=b; boundary=a",
        "multipart/form-data; a=\"boundary=b\"; boundary=a",
        "multipart/form-data; boundary*0=a",
        "multipart/mixed; boundary=a",
        "multipart; boundary=a",
        "application/x-url-encoded",
        "text/plain; application/x-www-form-urlencoded",
        "text/plain; x=multipart/form-data; boundary=a",
    ] {
        assert_eq!(typed(kind), Kind::Unclear, "{kind}");
    }
    for kind in [
        "text/plain",
        "application/json; charset=utf-16",
        "application/x-platform",
        "image/png",
        "Application/JSON",
    ] {
        assert_eq!(typed(kind), Kind::Other, "{kind}");
    }
    let form = ("content-type", "application/x-www-form-urlencoded");
    assert_eq!(Kind::of(&head(&[form, ("content-type", "text/plain")])), Kind::Unclear);
    assert_eq!(Kind::of(&head(&[form, ("content-encoding", "gzip")])), Kind::Unclear);
}

#[test]
fn a_query_is_plain_unless_a_charset_writes_letters_otherwise() {
    let plain = |kind| is_query_plain(&head(&[("content-type", kind)]));
    for kind in [
        "",
        "text/plain",
        "a/b; charset=UTF-8",
        "a/b; charset=euc-kr",
        "a/b; charset=\"windows-1251\"",
        "multipart/form-data; boundary=x",
    ] {
        assert!(plain(kind), "{kind}");
    }
    for kind in [
        "a/b; charset=utf-7",
        "a/b;charset=UTF-16LE",
        "a/b; charset=cp037",
        "a/b; charset=iso-2022-jp",
        "a/b; charset*=a",
        "a/b; charset=utf-8; charset=utf-7",
        "a, b; charset =utf-7",
    ] {
        assert!(!plain(kind), "{kind}");
    }
    assert!(is_query_plain(&HeaderMap::new()));
}

const BOUNDARY: &str = "b0";

fn of(kind: &Kind, body: &str, whole: bool) -> Result<Option<String>, Doubtful> {
    let value = value_of(kind, body.as_bytes(), whole, "id")?;
    Ok(value.map(|value| String::from_utf8(value.bytes).unwrap()))
}

fn part(field: &str, value: &str) -> String {
    format!("--{BOUNDARY}\r\n{field}\r\n\r\n{value}\r\n")
}

#[test]
fn a_form_has_the_value_that_all_read() {
    assert_eq!(of(&Kind::Urlencoded, "a=1&id=7", true), Ok(Some("7".to_owned())));
    assert_eq!(of(&Kind::Untyped, "id=7", true), Ok(Some("7".to_owned())));
    assert_eq!(of(&Kind::Json, "id=7", true), Ok(None));
    assert_eq!(of(&Kind::Unclear, "", true), Err(Doubtful));
    assert_eq!(of(&Kind::Urlencoded, "id=7&_charset_=utf-7", true), Err(Doubtful));
    assert_eq!(
        of(&Kind::Urlencoded, "id=7&_charset_=UTF-8", true),
        Ok(Some("7".to_owned()))
    );
    assert_eq!(
        of(&Kind::Urlencoded, "a=1&id=7", false),
        Ok(None),
        "what may go on is left out"
    );
    assert_eq!(of(&Kind::Urlencoded, "id=7&a=1", false), Ok(Some("7".to_owned())));
    assert_eq!(of(&Kind::Urlencoded, "\u{FEFF}id=7", true), Err(Doubtful));
}

#[test]
fn a_body_in_another_type_says_otherwise_where_it_reads_so_as_a_form() {
    let other = |body: &str, whole| says_otherwise(body.as_bytes(), whole, "id", Some(b"7"));
    for same in [
        "",
        "id=7",
        "x&id=%37&y",
        "{\"next\":\"/buy?a=1&id=8\"}",
        "&ids=8&[id]=8",
        "{\"id\":8}",
    ] {
        assert!(!other(same, true), "{same}");
    }
    for otherwise in [
        "id=8",
        "id=7;x",
        "x=1&ID=8&",
        ";%69d=8",
        "{\"a\":\"&id=8&\"}",
        "id=%",
        "=id=8",
        "\u{FEFF}id=8",
    ] {
        assert!(other(otherwise, true), "{otherwise}");
    }
    assert!(!other("a&id=8", false), "what may go on is left out");
    assert!(says_otherwise(b"id=7", true, "id", None));
}

#[test]
fn a_multipart_form_has_the_value_that_all_read() {
    let kind = Kind::Multipart(BOUNDARY.to_owned());
    let own = part("Content-Disposition: form-data; name=\"id\"", "7");
    let file = part(
        "Content-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png",
        "\u{0}\u{1}",
    );
    let end = format!("--{BOUNDARY}--\r\n");
    assert_eq!(
        of(&kind, &format!("{file}{own}{own}{end}"), true),
        Ok(Some("7".to_owned()))
    );
    assert_eq!(of(&kind, &format!("{file}{end}"), true), Ok(None));
    let cut = format!("{own}{file}");
    for length in own.len() + "--b0".len()..cut.len() {
        assert_eq!(of(&kind, &cut[..length], false), Ok(Some("7".to_owned())), "{length}");
        assert_eq!(of(&kind, &cut[..length], true), Err(Doubtful), "{length}");
    }
    for field in [
        "Content-Disposition: form-data; name=\"id[]\"",
        "Content-Disposition: form-data; name=\"[id]\"",
        "Content-Disposition: form-data; name=\"%69d\"",
        "Content-Disposition: form-data; name=\" id\"",
        "Content-Disposition: form-data; name=\"id\"; filename=\"x\"",
        "Content-Disposition: form-data; name=\"a\"; name=\"id\"",
        "Content-Disposition: form-data; name*=utf-8\'\'id",
        "Content-Disposition: form-data; name=\"a\"; filename=\"\\\"; name=\"id\"",
        "Content-Disposition: form-data; name=\"a\"\nContent-Disposition: form-data; name=\"id\"",
        "Content-Disposition: form-data;\r\n name=\"id\"",
        "Content-Disposition: form-data; name=\"a\"\r\nContent_Disposition: form-data; name=\"id\"",
        "Content-Disposition: form-data; name=\"id\"\r\nContent-Type: text/plain; charset=utf-7",
        "Content-Disposition: form-data; name=\"id\"\r\nContent-Transfer-Encoding: base64",
        "Content-Disposition: attachment; name=\"id\"",
        "Content-Disposition: form-data; name=\"a\"\r\nContent-Type: multipart/mixed; boundary=c",
        "X: y",
    ] {
        let body = format!("{own}{}{end}", part(field, "7"));
        assert_eq!(of(&kind, &body, true), Err(Doubtful), "{field}");
    }
    let other = part("Content-Disposition: form-data; name=\"id\"", "8");
    let hidden = part(
        "Content-Disposition: form-data; name=\"a\"",
        &format!("x\n--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n8"),
    );
    for body in [
        format!("{own}{other}{end}"),
        format!("{own}{hidden}{end}"),
        format!("x{own}{end}"),
        format!("{own}{end}{other}"),
        own.clone(),
    ] {
        assert_eq!(of(&kind, &body, true), Err(Doubtful), "{body}");
    }
}

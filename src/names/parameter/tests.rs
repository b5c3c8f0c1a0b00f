use proptest::prelude::*;

use super::*;

/// What each stack reads in a name that is decoded once, written apart from the folding.
mod stacks {
    /// `php_register_variable_ex` (`main/php_variables.c`, PHP 8.2): the name of the variable, arrays by their own.
    pub fn php(name: &[u8]) -> Vec<u8> {
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let start = name.iter().position(|byte| *byte != b' ').unwrap_or(name.len());
        let mut out = Vec::new();
        for (at, byte) in name[start..].iter().enumerate() {
            match byte {
                b'[' if name[start + at..].contains(&b']') => break,
                b' ' | b'.' | b'[' => out.push(b'_'),
                byte => out.push(*byte),
            }
        }
        out
    }

    /// `parseKeys` (`lib/parse.js`, qs 6.11).
    pub fn qs(name: &[u8]) -> Vec<u8> {
        let mut open = None;
        for (at, byte) in name.iter().enumerate() {
            match (byte, open) {
                (b'[', _) => open = Some(at),
                (b']', Some(0)) => return name[1..at].to_vec(),
                (b']', Some(start)) => return name[..start].to_vec(),
                _ => {}
            }
        }
        name.to_vec()
    }

    /// `normalize_params` (`lib/rack/query_parser.rb`, Rack 2.2).
    pub fn rack(name: &[u8]) -> Vec<u8> {
        let bracket = |byte: &u8| matches!(byte, b'[' | b']');
        let start = name.iter().position(|byte| !bracket(byte)).unwrap_or(name.len());
        let name = &name[start..];
        name[..name.iter().position(bracket).unwrap_or(name.len())].to_vec()
    }

    type Model = fn(&[u8]) -> Vec<u8>;

    pub const ALL: [Model; 4] = [|name| name.to_vec(), php, qs, rack];
}

#[test]
fn a_name_is_its_own_decoded_once_and_in_any_letter_case() {
    for own in ["id", "ID", "%69d", "i%44", "%49%64"] {
        assert_eq!(spelling(own.as_bytes(), "id"), Spelling::Own, "{own}");
    }
    assert_eq!(spelling(b"user%5Bemail%5D", "user[email]"), Spelling::Own);
    assert_eq!(spelling(b"EVENT.id", "event.id"), Spelling::Own);
}

#[test]
fn every_other_spelling_that_some_stack_reads_is_an_alias() {
    for alias in [
        "[id]",
        "id[]",
        "id[x]",
        "id[0][x]",
        "id%5B%5D",
        "%5Bid%5D",
        "%5bid]",
        "[[id",
        "]id",
        "id]",
        "id]x",
        "id%00x",
        "%00id",
        "+id",
        "%20id",
        "++id",
        "id+",
        "%09id",
        "id%0A",
        "?id",
        "!id",
        "%2569d",
        "%252569d",
        "%u0069d",
        "%EF%BB%BFid",
        "%C4%B1d",
        "%C4%B0d",
        "%EF%BD%89d",
        "%C1%A9d",
        "%E0%81%A9d",
        "i%FFd",
        "i%C2%ADd",
        "%5B%69d%5D",
        "%2Bid",
    ] {
        assert_eq!(spelling(alias.as_bytes(), "id"), Spelling::Alias, "{alias}");
    }
    for alias in [
        "event.id",
        "event+id",
        "event%20id",
        "event[id",
        "event%2Eid",
        "+event.id[]",
        "event_id[]",
        "Event.ID",
    ] {
        assert_eq!(spelling(alias.as_bytes(), "event_id"), Spelling::Alias, "{alias}");
    }
    for alias in [
        "user[email][]",
        "user[email]x",
        "user[+email]",
        "user]email",
        "user[[email]",
        "user",
        "user[]",
    ] {
        assert_eq!(spelling(alias.as_bytes(), "user[email]"), Spelling::Alias, "{alias}");
    }
    assert_eq!(spelling("ta\u{17F}\u{212A}".as_bytes(), "task"), Spelling::Alias);
    assert_eq!(spelling(b"event_id", "event.id"), Spelling::Alias);
    assert_eq!(spelling(b"event+", "event_"), Spelling::Alias);
}

#[test]
fn names_that_no_stack_reads_as_it_are_other_names() {
    for other in [
        "",
        "i",
        "ide",
        "uid",
        "id2",
        "event-id",
        "x[id]",
        "x.id",
        "id.x",
        "id-x",
        "_id",
        "i-d",
        "i%",
        "i%6",
        "identifier[x]",
        "%2569",
        "[]",
        "id%3D5",
        "%",
    ] {
        assert_eq!(spelling(other.as_bytes(), "id"), Spelling::Other, "{other}");
    }
    for other in ["event", "event[id]", "event-id", "eventid", "id", "event_id2"] {
        assert_eq!(spelling(other.as_bytes(), "event_id"), Spelling::Other, "{other}");
    }
    for other in ["user[name]", "users[email]", "email", "useremail"] {
        assert_eq!(spelling(other.as_bytes(), "user[email]"), Spelling::Other, "{other}");
    }
}

#[test]
fn a_value_is_read_where_all_stacks_read_the_same() {
    let of = |text: &str| value_of(text.as_bytes(), "id").map(|value| value.map(|value| value.bytes));
    let is = |value: &str| Ok(Some(value.as_bytes().to_vec()));
    assert_eq!(of("x=1&id=a%2Db+c"), is("a-b c"));
    assert_eq!(of("ID=5&id=5"), is("5"));
    assert_eq!(of("id"), is(""));
    for none in ["", "x=1", "ids=1&x[id]=2", "x=%26id%3D7", "x=[id]"] {
        assert_eq!(of(none), Ok(None), "{none}");
    }
    for doubtful in [
        "id=5&%20id=7",
        "id=5&id%00x=7",
        "id[]=7",
        "[id]=7",
        "id=1&id=2",
        "id&id=2",
        "x=1;id=2&id=1",
        "id=1;x=2",
        "x;id=7",
        "id==7",
        "id=abc[x]=7",
        "id=abc[x%5D=7",
        "id=100%",
        "id=%00",
        "id=%0A",
    ] {
        assert_eq!(of(doubtful), Err(Doubtful), "{doubtful}");
    }
    let padded = |pairs: usize| format!("{}id=5", "a=1&".repeat(pairs));
    assert_eq!(of(&padded(MAX_PAIRS - 1)), is("5"));
    assert_eq!(of(&padded(MAX_PAIRS)), Err(Doubtful));
    let often = |times| ["id=5"].repeat(times).join("&");
    assert_eq!(
        (of(&often(MAX_TIMES)), of(&often(MAX_TIMES + 1))),
        (is("5"), Err(Doubtful))
    );
    assert_eq!(of(&"%80=1&".repeat(MAX_ODD + 1)), Err(Doubtful));
}

#[test]
fn names_of_json_go_by_letter_case_alone() {
    for own in ["email", "EMAIL", "eMail"] {
        assert_eq!(json_spelling(own, "email"), Spelling::Own, "{own}");
    }
    for alias in [" email", "email\u{0}", "ema\u{131}l", "\u{FF45}mail", "email\u{FEFF}"] {
        assert_eq!(json_spelling(alias, "email"), Spelling::Alias, "{alias}");
    }
    for other in ["email[]", "e.mail", "e mail", "mail", "emails"] {
        assert_eq!(json_spelling(other, "email"), Spelling::Other, "{other}");
    }
}

fn wanted() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["id", "event_id", "event.id", "_method"])
}

/// Pieces of which stacks make something.
fn raw() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "id",
        "ID",
        "i",
        "d",
        "event",
        "method",
        "_",
        ".",
        "[",
        "]",
        "+",
        "%20",
        "%00",
        "%5B",
        "%5D",
        "%2E",
        "%69",
        "%25",
        "%2569",
        "?",
        "!",
        "-",
        "x",
        "%C4%B1",
        "%FF",
        "\u{17F}",
        "%EF%BB%BF",
        "%",
        "%u0069",
    ]);
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_name_that_any_stack_reads_is_seen(raw in raw(), wanted in wanted()) {
        let decoded = percent::decode_leniently(&spaced(raw.as_bytes()));
        for stack in stacks::ALL {
            if stack(&decoded).eq_ignore_ascii_case(&stack(wanted.as_bytes())) {
                prop_assert_ne!(spelling(raw.as_bytes(), wanted), Spelling::Other, "{} for {}", raw, wanted);
            }
        }
    }

    #[test]
    fn a_glance_says_what_folding_says(raw in raw(), wanted in wanted()) {
        if at_a_glance(raw.as_bytes(), wanted) == Some(Spelling::Other) {
            prop_assert_eq!(unfolded(raw.as_bytes(), wanted), Spelling::Other, "{} for {}", raw, wanted);
        }
    }

    #[test]
    fn a_value_that_is_read_is_what_every_stack_reads(pairs in prop::collection::vec((raw(), "[a-c1;\\[\\]=%]{0,4}"), 0..4), wanted in wanted()) {
        let text = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
        let Ok(value) = value_of(text.as_bytes(), wanted) else { return Ok(()) };
        for pair in text.split('&') {
            let (name, own) = pair.split_once('=').unwrap_or((pair, ""));
            let name = percent::decode_leniently(&spaced(name.as_bytes()));
            for stack in stacks::ALL {
                if stack(&name).eq_ignore_ascii_case(&stack(wanted.as_bytes())) {
                    prop_assert_eq!(decoded(own.as_bytes()), value.clone().map(|value| value.bytes), "{} in {}", wanted, text);
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(text: Vec<u8>) {
        let _ = value_of(&text, "id");
        let _ = value_of(&text, "a[b]");
    }
}

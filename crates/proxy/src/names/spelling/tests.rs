use proptest::prelude::*;

use super::*;

/// The name that each stack reads in a name that is decoded once, written independently of the folding.
pub mod stacks {
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
        ".id",
        "%2eid",
        "id.",
        ".id.",
        "id.0",
        "id.x",
        "%id",
        "id%",
        "i%d",
        "%%id%%",
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
fn names_that_cost_more_than_any_ordinary_ones_are_doubtful() {
    let of = |names: &[&str]| {
        let mut finder = Finder::new("id");
        let mut all = names.iter().map(|name| finder.spelling(name.as_bytes()));
        all.find(|found| *found != Ok(Spelling::Other))
            .unwrap_or(Ok(Spelling::Other))
    };
    assert_eq!(of(&["%80x"; MAX_ODD]), Ok(Spelling::Other));
    assert_eq!(of(&["%80x"; MAX_ODD + 1]), Err(Doubtful));
    let marks = |count: usize| format!("i{}", "%CC%80".repeat(count));
    assert_eq!(of(&[&marks(20)]), Ok(Spelling::Other));
    assert_eq!(of(&[marks(20).as_str(); MAX_ODD]), Err(Doubtful));
    for alias in [
        marks(2_000) + "d",
        marks(2_000),
        format!("[{}", "%00".repeat(9_000)),
        "%25".repeat(10_000),
    ] {
        assert_ne!(of(&[&alias]), Ok(Spelling::Other), "{}", alias.len());
    }
    for other in [
        "[%2525252525".repeat(3_000),
        "%2525252569x".repeat(1_000),
        format!("%C3%A9{}", "%CC%80".repeat(5_000)),
    ] {
        assert_eq!(of(&[&other]), Ok(Spelling::Other), "{}", &other[..20]);
    }
}

#[test]
fn names_of_json_go_by_letter_case_alone() {
    for own in ["email", "EMAIL", "eMail"] {
        assert_eq!(json_spelling(own, "email"), Spelling::Own, "{own}");
    }
    for alias in [" email", "email\u{0}", "ema\u{131}l", "\u{FF45}mail", "email\u{FEFF}"] {
        assert_eq!(json_spelling(alias, "email"), Spelling::Alias, "{alias}");
    }
    let long = format!("em\u{FF41}il{}", "\u{300}".repeat(MAX_JSON));
    assert_eq!(json_spelling(&long, "email"), Spelling::Alias);
    assert_eq!(json_spelling(&long[1..], "email"), Spelling::Other);
    for other in ["email[]", "e.mail", "e mail", "mail", "emails"] {
        assert_eq!(json_spelling(other, "email"), Spelling::Other, "{other}");
    }
}

pub fn wanted() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["id", "event_id", "event.id", "_method"])
}

/// Pieces of which stacks make something.
pub fn raw() -> impl Strategy<Value = String> {
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

/// The result of folding the whole name, at every level of escapes.
fn wholly(raw: &[u8], wanted: &str) -> Spelling {
    let (mut bytes, wanted) = (raw.to_vec(), path_of(wanted.as_bytes()));
    for _ in 0..MAX_DECODED {
        bytes = percent::decode_leniently(&spaced(&bytes));
        if readings(&bytes).iter().any(|reading| is_within(reading, &wanted)) {
            return Spelling::Alias;
        }
    }
    Spelling::Other
}

fn spelling(raw: &[u8], wanted: &str) -> Spelling {
    Finder::new(wanted).spelling(raw).unwrap()
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
            prop_assert_eq!(wholly(raw.as_bytes(), wanted), Spelling::Other, "{} for {}", raw, wanted);
        }
    }

    #[test]
    fn a_look_at_the_beginning_misses_nothing(
        before in raw(),
        padding in prop::sample::select(vec!["%CC%80", "%252525CC%25252580", "%00", "+", "[", "]", "%C2%AD", "%FF", "%25FF", "!", "%EF%BB%BF"]),
        count in prop::sample::select(vec![0_usize, 1, 5, 20, 120, 700, 2_100]),
        after in raw(),
        wanted in wanted(),
    ) {
        let raw = format!("{before}{}{after}", padding.repeat(count));
        if wholly(raw.as_bytes(), wanted) == Spelling::Alias {
            prop_assert_ne!(Finder::new(wanted).spelling(raw.as_bytes()), Ok(Spelling::Other), "{} for {}", raw, wanted);
        }
    }
}

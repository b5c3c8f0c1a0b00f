use super::*;

fn readings(path: &str) -> Vec<String> {
    let list = of(path.as_bytes()).expect("readable").unwrap_or_default();
    list.iter().map(|r| String::from_utf8_lossy(r).into_owned()).collect()
}

#[test]
fn an_ordinary_path_has_no_other_reading() {
    for path in [
        "/",
        "/shop",
        "/shop/",
        "/a/b.c/d",
        "/.well-known/x",
        "/a...b",
        "/@x/a:b,c=d!e$f&g'h(i)*j+k~l",
    ] {
        assert_eq!(of(path.as_bytes()), Ok(None), "{path}");
    }
}

#[test]
fn letters_beyond_ascii_and_spaces_have_one_reading() {
    assert_eq!(readings("/%EA%B3%B5%EC%97%B0/a%20b"), ["/공연/a b"]);
    assert_eq!(readings("/공연"), ["/공연"]);
}

#[test]
fn dots_slashes_and_parameters_are_read_both_ways() {
    assert!(readings("/static/../seats").contains(&"/seats".into()));
    assert!(readings("/static/..;x/seats").contains(&"/seats".into()));
    assert!(readings("/static/%252e%252e/seats").contains(&"/seats".into()));
    assert!(readings("//host/seats").contains(&"/seats".into()));
    assert!(readings("/\\host/seats").contains(&"/seats".into()));
    assert!(readings("/seats%3Fx").contains(&"/seats".into()));
    assert!(readings("/static/%c0%ae%c0%ae%c0%afseats").contains(&"/seats".into()));
    assert!(readings("/%c5%bfeats%e2%84%aa").contains(&"/seatsk".into()));
    for odd in [
        "/static/%E2%80%A5/seats",
        "/static/%E2%80%A4%EF%B9%92/seats",
        "%E2%88%95seats",
        "/static%E2%81%84..%C2%A5seats",
        "/static/..%E2%82%A9seats",
        "/seats%CD%BEa",
        "/seats%EF%B9%96a",
        "/%F8%80%80%81%B3eats",
    ] {
        let path = if odd.starts_with('/') {
            odd.to_owned()
        } else {
            format!("/{odd}")
        };
        assert!(readings(&path).contains(&"/seats".into()), "{odd}");
    }
    assert!(readings("/a//../b").contains(&"/b".into()));
    assert!(readings("/a//../b").contains(&"/a/b".into()));
}

#[test]
fn a_segment_of_dots_alone_may_be_none() {
    for odd in [
        "/.../seats",
        "/....//seats",
        "/./.../seats",
        "/%2e%2e%2e/seats",
        "/...%2fseats",
        "/...%5cseats",
        "/...\\seats",
        "/.%20/seats",
        "/%20/seats",
        "/seats/...",
    ] {
        let all = readings(odd);
        assert!(
            all.iter().any(|path| path.trim_end_matches('/') == "/seats"),
            "{odd}: {all:?}"
        );
    }
    assert!(readings("/...").contains(&"/".into()));
    assert!(readings("/a/.../../b").contains(&"/b".into()));
}

#[test]
fn bytes_that_are_no_utf_8_are_read_and_dropped() {
    for odd in [
        "/seats%ff",
        "/%80seats",
        "/se%c0ats",
        "/%ed%a0%80seats",
        "//seats%e2%82",
        "/s%65ats%ff/",
    ] {
        let all = readings(odd);
        assert!(
            all.contains(&"/seats".into()) || all.contains(&"/seats/".into()),
            "{odd}: {all:?}"
        );
        assert!(all.len() > 1, "{odd}");
    }
    // EUC-KR: nothing but the slashes is UTF-8.
    assert!(readings("/%B0%F8%BF%AC").contains(&"/".into()));
}

#[test]
fn a_session_in_the_path_is_part_of_it_and_is_not() {
    for odd in [
        "/(S(x))/seats",
        "/(S(x))seats",
        "/(S())/seats",
        "/(A(x)F(y)S(z))/seats",
        "/(S(x))/(F(y))/seats",
        "/se/(S(x))ats",
        "/%28S%28x%29%29/seats",
        "/seats/(S(x))",
        "/static/(S(x))/../seats",
    ] {
        assert!(readings(odd).contains(&"/seats".into()), "{odd}");
    }
    for other in [
        "/(S)/seats",
        "/(S(x)/seats",
        "/(S(x/seats))",
        "/(set(x))/seats",
        "/a(S(x))/seats",
    ] {
        assert!(
            !readings(other).iter().any(|one| one == "/seats" || one == "/aseats"),
            "{other}"
        );
    }
}

#[test]
fn an_encoded_slash_is_both_data_and_a_separator() {
    let list = readings("/files/a%2Fb");
    assert_eq!(list[0], "/files/a/b");
    assert!(list.contains(&"/files/a%2Fb".into()));
}

#[test]
fn nonsense_is_refused() {
    assert_eq!(of(b"/100%"), Err(Refused::Percent));
    assert_eq!(of(b"/a%u0073"), Err(Refused::Percent));
    assert_eq!(of(b"/a%00.css"), Err(Refused::Control));
    assert_eq!(of(b"/a%2500.css"), Err(Refused::Control));
    assert_eq!(of(b"/a\x01"), Err(Refused::Control));
    assert_eq!(of(b"/%25252541"), Err(Refused::Excess));
}

/// The work done for a path, and whether it was refused for it.
fn work(path: &str) -> (usize, bool) {
    let mut set = Set::default();
    let refused = set.read(path.as_bytes()) == Err(Refused::Excess);
    (set.work, refused)
}

#[test]
fn a_path_that_asks_for_much_work_is_refused_before_it_is_done() {
    let long = "x".repeat(1_800);
    for path in [
        format!("/{long}/%2e%5c%2f%3b%61/%252f%255c%253b"),
        format!("/{}", r";/a\..%2f".repeat(180)),
        "/%2e%5c%2f%3b%61/%252f%255c%253b".repeat(8),
        format!("/{}", "%2f".repeat(2_000)),
        format!("/{}", "%25".repeat(2_000)),
        format!("/{}", "//../".repeat(2_000)),
        "/%EA%B3%B5".repeat(2_000),
    ] {
        let (work, refused) = work(&path);
        assert!(refused && work <= MAX_WORK, "{work} bytes for {} {path}", path.len());
    }
}

#[test]
fn a_path_that_people_use_asks_for_little_work() {
    let name = "%EA%B3%B5%EC%97%B0%20".repeat(20);
    for path in [
        format!("/search/{name}"),
        format!("/events/{name};jsessionid=0123456789abcdef0123456789abcdef/seats"),
        "/resize/300x200/https://images.example.com//events/2026/poster%20(1).jpg".into(),
        "/_next/static/chunks/app/(shop)/events/(list)/page-0123456789abcdef.js".into(),
        "/list/(brand:acme,size:(from:38,to:42))/(sort:price)".into(),
        "/proxy/https%3A%2F%2Fimages.example.com%2Fa%2Fb.jpg%3Fwidth%3D300%26format%3Dwebp".into(),
    ] {
        let (work, refused) = work(&path);
        assert!(!refused && work <= MAX_WORK / 2, "{work} bytes for {path}");
    }
}

proptest::proptest! {
    #[test]
    fn a_step_that_is_not_tried_would_change_nothing(
        pieces in proptest::collection::vec(0..PIECES.len(), 0..12),
    ) {
        let path = [b"/".to_vec(), pieces.into_iter().flat_map(|at| PIECES[at].to_vec()).collect()].concat();
        let marks = marks(&path);
        for (mark, step) in STEPS {
            proptest::prop_assert!(marks & mark != 0 || step(&path) == path, "{mark} for {path:?}");
        }
    }
}

const PIECES: [&[u8]; 37] = [
    b"/(S(", b"(F(", b"))", b")", b"/", b"/", b"//", b".", b"..", b"a", b"?", b"#", b"\\", b";", b"%2f", b"%", b"\xC0",
    b"\xC1", b"\xE0", b"\xEF", b"\xF0", b"\xC5", b"\xE2", b"\x80", b"\xAF", b"\xBC", b"\xBD", b"\x8F", b"\xBF",
    b"\x84", b"\xAA", b"\xC2", b"\xA5", b"\xCD", b"\xBE", b"\xF8", b"\xFC",
];

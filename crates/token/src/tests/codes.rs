//! Codes: what is read is what was signed, and a payload that no code has is none.

use super::*;
use crate::code::CODE;
use crate::seal::Scope;
use ropeline_ids::{CodeId, MAX_LANE_NAME};

fn code(grant: Grant, single: bool) -> Code {
    Code {
        id: CodeId([7; 6]),
        starts: None,
        expires: None,
        grant,
        single,
        issued: Wall(if single { 1_790_000_000_000 } else { 0 }),
    }
}

fn read(payload: &[u8]) -> Option<Code> {
    let (keys, room) = (ring(&[("a", 1)]), room("shop"));
    let text = keys.seal(Scope::new(CODE, &room, &LineName::ONLY), payload);
    Code::read(&keys, &room, &LineName::ONLY, &text)
}

#[test]
fn a_code_without_dates_reads_back_without_dates() {
    let (keys, room) = (ring(&[("a", 1)]), room("shop"));
    for code in [
        code(Grant::Lane("fans".to_owned()), false),
        code(Grant::Lane("f".repeat(MAX_LANE_NAME)), true),
    ] {
        let text = code
            .sign(&keys, &room, &LineName::ONLY)
            .expect("a name of the right length");
        assert_eq!(Code::read(&keys, &room, &LineName::ONLY, &text), Some(code));
    }
}

#[test]
fn a_payload_with_a_lane_name_that_no_lane_has_is_no_code() {
    let payload = |name: &str| {
        let mut payload = vec![7; 6];
        payload.extend([0; 8]);
        payload.push(u8::try_from(name.len()).unwrap());
        payload.extend(name.as_bytes());
        payload
    };
    assert_eq!(
        read(&payload("fans")),
        Some(code(Grant::Lane("fans".to_owned()), false))
    );
    assert_eq!(read(&payload("")), None);
    assert_eq!(read(&payload(&"f".repeat(MAX_LANE_NAME + 1))), None);
}

#[test]
fn a_grant_is_shown_with_the_name_of_its_lane() {
    assert_eq!(Grant::Lane("fans".to_owned()).to_string(), "lane:fans");
    assert_eq!(Grant::Bypass.to_string(), "bypass");
}

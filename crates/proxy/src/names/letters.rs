//! Letters that upstreams treat as equal: those that compare without case, as Windows and case-insensitive routers do, and
//! those that compare without accents too, as most databases do when they look up a page by its name.
//!
//! Two texts are compared after both are decomposed (Unicode, annex 15), stripped of marks and invisible characters, and
//! mapped to the one case that all others lead to. Rules that protect are compared in this way; the names of lines are
//! stricter by themselves.

use icu_normalizer::DecomposingNormalizerBorrowed;

/// A segment in the form in which it is compared; ASCII other than capitals stays unchanged.
#[must_use]
pub fn alike(segment: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(segment.len());
    for chunk in segment.utf8_chunks() {
        out.extend_from_slice(fold(chunk.valid().trim()).as_bytes());
        out.extend_from_slice(chunk.invalid());
    }
    out
}

fn fold(text: &str) -> String {
    let letters = DecomposingNormalizerBorrowed::new_nfd().normalize_iter(text.chars());
    let mut out = String::with_capacity(text.len());
    for letter in letters.filter(|letter| !is_passed_over(*letter)) {
        // There and back: dotless i, long s, final sigma and sharp s have capitals that are others' too.
        let capitals = letter.to_lowercase().flat_map(char::to_uppercase);
        for small in capitals.flat_map(char::to_lowercase) {
            match without_stroke(small) {
                Some(plain) => out.push_str(plain),
                None => out.push(small),
            }
        }
    }
    out
}

/// Marks on letters, and characters without width.
fn is_passed_over(letter: char) -> bool {
    matches!(letter,
        '\u{AD}' | '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{20D0}'..='\u{20FF}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FE20}'..='\u{FE2F}' | '\u{FEFF}')
}

/// Letters that Unicode does not take apart, and collations do.
fn without_stroke(letter: char) -> Option<&'static str> {
    Some(match letter {
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ł' => "l",
        'ŧ' => "t",
        'þ' => "th",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_some_shop_takes_for_the_same_is_alike() {
        for (one, others) in [
            (
                "tickets",
                vec![
                    "TICKETS",
                    "t\u{131}ckets",
                    "t\u{130}ckets",
                    "ticket\u{17F}",
                    "tic\u{212A}ets",
                ],
            ),
            (
                "tickets",
                vec![
                    "ti\u{301}ckets",
                    "tíckets",
                    "tic\u{AD}kets",
                    "\u{FEFF}tickets",
                    "tickets\u{3000}",
                    "\u{A0}tickets",
                ],
            ),
            ("café", vec!["CAFÉ", "cafe\u{301}", "cafe"]),
            ("билеты", vec!["БИЛЕТЫ"]),
            ("공연", vec!["\u{1100}\u{1169}\u{11BC}\u{110B}\u{1167}\u{11AB}"]),
            ("straße", vec!["STRASSE", "STRAẞE"]),
            ("łódź-ørsted", vec!["LODZ-ORSTED"]),
            ("λόγος", vec!["ΛΌΓΟΣ", "λογοσ"]),
        ] {
            let wanted = alike(one.as_bytes());
            for other in others {
                assert_eq!(alike(other.as_bytes()), wanted, "{other}");
            }
        }
    }

    #[test]
    fn others_stay_apart_and_what_is_no_text_stays_as_it_is() {
        let words = ["공연", "공언", "билеты", "балеты", "ticket", "tickets", "票", "티켓"];
        for (at, one) in words.iter().enumerate() {
            assert!(
                words[..at]
                    .iter()
                    .all(|other| alike(other.as_bytes()) != alike(one.as_bytes())),
                "{one}"
            );
        }
        assert_eq!(alike(b"a\xFF\xC3b"), b"a\xFF\xC3b");
        assert_eq!(alike("\u{FDFA}".as_bytes()), "\u{FDFA}".as_bytes());
    }
}

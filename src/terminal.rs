//! Untrusted text made safe for a terminal: an operator's reason, a line's name, contents of a log or a document.

/// Neither a control character, nor one that is not seen or turns the direction in which the rest is shown (Unicode, annex 9).
#[must_use]
pub fn may_be_shown(character: char) -> bool {
    let unseen = matches!(character, '\u{61C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}');
    !character.is_control() && !unseen
}

/// `text` without what could command a terminal.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars()
        .map(|character| if may_be_shown(character) { character } else { ' ' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_or_turns_a_line_round_is_a_space() {
        for odd in [
            '\0', '\n', '\u{1B}', '\u{85}', '\u{61C}', '\u{200B}', '\u{200F}', '\u{2028}', '\u{202E}', '\u{2066}',
            '\u{2069}', '\u{FEFF}',
        ] {
            assert_eq!(plain(&format!("a{odd}b")), "a b", "{odd:?}");
        }
        for text in ["spring sale", "공연", "a–b", "café", "עברית", "نمی\u{200C}شود"] {
            assert_eq!(plain(text), text);
        }
    }
}

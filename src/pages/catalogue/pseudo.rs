//! A language made from English, for tests: a text that is not in a catalogue stays plain, and every other text is longer. The
//! tests of the browser read this file too, so that it knows nothing of the rest.

use toml::{Table, Value};

/// The file of a language that reads as `[!!! Ýöü åŕê ïñ ļíñê ··· !!!]`, from that of English. From right to left it has the six
/// forms of Arabic.
pub fn file(english: &str, right_to_left: bool) -> String {
    let mut file: Table = toml::from_str(english).expect("a table");
    for part in ["pages", "words", "plurals"] {
        file.get_mut(part).map(all).expect(part);
    }
    if right_to_left {
        six_forms(&mut file);
    }
    file.insert("name".to_owned(), "Pseudo".into());
    file.insert("direction".to_owned(), if right_to_left { "rtl" } else { "ltr" }.into());
    toml::to_string(&file).expect("a table again")
}

fn all(value: &mut Value) {
    match value {
        Value::Table(table) => table.iter_mut().for_each(|(_, inner)| all(inner)),
        Value::String(text) => *text = pseudo(text),
        _ => {}
    }
}

/// The forms that Arabic numbers take.
fn six_forms(file: &mut Table) {
    let plurals = file.get_mut("plurals").and_then(Value::as_table_mut).expect("plurals");
    for (_, forms) in plurals.iter_mut() {
        let forms = forms.as_table_mut().expect("forms");
        let other = forms["other"].clone();
        for category in ["zero", "one", "two", "few", "many"] {
            forms.insert(category.to_owned(), other.clone());
        }
    }
}

/// A text in letters with marks, two fifths longer, and with signs that show where it begins and ends. Braces stay.
fn pseudo(text: &str) -> String {
    let mut in_braces = false;
    let letters: String = text
        .chars()
        .map(|letter| {
            in_braces = match letter {
                '{' => true,
                '}' => false,
                _ => in_braces,
            };
            if in_braces { letter } else { marked(letter) }
        })
        .collect();
    let more = (text.chars().count() * 2).div_ceil(5).saturating_sub(ENDS);
    format!("[!!! {letters} {} !!!]", "·".repeat(more))
}

/// The characters that the signs at both ends add.
const ENDS: usize = 11;

fn marked(letter: char) -> char {
    const PLAIN: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const MARKED: &str = "åƀçđêƒĝĥïĵķļɱñöþǫŕšţüṽŵẋýžÅƁÇÐÊƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽ";
    let at = PLAIN.chars().position(|plain| plain == letter);
    at.and_then(|at| MARKED.chars().nth(at)).unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gets_marks_and_two_fifths_more_and_keeps_its_braces() {
        let text = "You are in line, number {n}, and the page says so.";
        let longer = pseudo(text);
        assert!(longer.starts_with("[!!! Ýöü åŕê ïñ ļïñê, ñüɱƀêŕ {n}, åñđ"), "{longer}");
        assert!(longer.ends_with(" !!!]") && longer.contains("··"), "{longer}");
        assert_eq!(longer.chars().count(), 70, "{longer}");
    }
}

//! Words of texts for people.

/// Words that this project has used in a sense of its own, or in place of a noun. Standard terms are an epoch, a heartbeat,
/// an operator's command, a translation; see the glossary.
pub const PRIVATE: [&str; 22] = [
    "whoever",
    "whatever",
    "nobody",
    "somebody",
    "anybody",
    "those who",
    "who is",
    "what is",
    "what was",
    "who has",
    "by now",
    "tongue",
    "tongues",
    "hands",
    "lot",
    "era",
    "incarnation",
    "rootless",
    "adoption",
    "doubt",
    "told",
    "learns",
];

/// How many words a text has.
#[must_use]
pub fn count(text: &str) -> usize {
    text.split_whitespace()
        .filter(|word| word.contains(char::is_alphanumeric))
        .count()
}

/// How many of its words are [`PRIVATE`].
#[must_use]
pub fn private(text: &str) -> usize {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let text = format!(" {} ", words.join(" "));
    PRIVATE
        .iter()
        .map(|word| text.matches(&format!(" {word} ")).count())
        .sum()
}

/// The links of a Markdown text: `](`.
#[must_use]
pub fn links(text: &str) -> usize {
    text.matches("](").count()
}

/// The comments of a source, its documentation among them.
#[must_use]
pub fn comments(text: &str) -> String {
    let lines = text.lines().map(str::trim_start);
    let comments = lines.filter_map(|line| {
        let rest = line.strip_prefix("//")?;
        Some(rest.trim_start_matches(['/', '!']))
    });
    comments.collect::<Vec<&str>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_private_words_are_counted() {
        assert_eq!(count("Two words, | --- |"), 2);
        assert_eq!(
            private("Whoever waits is told\nwhat is true: nobody is told a lie, in an eraser's era."),
            6
        );
        assert_eq!(links("[a](b) and ![c](d)"), 2);
        assert_eq!(
            comments("//! One.\nlet a = 1; // not this\n    /// Two.\n"),
            " One.\n Two."
        );
    }
}

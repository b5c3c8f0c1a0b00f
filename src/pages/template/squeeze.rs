//! Makes the built-in templates and styles small as they are read. The scripts are small already (`scripts/minify`).

/// A template without the line breaks before its elements; within the built-in ones none of them shows.
pub fn page(source: &str) -> String {
    [">", "%}", "}}"].iter().fold(source.to_owned(), |page, end| {
        page.replace(&format!("{end}\n<"), &format!("{end}<"))
    })
}

/// A style without the parts that a browser does not need, and with short names of its colours. Its comments are whole lines.
pub fn style(source: &str) -> String {
    let lines = source.lines().map(str::trim);
    let kept: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !line.starts_with("/*"))
        .collect();
    let style = kept.join("\n").replace("}\n", "}");
    COLOURS
        .iter()
        .fold(style, |style, (name, short)| style.replace(name, short))
}

const COLOURS: [(&str, &str); 6] = [
    ("--bg", "--b"),
    ("--card", "--c"),
    ("--ink", "--i"),
    ("--line", "--l"),
    ("--mark", "--m"),
    ("--soft", "--s"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_breaks_between_rules_go() {
        assert_eq!(style("/* a */\n  b{c: d}\n\n  e{f: g}\n"), "b{c: d}e{f: g}");
        assert_eq!(style("a{color:var(--mark)}\n"), "a{color:var(--m)}");
        assert_eq!(page("<a>\n<b>c\n</b>"), "<a><b>c\n</b>");
        assert_eq!(page("{% if a %}\n<b>{% endif %}"), "{% if a %}<b>{% endif %}");
        assert_eq!(page("<p>{{ a }}\n<p>b"), "<p>{{ a }}<p>b");
    }
}

//! Makes the page's own script and style small without a build step.
//!
//! In these files comments are whole lines, strings and regular expressions contain no line breaks, every statement except a
//! block ends in a semicolon, and none is empty; so no parser is needed. The result breaks lines where the source does, and a
//! script's only where a break may end a statement.

/// A template without the line breaks between its elements; within the built-in ones none of them shows.
pub fn page(source: &str) -> String {
    source.replace(">\n<", "><")
}

/// A style without the parts that a browser does not need.
pub fn style(source: &str) -> String {
    lines(source).replace("}\n", "}")
}

/// Without indentation, empty lines and comment lines.
fn lines(source: &str) -> String {
    let lines = source.lines().map(str::trim);
    let kept: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("/*"))
        .collect();
    kept.join("\n")
}

/// The same with short names, as a page has it.
pub fn short_script(source: &str) -> String {
    script(&names::shorten(&lines(source)))
}

/// The same, and without the blanks and line breaks of a script that part nothing.
pub fn script(source: &str) -> String {
    let lines = lines(source);
    let mut small = String::with_capacity(lines.len());
    let mut quote = None;
    let mut chars = lines.chars().peekable();
    while let Some(c) = chars.next() {
        let before = small.chars().next_back();
        if quote.is_none() && c == ' ' && !parts(before, chars.peek().copied()) {
            continue;
        }
        if c == '\n' && before.is_some_and(|before| ";{},".contains(before)) {
            continue;
        }
        // A semicolon before a closing brace is not needed.
        if c == '}' && quote.is_none() && before == Some(';') {
            small.pop();
        }
        // A quote after a backslash is part of the string; no string here ends in a backslash.
        if matches!(c, '\'' | '"') && before != Some('\\') {
            quote = match quote {
                None => Some(c),
                Some(open) if open == c => None,
                open => open,
            };
        }
        small.push(c);
    }
    small
}

/// True when a blank between the two is needed: between two words, and between two signs that would become one.
fn parts(before: Option<char>, after: Option<char>) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    match (before, after) {
        (Some(before), Some(after)) => {
            (word(before) && word(after)) || (before == after && matches!(before, '+' | '-' | '/' | '&' | '|'))
        }
        _ => false,
    }
}

mod names;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blanks_go_and_strings_stay() {
        let source = "// why\nvar a = 'b  +  c', d = a + +e;\n\n  if (a in d) return a - -1;\n";
        assert_eq!(script(source), "var a='b  +  c',d=a+ +e;if(a in d)return a- -1;");
        assert_eq!(
            script("a = function () {\n  b(';}');\n};\nif (a) {\n  c();\n}\nd();\n"),
            "a=function(){b(';}')};if(a){c()}d();"
        );
        assert_eq!(script("x = \"it's \\\" a\" + 'b' ;"), "x=\"it's \\\" a\"+'b';");
        assert_eq!(style("/* a */\n  b{c: d}\n\n  e{f: g}\n"), "b{c: d}e{f: g}");
    }
}

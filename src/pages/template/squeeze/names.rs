//! Short names for the variables of a script: a fifth of its size, compressed an eighth.
//!
//! Not a minifier's library: the ones that parse JavaScript are larger than the gate's own parser of HTTP, and these few scripts
//! keep to simple rules instead. A script is one function. The functions directly in it each get the same short names for what
//! they declare; what the script itself declares has names of its own. A name is declared by `var`, as a parameter, by
//! `function` or by `catch`. A key of an object stands directly before its colon, and no other name does. A regular
//! expression contains no word that is a name.

use std::collections::{BTreeMap, BTreeSet};

/// The script with short names for its own variables. `script` has no comments, and its blanks still.
pub fn shorten(script: &str) -> String {
    let tokens = tokens(script);
    let scopes = scopes(&tokens);
    let short = names(&tokens, &scopes);
    let rename = |(at, token): (usize, &Token<'_>)| {
        let own = short.get(&(scopes.of[at], token.text));
        let found = own.or_else(|| short.get(&(0, token.text)));
        found
            .filter(|_| token.is_name)
            .map_or(token.text, String::as_str)
            .to_owned()
    };
    tokens.iter().enumerate().map(rename).collect()
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    /// An identifier that is no property.
    is_name: bool,
}

fn tokens(script: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut rest = script;
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric() || matches!(first, '_' | '$');
        let length = match first {
            '\'' | '"' => text_length(rest, first),
            _ if is_word => rest
                .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'))
                .unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (text, behind) = rest.split_at(length);
        let is_property = tokens.last().is_some_and(|before| before.text == ".") || behind.starts_with(':');
        let is_name = is_word && !first.is_numeric() && !is_property;
        tokens.push(Token { text, is_name });
        rest = behind;
    }
    tokens
}

/// Bytes of the quoted text that `rest` begins with.
fn text_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    let ends = |&(at, c): &(usize, char)| {
        let ends = at > 0 && c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    };
    let end = rest.char_indices().find(ends);
    end.map_or(rest.len(), |(at, _)| at + quote.len_utf8())
}

/// Where names hold: 0 is the script itself, each other scope a function directly in it.
struct Scopes<'a> {
    /// The scope of each token.
    of: Vec<usize>,
    /// The names declared in each, in order.
    declared: Vec<Vec<&'a str>>,
}

impl<'a> Scopes<'a> {
    fn declare(&mut self, scope: usize, name: &'a str) {
        self.declared.resize_with(self.declared.len().max(scope + 1), Vec::new);
        if !self.declared[scope].contains(&name) {
            self.declared[scope].push(name);
        }
    }
}

fn scopes<'a>(tokens: &[Token<'a>]) -> Scopes<'a> {
    let mut scopes = Scopes {
        of: Vec::with_capacity(tokens.len()),
        declared: vec![Vec::new()],
    };
    let (mut depth, mut scope, mut last) = (0_usize, 0, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 1 {
                    scope = 0;
                }
            }
            "function" if token.is_name => {
                let open = index_of(tokens, at, "(");
                let name = tokens[at..open].iter().skip(1).find(|token| token.is_name);
                if let Some(name) = name {
                    scopes.declare(scope, name.text);
                }
                if depth == 1 {
                    last += 1;
                    scope = last;
                }
                let close = index_of(tokens, open, ")");
                for parameter in tokens[open..close].iter().filter(|token| token.is_name) {
                    scopes.declare(scope, parameter.text);
                }
            }
            "catch" if token.is_name => {
                let open = index_of(tokens, at, "(");
                scopes.declare(scope, tokens[open + 1].text);
            }
            "var" if token.is_name => {
                for name in variables(&tokens[at + 1..]) {
                    scopes.declare(scope, name);
                }
            }
            _ => {}
        }
        scopes.of.push(scope);
    }
    scopes
}

/// The next token of this text; the last one where there is none.
fn index_of(tokens: &[Token<'_>], from: usize, text: &str) -> usize {
    let found = tokens[from..].iter().position(|token| token.text == text);
    found.map_or(tokens.len() - 1, |at| from + at)
}

/// The names of one `var`.
fn variables<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let (mut names, mut depth, mut begins) = (Vec::new(), 0_u32, true);
    for token in tokens {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ";" | "in" | ")" if depth == 0 => break,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => begins = true,
            name if begins && token.is_name => {
                names.push(name);
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// The short name of each declared one, by its scope. What the script declares keeps its one name in every scope.
fn names<'a>(tokens: &[Token<'a>], scopes: &Scopes<'a>) -> BTreeMap<(usize, &'a str), String> {
    let declared: BTreeSet<&str> = scopes.declared.iter().flatten().copied().collect();
    let is_foreign = |token: &&Token<'_>| token.is_name && !declared.contains(token.text);
    let foreign: BTreeSet<&str> = tokens.iter().filter(is_foreign).map(|token| token.text).collect();
    let of_script = &scopes.declared[0];
    let inner: Vec<Vec<&str>> = scopes.declared[1..]
        .iter()
        .map(|names| names.iter().copied().filter(|name| !of_script.contains(name)).collect())
        .collect();
    let most = inner.iter().map(Vec::len).max().unwrap_or(0);
    let free: Vec<String> = candidates()
        .filter(|name| !foreign.contains(name.as_str()))
        .take(most + of_script.len())
        .collect();
    let (of_inner, of_outer) = free.split_at(most);
    let often = |name: &&str| {
        tokens
            .iter()
            .filter(|token| token.is_name && token.text == *name)
            .count()
    };
    let mut outer = of_script.clone();
    outer.sort_by_key(|name| std::cmp::Reverse(often(name)));
    let outer = outer.into_iter().map(|name| (0, name)).zip(of_outer);
    let inner = (1..)
        .zip(inner)
        .flat_map(|(scope, names)| names.into_iter().map(move |name| (scope, name)).zip(of_inner));
    outer.chain(inner).map(|(name, short)| (name, short.clone())).collect()
}

/// Names of one letter, then of two; first the letters that scripts have most of anyway.
fn candidates() -> impl Iterator<Item = String> {
    const LETTERS: &str = "etnriaoslcudhpmfgvbywkxqjzETNRIAOSLCUDHPMFGVBYWKXQJZ$";
    let ones = LETTERS.chars().map(String::from);
    let twos = LETTERS
        .chars()
        .flat_map(|first| LETTERS.chars().map(move |second| [first, second].iter().collect()));
    ones.chain(twos.filter(|name: &String| !matches!(name.as_str(), "do" | "if" | "in" | "is" | "of")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_declares_gets_short_names_and_all_else_stays() {
        let script = "(function () {\nvar doc = document, page = { doc: 1, text: 'page' };\n\
                      function show(text, name) { doc.title = page.text ? name : text; }\n\
                      on('a', function (event) { try { show(event.name); } catch (failed) {} });\n}());";
        assert_eq!(
            shorten(script),
            "(function () {\nvar n = document, r = { doc: 1, text: 'page' };\n\
             function i(e, t) { n.title = r.text ? t : e; }\n\
             on('a', function (e) { try { i(e.name); } catch (t) {} });\n}());"
        );
    }

    #[test]
    fn a_name_of_the_script_that_a_function_declares_too_stays_one_name() {
        let script = "(function () {\nvar key = 1;\nfunction load(key) { return key; }\nfunction go() { call(key, function (key) { key(); }); }\n}());";
        assert_eq!(
            shorten(script),
            "(function () {\nvar e = 1;\nfunction t(e) { return e; }\nfunction n() { call(e, function (e) { e(); }); }\n}());"
        );
    }
}

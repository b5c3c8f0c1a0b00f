//! Names of header fields.
//!
//! CGI programs, PHP, WSGI and Rack are given a field as a variable: `X-User`, `x_user` and `X.User` are all `HTTP_X_USER`.
//! The widest rule is Apache's (`util_script.c`, `http2env`): letters in one case, every sign an underscore. PHP maps dots
//! (`php_variables.c`), Rack and WSGI dashes alone, so all that they confuse is confused here.

/// Fields by which a client asks that its request be taken for one with another method: Symfony, Laravel, Rails and Express;
/// ASP.NET; Spring and others.
pub const METHODS: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];

/// A field by which a method is named, however its name is spelled.
#[must_use]
pub fn names_a_method(name: &str) -> bool {
    METHODS.iter().any(|own| is_same(own, name))
}

/// Suffixes of field names by which a server or framework takes another target than the request's, usually its path before a
/// proxy has rewritten it: IIS, Laminas and Symfony (`X-Original-URL`, `X-Rewrite-URL`); gunicorn, Waitress and servers that
/// copied them, which cut `SCRIPT_NAME` off the path (`forwarder_headers`); Azure (`X-WAWS-Unencoded-URL`); Cloud Foundry
/// (`X-CF-Forwarded-Url`); Plack (`X-Traversal-Path`, `X-Request-Base`).
const TARGETS: [&str; 14] = [
    "original-url",
    "original-uri",
    "original-request-url",
    "original-request-uri",
    "rewrite-url",
    "rewrite-uri",
    "override-url",
    "override-uri",
    "unencoded-url",
    "forwarded-url",
    "script-name",
    "path-info",
    "traversal-path",
    "request-base",
];

/// A field that names another target, with any prefix and any spelling of its name.
#[must_use]
pub fn names_a_target(name: &str) -> bool {
    // PERF: each name of each request is looked at, and few end like these.
    let may = matches!(
        name.as_bytes().last_chunk(),
        Some(b"rl" | b"ri" | b"me" | b"fo" | b"th" | b"se")
    );
    may && TARGETS.iter().any(|target| ends_with(name, target))
}

/// The name is `end`, or its last words are.
fn ends_with(name: &str, end: &str) -> bool {
    let Some(at) = name.len().checked_sub(end.len()) else {
        return false;
    };
    let begins = at == 0 || !name.as_bytes()[at - 1].is_ascii_alphanumeric();
    begins && name.get(at..).is_some_and(|last| is_same(last, end))
}

/// Two names that become one variable.
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && begins_with(one, other)
}

/// The name becomes a variable that begins with that of `prefix`.
#[must_use]
pub fn begins_with(name: &str, prefix: &str) -> bool {
    let Some(start) = name.as_bytes().get(..prefix.len()) else {
        return false;
    };
    start.iter().zip(prefix.bytes()).all(|(a, b)| folded(*a) == folded(b))
}

/// Every program reads the name in the same way: letters, digits and dashes.
#[must_use]
pub fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| PLAIN[usize::from(byte)])
}

/// PERF: each name of each request is looked at. Of an admitted GET that took 668 instructions, and 1,144 by comparisons.
static PLAIN: [bool; 256] = {
    let (mut plain, mut byte) = ([false; 256], 0_u8);
    while byte.is_ascii() {
        plain[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'-';
        byte += 1;
    }
    plain
};

fn folded(byte: u8) -> u8 {
    if byte.is_ascii_alphanumeric() {
        byte.to_ascii_lowercase()
    } else {
        b'_'
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The variable of `name` in a program's environment: by Apache's rule, and by those of PHP, WSGI and Rack.
    fn variables(name: &str) -> [String; 3] {
        let upper = name.to_ascii_uppercase();
        [
            upper.replace(|sign: char| !sign.is_ascii_alphanumeric(), "_"),
            upper.replace(['-', '.', ' '], "_"),
            upper.replace('-', "_"),
        ]
    }

    #[test]
    fn aliases_of_a_field_are_the_same_and_others_are_not() {
        for alias in ["x-user", "X-User", "x_user", "X.User", "x~user", "X*User", "x+user"] {
            assert!(is_same(alias, "X-User"), "{alias}");
        }
        for other in ["xuser", "x-users", "x--user", "user", "", "x-use"] {
            assert!(!is_same(other, "X-User"), "{other}");
        }
        assert!(begins_with("Ropeline!Pass", "ropeline-") && !begins_with("Ante", "ropeline-"));
        assert!(is_plain("X-User2") && !is_plain("X_User") && !is_plain("X.User"));
    }

    #[test]
    fn a_field_that_names_another_target_is_known_by_its_last_words() {
        for name in [
            "x-original-url",
            "x_rewrite.url",
            "script_name",
            "http_script_name",
            "x-script-name",
            "path~info",
            "x-cf-forwarded-url",
            "x-waws-unencoded-url",
        ] {
            assert!(names_a_target(name), "{name}");
        }
        for name in [
            "hx-current-url",
            "description-name",
            "myscript-name",
            "url",
            "x-original-urls",
            "referer",
            "cookie",
            "-url",
        ] {
            assert!(!names_a_target(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn names_that_any_program_confuses_are_the_same(one in "[a-cA-C0-1!#$%&'*+.^_`|~-]{0,6}", other in "[a-cA-C0-1!#$%&'*+.^_`|~-]{0,6}") {
            for (a, b) in variables(&one).into_iter().zip(variables(&other)) {
                prop_assert!(a != b || is_same(&one, &other), "{} and {}", one, other);
            }
        }
    }
}

//! Fields by which servers and frameworks take another target than the request line's: variables of CGI and WSGI, proxies'
//! fields for the original path, and similar ones. The names are composed of words, so that unknown ones are found too.

use fastrand::Rng;

const BEFORE: [&str; 9] = [
    "",
    "",
    "",
    "X-",
    "HTTP_",
    "$",
    "X-Forwarded-",
    "X-Original-",
    "REDIRECT_",
];

const WORDS: [&str; 13] = [
    "SCRIPT_NAME",
    "SCRIPT_NAME",
    "PATH_INFO",
    "REQUEST_URI",
    "QUERY_STRING",
    "REQUEST_METHOD",
    "SCRIPT_FILENAME",
    "RAW_URI",
    "URL",
    "PATH",
    "PREFIX",
    "BASE",
    "TRAVERSAL_PATH",
];

const VALUES: [&str; 5] = ["/x", "/x", "/x", "/event/6", "id=6"];

/// A field for some requests, and what stands in front of the path for the part that the field may cut off; for others nothing.
pub fn field(rng: &mut Rng) -> (String, &'static str) {
    if rng.bool() {
        return (String::new(), "");
    }
    let mut name = [BEFORE[rng.usize(..BEFORE.len())], WORDS[rng.usize(..WORDS.len())]].concat();
    if rng.bool() {
        name = name.replace('_', "-");
    }
    let value = VALUES[rng.usize(..VALUES.len())];
    let in_front = if value == "/x" { "/x" } else { "" };
    (format!("{name}: {value}\r\n"), in_front)
}

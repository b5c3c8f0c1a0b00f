//! Requests made from a seed: a grammar of ordinary ones, and mutations of how names, values and bodies are written.

use fastrand::Rng;

use super::bodies::MANY;
use super::case::{Case, Thing};
use super::steer;

/// The fields of a browser that goes to a page: such a request is given a session.
pub const PAGE: &str = "Host: shop.example\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\
                        Sec-Fetch-Site: same-origin\r\nAccept: text/html\r\n";

/// Bytes that are no UTF-8: alone, cut off, overlong or half of a pair.
const BROKEN: [&str; 7] = ["%ff", "%80", "%c0", "%C3", "%c0%af", "%e2%82", "%ed%a0%80"];

/// The next request for `thing`.
pub fn case(rng: &mut Rng, thing: Thing) -> Case {
    let mut maker = Maker {
        rng,
        may_be_missed: false,
    };
    let bytes = match thing {
        Thing::Event => maker.path(),
        Thing::Id => maker.query("/buy", "id"),
        Thing::EventId => maker.query("/book", "event_id"),
        Thing::User => maker.field(),
        Thing::Sid => maker.cookie(),
        Thing::Email => maker.body(),
    };
    Case {
        thing,
        may_be_missed: maker.may_be_missed,
        bytes,
    }
}

pub struct Maker<'r> {
    pub rng: &'r mut Rng,
    pub may_be_missed: bool,
}

// Lists of spellings stay together, several a line.
#[rustfmt::skip]
impl Maker<'_> {
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.usize(..of.len())]
    }

    /// Once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.rng.usize(..n) == 0
    }

    fn path(&mut self) -> Vec<u8> {
        let mut value = self.value();
        if self.once_in(3) {
            value = self.escaped(&value);
        }
        let before = self.one(&["", "", "", "/.", "/x/..", "/", "//", "/%2e", "/;a=b", "/%2f"]);
        let behind = self.one(&[
            "", "", "", "/seats", "/", "//", "/..", "/.", "/%2e%2e/6", "%2f6", ";id=6", "%3bid=6", "%00", "%20", ".",
            "?id=6", "%3fid=6", "%5c6", "\\6", "#6", "%23",
        ]);
        let root = self.one(&["/event", "/event", "/event", "/event", "/Event", "/%65vent", "/event;a"]);
        self.may_be_missed = root == "/Event";
        let (steering, in_front) = steer::field(self.rng);
        let mut target = [in_front.as_bytes(), before.as_bytes(), root.as_bytes(), b"/", &value, behind.as_bytes()].concat();
        if self.once_in(5) {
            let at = self.rng.usize(1..=target.len());
            target.splice(at..at, self.one(&BROKEN).bytes());
        }
        Self::get(&target, steering.as_bytes())
    }

    fn query(&mut self, path: &str, name: &str) -> Vec<u8> {
        if self.once_in(4) {
            return self.post(path, name);
        }
        let mut query = Vec::new();
        if self.once_in(60) {
            query = "&x=1".repeat(MANY).into_bytes();
        }
        for at in 0..=self.one(&[0, 0, 0, 1, 1, 2]) {
            let parted = if at == 0 && query.is_empty() {
                ""
            } else {
                self.one(&["&", "&", "&", ";", "&amp;", "&&", "%26", "?", ","])
            };
            query.extend_from_slice(parted.as_bytes());
            query.extend(self.pair(name));
        }
        let (steering, _) = steer::field(self.rng);
        let target = [path.as_bytes(), b"?", &query].concat();
        Self::get(&target, steering.as_bytes())
    }

    /// The parameter in the query, and a form that may have it as well: some stacks join both.
    fn post(&mut self, path: &str, name: &str) -> Vec<u8> {
        let target = match self.rng.u8(..4) {
            0 => path.to_owned(),
            1 => format!("{path}?x=1"),
            _ => format!("{path}?{name}=5"),
        };
        let (kind, body) = if self.once_in(3) {
            (self.multipart_type(), self.multipart(name))
        } else {
            (self.form_type().to_owned(), self.pair(name))
        };
        Self::sent(target.as_bytes(), &typed(&kind), &body)
    }

    /// A parameter of that name, written in one of many ways; sometimes another parameter.
    fn pair(&mut self, name: &str) -> Vec<u8> {
        if self.once_in(6) {
            return self
                .one(&[
                    "x=1", "color=red", "q=%C3%A9", "ids=6", "an_id=6", "filter[price]=1", "idx=2", "=6", "x",
                ])
                .into();
        }
        let name = self.name(name);
        let value = self.value();
        let joined = self.one(&["=", "=", "=", "=", "=", "=", "%3d", "==", ""]);
        [name, joined.into(), value].concat()
    }

    /// A name as stacks read it, or nearly.
    pub fn name(&mut self, name: &str) -> Vec<u8> {
        let mut written = name.as_bytes().to_vec();
        for _ in 0..self.one(&[0, 0, 0, 1, 1, 1, 2]) {
            written = self.mutated(&written);
        }
        written
    }

    fn mutated(&mut self, name: &[u8]) -> Vec<u8> {
        const BEFORE: [&str; 15] = [
            "+", "%20", "%09", "%0a", "%00", "%EF%BB%BF", "%c2%a0", "[", ".", "_", "?", "%2B", "%", "%ff", "x.",
        ];
        const BEHIND: [&str; 25] = [
            "[]", "[0]", "[x]", "[", "]", "%5B%5D", "%5b0%5D", "%00", "%00x", "%00[]", "+", "%20", ".", ".x", "%5B",
            "[][]", "[a][b]", "%255B%255D", "%C0%80", "#", "%0d%0a", "%26",
            "%", "%ff", "%2ex",
        ];
        match self.rng.u8(..11) {
            0 => [self.one(&BEFORE).as_bytes(), name].concat(),
            1 | 2 => [name, self.one(&BEHIND).as_bytes()].concat(),
            3 => {
                self.may_be_missed = true;
                let at = self.rng.usize(..name.len());
                let turned = |(here, byte): (usize, &u8)| if here == at { byte ^ 0x20 } else { *byte };
                // Only letters have another case.
                if name[at].is_ascii_alphabetic() {
                    name.iter().enumerate().map(turned).collect()
                } else {
                    name.to_vec()
                }
            }
            4 => self.escaped(name),
            5 => {
                let once = self.escaped(name);
                replaced(&once, b"%", b"%25")
            }
            6 => replaced(
                name,
                b"_",
                self.one(&[".", "+", "%20", "[", "-", "%2e", "%5F", "%5B", "__", "%00"])
                    .as_bytes(),
            ),
            7 => [b"[", name, b"]"].concat(),
            8 | 9 => {
                let within = self.rng.usize(..=name.len());
                let at = self.one(&[0, within, name.len()]);
                let put = self.one(&["%", "%", ".", ".", "%2e", "%ff", "%80", "%00", "+"]);
                [&name[..at], put.as_bytes(), &name[at..]].concat()
            }
            // A letter that folds to `i`, and full-width forms.
            _ => replaced(
                name,
                b"i",
                self.one(&["%C4%B1", "%C4%B0", "%EF%BD%89", "%u0069", "%69", "&#105;", "%i"])
                    .as_bytes(),
            ),
        }
    }

    /// One byte of it as an escape, right or wrong.
    fn escaped(&mut self, text: &[u8]) -> Vec<u8> {
        if text.is_empty() {
            return Vec::new();
        }
        let at = self.rng.usize(..text.len());
        let byte = text[at];
        let written = match self.rng.u8(..8) {
            0..=3 => format!("%{byte:02x}"),
            4 => format!("%{byte:02X}"),
            5 => format!("%25{byte:02x}"),
            // Overlong: two bytes for one (RFC 3629, section 3).
            6 => format!("%{:02x}%{:02x}", 0xC0 | byte >> 6, 0x80 | byte & 0x3F),
            _ => format!("%u00{byte:02x}"),
        };
        [&text[..at], written.as_bytes(), &text[at + 1..]].concat()
    }

    fn value(&mut self) -> Vec<u8> {
        const VALUES: [&str; 30] = [
            "5", "5", "5", "5", "7", "7", "a42", "spring", "05", "5+", "+5", "%205", "5%20", "5%00", "5%00x", "%35",
            "%2535", "5;id=7", "5,7", "", "5.0", "5-", "%EF%BC%95", "%C3%A9", "%E9", "%", "%zz", "5%26id=7", "5#7", "5%",
        ];
        self.one(&VALUES).into()
    }

    pub fn account(&mut self) -> &'static str {
        self.one(&[
            "ann", "ann", "ann", "bob", "ann@shop.example", "Ann", " ann", "ann ", "\"ann\"", "", "ann,bob", "a=b",
            "%61nn", "ann%00", "a+b", "a%20b", "a%2Bb", "s%3Aann.x", "s%3aann.x", "17", "j\u{f6}rg",
            "=?utf-8?q?ann?=",
        ])
    }

    fn field(&mut self) -> Vec<u8> {
        let mut fields = Vec::new();
        for _ in 0..=self.one(&[0, 0, 1, 1, 2]) {
            let name = self.one(&[
                "X-User", "X-User", "X-User", "x-user", "X_User", "X.User", "X~User", "X*User", "X!User", "X-User_",
                "X--User", "X'User", "X`User", "X|User", "X^User", "HTTP_X_USER", "X+User", "x_user", "X-Users", "X$User",
                "X&User", "X%User", "X#User",
            ]);
            fields.extend_from_slice(format!("{name}: ").as_bytes());
            let value = self.account();
            fields.extend_from_slice(value.as_bytes());
            fields.extend_from_slice(b"\r\n");
        }
        if self.once_in(6) {
            let name = self.one(&["X-User", "x-user", "X_User", "close, X-User", "Host", "Content-Length", "Cookie"]);
            fields.extend_from_slice(format!("Connection: {name}\r\n").as_bytes());
        }
        if self.once_in(6) {
            let trailer = self.one(&["X-User: bob", "X_User: bob", "Cookie: sid=bob", "X-Sum: 1"]);
            let mut request = Self::head("POST", b"/member", &fields, "Transfer-Encoding: chunked\r\nTrailer: X-User\r\n");
            request.extend_from_slice(format!("1\r\nx\r\n0\r\n{trailer}\r\n\r\n").as_bytes());
            return request;
        }
        Self::get(b"/member", &fields)
    }

    fn cookie(&mut self) -> Vec<u8> {
        let mut fields = b"Cookie: ".to_vec();
        for at in 0..=self.one(&[0, 0, 1, 1, 2]) {
            if at > 0 {
                fields.extend_from_slice(self.one(&["; ", "; ", ";", ", ", ";;", "\r\nCookie: ", " "]).as_bytes());
            }
            let name = self.one(&[
                "sid", "sid", "sid", "sid", "SID", "sid ", " sid", "s%69d", "sid[]", "sid[0]", "sid.x", "$sid", "sid\t",
                "\"sid\"", "a=b; sid", "sid%00", "=sid", "sids", "$Version=1; sid", "sid%5B%5D", "\u{a0}sid",
                "__Host-sid", "__Secure-sid", "__host-sid", "__Http-sid", "__Host-Http-sid",
            ]);
            let joined = self.one(&["=", "=", "=", "=", " = ", "==", ""]);
            let value = self.account();
            fields.extend_from_slice(format!("{name}{joined}{value}").as_bytes());
        }
        let is_malformed = |piece: &[u8]| {
            let piece = piece.trim_ascii();
            let is_odd = |byte: &u8| byte.is_ascii_whitespace() || !byte.is_ascii();
            matches!(piece.iter().position(|byte| *byte == b'='), None | Some(0)) || piece.iter().any(is_odd)
        };
        self.may_be_missed = fields[b"Cookie:".len()..].split(|byte| *byte == b';').any(is_malformed)
            || fields.windows(4).any(|four| four == b"SID=");
        fields.extend_from_slice(b"\r\n");
        Self::get(b"/basket", &fields)
    }

    fn get(target: &[u8], fields: &[u8]) -> Vec<u8> {
        Self::head("GET", target, fields, "")
    }

    pub fn sent(target: &[u8], fields: &str, body: &[u8]) -> Vec<u8> {
        let length = format!("Content-Length: {}\r\n", body.len());
        let mut request = Self::head("POST", target, fields.as_bytes(), &length);
        request.extend_from_slice(body);
        request
    }

    fn head(method: &str, target: &[u8], fields: &[u8], more: &str) -> Vec<u8> {
        [
            method.as_bytes(),
            b" ",
            target,
            b" HTTP/1.1\r\n",
            PAGE.as_bytes(),
            fields,
            more.as_bytes(),
            b"\r\n",
        ]
        .concat()
    }
}

fn replaced(text: &[u8], what: &[u8], with: &[u8]) -> Vec<u8> {
    let Some(at) = text.windows(what.len()).position(|here| here == what) else {
        return text.to_vec();
    };
    [&text[..at], with, &text[at + what.len()..]].concat()
}

/// A field for that type; none where it is empty.
pub fn typed(kind: &str) -> String {
    if kind.is_empty() {
        return String::new();
    }
    format!("Content-Type: {kind}\r\n")
}

//! Requests made from a seed: a grammar of ordinary ones, and mutations of how names, values and bodies are written.

use fastrand::Rng;

use super::case::{Case, Thing};
use super::steer;

/// The fields of a browser that goes to a page: such a request is given a session.
pub const PAGE: &str = "Host: shop.example\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\
                        Sec-Fetch-Site: same-origin\r\nAccept: text/html\r\n";

/// Parameters beyond which some stacks read no more.
const MANY: usize = 1_100;

/// The next request for `thing`.
pub fn case(rng: &mut Rng, thing: Thing) -> Case {
    let mut maker = Maker {
        rng,
        name_differs: false,
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
        name_differs: maker.name_differs,
        bytes,
    }
}

struct Maker<'r> {
    rng: &'r mut Rng,
    name_differs: bool,
}

// Lists of spellings stay together, several a line.
#[rustfmt::skip]
impl Maker<'_> {
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.usize(..of.len())]
    }

    /// Once in `n` times.
    fn once_in(&mut self, n: usize) -> bool {
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
        self.name_differs = root == "/Event";
        let (steering, in_front) = steer::field(self.rng);
        let target = [in_front.as_bytes(), before.as_bytes(), root.as_bytes(), b"/", &value, behind.as_bytes()].concat();
        Self::get(&target, steering.as_bytes())
    }

    fn query(&mut self, path: &str, name: &str) -> Vec<u8> {
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
        if self.once_in(5) {
            let form = self.pair(name);
            return self.post(&target, &form);
        }
        Self::get(&target, steering.as_bytes())
    }

    fn post(&mut self, target: &[u8], form: &[u8]) -> Vec<u8> {
        let (kind, body) = if self.once_in(3) {
            ("multipart/form-data; boundary=cut".to_owned(), self.multipart("id"))
        } else {
            ("application/x-www-form-urlencoded".to_owned(), form.to_vec())
        };
        Self::sent(target, &format!("Content-Type: {kind}\r\n"), &body)
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
    fn name(&mut self, name: &str) -> Vec<u8> {
        let mut written = name.as_bytes().to_vec();
        for _ in 0..self.one(&[0, 0, 0, 1, 1, 1, 2]) {
            written = self.mutated(&written);
        }
        written
    }

    fn mutated(&mut self, name: &[u8]) -> Vec<u8> {
        const BEFORE: [&str; 12] = ["+", "%20", "%09", "%0a", "%00", "%EF%BB%BF", "%c2%a0", "[", ".", "_", "?", "%2B"];
        const BEHIND: [&str; 22] = [
            "[]", "[0]", "[x]", "[", "]", "%5B%5D", "%5b0%5D", "%00", "%00x", "%00[]", "+", "%20", ".", ".x", "%5B",
            "[][]", "[a][b]", "%255B%255D", "%C0%80", "#", "%0d%0a", "%26",
        ];
        match self.rng.u8(..9) {
            0 => [self.one(&BEFORE).as_bytes(), name].concat(),
            1 | 2 => [name, self.one(&BEHIND).as_bytes()].concat(),
            3 => {
                self.name_differs = true;
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

    fn account(&mut self) -> &'static str {
        self.one(&[
            "ann", "ann", "ann", "bob", "ann@shop.example", "Ann", " ann", "ann ", "\"ann\"", "", "ann,bob", "a=b",
            "%61nn", "ann%00", "a+b", "a%20b", "a%2Bb", "s%3Aann.x", "s%3aann.x", "17", "j\u{f6}rg",
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
                "\"sid\"", "a=b; sid", "sid%00", "=sid", "sids", "__Host-sid", "$Version=1; sid", "sid%5B%5D", "\u{a0}sid",
            ]);
            if name == "SID" {
                self.name_differs = true;
            }
            let joined = self.one(&["=", "=", "=", "=", " = ", "==", ""]);
            let value = self.account();
            fields.extend_from_slice(format!("{name}{joined}{value}").as_bytes());
        }
        fields.extend_from_slice(b"\r\n");
        Self::get(b"/basket", &fields)
    }

    fn body(&mut self) -> Vec<u8> {
        match self.rng.u8(..7) {
            0..=2 => self.form(),
            3 | 4 => self.json(),
            _ => {
                let body = self.multipart("email");
                let kind = self.one(&["form-data", "form-data", "form-data", "Form-Data", "mixed"]);
                let parameters = self.one(&[
                    "; boundary=cut", "; boundary=cut", "; boundary=\"cut\"", "; Boundary=cut", "; charset=utf-8; boundary=cut", "",
                    "; boundary=cut; boundary=other", "; boundary=cut\\", "; boundary=cut,x", "; boundary=\"cut,x\"", "; boundary=cut(x",
                    "; boundary= cut", "; boundary=x; aboundary=cut", "; aboundary=cut; boundary=x",
                ]);
                let kind = format!("multipart/{kind}{parameters}");
                Self::sent(b"/enter", &format!("Content-Type: {kind}\r\n"), &body)
            }
        }
    }

    fn form(&mut self) -> Vec<u8> {
        let mut form = Vec::new();
        if self.once_in(40) {
            form = "x=1&".repeat(MANY).into_bytes();
        }
        for at in 0..=self.one(&[0, 0, 0, 1, 1, 2]) {
            if at > 0 {
                form.extend_from_slice(self.one(&["&", "&", "&", ";", "&&", "\r\n", "&amp;"]).as_bytes());
            }
            let name = self.name("email");
            form.extend(name);
            form.push(b'=');
            let account = self.account();
            form.extend_from_slice(account.replace(' ', "+").as_bytes());
        }
        let kind = self.one(&[
            "application/x-www-form-urlencoded", "application/x-www-form-urlencoded", "application/x-www-form-urlencoded",
            "application/x-www-form-urlencoded; charset=utf-8", "application/x-www-form-urlencoded;charset=utf-16",
            "application/x-www-form-urlencoded; charset=iso-8859-1", "Application/X-WWW-Form-URLencoded",
            "application/x-www-form-urlencoded, text/plain",
            "application/x-www-form-urlencoded\r\nContent-Type: text/plain", "text/plain", "",
        ]);
        if kind.is_empty() {
            return Self::sent(b"/enter", "", &form);
        }
        Self::sent(b"/enter", &format!("Content-Type: {kind}\r\n"), &form)
    }

    fn json(&mut self) -> Vec<u8> {
        let account = self.account();
        let text = serde_json::Value::from(account).to_string();
        let value = match self.rng.u8(..14) {
            0..=6 => text,
            7 => "17".into(),
            8 => "17.0".into(),
            9 => "1e2".into(),
            10 => format!("[{text}]"),
            11 => format!("{{\"email\":{text}}}"),
            12 => "null".into(),
            _ => self
                .one(&["true", "'ann'", "\"\\ud800\"", "-0", "NaN", "\"a\\u006en\"", "\"ann\\u0000\"", "12345678901234567890"])
                .into(),
        };
        let name = self.one(&[
            "email", "email", "email", "email", "Email", "EMAIL", "\\u0065mail", "ema\\u0131l", "email ", " email",
            "email\\u0000", "e-mail", "emails", "\\u212Aemail",
        ]);
        let other = self.one(&[
            "", "", ",\"seat\":7", ",\"email\":\"bob\"", ",\"Email\":\"bob\"", ",\"x\":{\"email\":\"bob\"}", ",",
            ",\"\\u0065mail\":\"bob\"", ",\"email[]\":\"bob\"",
        ]);
        let is_other = |name: &str| name.eq_ignore_ascii_case("email") && name != "email";
        self.name_differs = is_other(name) || other.contains("\"Email\"");
        let object = format!("{{\"{name}\":{value}{other}}}");
        let body = match self.rng.u8(..12) {
            0 => format!("\u{feff}{object}"),
            1 => format!("{object} x"),
            2 => format!("[{object}]"),
            3 => format!("/*c*/{object}"),
            4 => format!("{object}{object}"),
            5 => format!("{} {object}", "\n\t "),
            _ => object,
        };
        let kind = self.one(&[
            "application/json", "application/json", "application/json", "application/json; charset=utf-8",
            "application/json;charset=utf-16", "application/vnd.api+json", "text/json", "Application/JSON",
            "application/json, text/plain", "application/jsonp", "text/plain; application/json",
        ]);
        Self::sent(b"/enter", &format!("Content-Type: {kind}\r\n"), body.as_bytes())
    }

    fn multipart(&mut self, name: &str) -> Vec<u8> {
        let mut body = self.one(&["", "", "", "preamble\r\n", "\r\n"]).to_owned();
        for _ in 0..=self.one(&[0, 0, 1]) {
            let value = if name == "email" {
                self.account()
            } else {
                self.one(&["5", "7"])
            };
            let line = self.one(&["\r\n", "\r\n", "\r\n", "\r\n", "\n"]);
            let named = match self.rng.u8(..13) {
                0..=4 => format!("form-data; name=\"{name}\""),
                5 => format!("form-data; name={name}"),
                6 => format!("form-data; name=\"{name}\"; filename=\"\""),
                7 => format!("form-data; name=\"{name}\"; filename=\"a.txt\""),
                8 => format!("form-data; name*=utf-8''{name}"),
                9 => format!("form-data; name=\"x\"; name=\"{name}\""),
                10 => format!("form-data; name=\"{name}[]\""),
                11 => format!("Form-Data; NAME=\"{name}\""),
                _ => format!("form-data; name=\" {name}\""),
            };
            let field = self.one(&["Content-Disposition", "Content-Disposition", "content-disposition", "Content-disposition "]);
            let more = self.one(&["", "", "", "Content-Type: text/plain; charset=utf-16\r\n", "Content-Transfer-Encoding: base64\r\n"]);
            body += &["--cut", line, field, ": ", &named, line, more, line, value, line].concat();
        }
        body.push_str(self.one(&["--cut--\r\n", "--cut--\r\n", "--cut--", "--cut-", ""]));
        body.into_bytes()
    }

    fn get(target: &[u8], fields: &[u8]) -> Vec<u8> {
        Self::head("GET", target, fields, "")
    }

    fn sent(target: &[u8], fields: &str, body: &[u8]) -> Vec<u8> {
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

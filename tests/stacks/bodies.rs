//! Bodies of requests: forms, JSON and multipart forms, with their types.

use super::generate::{Maker, typed};

/// Parameters beyond which some stacks read no more.
pub const MANY: usize = 1_100;

// Lists of spellings stay together, several a line.
#[rustfmt::skip]
impl Maker<'_> {
    pub fn body(&mut self) -> Vec<u8> {
        match self.rng.u8(..7) {
            0..=2 => self.form(),
            3 | 4 => self.json(),
            _ => {
                let body = self.multipart("email");
                let kind = self.multipart_type();
                self.may_be_missed |= kind.starts_with("multipart/F");
                Self::sent(b"/enter", &typed(&kind), &body)
            }
        }
    }

    /// Right or wrong, for a body in parts; a third of them right.
    pub fn multipart_type(&mut self) -> String {
        if self.once_in(3) {
            return "multipart/form-data; boundary=cut".to_owned();
        }
        let kind = self.one(&[
            "multipart/form-data", "multipart/form-data", "multipart/form-data", "multipart/Form-Data", "multipart/mixed",
            "multipart/related", "text/plain; multipart/form-data", "text/plain;multipart/form-data", "x-multipart/form-data",
            "multipart/form-data-x",
        ]);
        let parameters = self.one(&[
            "; boundary=cut", "; boundary=cut", "; boundary=\"cut\"", "; Boundary=cut", "; charset=utf-8; boundary=cut", "",
            "; boundary=cut; boundary=other", "; boundary=cut\\", "; boundary=cut,x", "; boundary=\"cut,x\"", "; boundary=cut(x",
            "; boundary= cut", "; boundary=x; aboundary=cut", "; aboundary=cut; boundary=x",
        ]);
        format!("{kind}{parameters}")
    }

    /// Right or wrong, for a form; a third of them right. Some stacks take any body for a form.
    pub fn form_type(&mut self) -> &'static str {
        if self.once_in(3) {
            return "application/x-www-form-urlencoded";
        }
        self.one(&[
            "application/x-www-form-urlencoded; charset=utf-8", "application/x-www-form-urlencoded;charset=utf-16",
            "application/x-www-form-urlencoded; charset=iso-8859-1", "Application/X-WWW-Form-URLencoded",
            "application/x-www-form-urlencoded, text/plain", "application/x-www-form-urlencoded\r\nContent-Type: text/plain",
            "application/x-url-encoded", "text/plain; application/x-www-form-urlencoded", "x-application/x-www-form-urlencoded",
            "application/x-www-form-urlencoded-x", "text/plain", "application/json", "application/octet-stream", "image/png", "",
        ])
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
        let kind = self.form_type();
        self.may_be_missed |= kind.starts_with('A');
        Self::sent(b"/enter", &typed(kind), &form)
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
        self.may_be_missed = is_other(name) || other.contains("\"Email\"");
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
            "application/json, text/plain", "application/jsonp", "text/plain; application/json", "text/plain", "",
        ]);
        self.may_be_missed |= kind.starts_with('A');
        Self::sent(b"/enter", &typed(kind), body.as_bytes())
    }

    pub fn multipart(&mut self, name: &str) -> Vec<u8> {
        if self.once_in(6) {
            return self.nested(name);
        }
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
            self.may_be_missed |= named.starts_with('F') || named.contains("name=e");
            let field = self.one(&["Content-Disposition", "Content-Disposition", "content-disposition", "Content-disposition "]);
            let more = self.one(&["", "", "", "Content-Type: text/plain; charset=utf-16\r\n", "Content-Transfer-Encoding: base64\r\n"]);
            body += &["--cut", line, field, ": ", &named, line, more, line, value, line].concat();
        }
        body.push_str(self.one(&["--cut--\r\n", "--cut--\r\n", "--cut--", "--cut-", ""]));
        body.into_bytes()
    }

    /// Parts within a part, as RFC 2388 had several files of one field; sometimes beside a part of that name.
    fn nested(&mut self, name: &str) -> Vec<u8> {
        let part = |name: &str, value: &str| format!("Content-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        let beside = format!("--cut\r\n{}", part(name, "5"));
        let head = self.one(&["Content-Disposition: form-data; name=\"x\"\r\n", "Content-Disposition: form-data; name=\"x\"\r\n", ""]);
        let kind = self.one(&["multipart/mixed", "multipart/mixed", "multipart/form-data"]);
        let inner = self.one(&["in", "in", "cut-in", "\"in\""]);
        let cut = inner.trim_matches('"');
        let within = format!(
            "--cut\r\n{head}Content-Type: {kind}; boundary={inner}\r\n\r\n--{cut}\r\n{}--{cut}--\r\n",
            part(name, "7")
        );
        let parts = self.one(&[[&within, ""], [&beside, &within], [&within, &beside]]);
        format!("{}--cut--\r\n", parts.concat()).into_bytes()
    }
}

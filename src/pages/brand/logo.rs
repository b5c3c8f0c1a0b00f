//! The logo, as a `data:` URI in the page: no request, no address that must stay outside the room.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::unfit::Unfit;
use super::{bitmap, svg};

/// Most bytes of a logo's file. It goes with every whole page to everybody in line, so it may be as large as the rest of it.
pub const MAX_LOGO: usize = 16 * 1024;

/// A logo up to this size comes with the page in one round trip: ten packets, less the compressed page and its head.
pub const LIGHT_LOGO: usize = 6 * 1024;

const KINDS: &str = "a PNG, JPEG, WebP or SVG file";

/// A picture that a browser shows and that does nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logo {
    uri: String,
    bytes: usize,
}

impl Logo {
    /// The content of a file; its name says nothing.
    ///
    /// # Errors
    /// When it is too large, none of the kinds, animated, or an SVG that does more than to show itself.
    pub fn new(file: &[u8]) -> Result<Self, Unfit> {
        if file.len() > MAX_LOGO {
            let wrong = format!("the logo has more than {MAX_LOGO} bytes, and it goes with every page");
            return Err(Unfit::new(wrong, format!("{KINDS} of at most {MAX_LOGO} bytes")));
        }
        if bitmap::is_animated(file) {
            return Err(Unfit::new("the logo is animated", "a picture that does not move"));
        }
        let uri = match bitmap::kind(file) {
            Some(kind) => format!("data:image/{kind};base64,{}", STANDARD.encode(file)),
            None => svg_uri(svg::checked(file)?),
        };
        Ok(Self { uri, bytes: file.len() })
    }

    /// The picture as an address that needs no escaping in a quoted attribute.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The size of the file.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// As text, which is compressed with the page, unlike base64. The charset stands over one that the file declares.
fn svg_uri(text: &str) -> String {
    let mut uri = "data:image/svg+xml;charset=utf-8,".to_owned();
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"'<>&%#`\\{}".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a text does not fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One transparent pixel.
    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

    #[test]
    fn the_content_says_what_a_logo_is() {
        let uri = |file: &[u8]| Logo::new(file).unwrap().uri().to_owned();
        let png = STANDARD.decode(PNG).unwrap();
        assert_eq!(uri(&png), format!("data:image/png;base64,{PNG}"));
        assert_eq!(Logo::new(&png).unwrap().bytes(), png.len());
        assert!(uri(b"\xff\xd8\xff\xe0").starts_with("data:image/jpeg;base64,"));
        assert!(uri(b"RIFF\x04\0\0\0WEBPVP8L").starts_with("data:image/webp;base64,"));
        let svg = uri("<svg xmlns=\"http://www.w3.org/2000/svg\"><title>é 'x'</title></svg>".as_bytes());
        assert_eq!(
            svg,
            "data:image/svg+xml;charset=utf-8,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22%3E%3Ctitle%3E%C3%A9%20%27x%27%3C/title%3E%3C/svg%3E"
        );
        for other in [
            &b""[..],
            b"GIF89a",
            b"<html></html>",
            b"hello",
            b"\x89PNG\n",
            b"\0\0\0\x20ftypavif",
        ] {
            assert!(Logo::new(other).is_err(), "{other:?}");
        }
    }

    #[test]
    fn a_picture_that_moves_is_refused() {
        for animated in [&bitmap::samples::APNG[..], &bitmap::samples::ANIMATED_WEBP] {
            let refused = Logo::new(animated).unwrap_err();
            assert_eq!(refused.wrong, "the logo is animated");
            assert_eq!(refused.right, "a picture that does not move");
        }
    }

    /// A height and a bound of the width would otherwise squash a wide picture.
    #[test]
    fn the_styles_keep_a_logos_proportions() {
        for style in [
            include_str!("../../../static/brand.css"),
            include_str!("../../../examples/page/concert.html"),
            include_str!("../../../examples/page/shop.html"),
        ] {
            let mut rules = style
                .lines()
                .filter(|line| line.contains("img{") && line.contains("max-width"));
            let rule = rules.next().expect("a rule for the logo");
            assert!(rule.contains("object-fit:contain"), "{rule}");
        }
    }

    #[test]
    fn a_large_logo_is_refused_with_the_bound() {
        let mut png = STANDARD.decode(PNG).unwrap();
        png.resize(MAX_LOGO, 0);
        assert!(Logo::new(&png).is_ok());
        png.resize(10 << 20, 0);
        assert_eq!(
            Logo::new(&png).unwrap_err().right,
            "a PNG, JPEG, WebP or SVG file of at most 16384 bytes"
        );
    }
}

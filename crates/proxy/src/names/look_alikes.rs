//! Bytes of a path that some server takes for ASCII ones with a meaning: dots, slashes, ends.

/// Over-long UTF-8, full-width forms (U+FF01 on), long s and kelvin sign as the ASCII that best fit or case makes of them; and
/// the other dots, slashes and ends that folding (Unicode, annex 15) or best fit to Windows' code pages makes.
#[must_use]
pub fn fold(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(&first) = rest.first() {
        let (byte, taken) = match *rest {
            [lead @ 0xC0..=0xC1, tail @ 0x80..=0xBF, ..] => ((lead & 1) << 6 | tail & 0x3F, 2),
            [0xE0, mid @ 0x80..=0x81, tail @ 0x80..=0xBF, ..] => ((mid & 1) << 6 | tail & 0x3F, 3),
            [0xF0, 0x80, mid @ 0x80..=0x81, tail @ 0x80..=0xBF, ..] => ((mid & 1) << 6 | tail & 0x3F, 4),
            [0xF8, 0x80, 0x80, mid @ 0x80..=0x81, tail @ 0x80..=0xBF, ..] => ((mid & 1) << 6 | tail & 0x3F, 5),
            [0xFC, 0x80, 0x80, 0x80, mid @ 0x80..=0x81, tail @ 0x80..=0xBF, ..] => ((mid & 1) << 6 | tail & 0x3F, 6),
            [0xC5, 0xBF, ..] => (b's', 2),
            [0xE2, 0x84, 0xAA, ..] => (b'k', 3),
            [0xEF, 0xBC, tail @ 0x81..=0xBF, ..] => (tail - 0x81 + b'!', 3),
            [0xEF, 0xBD, tail @ 0x80..=0x9E, ..] => (tail - 0x80 + b'`', 3),
            _ => match sign(rest) {
                Some((signs, taken)) => {
                    out.extend_from_slice(signs);
                    rest = &rest[taken..];
                    continue;
                }
                None => (first, 1),
            },
        };
        if byte.is_ascii_control() {
            out.push(first);
            rest = &rest[1..];
            continue;
        }
        out.push(byte);
        rest = &rest[taken..];
    }
    out
}

/// The text without its bytes that are not UTF-8, as Bottle and old decoders read it: `seat%ff` is `seat` to them.
#[must_use]
pub fn valid(text: &[u8]) -> Vec<u8> {
    text.utf8_chunks().flat_map(|chunk| chunk.valid().bytes()).collect()
}

/// A sign beyond ASCII at the beginning that separates or ends paths once folded: its folded form, and its length.
fn sign(bytes: &[u8]) -> Option<(&'static [u8], usize)> {
    Some(match bytes {
        [0xE2, 0x80, 0xA4, ..] | [0xEF, 0xB9, 0x92, ..] => (b".", 3),
        [0xE2, 0x80, 0xA5, ..] => (b"..", 3),
        // Fraction slash, division slash.
        [0xE2, 0x81, 0x84, ..] | [0xE2, 0x88, 0x95, ..] => (b"/", 3),
        // Set minus, won sign, small backslash; and the yen sign.
        [0xE2, 0x88, 0x96, ..] | [0xE2, 0x82, 0xA9, ..] | [0xEF, 0xB9, 0xA8, ..] => (b"\\", 3),
        [0xC2, 0xA5, ..] => (b"\\", 2),
        // The small semicolon, and the Greek question mark.
        [0xEF, 0xB9, 0x94, ..] => (b";", 3),
        [0xCD, 0xBE, ..] => (b";", 2),
        [0xEF, 0xB9, 0x96, ..] => (b"?", 3),
        [0xEF, 0xB9, 0x9F, ..] => (b"#", 3),
        _ => return None,
    })
}

//! Frames and field blocks as bytes, sound or not (RFC 9113 and RFC 7541).

/// Kinds of frames (RFC 9113, section 6).
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

/// Flags.
pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const WITH_PRIORITY: u8 = 0x20;
/// The whole of a request without a body.
pub const WHOLE: u8 = END_STREAM | END_HEADERS;

/// Error codes (RFC 9113, section 7).
pub const NO_ERROR: u32 = 0;
pub const PROTOCOL: u32 = 1;
pub const FLOW_CONTROL: u32 = 3;
pub const STREAM_CLOSED: u32 = 5;
pub const FRAME_SIZE: u32 = 6;
pub const REFUSED: u32 = 7;
pub const CANCEL: u32 = 8;
pub const COMPRESSION: u32 = 9;

/// Settings (RFC 9113, section 6.5.2).
pub const TABLE: u16 = 1;
pub const PUSH: u16 = 2;
pub const STREAMS: u16 = 3;
pub const WINDOW: u16 = 4;
pub const FRAME: u16 = 5;

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// More than a window may be (RFC 9113, section 6.9.1), and an increment of a window.
pub const TOP: u32 = 0x7fff_ffff;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

pub fn headers(flags: u8, stream: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, flags, stream, block)
}

pub fn data(flags: u8, stream: u32, text: &[u8]) -> Vec<u8> {
    frame(DATA, flags, stream, text)
}

pub fn continuation(flags: u8, stream: u32, block: &[u8]) -> Vec<u8> {
    frame(CONTINUATION, flags, stream, block)
}

pub fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

pub fn update(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

pub fn settings(values: &[(u16, u32)]) -> Vec<u8> {
    let value = |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()[..]].concat();
    frame(SETTINGS, 0, 0, &values.iter().flat_map(value).collect::<Vec<u8>>())
}

pub fn ping(text: [u8; 8]) -> Vec<u8> {
    frame(PING, 0, 0, &text)
}

pub fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// `dependency` and a weight.
pub fn priority(stream: u32, dependency: u32, weight: u8) -> Vec<u8> {
    frame(PRIORITY, 0, stream, &priority_fields(dependency, weight))
}

pub fn priority_fields(dependency: u32, weight: u8) -> Vec<u8> {
    [&dependency.to_be_bytes()[..], &[weight]].concat()
}

/// An integer whose first byte has so many bits for it (RFC 7541, section 5.1).
pub fn integer(first: u8, bits: u32, value: usize) -> Vec<u8> {
    let most = (1_usize << bits) - 1;
    if value < most {
        return vec![first | u8::try_from(value).unwrap_or(u8::MAX)];
    }
    let mut bytes = vec![first | u8::try_from(most).unwrap_or(u8::MAX)];
    let mut rest = value - most;
    while rest >= 128 {
        bytes.push(u8::try_from(rest % 128).unwrap_or_default() | 128);
        rest /= 128;
    }
    bytes.push(u8::try_from(rest).unwrap_or_default());
    bytes
}

/// A string as it is, without Huffman's code.
pub fn string(text: impl AsRef<[u8]>) -> Vec<u8> {
    [&integer(0, 7, text.as_ref().len()), text.as_ref()].concat()
}

/// A string said to be in Huffman's code.
pub fn coded(bytes: &[u8]) -> Vec<u8> {
    [&integer(0x80, 7, bytes.len()), bytes].concat()
}

/// A field that is not indexed, name and all (RFC 7541, section 6.2.2).
pub fn field(name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Vec<u8> {
    [vec![0], string(name), string(value)].concat()
}

/// A field that enters the table (section 6.2.1).
pub fn indexed(name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Vec<u8> {
    [vec![0x40], string(name), string(value)].concat()
}

pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    fields.iter().flat_map(|(name, value)| field(name, value)).collect()
}

/// A request's head with these fields behind the pseudo-fields.
pub fn head(method: &str, path: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let pseudo = [
        (":method", method),
        (":scheme", "http"),
        (":path", path),
        (":authority", "shop.test"),
    ];
    block(&[&pseudo, fields].concat())
}

/// A GET on a stream.
pub fn get(stream: u32, path: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    headers(WHOLE, stream, &head("GET", path, fields))
}

/// A POST on stream 1 with this body.
pub fn post(fields: &[(&str, &str)], body: &str) -> Vec<u8> {
    let head = headers(END_HEADERS, 1, &head("POST", "/", fields));
    [head, data(END_STREAM, 1, body.as_bytes())].concat()
}

/// The status of a field block: by its index or in digits, the only things that a server without a table writes.
pub fn status(block: &[u8]) -> Option<u16> {
    const KNOWN: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];
    // Changes of the table's size come first (RFC 7541, section 6.3).
    let mut block = block;
    while let Some((0x20..0x40, rest)) = block.split_first() {
        let is_long = block[0] == 0x3f;
        let end = rest.iter().position(|byte| !is_long || byte & 0x80 == 0)?;
        block = &rest[if is_long { end + 1 } else { 0 }..];
    }
    if let index @ 0x88..=0x8e = *block.first()? {
        return KNOWN.get(usize::from(index - 0x88)).copied();
    }
    let (length, text) = block.get(1..)?.split_first()?;
    let digits = text.get(..usize::from(length & 0x7f))?;
    let digits = if length & 0x80 == 0 {
        digits.to_vec()
    } else {
        huffman_digits(digits)
    };
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

/// Digits from Huffman's code (RFC 7541, appendix B): 0 to 2 have five bits, the others six.
fn huffman_digits(bytes: &[u8]) -> Vec<u8> {
    let bits: Vec<u8> = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1))
        .collect();
    let number = |bits: &[u8]| bits.iter().fold(0, |number, bit| number << 1 | bit);
    let (mut digits, mut at) = (Vec::new(), 0);
    while let Some(five) = bits.get(at..at + 5) {
        let short = number(five);
        let (digit, length) = match bits.get(at..at + 6).map(number) {
            _ if short < 3 => (b'0' + short, 5),
            Some(long @ 0b01_1001..=0b01_1111) => (b'3' + (long - 0b01_1001), 6),
            _ => break,
        };
        digits.push(digit);
        at += length;
    }
    digits
}

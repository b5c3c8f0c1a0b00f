//! The head of an HTTP/2 frame (RFC 9113, sections 4.1 and 6), for the checks that see frames pass.

/// The client's bytes before its first frame (section 3.4 there).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Its length in bytes.
pub(crate) const HEAD: usize = 9;
/// Where in it the kind and the stream stand.
pub(crate) const KIND: usize = 3;
pub(crate) const STREAM: usize = 5;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

/// Flags.
pub(crate) const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;
pub(crate) const PRIORITY: u8 = 0x20;

/// Bytes of its payload.
pub(crate) fn payload([high, middle, low, ..]: &[u8; HEAD]) -> usize {
    usize::from(*high) << 16 | usize::from(*middle) << 8 | usize::from(*low)
}

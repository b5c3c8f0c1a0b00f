//! The head of an HTTP/2 frame (RFC 9113, sections 4.1 and 6), for those who look at frames on their way.

/// What a client says before its first frame (section 3.4 there).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Its length in bytes.
pub(super) const HEAD: usize = 9;
/// Where in it the kind and the stream stand.
pub(super) const KIND: usize = 3;
pub(super) const STREAM: usize = 5;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

/// Flags.
pub(super) const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
pub(super) const PADDED: u8 = 8;
pub(super) const PRIORITY: u8 = 0x20;

/// Bytes of its payload.
pub(super) fn payload([high, middle, low, ..]: &[u8; HEAD]) -> usize {
    usize::from(*high) << 16 | usize::from(*middle) << 8 | usize::from(*low)
}

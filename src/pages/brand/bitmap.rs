//! What a bitmap's bytes say of it: its format, and whether it moves.
//!
//! Only chunks are read, not pixels: Portable Network Graphics, third edition, section 5.3, and RFC 9649, section 2.

/// The subtype of a bitmap by its first bytes.
pub(super) fn kind(file: &[u8]) -> Option<&'static str> {
    match file {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("png"),
        [0xff, 0xd8, 0xff, ..] => Some("jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("webp"),
        _ => None,
    }
}

/// A PNG with a chunk of animation control, or a WebP with the flag or a chunk of an animation.
pub(super) fn is_animated(file: &[u8]) -> bool {
    match kind(file) {
        Some("png") => any_chunk(&file[8..], png_chunk, |name, _| name == b"acTL"),
        Some("webp") => any_chunk(&file[12..], webp_chunk, |name, data| {
            const ANIMATION: u8 = 0b10;
            let flagged = name == b"VP8X" && data.first().is_some_and(|flags| flags & ANIMATION != 0);
            flagged || name == b"ANIM" || name == b"ANMF"
        }),
        _ => false,
    }
}

/// The name and the data of a chunk, and what follows it.
type Chunk<'f> = (&'f [u8; 4], &'f [u8], &'f [u8]);

/// Whether some chunk is as asked. The data of one that is cut off ends with the file.
fn any_chunk(mut rest: &[u8], next: fn(&[u8]) -> Option<Chunk<'_>>, is: fn(&[u8; 4], &[u8]) -> bool) -> bool {
    while let Some((name, data, after)) = next(rest) {
        if is(name, data) {
            return true;
        }
        rest = after;
    }
    false
}

/// Length, name, data, checksum.
fn png_chunk(rest: &[u8]) -> Option<Chunk<'_>> {
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (name, rest) = rest.split_first_chunk::<4>()?;
    let (data, rest) = cut(rest, u32::from_be_bytes(*length));
    Some((name, data, cut(rest, 4).1))
}

/// Name, length, data, and a byte that makes the length even.
fn webp_chunk(rest: &[u8]) -> Option<Chunk<'_>> {
    let (name, rest) = rest.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length);
    let (data, rest) = cut(rest, length);
    Some((name, data, cut(rest, length % 2).1))
}

fn cut(bytes: &[u8], length: u32) -> (&[u8], &[u8]) {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    bytes.split_at(length.min(bytes.len()))
}

#[cfg(test)]
pub(super) mod samples {
    /// Head, animation control (two frames, for ever) and the beginning of the data.
    pub const APNG: [u8; 61] = *b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
           \0\0\0\x08acTL\0\0\0\x02\0\0\0\0\xf3\x8d\x93\x70\0\0\0\0IDAT";

    pub const ANIMATED_WEBP: [u8; 44] =
        *b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\0\0\0\0\0\0ANIM\x06\0\0\0\0\0\0\0\0\0";
}

#[cfg(test)]
mod tests {
    use super::samples::{ANIMATED_WEBP, APNG};
    use super::*;

    #[test]
    fn an_animation_is_told_by_its_chunks() {
        assert!(is_animated(&APNG) && is_animated(&ANIMATED_WEBP));
        let mut still = APNG;
        still[37..41].copy_from_slice(b"tEXt");
        assert!(!is_animated(&still));
        // The flag alone, and the chunk alone behind one of odd length.
        assert!(is_animated(&ANIMATED_WEBP[..30]));
        assert!(is_animated(b"RIFF\0\0\0\0WEBPEXIF\x01\0\0\0x\0ANIM\0\0\0\0"));
        let mut still = ANIMATED_WEBP;
        (still[20], still[30]) = (0b1_0000, b'X');
        assert!(!is_animated(&still));
    }

    #[test]
    fn the_word_in_the_data_of_a_chunk_is_no_animation() {
        assert!(!is_animated(
            b"\x89PNG\r\n\x1a\n\0\0\0\x0ctEXt\0\0\0\x04acTLxxxx\0\0\0\0"
        ));
        assert!(!is_animated(b"RIFF\0\0\0\0WEBPVP8L\x08\0\0\0ANIM\0\0\0\0"));
        assert!(!is_animated(b"\xff\xd8\xff\xe0\0\0\0\x08acTL"));
    }

    #[test]
    fn no_length_leads_past_the_end() {
        for file in [
            &b"\x89PNG\r\n\x1a\n\xff\xff\xff\xffIDATacTL"[..],
            b"RIFF\0\0\0\0WEBPVP8 \xff\xff\xff\xffANIM",
            b"RIFF\0\0\0\0WEBPVP8",
            b"\x89PNG\r\n\x1a\n\0\0",
        ] {
            assert!(!is_animated(file), "{file:?}");
        }
    }
}

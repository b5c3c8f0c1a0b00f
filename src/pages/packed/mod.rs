//! Pages as `br` and `gzip`.
//!
//! A page of the line begins with a text that is the same for many visitors and ends with the facts of one. The text is
//! compressed once, at the best level, up to a flush. The facts follow in blocks of the same stream that are stored and not
//! compressed: an uncompressed meta-block (RFC 7932, section 9.2), or stored blocks (RFC 1951, section 3.2.4). A gzip member
//! of their own would not do: browsers stop behind the first.
//!
//! SECURITY: the length of an answer must not tell a secret to somebody who chooses another part of it (BREACH: Y. Gluck,
//! N. Harris, A. Prado, "BREACH: Reviving the CRIME Attack", 2013).
//!  - In a page of a line the facts are stored: they change no length but by their own. Until its beginning is compressed it is
//!    as any other page.
//!  - Any other page is compressed whole, if it has no secret ([`may_be_packed`]). Tickets and passes are in cookies only, and a
//!    reference is no proof of anything.

use std::cell::RefCell;
use std::io::Write;
use std::num::NonZeroU64;

use brotli::CompressorWriter;
use brotli::enc::BrotliEncoderParams;
use brotli::enc::backward_references::BrotliEncoderMode;
use bytes::Bytes;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use zopfli::{BlockType, DeflateEncoder, Options};

pub use coding::{Coding, Codings};

use super::kind::PageKind;

/// Whether a page of this kind may be compressed whole: it has no secret. A proof's page has its challenge, and the page about
/// a code has the code. Both have the address that was asked for, which a stranger may have chosen.
pub fn may_be_packed(kind: PageKind) -> bool {
    !matches!(kind, PageKind::Proof | PageKind::CodeUse)
}

/// The text that many pages begin with, compressed, without the end of the stream.
#[derive(Debug)]
pub struct Packed {
    brotli: Vec<u8>,
    gzip: Vec<u8>,
    /// Of the text, for gzip's checksum.
    sum: crc32fast::Hasher,
    len: usize,
}

impl Packed {
    /// Takes some 60 ms; `None` if a library fails.
    pub fn new(text: &str) -> Option<Self> {
        let mut sum = crc32fast::Hasher::new();
        sum.update(text.as_bytes());
        Some(Self {
            brotli: brotli_of(text)?,
            gzip: gzip_of(text)?,
            sum,
            len: text.len(),
        })
    }

    /// The page that ends with these facts, of which there are some.
    pub fn page(&self, coding: Coding, facts: &str) -> Option<Bytes> {
        let begin = match coding {
            Coding::Brotli => &self.brotli,
            Coding::Gzip => &self.gzip,
            Coding::Identity => return None,
        };
        let blocks = facts.as_bytes().chunks(LARGEST_BLOCK);
        let mut page = Vec::with_capacity(begin.len() + facts.len() + blocks.len() * BLOCK_HEAD + GZIP_END);
        page.extend_from_slice(begin);
        if coding == Coding::Brotli {
            blocks.for_each(|block| put_brotli(block, &mut page));
            page.push(BROTLI_END);
        } else {
            let last = blocks.len();
            blocks
                .zip(1..)
                .for_each(|(block, at)| put_deflate(block, at == last, &mut page));
            let mut sum = self.sum.clone();
            sum.update(facts.as_bytes());
            put_gzip_end(sum.finalize(), self.len + facts.len(), &mut page);
        }
        Some(Bytes::from(page))
    }
}

/// The most bytes that a stored block holds: a length in 16 bits.
const LARGEST_BLOCK: usize = 65_535;
/// The most bytes before them.
const BLOCK_HEAD: usize = 5;

/// An empty last meta-block.
const BROTLI_END: u8 = 0b11;

/// Not last, a length less one in four nibbles, uncompressed, and zeros up to the next byte.
fn put_brotli(block: &[u8], page: &mut Vec<u8>) {
    let head = (u32::try_from(block.len()).unwrap_or(0) - 1) << 3 | 1 << 19;
    page.extend_from_slice(&head.to_le_bytes()[..3]);
    page.extend_from_slice(block);
}

/// Whether it is the last, stored, zeros up to the next byte, the length and its complement.
fn put_deflate(block: &[u8], last: bool, page: &mut Vec<u8>) {
    let len = u16::try_from(block.len()).unwrap_or(0);
    page.push(last.into());
    page.extend_from_slice(&len.to_le_bytes());
    page.extend_from_slice(&(!len).to_le_bytes());
    page.extend_from_slice(block);
}

/// One member, deflated, without a name, a time and a system (RFC 1952, section 2.3).
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
const GZIP_END: usize = 8;

fn put_gzip_end(sum: u32, len: usize, page: &mut Vec<u8>) {
    page.extend_from_slice(&sum.to_le_bytes());
    page.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
}

/// A window of 64 KB: what is farther back than a page is long helps nobody.
const WINDOW_BITS: i32 = 16;

/// The smaller one of two. They differ in how distances are written; which one suits a page is left to trial.
fn brotli_of(text: &str) -> Option<Vec<u8>> {
    let modes = [
        BrotliEncoderMode::BROTLI_MODE_FONT,
        BrotliEncoderMode::BROTLI_MODE_GENERIC,
    ];
    let tried = modes.into_iter().filter_map(|mode| brotli_in(mode, text));
    tried.min_by_key(Vec::len)
}

fn brotli_in(mode: BrotliEncoderMode, text: &str) -> Option<Vec<u8>> {
    let params = BrotliEncoderParams {
        quality: 11,
        lgwin: WINDOW_BITS,
        mode,
        size_hint: text.len(),
        ..BrotliEncoderParams::default()
    };
    let mut writer = CompressorWriter::with_params(Vec::with_capacity(text.len() / 2), 4_096, &params);
    writer.write_all(text.as_bytes()).ok()?;
    writer.flush().ok()?;
    // The end of the stream, which is written when the writer is dropped, is left out.
    Some(writer.get_ref().clone())
}

fn gzip_of(text: &str) -> Option<Vec<u8>> {
    let mut gzip = Vec::with_capacity(text.len() / 2);
    gzip.extend_from_slice(&GZIP_HEAD);
    let mut deflate = DeflateEncoder::new(THOROUGHLY, BlockType::Dynamic, gzip);
    deflate.write_all(text.as_bytes()).ok()?;
    // A last block of nothing, so that what the text takes ends with a block of its own; `write_all` would not write it.
    let nothing = deflate.write(&[]).ok()?;
    flushed(deflate.finish().ok()?, text).filter(|_| nothing == 0)
}

/// Some 3 to 5 % smaller than zlib's best level; more tries than this take their time and save no more than two bytes.
const THOROUGHLY: Options = Options {
    iteration_count: NonZeroU64::new(3).expect("not 0"),
    iterations_without_improvement: NonZeroU64::MAX,
    maximum_block_splits: 15,
};

/// The stream with an empty stored block in place of its empty last one, so that it goes on at a whole byte.
///
/// The last block is a fixed one: the bits 1, 1, 0, the end of the block as seven zeros, and zeros up to the next byte (RFC 1951,
/// section 3.2.6). So its first two bits are the stream's last that are set, and without them it begins a stored block that is not
/// the last, whose length stands at the next byte (section 3.2.4).
fn flushed(mut gzip: Vec<u8>, text: &str) -> Option<Vec<u8>> {
    while gzip.last() == Some(&0) {
        gzip.pop();
    }
    let second = 7 - gzip.last()?.leading_zeros();
    let (last, first) = (gzip.len() - 1, second.checked_sub(1));
    gzip[last] &= !(1 << second);
    match first {
        Some(first) => gzip[last] &= !(1 << first),
        None => gzip[last - 1] &= 0x7f,
    }
    // The third bit of the three is in the next byte.
    if second == 7 {
        gzip.push(0);
    }
    gzip.extend_from_slice(&EMPTY);
    let mut read = Vec::with_capacity(text.len() + SPARE);
    let mut inflate = Decompress::new(false);
    inflate
        .decompress_vec(&gzip[GZIP_HEAD.len()..], &mut read, FlushDecompress::Sync)
        .ok()?;
    let whole = inflate.total_in() == (gzip.len() - GZIP_HEAD.len()) as u64;
    (whole && read == text.as_bytes()).then_some(gzip)
}

/// The length of an empty stored block, and its complement.
const EMPTY: [u8; 4] = [0, 0, 0xff, 0xff];

/// A page as one gzip member, at a middling level; `None` where it would be no smaller.
pub fn quick(page: &[u8]) -> Option<Bytes> {
    thread_local! {
        // PERF: some 300 KB, which would else be cleared for each page.
        static DEFLATE: RefCell<Compress> = RefCell::new(Compress::new(Compression::default(), false));
    }
    let most = page.len().checked_sub(FIELD)?;
    let mut gzip = Vec::with_capacity(most);
    gzip.extend_from_slice(&GZIP_HEAD);
    let status = DEFLATE.with_borrow_mut(|deflate| {
        deflate.reset();
        deflate.compress_vec(page, &mut gzip, FlushCompress::Finish)
    });
    if status.ok()? != Status::StreamEnd || gzip.len() + GZIP_END > most {
        return None;
    }
    put_gzip_end(crc32fast::hash(page), page.len(), &mut gzip);
    Some(Bytes::from(gzip))
}

/// The field that says so, `content-encoding: gzip`.
const FIELD: usize = 24;

/// Room for a text that grows.
const SPARE: usize = 256;

mod coding;
#[cfg(test)]
pub mod tests;
pub mod worker;

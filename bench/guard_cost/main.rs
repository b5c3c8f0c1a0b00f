//! The cost of the framing guard: a browser's request of some 700 bytes, and a body of 1 MB in chunks, many times each.
//!
//! `guard_cost head|body TIMES`: counts nothing by itself; run it under `perf stat` or
//! `valgrind --tool=callgrind --toggle-collect='*Machine::take*'` (docs/explanation/performance.md).

use std::process::ExitCode;

use ropeline::proxy::fuzzing::guard_passes;

/// A browser's request, cookies included.
const HEAD: &str = "GET /events/2026/summer-night/seats?area=B&row=12 HTTP/1.1\r\nHost: shop.example.com\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36\r\n\
    Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n\
    Accept-Language: en-GB,en;q=0.9\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n\
    Referer: https://shop.example.com/events/2026/summer-night\r\n\
    Cookie: sessionid=8f14e45fceea167a5a36dedd4bea2543; csrftoken=c9f0f895fb98ab9159f51fd0297e236d; lang=en\r\n\
    Upgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Site: same-origin\r\n\r\n";

/// Bytes of a chunk, as libraries send them, and of what a socket gives at a time.
const CHUNK: usize = 16 * 1024;
const READ: usize = 8 * 1024;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let times = words.get(1).and_then(|times| times.parse().ok()).unwrap_or(1);
    let message = match words.first().map(String::as_str) {
        Some("head") => HEAD.as_bytes().to_vec(),
        Some("body") => body(),
        _ => {
            eprintln!("guard_cost head|body TIMES");
            return ExitCode::FAILURE;
        }
    };
    println!("{} bytes, {times} times", message.len());
    let pieces: Vec<&[u8]> = message.chunks(READ).collect();
    assert!(guard_passes(&pieces, times), "all of it passes");
    ExitCode::SUCCESS
}

/// 1 MB in chunks, with its head.
fn body() -> Vec<u8> {
    let mut bytes = b"POST /upload HTTP/1.1\r\nHost: shop.example.com\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..1_000_000 / CHUNK {
        bytes.extend_from_slice(format!("{CHUNK:x}\r\n").as_bytes());
        bytes.resize(bytes.len() + CHUNK, b'x');
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

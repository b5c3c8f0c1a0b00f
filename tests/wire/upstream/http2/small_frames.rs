//! Small frames: how many wait for visitors who read slowly, and how visitors' small chunks are joined.

use std::collections::BTreeMap;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use ropeline::proxy::ConnectionBound;

use super::frames::{
    ACK, DATA, END_HEADERS, END_STREAM, Framed, HEADERS, Line, OK, PING, REFUSED_STREAM, WINDOW_UPDATE,
};
use super::{GET, gate, gate_with, until_idle};
use crate::client::Client;
use crate::gate::Gate;
use crate::http2::raw::{self, Raw};
use crate::shop::{PATIENCE, Shop};

/// The size of an answer's first window by the gate's settings.
const WINDOW: usize = 64 * 1024;
const SMALL: usize = 40;

/// Fills the windows of these answers with small frames, until the gate has taken all that it takes.
fn fill(line: &mut Line, streams: &[u32]) -> Option<()> {
    let mut windows: BTreeMap<u32, usize> = streams.iter().map(|stream| (*stream, WINDOW)).collect();
    let mut quiet = 0;
    while quiet < 5 {
        for (stream, window) in &mut windows {
            let frames = super::frames::framed(DATA, 0, *stream, &[b'x'; SMALL]).repeat(*window / SMALL);
            line.bytes(&frames);
            *window %= SMALL;
        }
        line.frame(PING, 0, 0, &[0; 8]);
        quiet += 1;
        loop {
            let frame = line.next()?;
            match (frame.kind, windows.get_mut(&frame.stream)) {
                (PING, _) if frame.flags & ACK != 0 => break,
                (WINDOW_UPDATE, Some(window)) => {
                    *window += usize::try_from(u32::from_be_bytes(frame.payload.try_into().unwrap())).unwrap();
                    quiet = 0;
                }
                _ => {}
            }
        }
    }
    Some(())
}

#[test]
fn small_frames_that_nobody_reads_end_nobody_else_s_answer() {
    const SLOW: usize = 16;
    let (told, full) = mpsc::channel();
    let told = Mutex::new(told);
    let shop = Framed::new(move |line| {
        if line.index == 0 {
            let streams: Vec<u32> = (0..SLOW).map(|_| line.request().unwrap()).collect();
            for stream in &streams {
                line.frame(HEADERS, END_HEADERS, *stream, OK);
            }
            let _ = fill(line, &streams);
            let _ = told.lock().unwrap().send(());
        }
        line.serve();
    });
    let gate = gate(shop.address);
    let slow: Vec<Client> = (0..SLOW)
        .map(|_| {
            let mut client = Client::narrow(gate.address);
            client.send(GET);
            client
        })
        .collect();
    full.recv_timeout(3 * PATIENCE).unwrap();
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert_eq!((shop.connections(), gate.origins.standing()[0].failures), (1, 0));
    drop(slow);
    until_idle(&gate);
}

#[test]
fn small_frames_of_an_upload_that_waits_do_not_end_a_proxy_s_connection() {
    let shop = Shop::new(|line| {
        line.request();
        line.drain();
    });
    let gate = Gate::with(shop.address, |setup| {
        setup.server.h2c = true;
        setup.server.trusted = vec!["127.0.0.0/8".parse().unwrap()];
        setup.upstream.request_buffer = 0;
        setup.upstream.bound = Some(ConnectionBound {
            connections: 1,
            waiting: 9,
            wait: Duration::from_secs(3600),
        });
    });
    let mut holder = gate.client();
    holder.send(GET);
    shop.until(|seen| seen.contains("GET"));
    let mut proxy = Raw::new(&gate, &[]);
    proxy.frame(HEADERS, END_HEADERS, 1, &raw::head("POST", "/a", &[]));
    gate.until("it waits", |gate| gate.origins.standing()[0].waiting == 1);
    for _ in 0..3_000 {
        proxy.frame(DATA, 0, 1, b"x");
    }
    proxy.get(3, "/own");
    assert!(!proxy.is_refused(3));
}

/// The frames of a request's body, by their lengths.
fn lengths(line: &mut Line) -> Vec<usize> {
    let mut lengths = Vec::new();
    while let Some(frame) = line.until(DATA) {
        lengths.push(frame.payload.len());
        if frame.flags & END_STREAM != 0 {
            break;
        }
    }
    lengths
}

#[test]
fn small_chunks_go_together_to_the_shop() {
    let (told, bodies) = mpsc::channel();
    let told = Mutex::new(told);
    let shop = Framed::new(move |line| {
        let refused = line.request().unwrap();
        let first = lengths(line);
        line.reset(refused, REFUSED_STREAM);
        let stream = line.request().unwrap();
        let _ = told.lock().unwrap().send((first, lengths(line)));
        line.hi(stream);
        line.serve();
    });
    let gate = gate_with(shop.address, |upstream| upstream.request_buffer = 0);
    let chunks = "1\r\nx\r\n".repeat(2_100);
    let request = format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n");
    assert_eq!(gate.client().ask(&request).body, "hi");
    let (first, again) = bodies.recv().unwrap();
    for lengths in [first, again] {
        assert_eq!(lengths.iter().sum::<usize>(), 2_100);
        assert!(lengths.len() < 100, "{lengths:?}");
    }
}

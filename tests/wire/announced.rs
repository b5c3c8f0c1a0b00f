//! PROXY headers: the peers from which they are accepted, the resulting client, and the treatment of invalid ones.

use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::client::{Client, header};
use crate::gate::{Gate, Setup};
use crate::shop::{OK, Shop};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const LINE: &str = "PROXY TCP4 203.0.113.9 198.51.100.1 40000 8443\r\n";
const SHORT: Duration = Duration::from_millis(50);

/// A gate that requires a header from 127.0.0.1 and from no other peer.
fn gate(shop: &Shop, change: impl FnOnce(&mut Setup)) -> Gate {
    Gate::with(shop.address, |setup| {
        setup.server.announced = vec!["127.0.0.1/32".parse().unwrap()];
        change(setup);
    })
}

/// A client behind a proxy that says this first.
fn behind(gate: &Gate, header: &[u8]) -> Client {
    let mut client = gate.client();
    client.stream.write_all(header).unwrap();
    client
}

/// A header of version 2; `rest` is the addresses and further fields.
fn block(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
    [b"\r\n\r\n\0\r\nQUIT\n", &[command, family][..], &length, rest].concat()
}

/// Version 2 of [`LINE`].
fn block_of_line() -> Vec<u8> {
    let (source, destination) = ([203, 0, 113, 9], [198, 51, 100, 1]);
    let ports = [40000_u16.to_be_bytes(), 8443_u16.to_be_bytes()].concat();
    block(0x21, 0x11, &[&source[..], &destination, &ports].concat())
}

/// The client that the shop sees, and the port, in its last request.
fn told(shop: &Shop) -> (String, String) {
    let seen = shop.seen().to_ascii_lowercase();
    let last = seen.rsplit("get /").next().unwrap();
    (
        header(last, "x-forwarded-for").unwrap(),
        header(last, "x-forwarded-port").unwrap(),
    )
}

#[test]
fn header_in_two_parts_and_requests_right_behind_it() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |_| {});
    let six = "PROXY TCP6 2001:db8::9 2001:db8::1 40000 8443\r\n";
    for (head, client) in [
        (LINE.as_bytes().to_vec(), "203.0.113.9"),
        (six.as_bytes().to_vec(), "2001:db8::9"),
        (block_of_line(), "203.0.113.9"),
    ] {
        let all = [&head, GET.as_bytes(), GET.as_bytes()].concat();
        for at in 0..=head.len() + 1 {
            let mut line = behind(&gate, &all[..at]);
            std::thread::yield_now();
            line.stream.write_all(&all[at..]).unwrap();
            assert_eq!(
                (line.answer().status, line.answer().status),
                (200, 200),
                "split at {at}"
            );
            assert_eq!(told(&shop), (client.into(), "8443".into()), "split at {at}");
        }
    }
    assert_eq!(gate.stats.unannounced.load(Relaxed), 0);
}

#[test]
fn header_may_come_byte_by_byte() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |_| {});
    let mut client = gate.client();
    for byte in [&block_of_line(), GET.as_bytes()].concat() {
        client.stream.write_all(&[byte]).unwrap();
        std::thread::yield_now();
    }
    assert_eq!(client.answer().status, 200);
    assert_eq!(told(&shop).0, "203.0.113.9");
}

#[test]
fn additions_are_passed_over() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |_| {});
    // An ALPN and an authority; then so many bytes that no single read brings them.
    let small = [&block_of_line()[16..], &[1, 0, 2, b'h', b'2', 2, 0, 1, b'a']].concat();
    let large = [&block_of_line()[16..], &[0xe0, 0x0f, 0xc9], &[b'x'; 0x0fc9]].concat();
    for rest in [small, large] {
        let mut client = behind(&gate, &block(0x21, 0x11, &rest));
        assert_eq!(client.ask(GET).status, 200);
        assert_eq!(told(&shop).0, "203.0.113.9");
    }
}

#[test]
fn proxy_that_speaks_for_itself_is_the_client() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |_| {});
    for header in [
        b"PROXY UNKNOWN\r\n".to_vec(),
        b"PROXY UNKNOWN 203.0.113.9 192.0.2.1 1 2\r\n".to_vec(),
        block(0x20, 0x00, b""),
        block(0x20, 0x11, &block_of_line()[16..]),
        block(0x21, 0x00, b""),
    ] {
        assert_eq!(behind(&gate, &header).ask(GET).status, 200);
        assert_eq!(told(&shop), ("127.0.0.1".into(), gate.address.port().to_string()));
    }
}

#[test]
fn without_a_header_or_with_a_malformed_one_the_connection_closes() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |_| {});
    let long = format!("PROXY UNKNOWN {}", "x".repeat(200));
    let no_end = format!("PROXY TCP4 203.0.113.9 198.51.100.1 1 2\n{GET}");
    let wrong = [
        GET.as_bytes().to_vec(),
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03".to_vec(),
        b"PROXY TCP4 203.0.113.9 198.51.100.1 1 +2\r\n".to_vec(),
        b"PROXYTCP4 203.0.113.9 198.51.100.1 1 2\r\n".to_vec(),
        format!(" {LINE}").into_bytes(),
        no_end.into_bytes(),
        long.into_bytes(),
        block(0x21, 0x12, &[0; 12]),
        block(0x21, 0x11, &[0; 11]),
        block(0x20, 0x00, &[0; 5000]),
    ];
    for (count, bytes) in (1_u64..).zip(wrong) {
        let mut client = gate.client();
        // Later bytes may meet a closed connection.
        let _ = client.stream.write_all(&[&bytes, GET.as_bytes()].concat());
        assert_eq!(client.rest(), "", "{}", String::from_utf8_lossy(&bytes));
        gate.until("counted", |gate| gate.stats.unannounced.load(Relaxed) == count);
    }
    assert_eq!((shop.seen(), gate.stats.requests.load(Relaxed)), (String::new(), 0));
}

#[test]
fn from_anybody_else_a_header_is_a_malformed_request() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |_| {});
    for header in [LINE.as_bytes().to_vec(), block_of_line()] {
        let mut stranger = gate.client_from("127.0.0.2");
        let _ = stranger.stream.write_all(&[&header, GET.as_bytes()].concat());
        assert!(stranger.rest().starts_with("HTTP/1.1 400 "), "{header:?}");
    }
    assert_eq!((shop.seen(), gate.stats.unannounced.load(Relaxed)), (String::new(), 0));
    // And so is a second one.
    let mut client = behind(&gate, LINE.as_bytes());
    assert_eq!(client.ask(&format!("{LINE}\r\n")).status, 400);
    let mut stranger = gate.client_from("127.0.0.2");
    assert_eq!(stranger.ask(GET).status, 200);
}

#[test]
fn looking_whether_the_port_is_open_is_no_mistake() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |_| {});
    drop(gate.client());
    gate.until("it gone", |gate| {
        (gate.stats.accepted.load(Relaxed), gate.stats.open.load(Relaxed)) == (1, 0)
    });
    assert_eq!(gate.stats.unannounced.load(Relaxed), 0);
}

#[test]
fn the_wait_for_a_header_and_for_the_first_byte_is_one() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |setup| setup.server.first_byte = SHORT);
    for (count, begun) in (1_u64..).zip(["", "PROXY TCP4 203.", LINE]) {
        assert_eq!(behind(&gate, begun.as_bytes()).rest(), "", "{begun}");
        gate.until("counted", |gate| gate.stats.timed_out.load(Relaxed) == count);
    }
}

#[test]
fn connections_count_as_the_named_client_s() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |setup| {
        setup.server.connections_per_client = 1;
        setup.server.trusted = vec!["10.0.0.0/8".parse().unwrap()];
    });
    let other = LINE.replace("203.0.113.9", "203.0.113.10");
    let trusted = LINE.replace("203.0.113.9", "10.1.1.1");
    let (mut first, mut second) = (behind(&gate, LINE.as_bytes()), behind(&gate, other.as_bytes()));
    assert_eq!((first.ask(GET).status, second.ask(GET).status), (200, 200));
    assert_eq!(behind(&gate, LINE.as_bytes()).rest(), "");
    gate.until("it counted", |gate| gate.stats.refused.load(Relaxed) == 1);
    let mut proxies = [(); 3].map(|()| behind(&gate, trusted.as_bytes()));
    for proxy in &mut proxies {
        assert_eq!(proxy.ask(GET).status, 200);
    }
    drop(first);
    gate.until("it gone", |gate| gate.stats.open.load(Relaxed) == 4);
    assert_eq!(behind(&gate, LINE.as_bytes()).ask(GET).status, 200);
}

#[test]
fn whom_to_trust_follows_the_named_client() {
    let says = "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.77\r\n\r\n";
    for (named, trusted, told_of) in [
        ("203.0.113.9", "127.0.0.0/8", "203.0.113.9"),
        ("10.1.1.1", "10.0.0.0/8", "192.0.2.77, 10.1.1.1"),
        ("10.1.1.1", "127.0.0.0/8", "10.1.1.1"),
    ] {
        let shop = Shop::answering(OK);
        let gate = gate(&shop, |setup| setup.trusted = vec![trusted.parse().unwrap()]);
        let line = LINE.replace("203.0.113.9", named);
        assert_eq!(behind(&gate, line.as_bytes()).ask(says).status, 200);
        assert_eq!(told(&shop).0, told_of, "{named} with {trusted} trusted");
    }
}

#[test]
fn drain_does_not_wait_for_a_header() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |setup| setup.server.first_byte = Duration::from_secs(3600));
    let mut half = behind(&gate, &LINE.as_bytes()[..20]);
    gate.until("open", |gate| gate.stats.open.load(Relaxed) == 1);
    assert_eq!(gate.drain(Duration::from_secs(60)).cut, 0);
    assert_eq!(half.rest(), "");
}

#[test]
fn mapped_addresses_are_told_as_ipv4() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, |_| {});
    let line = "PROXY TCP6 ::ffff:203.0.113.9 ::1 1 2\r\n";
    assert_eq!(behind(&gate, line.as_bytes()).ask(GET).status, 200);
    assert_eq!(told(&shop).0, "203.0.113.9");
}

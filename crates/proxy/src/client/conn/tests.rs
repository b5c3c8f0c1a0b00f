use std::future::poll_fn;
use std::io::Read;
use std::os::unix::net::UnixStream;

use super::*;
use crate::listen::transport::{ReadHalf, Stream, UNIX_PEER};

fn conn(stream: Stream, peer: SocketAddr) -> (Conn, ReadHalf) {
    let local = stream.local().map_or(UNIX_PEER, Result::unwrap);
    let (read, write) = stream.split(Duration::from_secs(60)).unwrap();
    let ends = Ends { peer, local };
    let since = (CancellationToken::new(), Instant::now());
    (Conn::new(ends, Proto::Http, write, Permit::alone(), since), read)
}

/// A connection over a Unix socket, its reading half, and the peer, neither of which blocks.
pub(crate) fn unix() -> (Arc<Conn>, ReadHalf, UnixStream) {
    let (server, client) = UnixStream::pair().unwrap();
    server.set_nonblocking(true).unwrap();
    client.set_nonblocking(true).unwrap();
    let (conn, read) = conn(Stream::Unix(server), UNIX_PEER);
    (Arc::new(conn), read, client)
}

/// A connection whose peer reads only on demand.
fn tcp() -> (Conn, std::net::TcpStream) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, peer) = listener.accept().unwrap();
    server.set_nonblocking(true).unwrap();
    (conn(Stream::Tcp(server), peer).0, client)
}

async fn acknowledged_once_taken(conn: Conn, mut client: impl Read) {
    assert!(conn.acknowledged());
    let block = vec![b'x'; 65536];
    let mut written = poll_fn(|cx| conn.stream().poll_write(cx, &block)).await.unwrap();
    while let Poll::Ready(Ok(count)) = poll_fn(|cx| Poll::Ready(conn.stream().poll_write(cx, &block))).await {
        written += count;
    }
    assert!(!conn.acknowledged());
    std::io::copy(&mut (&mut client).take(written as u64), &mut std::io::sink()).unwrap();
    let patience = Instant::now() + Duration::from_secs(20);
    while !conn.acknowledged() {
        assert!(Instant::now() < patience, "never acknowledged");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn unread_bytes_are_unacknowledged_until_the_peer_takes_them() {
    let (tcp, client) = tcp();
    acknowledged_once_taken(tcp, client).await;
    let (server, client) = UnixStream::pair().unwrap();
    server.set_nonblocking(true).unwrap();
    acknowledged_once_taken(conn(Stream::Unix(server), UNIX_PEER).0, client).await;
}

#[tokio::test]
async fn each_phase_has_its_own_deadline() {
    let (conn, _client) = tcp();
    let conn = Arc::new(conn);
    // Hundreds of seconds, so that a slow machine changes nothing.
    let [first_byte, head, keep_alive] = [99, 199, 299].map(Duration::from_secs);
    let settings = ServerSettings {
        first_byte,
        head,
        keep_alive,
        ..ServerSettings::default()
    };
    let left = |conn: &Conn| {
        conn.due(&settings)
            .map(|due| (due - Instant::now()).as_secs() / 100 + 1)
    };
    assert_eq!(left(&conn), Some(1));
    conn.bytes_in();
    assert_eq!(left(&conn), Some(2));
    let flight = conn.answering();
    conn.bytes_in();
    assert_eq!(left(&conn), None);
    drop(flight);
    assert_eq!(left(&conn), Some(3));
    conn.bytes_in();
    assert_eq!(left(&conn), Some(2));
}

#[tokio::test]
async fn a_connection_without_a_request_parts_soon_and_one_with_a_request_does_not() {
    let (conn, _client) = tcp();
    let conn = Arc::new(conn);
    let patience = Duration::from_secs(600);
    let settings = ServerSettings {
        first_byte: patience,
        head: patience,
        keep_alive: patience,
        ..ServerSettings::default()
    };
    let is_soon = |conn: &Conn| conn.due(&settings).map(|due| due < Instant::now() + patience / 2);
    assert_eq!(is_soon(&conn), Some(false));
    conn.part();
    assert_eq!((is_soon(&conn), conn.closes()), (Some(true), true));
    conn.bytes_in();
    assert_eq!(is_soon(&conn), Some(false), "it has begun");
    let flight = conn.answering();
    assert_eq!(is_soon(&conn), None);
    drop(flight);
    assert_eq!(is_soon(&conn), Some(true));
}

#[test]
fn mapped_addresses_are_ipv4() {
    let mapped = canonical("[::ffff:192.0.2.1]:80".parse().unwrap());
    assert_eq!(mapped.to_string(), "192.0.2.1:80");
}

#[tokio::test]
async fn all_that_wait_for_room_are_woken_when_there_is_some() {
    let (conn, ..) = unix();
    let room = |conn: &Arc<Conn>| {
        let conn = Arc::clone(conn);
        tokio::spawn(async move { poll_fn(|cx| conn.poll_room(cx)).await })
    };
    room(&conn).await.unwrap();
    conn.found_room(false);
    let waiting: Vec<_> = (0..100).map(|_| room(&conn)).collect();
    tokio::task::yield_now().await;
    conn.found_room(false);
    assert!(!waiting.iter().any(tokio::task::JoinHandle::is_finished));
    conn.found_room(true);
    for one in waiting {
        tokio::time::timeout(Duration::from_secs(60), one)
            .await
            .unwrap()
            .unwrap();
    }
}

#[tokio::test]
async fn who_waited_for_room_and_was_called_off_is_forgotten() {
    let (conn, ..) = unix();
    conn.found_room(false);
    for _ in 0..1_000 {
        let conn = Arc::clone(&conn);
        let waits = tokio::spawn(async move { poll_fn(|cx| conn.poll_room(cx)).await });
        tokio::task::yield_now().await;
        waits.abort();
    }
    let waiting = conn.waiting.lock().unwrap().len();
    assert!((1..=MOST_WAITING).contains(&waiting), "{waiting} wait");
}

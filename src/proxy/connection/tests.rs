use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::proxy::conn::tests::unix;
use crate::proxy::socket::ClientSocket;

const PIECE: usize = 16 * 1024;
const PIECES: usize = 40;

/// Gives its pieces one at a time, as the shop does: each only when its task comes round again.
struct Pieces {
    given: Arc<AtomicUsize>,
    waits: bool,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.waits = !self.waits;
        if self.waits {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.given.load(Ordering::Relaxed) == PIECES {
            return Poll::Ready(None);
        }
        self.given.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; PIECE])))))
    }
}

#[tokio::test]
async fn of_what_a_client_does_not_take_one_piece_is_held_and_none_is_lost() {
    let (conn, read, mut client) = unix();
    client
        .write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        .unwrap();
    let given = Arc::<AtomicUsize>::default();
    let body = Arc::clone(&given);
    let shared = Shared {
        service: move |_, _| {
            let given = Arc::clone(&body);
            async { Response::new(Body::stream(Pieces { given, waits: false })) }
        },
        settings: Arc::default(),
        stats: Arc::default(),
        draining: Arc::default(),
    };
    let socket = ClientSocket::new((read, Vec::new()), Arc::clone(&conn), Duration::from_secs(600));
    let serving = tokio::spawn(serve_connection(
        socket,
        Arc::clone(&conn),
        Arc::new(shared),
        Speaks::Http1,
    ));
    let (mut taken, mut step) = (0, vec![0; 4 * PIECE]);
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < patience, "{taken} bytes came, and no end");
        // All turns that can be had without the client.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        if poll_fn(|cx| Poll::Ready(conn.poll_room(cx).is_pending())).await {
            let queued = usize::try_from(rustix::io::ioctl_fionread(&client).unwrap()).unwrap();
            let held = (given.load(Ordering::Relaxed) * PIECE).saturating_sub(taken + queued);
            assert!(held <= PIECE, "{held} bytes are held");
        }
        match client.read(&mut step) {
            Ok(0) => break,
            Ok(count) => taken += count,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
    }
    drop(client);
    serving.await.unwrap();
    assert_eq!(given.load(Ordering::Relaxed), PIECES);
    assert!(taken > PIECES * PIECE, "{taken} bytes came");
}

use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::client::conn::tests::unix;
use crate::client::socket::ClientSocket;

const PIECE: usize = 16 * 1024;
const PIECES: usize = 40;

/// Yields its pieces one at a time, as the upstream does: each only when its task runs again.
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
        refusals: Refusals::default(),
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

/// A body of words, each yielded when it is sent; it reports its drop.
struct Words {
    said: tokio::sync::mpsc::UnboundedReceiver<&'static str>,
    _let_go: Arc<()>,
}

impl http_body::Body for Words {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let said = ready!(self.said.poll_recv(cx));
        Poll::Ready(said.map(|word| Ok(Frame::data(Bytes::from_static(word.as_bytes())))))
    }
}

/// A connection whose first answer is a stream of words.
struct Streaming {
    client: std::os::unix::net::UnixStream,
    say: Option<tokio::sync::mpsc::UnboundedSender<&'static str>>,
    let_go: std::sync::Weak<()>,
    served: Arc<AtomicUsize>,
    serving: tokio::task::JoinHandle<()>,
}

impl Streaming {
    fn asked(request: &str) -> Self {
        let (conn, read, mut client) = unix();
        client.write_all(request.as_bytes()).unwrap();
        let (say, said) = tokio::sync::mpsc::unbounded_channel();
        let kept = Arc::new(());
        let let_go = Arc::downgrade(&kept);
        let words = std::sync::Mutex::new(Some(Words { said, _let_go: kept }));
        let served = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&served);
        let shared = Shared {
            service: move |_, _| {
                count.fetch_add(1, Ordering::Relaxed);
                let words = words.lock().unwrap().take();
                async move { Response::new(words.map_or_else(Body::empty, Body::stream)) }
            },
            settings: Arc::default(),
            stats: Arc::default(),
            draining: Arc::default(),
            refusals: Refusals::default(),
        };
        let socket = ClientSocket::new((read, Vec::new()), Arc::clone(&conn), Duration::from_secs(600));
        let serving = tokio::spawn(serve_connection(socket, conn, Arc::new(shared), Speaks::Http1));
        Self {
            client,
            say: Some(say),
            let_go,
            served,
            serving,
        }
    }

    /// Reads until the received bytes end with `end`, or until the connection does.
    async fn hears(&mut self, end: Option<&str>) -> String {
        let (mut heard, mut step) = (Vec::new(), [0; 4_096]);
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            assert!(Instant::now() < patience, "only {}", String::from_utf8_lossy(&heard));
            tokio::task::yield_now().await;
            match self.client.read(&mut step) {
                Ok(0) => return String::from_utf8(heard).unwrap(),
                Ok(count) => heard.extend_from_slice(&step[..count]),
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
            }
            if end.is_some_and(|end| heard.ends_with(end.as_bytes())) {
                return String::from_utf8(heard).unwrap();
            }
        }
    }

    fn say(&self, word: &'static str) {
        self.say.as_ref().unwrap().send(word).unwrap();
    }
}

#[tokio::test]
async fn a_stream_goes_word_by_word_in_chunks_and_the_connection_ends_with_it() {
    let mut streaming = Streaming::asked("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let head = streaming.hears(Some("\r\n\r\n")).await.to_ascii_lowercase();
    assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
    assert!(head.contains("connection: close\r\n"), "{head}");
    for word in ["abc", "", "0123456789abcdef+"] {
        streaming.say(word);
    }
    assert_eq!(
        streaming.hears(Some("+\r\n")).await,
        "3\r\nabc\r\n11\r\n0123456789abcdef+\r\n"
    );
    assert!(streaming.let_go.upgrade().is_some());
    streaming.say = None;
    assert_eq!(streaming.hears(None).await, "0\r\n\r\n");
    streaming.serving.await.unwrap();
    assert!(streaming.let_go.upgrade().is_none());
}

#[tokio::test]
async fn a_client_of_before_chunks_has_the_words_as_they_are() {
    let mut streaming = Streaming::asked("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    let head = streaming.hears(Some("\r\n\r\n")).await.to_ascii_lowercase();
    assert!(!head.contains("transfer-encoding"), "{head}");
    streaming.say("abc");
    streaming.say("def");
    streaming.say = None;
    assert_eq!(streaming.hears(None).await, "abcdef");
    streaming.serving.await.unwrap();
}

#[tokio::test]
async fn a_client_that_goes_lets_its_stream_go_and_one_that_talks_on_is_not_heard() {
    let gone = Streaming::asked("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    drop(gone.client);
    tokio::time::timeout(Duration::from_secs(60), gone.serving)
        .await
        .expect("it ends with the client")
        .unwrap();
    assert!(gone.let_go.upgrade().is_none());
    let mut talks = Streaming::asked("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    talks.hears(Some("\r\n\r\n")).await;
    talks
        .client
        .write_all(b"GET /other HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    talks.say("still here");
    assert_eq!(talks.hears(Some("here\r\n")).await, "A\r\nstill here\r\n");
    talks.say = None;
    assert_eq!(talks.hears(None).await, "0\r\n\r\n");
    talks.serving.await.unwrap();
    assert_eq!(talks.served.load(Ordering::Relaxed), 1);
}

/// Bytes that a client sends during its stream stay in the socket, where they cost nothing, after any kind of request.
#[tokio::test]
async fn nothing_is_read_of_who_talks_beside_a_stream() {
    for behind in [
        "\0\r\n\r\n",
        "GET /other HTTP/1.1\r\nHost: a\r\nA-Field-That-Has-No-End: ",
    ] {
        let mut talks = Streaming::asked(&format!("GET / HTTP/1.1\r\nHost: a\r\n\r\n{behind}"));
        talks.hears(Some("\r\n\r\n")).await;
        let fill = |client: &mut std::os::unix::net::UnixStream| {
            let mut sent = 0;
            while let Ok(count @ 1..) = client.write(&[b'x'; 1_024]) {
                sent += count;
            }
            sent
        };
        fill(&mut talks.client);
        for _ in 0..10_000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(fill(&mut talks.client), 0, "it was read on: {behind:?}");
        talks.say("still here");
        assert_eq!(talks.hears(Some("here\r\n")).await, "A\r\nstill here\r\n");
        talks.say = None;
        assert_eq!(talks.hears(None).await, "0\r\n\r\n");
        drop(talks.client);
        talks.serving.await.unwrap();
    }
}

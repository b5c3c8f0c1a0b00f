use http::Request;
use http_body_util::BodyExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::upstream::answer_body::UpstreamBody;

struct Kept {
    pool: Arc<Pool>,
    target: Arc<Target>,
    idle: Duration,
    _shop: std::net::TcpListener,
}

impl Kept {
    fn pop(&self, now: Instant) -> Option<Line> {
        self.pool.idle.stash.pop(self.target.key(), now, self.idle)
    }

    fn busy(&self) -> Busy {
        busy(&self.target)
    }
}

fn busy(target: &Arc<Target>) -> Busy {
    Busy::at(Arc::clone(target)).ok().unwrap()
}

/// A pool with one idle connection to an upstream that does nothing, and the bound on its age.
async fn kept() -> Kept {
    let shop = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = UpstreamSettings::new("127.0.0.1", shop.local_addr().unwrap().port());
    let idle = settings.idle;
    let servers = UpstreamServers::start(settings).unwrap();
    let target = servers.next(&[]).unwrap();
    let pool = Pool::new(servers, Arc::default());
    let busy = busy(&target);
    let mut lease = pool.fresh(busy, false, None).await.ok().unwrap();
    lease.may_be_kept();
    lease.give_back();
    Kept {
        pool,
        target,
        idle,
        _shop: shop,
    }
}

#[tokio::test]
async fn young_connection_is_used() {
    let kept = kept().await;
    assert!(kept.pop(Instant::now()).is_some());
    assert!(kept.pop(Instant::now()).is_none());
}

#[tokio::test]
async fn old_connection_is_not_used_even_before_it_is_swept() {
    let kept = kept().await;
    assert!(kept.pop(Instant::now() + kept.idle).is_none());
    assert!(kept.pool.idle.stash.lock().is_empty());
}

#[tokio::test]
async fn lease_that_is_not_given_back_leaves_nothing() {
    let kept = kept().await;
    drop(kept.pool.kept(kept.busy(), false).await);
    assert!(kept.pool.idle.stash.lock().is_empty());
}

#[tokio::test]
async fn connection_serves_its_own_server_only() {
    let (kept, other) = (kept().await, kept().await);
    assert!(kept.pool.kept(other.busy(), false).await.is_err());
    assert!(kept.pool.kept(kept.busy(), false).await.is_ok());
}

#[tokio::test]
async fn connection_to_an_address_that_the_name_no_longer_has_is_not_kept() {
    let kept = kept().await;
    let mut lease = kept.pool.kept(kept.busy(), false).await.ok().unwrap();
    kept.target.leave();
    lease.may_be_kept();
    lease.give_back();
    assert!(kept.pool.idle.stash.lock().is_empty());
}

/// Half of an answer, on a connection that would be kept after a whole one, and the upstream's end of it.
async fn half(pool: &Arc<Pool>, shop: &tokio::net::TcpListener) -> (UpstreamBody, tokio::net::TcpStream) {
    let target = pool.servers().next(&[]).unwrap();
    let mut lease = pool.fresh(busy(&target), false, None).await.ok().unwrap();
    let answer = async {
        let (mut line, _) = shop.accept().await.unwrap();
        line.read_exact(&mut [0; 16]).await.unwrap();
        line.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            .await
            .unwrap();
        line
    };
    let (head, line) = tokio::join!(lease.send(Request::new(Sent::nothing())), answer);
    lease.is_headed();
    lease.may_be_kept();
    let idle = Duration::from_millis(10);
    let mut body = UpstreamBody::new(head.unwrap().into_body(), lease, idle, None);
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "half");
    (body, line)
}

#[tokio::test]
async fn connection_is_not_kept_behind_an_answer_that_was_cut() {
    let shop = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let settings = UpstreamSettings::new("127.0.0.1", shop.local_addr().unwrap().port());
    let pool = Pool::new(UpstreamServers::start(settings).unwrap(), Arc::default());
    let kept = || pool.idle.stash.lock().len();

    let (mut silent, _line) = half(&pool, &shop).await;
    assert!(silent.frame().await.unwrap().is_err());
    assert_eq!(kept(), 0, "nothing more came");

    let (called_off, _line) = half(&pool, &shop).await;
    drop(called_off);
    assert_eq!(kept(), 0, "the visitor went");

    let (mut whole, mut line) = half(&pool, &shop).await;
    line.write_all(b"rest").await.unwrap();
    assert_eq!(whole.frame().await.unwrap().unwrap().into_data().unwrap(), "rest");
    drop(whole);
    assert_eq!(kept(), 1);
}

use super::*;

struct Kept {
    pool: Arc<Pool>,
    origin: Arc<Origin>,
    idle: Duration,
    _shop: std::net::TcpListener,
}

impl Kept {
    fn pop(&self, now: Instant) -> Option<Line> {
        self.pool.idle.pop(&self.origin, now, self.idle)
    }

    fn busy(&self) -> Busy {
        busy(&self.origin)
    }
}

fn busy(origin: &Arc<Origin>) -> Busy {
    Busy::at(Arc::clone(origin)).ok().unwrap()
}

/// A pool with one idle connection to a shop that does nothing, and the bound on its age.
async fn kept() -> Kept {
    let shop = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = UpstreamSettings::new("127.0.0.1", shop.local_addr().unwrap().port());
    let idle = settings.idle;
    let origins = Origins::start(settings).unwrap();
    let origin = origins.next(&[]).unwrap();
    let pool = Pool::new(origins, Arc::default());
    let busy = busy(&origin);
    let mut lease = pool.fresh(busy, false, None).await.ok().unwrap();
    lease.may_be_kept();
    lease.give_back();
    Kept {
        pool,
        origin,
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
    assert!(kept.pool.idle.lock().is_empty());
}

#[tokio::test]
async fn lease_that_is_not_given_back_leaves_nothing() {
    let kept = kept().await;
    drop(kept.pool.kept(kept.busy(), false).await);
    assert!(kept.pool.idle.lock().is_empty());
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
    kept.origin.leave();
    lease.may_be_kept();
    lease.give_back();
    assert!(kept.pool.idle.lock().is_empty());
}

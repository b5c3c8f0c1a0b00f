//! Requests without a session are under way at the proxy alone, which keeps them within the bound that the gate names with
//! its yes.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::house::{House, Way};
use crate::http::{Message, Pool, Wire};
use crate::proxies::{Behind, Haproxy, Nginx, Program};
use crate::shop::Reply;

/// As the examples have it.
const BOUND: usize = 64;

const ROOM: &str = "mode = \"closed\"\nexcept = [\"/static/*\", \"POST /payment/callback\"]";

const REPLIES: &[Reply] = &[Reply {
    after: Duration::from_millis(400),
    ..Reply::new(
        "/",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: text/html\r\n",
        "come in",
    )
}];

async fn flood_is_bounded<P: Program>() {
    let house = House::<Behind<P>>::scripted(REPLIES, ROOM, "").await;
    let mut asked = JoinSet::new();
    for client in 0..=250 {
        let pool: Arc<Pool> = house.way.pool(&format!("127.55.{client}.1"));
        let request = "GET /static/app.js HTTP/1.1\r\nHost: shop.test\r\n\r\n";
        asked.spawn(async move { pool.ask(request.as_bytes()).await.unwrap() });
    }
    let payment = async {
        let pool = house.way.pool("127.56.1.1");
        let paid = "POST /payment/callback HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 6\r\n\r\npaid=1";
        for _ in 0..3 {
            let answer = pool.ask(paid.as_bytes()).await.unwrap();
            assert!(answer.is_the_shops(), "{}", answer.head);
        }
    };
    let (answers, ()) = tokio::join!(asked.join_all(), payment);
    let refused = answers
        .iter()
        .filter(|answer| !answer.is_the_shops())
        .collect::<Vec<&Message>>();
    assert!(!refused.is_empty() && refused.iter().all(|answer| matches!(answer.status(), 502 | 503)));
    let reads = house.shop.seen_of("/static/");
    let at = |moment| {
        reads
            .iter()
            .filter(|seen| seen.from <= moment && moment < seen.to)
            .count()
    };
    let most = reads.iter().map(|seen| at(seen.from)).max().unwrap_or_default();
    assert!((2..=BOUND).contains(&most), "{most} at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn nginx_sends_the_shop_no_more_at_once_than_its_bound() {
    flood_is_bounded::<Nginx>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn haproxy_sends_the_shop_no_more_at_once_than_its_bound() {
    flood_is_bounded::<Haproxy>().await;
}

/// The Lua of 2.6 ends the process where it is shown fields that it had no room for.
#[tokio::test]
async fn haproxy_goes_on_after_a_request_with_as_many_fields_as_it_takes() {
    let house = House::<Behind<Haproxy>>::open("mode = \"hold\"", "").await;
    for count in [79, 80, 94, 95, 97, 99] {
        let many = "X-Many: 1\r\n".repeat(count);
        let mut wire = Wire::open_from("127.0.2.1".parse().unwrap(), house.entrance)
            .await
            .unwrap();
        let request = format!("GET /seats HTTP/1.1\r\nHost: shop.test\r\n{many}\r\n");
        let answer = wire.ask(request.as_bytes()).await.unwrap();
        assert_eq!(
            answer.status(),
            if count < 80 { 503 } else { 431 },
            "{count}: {}",
            answer.head
        );
    }
    assert_eq!(house.guest().page("/").await.word(), "waiting");
}

//! From the login to the paid order.

use crate::customer;
use crate::harness::browser::Browser;
use crate::harness::gate::Gate;
use crate::harness::look::Look;
use crate::pretix::{Door, Pretix};

#[tokio::test]
async fn without_the_gate_a_customer_logs_in_uploads_and_pays_at_another_site() {
    let door = Door::open();
    let address = format!("http://localhost:{}", door.address().port());
    let _shop = Pretix::start(door, &address);
    let browser = Browser::start(Look::default()).await;
    customer::log_in(&browser, &address).await;
    customer::fill_basket(&browser, &address).await;
    customer::check_out(&browser, &address).await;
    customer::pay(&browser).await;
    browser.screenshot("shop-receipt").await;
}

#[tokio::test]
async fn in_a_room_of_one_the_second_gets_in_when_the_firsts_order_completes() {
    let door = Door::open();
    let gate = Gate::start(door.address(), include_str!("config.toml"));
    let _shop = Pretix::start(door, &gate.address);
    let (first, second) = tokio::join!(Browser::start(Look::default()), Browser::start(Look::default()));
    customer::log_in(&first, &gate.address).await;

    let link = gate.at("/museum/night/?item=2&from=newsletter");
    second.open(&link).await;
    let page = second.shows("You are in line").await;
    assert!(page.contains("You are next"), "{page}");
    assert_eq!(second.address().await, link);

    customer::fill_basket(&first, &gate.address).await;
    customer::check_out(&first, &gate.address).await;
    assert!(
        second.text().await.contains("You are in line"),
        "the first is at the payment provider, not gone"
    );
    second.screenshot("shop-waiting").await;
    customer::pay(&first).await;
    let page = second.shows("Add to cart").await;
    assert!(
        page.contains("Ticket") && !page.contains("Student ticket"),
        "the item that the link names: {page}"
    );
    assert_eq!(second.address().await, link);
    second.screenshot("shop-second-inside").await;
}

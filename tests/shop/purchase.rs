//! From the login to the paid order.

use crate::customer;
use crate::harness::browser::Browser;
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

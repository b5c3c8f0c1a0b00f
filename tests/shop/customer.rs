//! A customer's clicks in pretix.

use crate::harness::browser::Browser;

/// Logs in with the account that the seed made.
pub async fn log_in(browser: &Browser, shop: &str) {
    browser.open(&format!("{shop}/museum/account/login")).await;
    browser.fill("#id_email", "ada@example.org").await;
    browser.fill("#id_password", "correct horse battery").await;
    browser.click("form.form-horizontal button[type=submit]").await;
    browser.shows("Ada").await;
}

/// Puts a student's ticket into the basket.
pub async fn fill_basket(browser: &Browser, shop: &str) {
    browser.open(&format!("{shop}/museum/night/")).await;
    browser.fill("#item_1", "1").await;
    browser.click("#btn-add-to-cart").await;
    browser.shows("Your cart").await;
}

/// Goes through the checkout, with an upload, until the payment provider's page.
pub async fn check_out(browser: &Browser, shop: &str) {
    browser.open(&format!("{shop}/museum/night/checkout/start")).await;
    go_on(browser, "checkout/customer").await;
    browser.at("checkout/questions").await;
    let card = browser.screenshot("shop-student-card").await;
    browser.attach("input[type=file]", &card).await;
    for step in ["checkout/questions", "checkout/payment", "checkout/confirm"] {
        go_on(browser, step).await;
    }
    browser.at("/pay?").await;
}

/// Pays at the provider, which is another site and sends the customer back by POST, and reads the receipt.
pub async fn pay(browser: &Browser) {
    browser.click("#pay").await;
    browser.at("?paid=yes").await;
    let receipt = browser.shows("Thank you").await;
    assert!(
        receipt.contains("Paid") && receipt.contains("shop-student-card.png"),
        "{receipt}"
    );
}

/// Sends the form of the checkout step at `path`.
async fn go_on(browser: &Browser, path: &str) {
    browser.at(path).await;
    browser
        .click("form[method=post] button.btn-primary.btn-lg[type=submit]")
        .await;
}

//! The small shop of `ropeline demo`: seats of a concert hall, sold by an HTTP/1.1 server that knows nothing of the gate.
//!
//! It is a real upstream, used by tests too, with features of shops that gates often handle wrongly. A second listener plays
//! the payment provider on another site, whose page sends the visitor back by cross-site POST. State is the hall itself and a
//! bounded list of orders, in memory; a basket is the list of seats in the customer's own cookie. Routes, all stable:
//!
//! | route | what it is |
//! | --- | --- |
//! | `GET /` | start page with links to everything |
//! | `GET /seats`, `POST /seats/{n}` | the hall; takes seat 1 to 120 into the basket or puts it back |
//! | `GET /seats/events` | the hall as server-sent events, one `seats` event per change |
//! | `GET /basket`, `POST /basket/clear` | the customer's seats |
//! | `GET /checkout`, `POST /checkout` | confirm; makes the order and redirects to the provider |
//! | `POST /checkout/return` | where the provider's page posts to: cross-site, so without cookies; 303 to the next |
//! | `GET /checkout/complete?order=` | the receipt: 200 once the order is paid, 404 before (for `ends_on`) |
//! | `GET /upload`, `POST /upload` | a form; streams any body and answers how many bytes came |
//! | `GET /slow?ms=` | answers after that long, at most a minute |
//! | `GET /ticker` | a page, or as WebSocket a message a second; echoes text |
//! | `GET /api/stock` | JSON: seats free, held, sold |
//! | `POST /webhook` | JSON: how many bytes came |
//! | `/echo` | any method: the request as the shop received it, as text |
//! | `GET /static/style.css` | the stylesheet, for an hour cacheable |
//! | provider: `GET /pay`, `POST /pay` | pay or cancel; a page that posts back to the shop by itself |

mod answer;
mod form;
mod hall;
mod live;
mod pages;
mod provider;
mod seal;
mod server;
mod shop;

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use provider::Provider;
use seal::Seal;
use shop::Shop;

/// Serves the shop on one listener and the payment provider on the other until `shutdown`; then ends streams at once,
/// gives requests in flight two seconds, and returns.
///
/// The two must be one machine's loopback: the shop sends visitors to the provider as `localhost`, or as `127.0.0.1` if
/// they came by `localhost`, so that the way back is cross-site. Fails only before anything is served.
pub async fn serve(
    shop_listener: TcpListener,
    provider_listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let seal = Arc::new(Seal::random()?);
    let closing = CancellationToken::new();
    let shop = Arc::new(Shop::new(
        provider_listener.local_addr()?.port(),
        Arc::clone(&seal),
        closing.clone(),
    ));
    let provider = Arc::new(Provider::new(seal));
    let counter = Arc::clone(&shop);
    tokio::join!(
        server::accept(shop_listener, closing.clone(), move |request| shop::answer(
            Arc::clone(&counter),
            request
        )),
        server::accept(provider_listener, closing.clone(), move |request| {
            provider::answer(Arc::clone(&provider), request)
        }),
        let_holds_run_out(&shop, &closing),
        async {
            shutdown.await;
            closing.cancel();
        },
    );
    Ok(())
}

async fn let_holds_run_out(shop: &Shop, closing: &CancellationToken) {
    while closing
        .run_until_cancelled(tokio::time::sleep(Duration::from_secs(1)))
        .await
        .is_some()
    {
        shop.let_holds_run_out();
    }
}

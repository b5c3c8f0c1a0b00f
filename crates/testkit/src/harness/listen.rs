//! A server of a test's own, on a port that the system chooses.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// Serves each connection that comes, all of them on one thread, until the test's process ends. Gives the address.
///
/// # Panics
/// Where the system gives no port.
pub fn listen<F: Future<Output = ()> + Send + 'static>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("a bound listener has an address");
    listener.set_nonblocking(true).expect("a socket can be so");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime for the server").block_on(async {
            let listener = TcpListener::from_std(listener).expect("a socket of this system");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
    });
    address
}

//! The public port of a fleet: each connection goes to the next gate, as from a load balancer, and none where there is no gate yet.

use std::io::{self, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub struct Door {
    pub address: SocketAddr,
    gates: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Door {
    /// Serves until the test's process ends.
    pub fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, gates) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<SocketAddr>>>::default());
        let own = Arc::clone(&gates);
        std::thread::spawn(move || {
            for (turn, client) in listener.incoming().map_while(Result::ok).enumerate() {
                let gates = own.lock().unwrap().clone();
                let next = gates.get(turn % gates.len().max(1)).copied();
                if let Some(gate) = next.and_then(|gate| TcpStream::connect(gate).ok()) {
                    join(client, gate);
                }
            }
        });
        Self { address, gates }
    }

    pub fn leads_to(&self, gates: &[SocketAddr]) {
        *self.gates.lock().unwrap() = gates.to_vec();
    }
}

fn join(client: TcpStream, gate: TcpStream) {
    for (mut from, mut to) in [(client.try_clone().unwrap(), gate.try_clone().unwrap()), (gate, client)] {
        std::thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.flush();
            let _ = to.shutdown(Shutdown::Write);
        });
    }
}

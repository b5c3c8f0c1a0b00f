//! A shop that answers everything, and records the paths it was asked for.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub struct Shop {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Shop {
    pub fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let own = Arc::clone(&asked);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let own = Arc::clone(&own);
                std::thread::spawn(move || serve(client, &own));
            }
        });
        Self { address, asked }
    }

    /// The paths below this one that it was asked for.
    pub fn asked(&self, below: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|path| path.starts_with(below)).cloned().collect()
    }
}

/// Requests without a body.
fn serve(client: TcpStream, asked: &Mutex<Vec<String>>) {
    let mut writer = client.try_clone().unwrap();
    let mut first = None;
    for line in BufReader::new(client).lines().map_while(Result::ok) {
        if first.is_none() {
            first = Some(line);
            continue;
        }
        if !line.is_empty() {
            continue;
        }
        let target = first.take().and_then(|line| Some(line.split(' ').nth(1)?.to_owned()));
        asked.lock().unwrap().extend(target);
        if writer
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nthe shop")
            .is_err()
        {
            return;
        }
    }
}

//! A shop of a few lines: it returns the request, holds the answer to `/hold` until it is released, and echoes on sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// Serves until the test's process ends.
pub struct Shop {
    pub address: SocketAddr,
    gate: Arc<Gate>,
}

/// Opened once; requests to `/hold` wait until then.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    held: usize,
    connections: usize,
    open: bool,
    asked: Vec<String>,
}

impl Shop {
    pub fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let gate = Arc::new(Gate::default());
        let shared = Arc::clone(&gate);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let gate = Arc::clone(&shared);
                gate.state.lock().unwrap().connections += 1;
                std::thread::spawn(move || {
                    serve(stream, &gate);
                    gate.state.lock().unwrap().connections -= 1;
                });
            }
        });
        Self { address, gate }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until this many requests are held.
    pub fn holds(&self, count: usize) {
        let state = self.gate.state.lock().unwrap();
        let wait = self
            .gate
            .changed
            .wait_timeout_while(state, crate::PATIENCE, |state| state.held < count);
        assert!(!wait.unwrap().1.timed_out(), "nothing came to be held");
    }

    /// How often this path was asked for.
    pub fn asked(&self, path: &str) -> usize {
        let state = self.gate.state.lock().unwrap();
        state.asked.iter().filter(|asked| *asked == path).count()
    }

    /// How many are open.
    pub fn connections(&self) -> usize {
        self.gate.state.lock().unwrap().connections
    }

    /// Answers the held requests.
    pub fn let_go(&self) {
        self.gate.state.lock().unwrap().open = true;
        self.gate.changed.notify_all();
    }
}

fn serve(stream: TcpStream, gate: &Gate) {
    let mut reader = BufReader::new(stream);
    while let Some(head) = request(&mut reader) {
        let path = head.split(' ').nth(1).unwrap_or_default();
        gate.state.lock().unwrap().asked.push(path.to_owned());
        if head.starts_with("GET /hold") {
            let mut state = gate.state.lock().unwrap();
            state.held += 1;
            gate.changed.notify_all();
            drop(gate.changed.wait_while(state, |state| !state.open).unwrap());
        }
        if head.to_ascii_lowercase().contains("upgrade: websocket") {
            return echo(reader);
        }
        let body = format!("the shop\n{head}");
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Shop: yes\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if reader.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// Grants the upgrade, and echoes all bytes, to the end of the connection.
fn echo(reader: BufReader<TcpStream>) {
    let mut stream = reader.into_inner();
    let granted = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    if stream.write_all(granted.as_bytes()).is_ok() {
        let mut back = stream.try_clone().unwrap();
        // An end of the connection, whichever way, is the end of the socket.
        let _ = std::io::copy(&mut stream, &mut back);
    }
}

/// The head of the next request, its body read; none at the end of the connection.
fn request(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.to_ascii_lowercase().lines().find_map(|line| {
        line.strip_prefix("content-length:")
            .and_then(|length| length.trim().parse().ok())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(head)
}

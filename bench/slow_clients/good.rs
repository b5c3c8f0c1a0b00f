//! Good clients: they come from separate addresses, ask at a steady pace, and count their answers.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustls::{ClientConfig, ClientConnection, StreamOwned};
use rustls_pki_types::ServerName;
use socket2::{Domain, Socket, Type};

use crate::house::{House, PAGE_BYTES};

/// They ask until they are stopped.
pub struct Good {
    stop: Arc<AtomicBool>,
    times: Arc<Mutex<Vec<Option<Duration>>>>,
    clients: Vec<JoinHandle<()>>,
}

/// The results of their requests.
pub struct Served {
    pub asked: usize,
    pub answered: usize,
    pub p99: Duration,
}

impl Good {
    pub fn start(house: &House, is_secured: bool) -> Self {
        let (stop, times) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<_>>>::default());
        let tls = is_secured.then(|| house.tls(b"http/1.1"));
        let address = if is_secured { house.secured } else { house.clear };
        let client = |index: u8| {
            let (stop, times, tls) = (Arc::clone(&stop), Arc::clone(&times), tls.clone());
            let ends = (Ipv4Addr::new(127, 0, 1, index).into(), address);
            thread::spawn(move || ask_on(ends, tls.as_ref(), &stop, &times))
        };
        let clients = (1..=CLIENTS).map(client).collect();
        Self { stop, times, clients }
    }

    pub fn stop(self) -> Served {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.join().unwrap();
        }
        let times = self.times.lock().unwrap();
        let mut answered: Vec<Duration> = times.iter().copied().flatten().collect();
        answered.sort_unstable();
        Served {
            asked: times.len(),
            answered: answered.len(),
            p99: answered.get(answered.len() * 99 / 100).copied().unwrap_or(PATIENCE),
        }
    }
}

/// Every fifth request goes over a new connection.
fn ask_on(
    ends: (IpAddr, SocketAddr),
    tls: Option<&Arc<ClientConfig>>,
    stop: &AtomicBool,
    times: &Mutex<Vec<Option<Duration>>>,
) {
    let mut kept = None;
    for count in 0_u32.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let began = Instant::now();
        let asked = kept
            .take()
            .filter(|_| count % 5 > 0)
            .map_or_else(|| connect(ends, tls), Ok)
            .and_then(|mut stream| ask(&mut stream).map(|()| stream));
        let took = asked.is_ok().then(|| began.elapsed());
        kept = asked.ok();
        times.lock().unwrap().push(took);
        thread::sleep(PACE.saturating_sub(began.elapsed()));
    }
}

/// A stream that may be encrypted.
pub trait Both: Read + Write + Send {}

impl<T: Read + Write + Send> Both for T {}

/// Connects from this address of the machine's own.
pub fn connect_from(own: IpAddr, address: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::new(own, 0).into())?;
    socket.connect_timeout(&address.into(), PATIENCE)?;
    Ok(TcpStream::from(socket))
}

/// Connects from an address of its own, over TLS where there is a configuration for it.
pub fn connect((own, address): (IpAddr, SocketAddr), tls: Option<&Arc<ClientConfig>>) -> io::Result<Box<dyn Both>> {
    let stream = connect_from(own, address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some(tls) = tls else { return Ok(Box::new(stream)) };
    let host = ServerName::try_from("localhost").unwrap();
    let session = ClientConnection::new(Arc::clone(tls), host).map_err(io::Error::other)?;
    Ok(Box::new(StreamOwned::new(session, stream)))
}

fn ask(stream: &mut Box<dyn Both>) -> io::Result<()> {
    stream.write_all(b"GET /page HTTP/1.1\r\nHost: localhost\r\nUser-Agent: good\r\n\r\n")?;
    let (mut text, mut buffer) = (Vec::new(), [0; 16_384]);
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        text.extend_from_slice(&buffer[..count]);
        let head = text.windows(4).position(|four| four == b"\r\n\r\n");
        if head.is_some_and(|head| text.len() >= head + 4 + PAGE_BYTES) {
            let is_good = text.starts_with(b"HTTP/1.1 200 ");
            return if is_good {
                Ok(())
            } else {
                Err(io::ErrorKind::InvalidData.into())
            };
        }
    }
}

const CLIENTS: u8 = 20;
/// From one request of a client's to the next.
const PACE: Duration = Duration::from_millis(100);
/// An answer that takes longer is none.
const PATIENCE: Duration = Duration::from_secs(5);

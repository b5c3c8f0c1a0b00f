//! A name server on loopback, over UDP and TCP: it answers from a table that a test writes, and records its queries.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};

use hickory_resolver::proto::op::{Message, OpCode, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME, PTR, SOA};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};

/// Serves until the test's process ends.
pub struct Dns {
    pub address: SocketAddr,
    table: Arc<Mutex<Table>>,
}

/// The answer for a name.
#[derive(Clone)]
pub enum Says {
    /// These records, with this time to live in seconds.
    Records(u32, Vec<RData>),
    /// Over UDP that it is too long, over TCP these.
    Long(Vec<RData>),
    /// No such name, with this time to live in seconds.
    Nothing(u32),
    Fails,
    Silence,
}

#[derive(Default)]
struct Table {
    says: HashMap<(Name, RecordType), Says>,
    asked: Vec<(Name, RecordType)>,
}

impl Dns {
    /// Knows of no name.
    pub fn open() -> Self {
        let (udp, tcp) = sockets();
        let (address, table) = (udp.local_addr().unwrap(), Arc::<Mutex<Table>>::default());
        let own = Arc::clone(&table);
        std::thread::spawn(move || serve_udp(&udp, &own));
        let own = Arc::clone(&table);
        std::thread::spawn(move || {
            for stream in tcp.incoming().map_while(Result::ok) {
                let own = Arc::clone(&own);
                std::thread::spawn(move || serve_tcp(stream, &own));
            }
        });
        Self { address, table }
    }

    pub fn says(&self, name: &Name, kind: RecordType, says: Says) {
        self.table
            .lock()
            .unwrap()
            .says
            .insert((name.to_lowercase(), kind), says);
    }

    /// The address has these names, with this time to live in seconds.
    pub fn names(&self, address: &str, ttl: u32, names: &[&str]) {
        let records = names.iter().map(|name| RData::PTR(PTR(self::name(name)))).collect();
        self.says(&arpa(address), RecordType::PTR, Says::Records(ttl, records));
    }

    /// The name has these addresses, all of one kind, with this time to live in seconds.
    pub fn has(&self, name: &str, ttl: u32, addresses: &[&str]) {
        let records: Vec<RData> = addresses.iter().map(|address| data(address)).collect();
        let kind = records[0].record_type();
        self.says(&self::name(name), kind, Says::Records(ttl, records));
    }

    pub fn is_alias(&self, name: &str, kind: RecordType, of: &str) {
        let record = RData::CNAME(CNAME(self::name(of)));
        self.says(&self::name(name), kind, Says::Records(300, vec![record]));
    }

    /// How often it was asked for the names of this address.
    pub fn asked(&self, address: &str) -> usize {
        let name = arpa(address);
        let table = self.table.lock().unwrap();
        table.asked.iter().filter(|(asked, _)| *asked == name).count()
    }

    /// How often it was asked anything.
    pub fn asked_in_all(&self) -> usize {
        self.table.lock().unwrap().asked.len()
    }
}

pub fn name(text: &str) -> Name {
    let mut name = Name::from_ascii(text).expect("a name");
    name.set_fqdn(true);
    name
}

/// The name under which the names of an address stand.
pub fn arpa(address: &str) -> Name {
    let mut name = Name::from(address.parse::<IpAddr>().expect("an address"));
    name.set_fqdn(true);
    name
}

fn data(address: &str) -> RData {
    match address.parse().expect("an address") {
        IpAddr::V4(v4) => RData::A(A(v4)),
        IpAddr::V6(v6) => RData::AAAA(AAAA(v6)),
    }
}

/// Both on one port, which the system chooses.
fn sockets() -> (UdpSocket, TcpListener) {
    for _ in 0..100 {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
            return (udp, tcp);
        }
    }
    panic!("no port is free for both");
}

fn serve_udp(socket: &UdpSocket, table: &Mutex<Table>) {
    let mut buffer = [0; 4096];
    while let Ok((count, peer)) = socket.recv_from(&mut buffer) {
        if let Some(answer) = answer(&buffer[..count], table, false) {
            let _ = socket.send_to(&answer, peer);
        }
    }
}

fn serve_tcp(mut stream: TcpStream, table: &Mutex<Table>) {
    let mut length = [0; 2];
    while stream.read_exact(&mut length).is_ok() {
        let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
        if stream.read_exact(&mut question).is_err() {
            return;
        }
        if let Some(answer) = answer(&question, table, true) {
            let length = u16::try_from(answer.len()).unwrap().to_be_bytes();
            let _ = stream.write_all(&[&length[..], &answer].concat());
        }
    }
}

/// `None`: no answer is sent.
fn answer(question: &[u8], table: &Mutex<Table>, whole: bool) -> Option<Vec<u8>> {
    let question = Message::from_vec(question).ok()?;
    let query = question.queries.first()?.clone();
    let key = (query.name().to_lowercase(), query.query_type());
    let says = {
        let mut table = table.lock().unwrap();
        table.asked.push(key.clone());
        table.says.get(&key).cloned().unwrap_or(Says::Nothing(60))
    };
    let mut answer = Message::response(question.metadata.id, OpCode::Query);
    answer.metadata.recursion_available = true;
    let record = |ttl: u32, data: RData| Record::from_rdata(query.name().clone(), ttl, data);
    match says {
        Says::Records(ttl, list) => _ = answer.add_answers(list.into_iter().map(|data| record(ttl, data))),
        Says::Long(_) if !whole => answer.metadata.truncation = true,
        Says::Long(list) => _ = answer.add_answers(list.into_iter().map(|data| record(300, data))),
        Says::Nothing(ttl) => {
            answer.metadata.response_code = ResponseCode::NXDomain;
            let soa = SOA::new(name("ns.example"), name("root.example"), 1, 3600, 600, 86400, ttl);
            answer.add_authority(Record::from_rdata(name("example"), ttl, RData::SOA(soa)));
        }
        Says::Fails => answer.metadata.response_code = ResponseCode::ServFail,
        Says::Silence => return None,
    }
    answer.add_query(query);
    answer.to_vec().ok()
}

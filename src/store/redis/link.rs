//! One connection to one server: a pipeline out, its answers back, each call with an end in time.
//!
//! A call that fails half way leaves answers on the way that would be taken for those of the next: the connection is then
//! dropped, never read on.

use std::time::Duration;

use redis::{Client, Cmd, Connection, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, TlsCertificates, Value};

use super::fault::Fault;
use super::url::{Login, Node};
use crate::time;

/// How connections are made.
#[derive(Clone)]
pub(super) struct Dial {
    pub tls: bool,
    /// Authorities in PEM that a certificate must come from; the system's when there are none here.
    pub ca: Option<Vec<u8>>,
    /// For each address of a name.
    pub connect_timeout: Duration,
    /// For the whole of a call, its answers and, at first, the handshake of TLS.
    pub response_timeout: Duration,
}

pub(super) struct Link {
    connection: Connection,
    node: Node,
    dial: Dial,
    /// The time that the socket's calls may take, as set last.
    told: Duration,
    /// The keys are on their way here: each command must say that it knows (ASKING).
    asking: bool,
}

impl Link {
    /// Connects, says who calls, and chooses the database.
    pub fn open(dial: &Dial, node: &Node, login: &Login, db: u32) -> Result<Self, Fault> {
        let failed = |error| Fault::connection(&error, node);
        let client = client(dial, node).map_err(failed)?;
        let connection = client
            .get_connection_with_timeout(dial.connect_timeout)
            .map_err(failed)?;
        let mut link = Self {
            connection,
            node: node.clone(),
            dial: dial.clone(),
            told: Duration::ZERO,
            asking: false,
        };
        // Not left to the client, which would want the answers within the time for connecting.
        let mut hello = Vec::new();
        if let Some(password) = &login.password {
            let mut auth = redis::cmd("AUTH");
            hello.push(auth.arg(&login.user).arg(password).to_owned());
        }
        if db != 0 {
            hello.push(redis::cmd("SELECT").arg(db).to_owned());
        }
        if !hello.is_empty() {
            link.ask(&hello)?;
        }
        Ok(link)
    }

    pub fn node(&self) -> &Node {
        &self.node
    }

    pub fn set_asking(&mut self) {
        self.asking = true;
    }

    /// As [`call`](Self::call), where an error among the answers is a fault of the call.
    pub fn ask(&mut self, commands: &[Cmd]) -> Result<Vec<Value>, Fault> {
        let replies = self.call(commands)?;
        let refused = replies.iter().find_map(|reply| self.fault(reply));
        refused.map_or(Ok(replies), Err)
    }

    /// Sends the commands in one go and returns an answer for each, errors of the server among them.
    ///
    /// After a fault the link must be dropped.
    pub fn call(&mut self, commands: &[Cmd]) -> Result<Vec<Value>, Fault> {
        let mut bytes = Vec::new();
        for command in commands {
            if self.asking {
                redis::cmd("ASKING").write_packed_command(&mut bytes);
            }
            command.write_packed_command(&mut bytes);
        }
        let end = time::uptime() + self.dial.response_timeout;
        self.within(end)?;
        self.connection
            .send_packed_command(&bytes)
            .map_err(|error| self.lost(&error))?;
        let mut replies = Vec::with_capacity(commands.len());
        for _ in commands {
            if self.asking {
                self.receive(end)?;
            }
            let reply = self
                .receive(end)
                .map_err(|lost| self.farewell(&replies).unwrap_or(lost))?;
            replies.push(reply);
        }
        Ok(replies)
    }

    /// The fault that an error answer of the server means.
    pub fn fault(&self, reply: &Value) -> Option<Fault> {
        match reply {
            Value::ServerError(error) => Some(Fault::reply(error, &self.node)),
            _ => None,
        }
    }

    /// Why the server hung up, if it gave a reason first: a client without a password may not send it a long command.
    fn farewell(&self, replies: &[Value]) -> Option<Fault> {
        let fault = self.fault(replies.last()?)?;
        matches!(fault, Fault::Refused(_)).then_some(fault)
    }

    fn receive(&mut self, end: Duration) -> Result<Value, Fault> {
        self.within(end)?;
        self.connection.recv_response().map_err(|error| self.lost(&error))
    }

    /// Lets reads and writes take until `end`, or a little longer.
    fn within(&mut self, end: Duration) -> Result<(), Fault> {
        let left = end.saturating_sub(time::uptime());
        if left.is_zero() {
            return Err(Fault::late(&self.node));
        }
        // PERF: answers come within milliseconds; each is two system calls more where the socket's timeouts are set anew.
        if (left..left + WITHIN).contains(&self.told) {
            return Ok(());
        }
        let set = self.connection.set_read_timeout(Some(left));
        set.and_then(|()| self.connection.set_write_timeout(Some(left)))
            .map_err(|error| self.lost(&error))?;
        self.told = left;
        Ok(())
    }

    fn lost(&self, error: &redis::RedisError) -> Fault {
        Fault::connection(error, &self.node)
    }
}

/// Tolerance for a call beyond its timeout.
const WITHIN: Duration = Duration::from_millis(50);

fn client(dial: &Dial, node: &Node) -> redis::RedisResult<Client> {
    let (host, port) = (node.host.clone(), node.port);
    let address = if dial.tls {
        ConnectionAddr::TcpTls {
            host,
            port,
            insecure: false,
            tls_params: None,
        }
    } else {
        ConnectionAddr::Tcp(host, port)
    };
    let info: ConnectionInfo = address.into_connection_info()?;
    // Off by default in this client; without it every call would wait for a delayed acknowledgement.
    let tcp = info.tcp_settings().clone().set_nodelay(true);
    let redis = info.redis_settings().clone().set_skip_set_lib_name();
    let info = info.set_tcp_settings(tcp).set_redis_settings(redis);
    match &dial.ca {
        Some(ca) if dial.tls => Client::build_with_tls(
            info,
            TlsCertificates {
                client_tls: None,
                root_cert: Some(ca.clone()),
            },
        ),
        _ => Client::open(info),
    }
}

//! A gate as a separate process, with one room on hold, and its answers.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Stopped gracefully when it is dropped, so that it says goodbye to the others.
pub struct Gate {
    child: Child,
    folder: PathBuf,
    pub address: SocketAddr,
    admin: SocketAddr,
}

impl Gate {
    /// Starts `program` on the store, and does not wait for it. A room that others have already made is changed to this
    /// configuration.
    pub fn start(program: &str, store: &str, prefix: &str, room: &str) -> Self {
        let (address, admin) = (free_address(), free_address());
        let folder = std::env::temp_dir().join(format!("ropeline-load-{}-{prefix}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the gate");
        let config = format!(
            "[server]\nlisten = [\"{address}\"]\nadmin_listen = \"{admin}\"\ntrusted_proxies = [\"127.0.0.1/32\"]\n\
             [upstream]\nurl = \"http://127.0.0.1:9\"\n[store]\nurl = \"{store}\"\nprefix = \"{prefix}\"\n\
             [tokens]\nkeys = [{{ id = \"load\", secret = \"a secret of the load test, long enough for any ring\" }}]\n\
             [[room]]\nname = \"{room}\"\nmode = \"hold\"\n"
        );
        let file = folder.join("config.toml");
        std::fs::write(&file, config).expect("the config is written");
        let child = Command::new(program)
            .args(["run", "--config"])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the gate");
        Self {
            child,
            folder,
            address,
            admin,
        }
    }

    /// Whether it takes visitors and has read its log to the end.
    pub fn is_live(&self) -> bool {
        let ready = self
            .admin_says("/readyz")
            .is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 "));
        ready
            && self
                .admin_says("/api/v1/gates")
                .is_ok_and(|answer| answer.contains("\"condition\":\"live\""))
    }

    /// How many wait in a room, as it tells; none where it knows no such room.
    pub fn waiting(&self, room: &str) -> Option<u64> {
        let answer = self.admin_says("/api/v1/rooms").ok()?;
        let shown: Value = serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()?;
        let room = shown["rooms"].as_array()?.iter().find(|shown| shown["name"] == room)?;
        room["waiting"].as_u64()
    }

    fn admin_says(&self, target: &str) -> io::Result<String> {
        ask(
            self.admin,
            &format!(
                "GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                self.admin
            ),
        )
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The answer to a request that ends its connection.
pub fn ask(address: SocketAddr, request: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound")
}

//! The gate as an operator would set it up, one for each lane, ended with its guard.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::run::Contestant;
use super::shop::Shop;

/// A process that ends with its guard.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Fails only where it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The rooms that the cases try to enter: on hold, so that no visitor has a pass.
const ROOMS: &str = "[[room]]\nname = \"seats\"\nmode = \"hold\"\n\
                     routes = [\"/seat\", \"/seat/*\", \"PUT /order\", \"GET /list\", \"/book\"]\n\
                     [[room]]\nname = \"box\"\nmode = \"hold\"\nhosts = [\"box.test\"]\nroutes = [\"/office\"]\n";

/// The purpose for which a proxy is configured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setup {
    Plain,
    /// In the clear, from the first byte on.
    Http2,
    /// Before a shop that may be silent for a second; its connections are used again.
    Faulty,
}

const IMPATIENT: &str = "response_timeout = \"1s\"\nbody_timeout = \"1s\"\n";

/// A gate for each lane, below `folder`.
pub fn gate(program: &Path, folder: &Path, lanes: usize, setup: Setup) -> io::Result<(Contestant, Vec<Process>)> {
    let (mut ways, mut processes, mut pids) = (Vec::new(), Vec::new(), Vec::new());
    for lane in 0..lanes {
        let shop = Shop::start()?;
        let home = folder.join(format!("gate-{setup:?}-{lane}"));
        fs::create_dir_all(&home)?;
        let config = format!(
            "[server]\nlisten = [\"127.0.0.1:0\"]\nadmin_listen = \"127.0.0.1:0\"\nthreads = 1\n\
             h2c = {}\n[upstream]\nurl = \"http://{}\"\n{}[store]\nurl = \"embedded:data\"\n{ROOMS}",
            setup == Setup::Http2,
            shop.address,
            if setup == Setup::Faulty { IMPATIENT } else { "" }
        );
        fs::write(home.join("config.toml"), config)?;
        let mut child = Command::new(program)
            .args(["run", "--config", "config.toml"])
            .current_dir(&home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (sender, addresses) = std::sync::mpsc::channel();
        let (out, err) = (child.stdout.take(), child.stderr.take());
        pids.push(child.id());
        processes.push(Process(child));
        // Both are read to their ends, so that a full pipe never stops it.
        for stream in [out.map(boxed), err.map(boxed)].into_iter().flatten() {
            let sender = sender.clone();
            thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if let Some(address) = listening(&line) {
                        let _ = sender.send(address);
                    }
                }
            });
        }
        let address = addresses.recv_timeout(START).map_err(io::Error::other)?;
        ways.push((address, shop));
    }
    let contestant = Contestant {
        lanes: ways,
        pids,
        is_gate: true,
        patience: Duration::from_secs(20),
    };
    Ok((contestant, processes))
}

fn boxed(stream: impl io::Read + Send + 'static) -> Box<dyn io::Read + Send> {
    Box::new(stream)
}

/// Where visitors reach the gate, from the line that says so.
fn listening(line: &str) -> Option<SocketAddr> {
    let (_, fields) = line.split_once("serving")?;
    let (_, address) = fields.split_once("listen")?.1.split_once("127.0.0.1:")?;
    let port: u16 = address
        .split(|other: char| !other.is_ascii_digit())
        .next()?
        .parse()
        .ok()?;
    Some(SocketAddr::from(([127, 0, 0, 1], port)))
}

/// How long a proxy may take to come up.
pub const START: Duration = Duration::from_secs(30);

//! Debian's nginx and `HAProxy` as an operator would set them up: plain reverse proxies, all lanes in one process.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::suite::proxy::{Process, START, Setup};
use crate::suite::run::Contestant;
use crate::suite::shop::Shop;

/// Debian's nginx as a reverse proxy, by the book.
pub fn nginx(folder: &Path, lanes: usize, setup: Setup) -> io::Result<(Contestant, Vec<Process>)> {
    let home = folder.join(format!("nginx-{setup:?}"));
    let how = if setup == Setup::Http2 { " http2" } else { "" };
    let (keeps, waits) = match setup {
        Setup::Faulty => ("keepalive 8;", "proxy_read_timeout 1s;\n    "),
        _ => ("", ""),
    };
    fs::create_dir_all(&home)?;
    let ways = ways(lanes)?;
    let servers: Vec<String> = ways
        .iter()
        .enumerate()
        .map(|(lane, (address, shop))| {
            format!(
                "upstream shop{lane} {{ server {}; {keeps} }}\nserver {{\n  listen {address}{how};\n  location ^~ /seat {{ deny all; }}\n  location / {{\n    \
                 proxy_pass http://shop{lane};\n    {waits}proxy_http_version 1.1;\n    proxy_set_header Host $http_host;\n    \
                 proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n    \
                 proxy_set_header X-Forwarded-Proto $scheme;\n    proxy_set_header Upgrade $http_upgrade;\n    \
                 proxy_set_header Connection $connection_upgrade;\n  }}\n}}\n",
                shop.address
            )
        })
        .collect();
    let servers = servers.concat();
    let temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {};\n", home.join(name).display()))
        .concat();
    let config = format!(
        "daemon off;\nmaster_process off;\npid {0}/pid;\nerror_log {0}/error.log;\nevents {{}}\nhttp {{\naccess_log off;\n\
         {temp}map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}\n{servers}}}\n",
        home.display()
    );
    let file = home.join("nginx.conf");
    fs::write(&file, config)?;
    let mut command = Command::new("nginx");
    command
        .arg("-p")
        .arg(&home)
        .arg("-e")
        .arg(home.join("error.log"))
        .arg("-c")
        .arg(&file);
    started(command, ways, &home)
}

/// Debian's `HAProxy` as a reverse proxy, by the book.
pub fn haproxy(folder: &Path, lanes: usize, setup: Setup) -> io::Result<(Contestant, Vec<Process>)> {
    let home = folder.join(format!("haproxy-{setup:?}"));
    let how = if setup == Setup::Http2 { " proto h2" } else { "" };
    let (waits, reuses) = match setup {
        Setup::Faulty => (1, "  http-reuse always\n"),
        _ => (5, ""),
    };
    fs::create_dir_all(&home)?;
    let ways = ways(lanes)?;
    let sections: Vec<String> = ways
        .iter()
        .enumerate()
        .map(|(lane, (address, shop))| {
            format!(
                "frontend front{lane}\n  bind {address}{how}\n  http-request deny if {{ path_beg /seat }}\n  \
                 http-request set-header X-Forwarded-Proto http\n  default_backend back{lane}\n\
                 backend back{lane}\n{reuses}  server shop {}\n",
                shop.address
            )
        })
        .collect();
    let sections = sections.concat();
    let config = format!(
        "global\n  maxconn 1000\ndefaults\n  mode http\n  option forwardfor\n  timeout connect 2s\n  timeout client 5s\n  \
         timeout server {waits}s\n  timeout http-request 5s\n  timeout tunnel 10s\n{sections}"
    );
    let file = home.join("haproxy.cfg");
    fs::write(&file, config)?;
    let mut command = Command::new("haproxy");
    command.arg("-db").arg("-f").arg(&file);
    started(command, ways, &home)
}

/// Ports that are free now, each before a shop of its own.
fn ways(lanes: usize) -> io::Result<Vec<(SocketAddr, Shop)>> {
    let listeners: Vec<TcpListener> = (0..lanes)
        .map(|_| TcpListener::bind("127.0.0.1:0"))
        .collect::<Result<_, _>>()?;
    let with_shop = |listener: &TcpListener| Ok((listener.local_addr()?, Shop::start()?));
    listeners.iter().map(with_shop).collect()
}

fn started(
    mut command: Command,
    lanes: Vec<(SocketAddr, Shop)>,
    home: &Path,
) -> io::Result<(Contestant, Vec<Process>)> {
    let log = home.join("said");
    let said = fs::File::create(&log)?;
    command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
    let process = Process(command.spawn()?);
    for (address, _) in &lanes {
        let up = (0..START.as_millis() / STEP.as_millis()).any(|_| {
            let up = TcpStream::connect(address).is_ok();
            if !up {
                thread::park_timeout(STEP);
            }
            up
        });
        if !up {
            return Err(io::Error::other(fs::read_to_string(&log)?));
        }
    }
    let contestant = Contestant {
        lanes,
        pids: vec![process.0.id()],
        is_gate: false,
        patience: Duration::from_secs(2),
    };
    Ok((contestant, vec![process]))
}

/// Between two looks whether a proxy is up.
const STEP: Duration = Duration::from_millis(20);

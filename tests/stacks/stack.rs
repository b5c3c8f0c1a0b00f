//! A stack, and its reading of a request.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::case::{Answer, Case};
use super::gate::{Process, exchange, status_of};
use super::start::Starting;

/// A stack that listens.
pub struct Stack {
    pub name: &'static str,
    pub version: String,
    address: SocketAddr,
    _processes: Vec<Process>,
}

/// The folders in which `scripts/stacks` has put the parts of the stacks.
pub struct Places {
    /// The programs, in the repository.
    pub apps: PathBuf,
    /// The folder with the installed and built programs.
    pub built: PathBuf,
    /// For their files.
    pub work: PathBuf,
}

impl Stack {
    pub const NAMES: [&str; 14] = [
        "php",
        "php-nginx",
        "php-apache",
        "django",
        "werkzeug",
        "bottle",
        "cherrypy",
        "sanic",
        "express4",
        "express5",
        "koa",
        "rack",
        "tomcat",
        "mojolicious",
    ];

    pub fn start(name: &'static str, places: &Places) -> io::Result<Self> {
        let work = places.work.join(name);
        fs::create_dir_all(&work)?;
        let starting = Starting { places, work };
        let (processes, port, version) = match name {
            "php" => starting.php()?,
            "php-nginx" => starting.nginx()?,
            "php-apache" => starting.apache()?,
            "django" | "werkzeug" | "bottle" | "cherrypy" => starting.gunicorn(name)?,
            "sanic" => starting.sanic()?,
            "express4" | "express5" => starting.express(name)?,
            "koa" => starting.koa()?,
            "rack" => starting.rack()?,
            "tomcat" => starting.tomcat()?,
            "mojolicious" => starting.mojolicious()?,
            "go" => starting.go()?,
            other => return Err(io::Error::other(format!("no stack {other}"))),
        };
        Ok(Self {
            name,
            version,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            _processes: processes,
        })
    }

    /// Its reading of a request that the gate forwarded.
    pub fn ask(&self, forwarded: &[u8], number: u64) -> io::Result<Answer> {
        let answer = exchange(self.address, number, &Case::with(forwarded, "Connection: close"))?;
        let status = status_of(&answer).ok_or_else(|| io::Error::other("no status"))?;
        let body = answer
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .map_or(&[][..], |at| &answer[at + 4..]);
        Ok(Answer::read(status, &String::from_utf8_lossy(body)))
    }
}

impl Places {
    pub fn of(root: &Path, work: PathBuf) -> Self {
        Self {
            apps: root.join("tests/stacks/apps"),
            built: root.join("target/stacks"),
            work,
        }
    }
}

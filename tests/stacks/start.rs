//! The stacks, started as their users start them, each with a small program that prints its reading.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::gate::{self, Process, first_line, port_in};
use super::stack::Places;

/// Its processes, its port and its version.
pub type Started = io::Result<(Vec<Process>, u16, String)>;

pub struct Starting<'p> {
    pub places: &'p Places,
    /// For what this one writes.
    pub work: PathBuf,
}

impl Starting<'_> {
    pub fn php(&self) -> Started {
        let port = free_port()?;
        let mut command = Command::new("php");
        command
            .args(["-S", &format!("127.0.0.1:{port}"), "index.php"])
            .current_dir(self.places.apps.join("php"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = awaited(&mut command, port)?;
        Ok((vec![process], port, first_words("php", &["-v"], 2)))
    }

    /// php-fpm on a socket of its own.
    fn fpm(&self) -> io::Result<(Process, PathBuf)> {
        let socket = self.work.join("fpm.sock");
        let text = format!(
            "[global]\nerror_log = {work}/fpm.log\ndaemonize = no\n[www]\nlisten = {socket}\nlisten.mode = 0666\n\
             user = www-data\npm = static\npm.max_children = 2\n",
            work = self.work.display(),
            socket = socket.display()
        );
        let file = self.work.join("fpm.conf");
        fs::write(&file, text)?;
        let mut command = Command::new("/usr/sbin/php-fpm8.2");
        command
            .arg("--nodaemonize")
            .arg("--fpm-config")
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = Process(command.spawn()?);
        wait_for(|| socket.exists())?;
        Ok((process, socket))
    }

    pub fn nginx(&self) -> Started {
        let (fpm, socket) = self.fpm()?;
        let port = free_port()?;
        let text = format!(
            "daemon off; error_log {work}/nginx.log; pid {work}/nginx.pid; events {{}}\nhttp {{ access_log off;\n\
             client_body_temp_path {work}/body; fastcgi_temp_path {work}/fastcgi; proxy_temp_path {work}/proxy;\n\
             uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;\n\
             server {{ listen 127.0.0.1:{port}; location / {{ include /etc/nginx/fastcgi_params;\n\
             fastcgi_param SCRIPT_FILENAME {app}; fastcgi_pass unix:{socket}; }} }} }}\n",
            work = self.work.display(),
            app = self.places.apps.join("php/index.php").display(),
            socket = socket.display()
        );
        let file = self.work.join("nginx.conf");
        fs::write(&file, text)?;
        let mut command = Command::new("/usr/sbin/nginx");
        command
            .arg("-c")
            .arg(&file)
            .arg("-p")
            .arg(&self.work)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let nginx = awaited(&mut command, port)?;
        let version = format!(
            "{}, {}",
            first_words("php", &["-v"], 2),
            said("/usr/sbin/nginx", &["-v"])
        );
        Ok((vec![nginx, fpm], port, version))
    }

    pub fn apache(&self) -> Started {
        let (fpm, socket) = self.fpm()?;
        let port = free_port()?;
        let modules = ["mpm_event", "authz_core", "proxy", "proxy_fcgi", "dir", "alias"]
            .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"));
        let text = format!(
            "ServerRoot {work}\nServerName shop.example\nPidFile {work}/apache.pid\nErrorLog {work}/apache.log\nListen 127.0.0.1:{port}\n{modules}\
             User www-data\nGroup www-data\nDocumentRoot {root}\n<Directory {root}>\nRequire all granted\nFallbackResource /index.php\n</Directory>\n\
             <FilesMatch \"\\.php$\">\nSetHandler \"proxy:unix:{socket}|fcgi://localhost/\"\n</FilesMatch>\n",
            work = self.work.display(),
            root = self.places.apps.join("php").display(),
            socket = socket.display(),
            modules = modules.concat()
        );
        let file = self.work.join("apache.conf");
        fs::write(&file, text)?;
        let mut command = Command::new("/usr/sbin/apache2");
        command
            .arg("-DFOREGROUND")
            .arg("-f")
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let apache = awaited(&mut command, port)?;
        let version = format!(
            "{}, {}",
            first_words("php", &["-v"], 2),
            said("/usr/sbin/apache2", &["-v"])
        );
        Ok((vec![apache, fpm], port, version))
    }

    pub fn gunicorn(&self, name: &str) -> Started {
        let bin = self.places.built.join("python/bin");
        let mut command = Command::new(bin.join("gunicorn"));
        command
            .args([
                "--bind",
                "127.0.0.1:0",
                "--workers",
                "2",
                "--worker-tmp-dir",
                "/dev/shm",
                // It accepts the fields of a proxy from the gate.
                "--forwarded-allow-ips",
                "*",
            ])
            .arg(format!("{name}_app:application"))
            .current_dir(self.places.apps.join("python"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let (process, port) = told(&mut command)?;
        let show = format!(
            "from importlib.metadata import version as v; print('{name}', v('{name}') + ', gunicorn', v('gunicorn'))"
        );
        let version = said(bin.join("python3").to_str().unwrap_or_default(), &["-c", &show]);
        Ok((vec![process], port, version))
    }

    pub fn sanic(&self) -> Started {
        let python = self.places.built.join("python/bin/python3");
        let mut command = Command::new(&python);
        command
            .arg("sanic_app.py")
            .current_dir(self.places.apps.join("python"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let (process, port) = told(&mut command)?;
        let show = "from importlib.metadata import version as v; print('Sanic', v('sanic'))";
        let version = said(python.to_str().unwrap_or_default(), &["-c", show]);
        Ok((vec![process], port, version))
    }

    pub fn express(&self, name: &str) -> Started {
        let show = format!("'Express '+v('{name}')+', qs '+v('qs')");
        self.node(&["readings.cjs", name, "0"], &show)
    }

    pub fn koa(&self) -> Started {
        let show = "'Koa '+v('koa')+', koa-bodyparser '+v('koa-bodyparser')+', qs '+v('qs')";
        self.node(&["koa.cjs", "0"], show)
    }

    /// A program of Node.js, run where its packages are; `show` says their versions.
    fn node(&self, arguments: &[&str], show: &str) -> Started {
        let home = self.places.built.join("node");
        for file in ["lines.cjs", arguments[0]] {
            fs::copy(self.places.apps.join("node").join(file), home.join(file))?;
        }
        let mut command = Command::new("node");
        command.args(arguments).current_dir(&home);
        let (process, port) = told(&mut command)?;
        let show = format!(
            "const v=p=>require('./node_modules/'+p+'/package.json').version;console.log({show}+', Node.js '+process.versions.node)"
        );
        let version = Command::new("node").args(["-e", &show]).current_dir(&home).output()?;
        let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
        Ok((vec![process], port, version))
    }

    pub fn rack(&self) -> Started {
        let mut command = Command::new("puma");
        command
            .args([
                "-b",
                "tcp://127.0.0.1:0",
                "-t",
                "2:2",
                "-e",
                "production",
                "-w",
                "0",
                "config.ru",
            ])
            .current_dir(self.places.apps.join("ruby"));
        let (process, port) = told(&mut command)?;
        let version = said(
            "ruby",
            &[
                "-e",
                "require 'rack'; require 'puma'; puts \"Rack #{Rack.release}, Puma #{Puma::Const::VERSION}, Ruby #{RUBY_VERSION}\"",
            ],
        );
        Ok((vec![process], port, version))
    }

    pub fn tomcat(&self) -> Started {
        let jars = fs::read_dir("/usr/share/tomcat10/lib")?
            .filter_map(Result::ok)
            .map(|entry| entry.path());
        let others = [
            "/usr/share/java/jackson-core.jar",
            "/usr/share/java/jackson-databind.jar",
            "/usr/share/java/jackson-annotations.jar",
            JULI,
        ]
        .map(PathBuf::from);
        let path: Vec<String> = jars
            .chain(others)
            .chain([self.places.built.join("java")])
            .map(|path| path.display().to_string())
            .collect();
        let mut command = Command::new("java");
        command
            .args(["-cp", &path.join(":"), "Readings"])
            .arg(&self.work)
            .arg("0");
        let (mut child, pick): (_, fn(&str) -> Option<u16>) = (piped(&mut command)?, |line| line.trim().parse().ok());
        let port = first_line(&mut child, pick)?;
        let version = said("java", &["-cp", &path.join(":"), "org.apache.catalina.util.ServerInfo"]);
        let version = version
            .lines()
            .next()
            .unwrap_or_default()
            .replace("Server version: ", "");
        Ok((vec![Process(child)], port, version))
    }

    pub fn mojolicious(&self) -> Started {
        let mut command = Command::new("perl");
        command
            .args(["readings.pl", "daemon", "-m", "production", "-l", "http://127.0.0.1"])
            .current_dir(self.places.apps.join("perl"));
        let (process, port) = told(&mut command)?;
        let show = "printf 'Mojolicious %s, Perl %vd', Mojolicious->VERSION, $^V";
        Ok((vec![process], port, said("perl", &["-MMojolicious", "-e", show])))
    }

    pub fn go(&self) -> Started {
        let mut command = Command::new(self.places.built.join("go/readings"));
        command.arg("0");
        let mut child = piped(&mut command)?;
        let pick: fn(&str) -> Option<u16> = |line| line.trim().parse().ok();
        let port = first_line(&mut child, pick)?;
        Ok((vec![Process(child)], port, said("go", &["version"])))
    }
}

/// Tomcat logs through it; it stands apart from the other jars.
const JULI: &str = "/usr/share/tomcat10/bin/tomcat-juli.jar";

/// Starts a program that says where it listens.
fn told(command: &mut Command) -> io::Result<(Process, u16)> {
    let mut child = piped(command)?;
    let pick: fn(&str) -> Option<u16> = |line| {
        port_in(line)
            .filter(|port| *port > 0)
            .or_else(|| line.trim().parse().ok())
    };
    let port = first_line(&mut child, pick);
    let process = Process(child);
    Ok((process, port?))
}

fn piped(command: &mut Command) -> io::Result<std::process::Child> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Starts a program with its port as an argument, and waits until it listens.
fn awaited(command: &mut Command, port: u16) -> io::Result<Process> {
    let process = Process(command.stdin(Stdio::null()).spawn()?);
    wait_for(|| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok())?;
    Ok(process)
}

fn wait_for(ready: impl Fn() -> bool) -> io::Result<()> {
    let began = Instant::now();
    while !ready() {
        if began.elapsed() > gate::START {
            return Err(io::Error::other("it does not listen"));
        }
        std::thread::yield_now();
    }
    Ok(())
}

/// For programs that cannot choose a port and say it.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The first line that a program says of itself.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output
        .map(|output| [output.stdout, output.stderr].concat())
        .unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn first_words(program: &str, arguments: &[&str], words: usize) -> String {
    said(program, arguments)
        .split(' ')
        .take(words)
        .collect::<Vec<_>>()
        .join(" ")
}

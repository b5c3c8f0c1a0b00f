//! A gate at work: the binary before a shop, on ports that the system chooses, with a folder that outlives it.

use std::net::SocketAddr;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Ended, Program};
use crate::shop::Shop;
use crate::until;
use crate::visitor::{Answer, Visitor};

/// A folder with a configuration, and a shop.
pub struct Site {
    folder: TempDir,
    pub shop: Shop,
}

/// A gate that serves.
pub struct Gate {
    pub program: Program,
    pub address: SocketAddr,
    pub admin: SocketAddr,
}

impl Site {
    /// A room with one slot over the whole shop, with these further lines in `[[room]]`, and `tables` behind it. Ten visitors
    /// may join: their other requests must not count as joins.
    pub fn new(room: &str, tables: &str) -> Self {
        let (folder, shop) = (tempfile::tempdir().unwrap(), Shop::open());
        let config = format!(
            "[server]\nlisten = [\"127.0.0.1:0\"]\nadmin_listen = \"127.0.0.1:0\"\nthreads = 1\n\
             [upstream]\nurl = \"{}\"\n[store]\nurl = \"embedded:data\"\n\
             [limits]\nstatus = {{ requests = 1000, window = \"1s\" }}\njoin = {{ requests = 10, window = \"1 h\" }}\n\
             [[room]]\nname = \"shop\"\ntotal_active_users = 1\n{room}\n{tables}\n",
            shop.url()
        );
        std::fs::write(folder.path().join("config.toml"), config).unwrap();
        Self { folder, shop }
    }

    /// As [`Site::new`], on the shared store at this URL; several gates can be started on it.
    pub fn shared(store: &str, room: &str) -> Self {
        let keys =
            "[tokens]\nkeys = [{ id = \"test\", secret = \"a secret of the tests, long enough for any key ring\" }]";
        let site = Self::new(room, keys);
        site.edit("url = \"embedded:data\"", &format!("url = \"{store}\""));
        site
    }

    /// One line more in `[store]`.
    pub fn set_store(&self, line: &str) {
        self.edit("[limits]", &format!("{line}\n[limits]"));
    }

    /// Replaces what stands once in the configuration.
    pub fn edit(&self, from: &str, to: &str) {
        let config = std::fs::read_to_string(self.path("config.toml")).unwrap();
        assert_eq!(config.matches(from).count(), 1, "{from} in {config}");
        std::fs::write(self.path("config.toml"), config.replace(from, to)).unwrap();
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Starts a gate, and waits until it serves. Where the store is empty, nobody is inside by what it held before.
    pub fn start(&self) -> Gate {
        Gate::serving(Program::start(self.folder.path(), &["run", "--first-start"]))
    }

    /// As [`Site::start`], by an operator who does not say that the start is the first.
    pub fn start_again(&self) -> Gate {
        Gate::serving(Program::start(self.folder.path(), &["run"]))
    }

    /// As [`Site::start`], with a disk that a test can fill.
    pub fn start_on_small_disk(&self) -> Gate {
        Gate::serving(Program::start_on_small_disk(
            self.folder.path(),
            &["run", "--first-start"],
        ))
    }

    /// Runs another command in the folder, to its end.
    pub fn run(&self, args: &[&str]) -> Ended {
        Program::run(self.folder.path(), args)
    }
}

impl Gate {
    /// Waits until the program says where it listens.
    pub fn serving(program: Program) -> Self {
        let mut program = program;
        let serving = until("word that it serves", || {
            assert!(program.runs(), "{}\n{}", program.out(), program.err());
            line_with(&program.err(), "serving")
        });
        // The first of them, where there are several.
        let first = |places: &str| places.split(", ").next().unwrap().parse().unwrap();
        let address = |name: &str| first(serving[name].as_str().unwrap());
        Self {
            address: address("listen"),
            admin: address("admin"),
            program,
        }
    }

    /// Waits until it has a log, and calls.
    pub fn lives(&self) {
        until("calls", || {
            let gate = &self.asks_admin("/api/v1/gates").json()["gate"];
            let calls = gate["cut_off_secs"].is_null() && gate["healing_secs"].is_null();
            (gate["condition"] == "live" && calls).then_some(())
        });
    }

    /// As [`Gate::lives`], where the operator's side asks for this token.
    pub fn lives_with(&self, token: &str) {
        until("calls", || {
            let field = format!("Authorization: Bearer {token}\r\n");
            let gate = &Visitor::new(self.admin).asks("GET /api/v1/gates", &field, "").json()["gate"];
            (gate["condition"] == "live").then_some(())
        });
    }

    /// Waits until it knows that its store is away.
    pub fn is_cut_off(&self) {
        until("the outage", || {
            let gate = &self.asks_admin("/api/v1/gates").json()["gate"];
            gate["cut_off_secs"].is_u64().then_some(())
        });
    }

    pub fn visitor(&self) -> Visitor {
        Visitor::new(self.address)
    }

    /// A visitor who comes in at once.
    pub fn insider(&self) -> Visitor {
        let mut visitor = self.visitor();
        let answer = visitor.goes_to("/");
        assert!(answer.is_the_shops(), "{answer:?}\n{}", self.program.err());
        // The second request carries the pass, so the session is on record.
        assert!(visitor.goes_to("/").is_the_shops());
        visitor
    }

    /// A visitor who has to wait at this position.
    pub fn waits(&self, position: u64) -> Visitor {
        let mut visitor = self.visitor();
        let answer = visitor.goes_to("/");
        assert_eq!((answer.status, answer.word()), (200, "waiting"), "{answer:?}");
        assert_eq!(visitor.position(), Some(position));
        visitor
    }

    /// Asks the operator's side.
    pub fn asks_admin(&self, target: &str) -> Answer {
        Visitor::new(self.admin).asks(&format!("GET {target}"), "", "")
    }

    /// A figure of `/metrics`, without its decimal places.
    pub fn figure(&self, sample: &str) -> u64 {
        let metrics = self.asks_admin("/metrics").body;
        let whole = |line: &str| line.strip_prefix(sample)?.trim().split('.').next()?.parse().ok();
        let value = metrics.lines().find_map(whole);
        value.unwrap_or_else(|| panic!("no {sample} in:\n{metrics}"))
    }

    /// Waits for the first log line with this message, and returns its fields. What a request causes may be logged after
    /// its answer.
    pub fn logs(&self, message: &str) -> Value {
        until(message, || line_with(&self.program.err(), message))
    }

    /// Tells it to stop, and waits until it has.
    pub fn stop(self) -> Ended {
        self.program.signal(Signal::TERM);
        self.program.ended()
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(self) {
        self.program.signal(Signal::KILL);
        self.program.ended();
    }
}

/// The fields of the first log line with this message.
pub fn line_with(log: &str, message: &str) -> Option<Value> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .into_iter()
        .find(|line| line["message"].as_str().is_some_and(|text| text.contains(message)))
}

//! A master, its replica, and sentinels that promote the replica when the master is gone.

use super::{Options, Server, until};

pub struct Sentinel {
    /// Two servers; which of them is master changes.
    pub servers: Vec<Server>,
    pub sentinels: Vec<Server>,
}

impl Sentinel {
    /// Starts one master, one replica and three sentinels, of which two must agree; waits until they know of each other.
    pub fn start(options: &Options) -> Self {
        let master = Server::start(options);
        let replica = Server::start(&options.clone().line(&format!("replicaof 127.0.0.1 {}", master.port())));
        let auth = options
            .password
            .as_ref()
            .map(|password| format!("sentinel auth-pass {NAME} {password}"));
        let watch = Options::default()
            .line(&format!("sentinel monitor {NAME} 127.0.0.1 {} 2", master.port()))
            .line(&format!("sentinel down-after-milliseconds {NAME} 3000"))
            .line(&format!("sentinel failover-timeout {NAME} 5000"))
            .line(&auth.unwrap_or_default());
        let sentinels = (0..3).map(|_| Server::start_as(&watch, true)).collect();
        let all = Self {
            servers: vec![master, replica],
            sentinels,
        };
        all.until_in_sync();
        until("sentinels that know of each other", || {
            all.sentinels.iter().all(|sentinel| {
                let info = sentinel.info("sentinel", "master0").unwrap_or_default();
                info.contains("slaves=1") && info.contains("sentinels=3")
            })
        });
        all
    }

    /// `redis+sentinel://…/shop`.
    pub fn url(&self) -> String {
        let sentinels: Vec<_> = self
            .sentinels
            .iter()
            .map(|one| format!("127.0.0.1:{}", one.port()))
            .collect();
        let login = self.servers[0]
            .options
            .password
            .as_ref()
            .map(|password| format!(":{password}@"));
        format!(
            "redis+sentinel://{}{}/{NAME}",
            login.unwrap_or_default(),
            sentinels.join(",")
        )
    }

    /// Which of the servers the sentinels call the master.
    pub fn master(&self) -> usize {
        let [_, port]: [String; 2] = self.sentinels[0].ask(&format!("SENTINEL get-master-addr-by-name {NAME}"));
        let port = port.parse().ok();
        let master = self.servers.iter().position(|server| Some(server.port()) == port);
        master.expect("one of the two")
    }

    /// Waits until the replica has all that the master has. Before, a failover would measure nothing.
    pub fn until_in_sync(&self) {
        until("a replica in sync", || {
            let roles = |server: &Server| server.info("replication", "role").unwrap_or_default();
            let Some(master) = self.servers.iter().position(|server| roles(server) == "master") else {
                return false;
            };
            let offset = self.servers[master].info("replication", "master_repl_offset");
            let replica = self.servers[master].info("replication", "slave0").unwrap_or_default();
            offset.is_some_and(|offset| replica.contains(&format!("state=online,offset={offset},")))
        });
    }

    /// Waits until the sentinels have made the other server the master, and it says so itself.
    pub fn until_promoted(&self, server: usize) {
        until("a promoted replica", || {
            self.master() == server && self.servers[server].info("replication", "role").as_deref() == Some("master")
        });
    }
}

/// The sentinels' name of the master.
const NAME: &str = "shop";

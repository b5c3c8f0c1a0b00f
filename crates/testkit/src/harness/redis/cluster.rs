//! A cluster of three masters, configured by the harness, so that any server will do.

use super::{Options, Server, until};

/// Three masters that share the slots.
pub struct Cluster {
    pub nodes: Vec<Server>,
}

impl Cluster {
    /// Starts the nodes and waits until each knows all and the cluster serves.
    pub fn start(options: &Options) -> Self {
        let options = options
            .clone()
            .line("cluster-enabled yes")
            .line("cluster-node-timeout 5000");
        let nodes: Vec<_> = (0..NODES).map(|_| Server::start(&options)).collect();
        for (node, first) in nodes.iter().zip((0..).step_by(SLOTS / NODES)) {
            let end = if first == SLOTS / NODES * (NODES - 1) {
                SLOTS
            } else {
                first + SLOTS / NODES
            };
            let slots: Vec<_> = (first..end).map(|slot| slot.to_string()).collect();
            let _: () = node.ask(&format!("CLUSTER ADDSLOTS {}", slots.join(" ")));
        }
        for node in &nodes[1..] {
            let _: () = node.ask(&format!("CLUSTER MEET 127.0.0.1 {}", nodes[0].port()));
        }
        let cluster = Self { nodes };
        until("a cluster that serves", || {
            cluster.nodes.iter().all(|node| {
                let info: String = node.ask("CLUSTER INFO");
                info.contains("cluster_state:ok") && info.contains(&format!("cluster_known_nodes:{NODES}"))
            })
        });
        cluster
    }

    /// `redis+cluster://…` with the nodes in order.
    pub fn url(&self) -> String {
        let nodes: Vec<_> = self
            .nodes
            .iter()
            .map(|node| format!("127.0.0.1:{}", node.port()))
            .collect();
        let login = self.nodes[0]
            .options
            .password
            .as_ref()
            .map(|password| format!(":{password}@"));
        format!("redis+cluster://{}{}", login.unwrap_or_default(), nodes.join(","))
    }

    /// The slot of a key, and which node serves it.
    pub fn home(&self, key: &str) -> (u16, usize) {
        let slot: u16 = self.nodes[0].ask(&format!("CLUSTER KEYSLOT {key}"));
        let home = self
            .nodes
            .iter()
            .position(|node| node.try_ask::<u64>(&format!("EXISTS {key}")).is_ok());
        (slot, home.expect("somebody serves it"))
    }

    /// Begins to move a slot, and moves its keys: the old home now answers ASK.
    pub fn start_move(&self, slot: u16, from: usize, to: usize) {
        let (old, new) = (self.id(from), self.id(to));
        let _: () = self.nodes[to].ask(&format!("CLUSTER SETSLOT {slot} IMPORTING {old}"));
        let _: () = self.nodes[from].ask(&format!("CLUSTER SETSLOT {slot} MIGRATING {new}"));
        loop {
            let keys: Vec<String> = self.nodes[from].ask(&format!("CLUSTER GETKEYSINSLOT {slot} 100"));
            if keys.is_empty() {
                return;
            }
            let port = self.nodes[to].port();
            for key in keys {
                let _: () = self.nodes[from].ask(&format!("MIGRATE 127.0.0.1 {port} {key} 0 5000"));
            }
        }
    }

    /// Ends the move: from now on the old home answers MOVED.
    pub fn end_move(&self, slot: u16, to: usize) {
        let new = self.id(to);
        for node in &self.nodes {
            let _: () = node.ask(&format!("CLUSTER SETSLOT {slot} NODE {new}"));
        }
    }

    fn id(&self, node: usize) -> String {
        self.nodes[node].ask("CLUSTER MYID")
    }
}

const NODES: usize = 3;
const SLOTS: usize = 16_384;

//! A crowd from start to end: all visitors set out, requests without a place knock, the operator watches, and in the end all
//! have been in.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::chance::Chance;
use super::gate::admin_request;
use super::http::Pool;
use super::people::{World, knock, visit};

/// The crowd's tasks, and those that go on until it is gone.
pub struct Crowd {
    people: JoinSet<()>,
    lasting: JoinSet<()>,
}

impl Crowd {
    /// This many set out; they arrive one by one.
    pub fn gather(people: u32, world: &Arc<World>, chance: &Chance, arrive_within_ms: u64) -> Self {
        let (mut visitors, mut lasting) = (JoinSet::new(), JoinSet::new());
        for index in 0..people {
            visitors.spawn(visit(
                Arc::clone(world),
                index,
                chance.nth(u64::from(index)),
                arrive_within_ms,
            ));
        }
        for index in 0..5 {
            lasting.spawn(knock(Arc::clone(world), 1_000_000 + index));
        }
        Self {
            people: visitors,
            lasting,
        }
    }

    /// Looks at the room from the operator's side all the time.
    pub fn watch(&mut self, world: &World, admin: Pool) {
        let (rough, capacity) = (world.rough, world.rules.capacity);
        self.lasting.spawn(async move {
            let request = admin_request(&admin, "GET", "/api/v1/rooms/shop", "");
            loop {
                match admin.ask(request.as_bytes()).await {
                    Ok(answer) if answer.status() == 200 => {
                        let room = answer.json();
                        let held = room["called"].as_u64().unwrap() + room["sessions"].as_u64().unwrap();
                        assert!(held <= capacity, "{held} slots are held: {room}");
                    }
                    Ok(answer) => assert!(rough, "{}", answer.head),
                    Err(error) => assert!(rough, "{error}"),
                }
                sleep(Duration::from_millis(50)).await;
            }
        });
    }

    /// Waits until all have been in; a panic of one of them is raised here. Returns how many have not been in within `bound`,
    /// which is far above the duration of a run.
    pub async fn disperse(&mut self, bound: Duration) -> usize {
        let all = async {
            while !self.people.is_empty() {
                tokio::select! {
                    Some(person) = self.people.join_next() => person.unwrap(),
                    Some(lasting) = self.lasting.join_next() => lasting.unwrap(),
                }
            }
        };
        let _ = timeout(bound, all).await;
        self.lasting.shutdown().await;
        self.people.len()
    }

    /// How many are not through yet.
    pub fn left(&mut self) -> usize {
        while let Some(person) = self.people.try_join_next() {
            person.unwrap();
        }
        self.people.len()
    }
}

//! The base of tests with real processes: processes that end with the test, Chromium driven through `ChromeDriver`, the gate
//! as a process, a proxy before its store. This module knows no shop and no rule of a room.

pub mod browser;
pub mod certificates;
pub mod dns;
pub mod gate;
pub mod guest;
pub mod listen;
pub mod look;
pub mod process;
pub mod redis;
pub mod toxic;

use std::future::Future;
use std::time::Duration;

/// How long a condition may take before a test gives up. Far above any normal duration, since the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Asks again and again until there is an answer; none when none came within [`PATIENCE`].
pub async fn patiently<T, F: Future<Output = Option<T>>>(mut ask: impl FnMut() -> F) -> Option<T> {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.ok()
}

/// As [`patiently`], but panics with `what` when no answer came.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, ask: impl FnMut() -> F) -> T {
    patiently(ask).await.unwrap_or_else(|| panic!("never came: {what}"))
}

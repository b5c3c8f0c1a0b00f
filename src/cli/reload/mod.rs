//! Reload: another configuration in the place of the one in force, while visitors come and go. All or nothing.
//!
//! SIGHUP, `anteroom reload` and a change of the file leave an order; one thread carries them out, one after the other. It
//! reads the file and whatever that names as `anteroom check` does, under the options of the command line, makes everything
//! anew beside what is there, and only then puts it in force. A mistake anywhere leaves everything as it was.

mod command;
mod file;
mod live;
mod prepared;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::admin::{Order, Reloads, Trigger, api};
use crate::config::{self, Config, Overrides, Report};
use crate::logging::Filter;
use crate::proxy::raise_descriptor_limit;
use crate::tls::INTERVAL;

use super::parts;
use super::start::warn_of_few;
use super::systemd::Supervisor;
use file::Watch;

pub use command::{ReloadArgs, run};
pub use live::Live;

/// Where the configuration comes from.
pub struct Source {
    file: Option<PathBuf>,
    overrides: Overrides,
    watch: Option<Watch>,
}

impl Source {
    /// A change of the file counts from here on. Without one there are the defaults; what the command line says stays in
    /// force.
    #[must_use]
    pub fn new(file: Option<PathBuf>, overrides: Overrides) -> Self {
        Self {
            watch: file.clone().map(Watch::new),
            file,
            overrides,
        }
    }

    /// Reads and checks everything that is configured, as it is now.
    #[must_use]
    pub fn read(&self) -> Report {
        config::read(self.file.as_deref(), &self.overrides)
    }
}

/// How long a drain may take, by the configuration in force; and the end of all reloads. Clones are the same.
#[derive(Clone, Debug)]
pub struct Patience(Arc<(AtomicU64, AtomicBool)>);

impl Patience {
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let patience = Self(Arc::default());
        patience.set(config);
        patience
    }

    fn set(&self, config: &Config) {
        let millis = u64::try_from(config.server.drain_deadline.as_millis()).unwrap_or(u64::MAX);
        self.0.0.store(millis, Ordering::Relaxed);
    }

    #[must_use]
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.0.0.load(Ordering::Relaxed))
    }

    /// From here on nothing is taken any more.
    #[must_use]
    pub fn end(&self) -> Duration {
        self.0.1.store(true, Ordering::Relaxed);
        self.now()
    }

    fn has_ended(&self) -> bool {
        self.0.1.load(Ordering::Relaxed)
    }
}

/// Starts the thread that carries orders out and looks at the file, once it is told to by what is given back, and until the process
/// ends.
///
/// # Errors
/// When the system gives no thread.
pub fn look_after(
    source: Source,
    config: Config,
    live: Live,
    filter: Filter,
    (reloads, supervisor): (Reloads, Arc<Supervisor>),
    orders: Receiver<Order>,
    patience: Patience,
) -> io::Result<SyncSender<()>> {
    let (begin, begins) = sync_channel(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let reloader = Reloader {
        source,
        config,
        live,
        filter,
        runtime,
        reloads,
        supervisor,
        patience,
    };
    let body = move || {
        if begins.recv().is_ok() {
            reloader.carry_out(&orders);
        }
    };
    std::thread::Builder::new().name("reload".to_owned()).spawn(body)?;
    Ok(begin)
}

/// What the thread has.
struct Reloader {
    source: Source,
    /// In force.
    config: Config,
    live: Live,
    filter: Filter,
    /// For what the rooms have to say.
    runtime: tokio::runtime::Runtime,
    reloads: Reloads,
    supervisor: Arc<Supervisor>,
    patience: Patience,
}

impl Reloader {
    fn carry_out(mut self, orders: &Receiver<Order>) {
        loop {
            let order = match orders.recv_timeout(INTERVAL) {
                Ok(order) => order,
                Err(RecvTimeoutError::Timeout) if self.source.watch.as_mut().is_some_and(Watch::has_news) => Order {
                    trigger: Trigger::File,
                    answer: None,
                },
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if self.patience.has_ended() {
                return;
            }
            let told = self.reload(order.trigger);
            if let Some(answer) = order.answer {
                // Whoever asked may be gone.
                let _ = answer.send(told);
            }
        }
    }

    fn reload(&mut self, trigger: Trigger) -> api::Reload {
        self.supervisor.reloading();
        if let Some(watch) = &mut self.source.watch {
            watch.is_tried();
        }
        let report = self.source.read();
        let warnings = report
            .warnings()
            .iter()
            .map(ToString::to_string)
            .take(MOST_TOLD)
            .collect();
        let outcome = self.attempt(report).map_err(few);
        log(trigger, &outcome);
        let told = self.reloads.tell(trigger, outcome, warnings);
        self.supervisor.ready();
        told
    }

    /// The keys that are otherwise now, or every mistake.
    fn attempt(&mut self, report: Report) -> Result<Vec<String>, Vec<String>> {
        let place = |mistake: &dyn ToString| match &self.source.file {
            Some(file) => format!("{}: {}", file.display(), mistake.to_string()),
            None => mistake.to_string(),
        };
        let (config, _) = report
            .finish()
            .map_err(|mistakes| mistakes.list().iter().map(|one| place(one)).collect::<Vec<_>>())?;
        let differences = self.config.differences(&config);
        let refused: Vec<String> = differences
            .iter()
            .filter(|one| one.at_start)
            .map(|one| place(&one.needs_restart()))
            .collect();
        if !refused.is_empty() {
            return Err(refused);
        }
        let prepared = self.live.prepare(&config).map_err(|error| vec![place(&error)])?;
        let (old, new) = (parts::rooms(&self.config), parts::rooms(&config));
        let differ = old != new;
        if differ {
            let made = self.runtime.block_on(self.live.make_rooms(old, new.clone()));
            made.map_err(|reason| vec![place(&reason)])?;
        }
        self.live.take(&config, prepared, &self.filter);
        if differ {
            self.runtime.block_on(self.live.keep_rooms(new));
        }
        self.patience.set(&config);
        let most = config.server.max_connections;
        if most != self.config.server.max_connections {
            warn_of_few(raise_descriptor_limit(), most);
        }
        self.config = config;
        Ok(differences.iter().map(ToString::to_string).collect())
    }
}

/// Says what came of it, once, for whoever reads the log.
fn log(trigger: Trigger, outcome: &Result<Vec<String>, Vec<String>>) {
    match outcome {
        Ok(changed) => {
            for what in changed.iter().take(MOST_TOLD) {
                tracing::info!(what, "a key of the configuration has changed");
            }
            tracing::info!(%trigger, changed = changed.len(), "the configuration was read again, and is in force");
        }
        Err(mistakes) => {
            for mistake in mistakes {
                tracing::error!(mistake, "the configuration has a mistake");
            }
            tracing::error!(
                %trigger,
                mistakes = mistakes.len(),
                "the configuration was refused; the one before stays in force, whole"
            );
        }
    }
}

/// At most so many that people read them.
fn few(mut mistakes: Vec<String>) -> Vec<String> {
    let more = mistakes.len().saturating_sub(MOST_TOLD);
    mistakes.truncate(MOST_TOLD);
    if more > 0 {
        mistakes.push(format!("and {more} more: `anteroom check` tells them all"));
    }
    mistakes
}

/// Most mistakes, warnings or changed keys that are told one by one.
const MOST_TOLD: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_while_the_gate_starts_is_news() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, "[server]\nh2c = false\n").unwrap();
        let mut source = Source::new(Some(file.clone()), Overrides::none());
        let _read = source.read();
        std::fs::write(&file, "[server]\nh2c = true\n").unwrap();
        let watch = source.watch.as_mut().unwrap();
        assert!((0..2).any(|_| watch.has_news()));
    }
}

//! Reload: puts an edited configuration in force while the gate runs, all of it or nothing.
//!
//! SIGHUP, `ropeline reload` and a change of the file leave an order; one thread carries them out, one after the other. It
//! reads the file and all files that it names as `ropeline check` does, under the options of the command line, makes everything
//! anew beside the configuration in force, and only then replaces that. A mistake anywhere leaves everything as it was.

mod added;
mod costs;
mod draws;
mod live;
mod patience;
mod prepared;
mod rooms;
mod source;
mod watch;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::admin::{Order, Reloads, Task, Trigger, api};
use crate::config::{Config, Mistakes, Report};
use crate::logging::Filter;
use crate::proxy::raise_descriptor_limit;
use crate::time;
use crate::tls::INTERVAL;

use super::parts::{self, warn_of_few};
use super::systemd::Supervisor;
use added::AGAIN;
use rooms::{Composed, tell_untaken};

pub use live::Live;
pub use patience::Patience;
pub use rooms::look_at_rooms;
pub use source::Source;

/// Starts the thread that carries orders out and looks at the file, once the returned sender says so, and until the process
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
    tasks: Receiver<Task>,
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
        refused: None,
        costs: Vec::new(),
    };
    let body = move || {
        if begins.recv().is_ok() {
            reloader.carry_out(&tasks);
        }
    };
    std::thread::Builder::new().name("reload".to_owned()).spawn(body)?;
    Ok(begin)
}

/// The state of the thread.
struct Reloader {
    source: Source,
    /// In force.
    config: Config,
    live: Live,
    filter: Filter,
    /// For waiting on the replica.
    runtime: tokio::runtime::Runtime,
    reloads: Reloads,
    supervisor: Arc<Supervisor>,
    patience: Patience,
    refused: Option<Refused>,
    /// The costs of the last change for visitors, until they are reported.
    costs: Vec<String>,
}

impl Reloader {
    fn carry_out(mut self, tasks: &Receiver<Task>) {
        loop {
            let task = match tasks.recv_timeout(INTERVAL) {
                Ok(task) => Some(task),
                Err(RecvTimeoutError::Timeout) => self.look().map(Task::Reload),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if self.patience.has_ended() {
                return;
            }
            match task {
                Some(Task::Reload(order)) => {
                    let told = self.reload(order.trigger);
                    if let Some(answer) = order.answer {
                        // The caller may be gone.
                        let _ = answer.send(told);
                    }
                }
                Some(Task::Room(order)) => self.order_room(order),
                Some(Task::Rooms) => self.look_at_rooms(time::uptime()),
                None => {
                    self.look_at_rooms(time::uptime());
                    self.try_again(time::uptime());
                }
            }
        }
    }

    /// At the files.
    fn look(&mut self) -> Option<Order> {
        let is_refused = self.refused.is_some();
        let watch = self.source.watch.as_mut()?;
        watch.has_news(is_refused).then_some(Order {
            trigger: Trigger::File,
            answer: None,
        })
    }

    fn reload(&mut self, trigger: Trigger) -> api::Reload {
        self.supervisor.reloading();
        let (outcome, warnings) = self.take();
        let told = self.tell(trigger, outcome, warnings);
        self.supervisor.ready();
        told
    }

    /// Tries a change of the file again that was refused: the reason may be gone without a change. One that stays is not reported
    /// again.
    fn try_again(&mut self, now: Duration) {
        if !self.refused.as_ref().is_some_and(|refused| refused.is_due(now)) {
            return;
        }
        let (outcome, warnings) = self.take();
        match (&mut self.refused, &outcome) {
            (Some(refused), Err(reasons)) if refused.reasons == *reasons => refused.again = Some(now + AGAIN),
            _ => drop(self.tell(Trigger::File, outcome, warnings)),
        }
    }

    /// Reads the configuration and puts it in force; returns the changes, or why it is refused, and its warnings.
    fn take(&mut self) -> (Outcome, Vec<String>) {
        let mut odd = Vec::new();
        let outcome = unless_it_fails(|| {
            let additions = Arc::clone(&self.live.replica.view().additions);
            let Composed { report, rooms, untaken } = self.source.read_with_rooms(&additions);
            let warnings = report.warnings().iter().map(ToString::to_string);
            odd.extend(warnings.take(MOST_TOLD));
            let outcome = self.attempt(report, |_, _| Ok(()));
            if outcome.is_ok() {
                let followed = &mut self.source.followed;
                followed.taken(&additions, rooms, untaken.is_empty(), time::uptime());
                self.costs.extend(untaken.iter().map(rooms::without_line));
                tell_untaken(&self.reloads, untaken);
            }
            outcome
        });
        for what in &self.costs {
            tracing::warn!(what, "the change may cost visitors their places");
        }
        odd.append(&mut self.costs);
        (outcome.map_err(few), odd)
    }

    fn tell(&mut self, trigger: Trigger, outcome: Outcome, warnings: Vec<String>) -> api::Reload {
        log(trigger, &outcome);
        self.refused = outcome.as_ref().err().map(|reasons| Refused {
            reasons: reasons.clone(),
            again: (trigger == Trigger::File).then(|| time::uptime() + AGAIN),
        });
        self.reloads.tell(trigger, outcome, warnings)
    }

    /// The keys that are otherwise now, or every mistake. `say` is asked once nothing else can fail, and before anything is
    /// otherwise.
    fn attempt(&mut self, report: Report, say: impl FnOnce(&Self, &Config) -> Result<(), Vec<String>>) -> Outcome {
        let place = |mistake: &dyn ToString| match &self.source.file {
            Some(file) => format!("{}: {}", file.display(), mistake.to_string()),
            None => mistake.to_string(),
        };
        let all = |mistakes: Mistakes| {
            mistakes
                .list()
                .iter()
                .map(|one| self.source.placed(one))
                .collect::<Vec<_>>()
        };
        let (config, _) = report.finish().map_err(all)?;
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
            let broken = draws::broken(&self.live.replica.view(), &new, time::wall());
            if !broken.is_empty() {
                return Err(broken.iter().map(|why| place(why)).collect());
            }
            let made = self.runtime.block_on(self.live.make_rooms(old, new.clone()));
            made.map_err(|reason| vec![place(&reason)])?;
        }
        say(self, &config)?;
        let odd = self.live.take(&config, prepared, &self.filter);
        self.costs.extend(odd.iter().map(ToString::to_string));
        self.costs.extend(costs::of(&self.config, &config));
        if differ {
            self.runtime.block_on(self.live.keep_rooms(new));
        }
        self.patience.set(&config);
        let most = config.server.max_connections;
        if most != self.config.server.max_connections {
            warn_of_few(raise_descriptor_limit(), most);
        }
        self.config = config;
        self.source.is_taken();
        Ok(differences.iter().map(ToString::to_string).collect())
    }
}

/// The keys that are otherwise now, or every reason why nothing is.
type Outcome = Result<Vec<String>, Vec<String>>;

/// The last attempt was refused.
struct Refused {
    reasons: Vec<String>,
    /// Uptime of the next try, for a change of the file.
    again: Option<Duration>,
}

impl Refused {
    fn is_due(&self, now: Duration) -> bool {
        self.again.is_some_and(|again| again <= now)
    }
}

/// A fault of ours refuses one attempt, and ends no later one.
fn unless_it_fails(attempt: impl FnOnce() -> Outcome) -> Outcome {
    let tried = catch_unwind(AssertUnwindSafe(attempt));
    tried.unwrap_or_else(|_| Err(vec![FAULT.to_owned()]))
}

/// Logs the outcome, once.
fn log(trigger: Trigger, outcome: &Outcome) {
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

/// At most as many as people will read.
fn few(mut mistakes: Vec<String>) -> Vec<String> {
    let more = mistakes.len().saturating_sub(MOST_TOLD);
    mistakes.truncate(MOST_TOLD);
    if more > 0 {
        mistakes.push(format!("and {more} more: `ropeline check` tells them all"));
    }
    mistakes
}

const FAULT: &str =
    "a fault of the program, which the log tells of: what is in force may be in part of either file; restart the gate";

/// Most mistakes, warnings or changed keys that are reported one by one.
const MOST_TOLD: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_program_refuses_one_attempt() {
        assert_eq!(unless_it_fails(|| panic!("on purpose")), Err(vec![FAULT.to_owned()]));
        assert_eq!(unless_it_fails(|| Ok(Vec::new())), Ok(Vec::new()));
    }

    #[test]
    fn a_change_of_the_file_that_was_refused_is_tried_again_after_a_minute() {
        let at = Duration::from_secs;
        let refused = |again| Refused {
            reasons: Vec::new(),
            again,
        };
        assert!(!refused(None).is_due(at(1_000)));
        assert!(!refused(Some(at(60))).is_due(at(59)) && refused(Some(at(60))).is_due(at(60)));
    }
}

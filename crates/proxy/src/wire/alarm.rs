//! A timer that serves one deadline after the other.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep};

/// One that is kept from one request to the next.
pub(crate) type Alarm = Pin<Box<Sleep>>;

/// Ready once `due` is past. PERF: the timer is only moved when it would fire too late; one that fires early is set again.
pub(crate) fn poll_alarm(mut alarm: Pin<&mut Sleep>, due: Option<Instant>, cx: &mut Context<'_>) -> Poll<()> {
    let Some(due) = due else { return Poll::Pending };
    if due < alarm.deadline() {
        alarm.as_mut().reset(due);
    }
    while alarm.as_mut().poll(cx).is_ready() {
        if Instant::now() >= due {
            return Poll::Ready(());
        }
        alarm.as_mut().reset(due);
    }
    Poll::Pending
}

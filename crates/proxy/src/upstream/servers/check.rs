//! Health checks of every server: one request at intervals, over a connection of its own.

use std::pin::pin;
use std::sync::{Arc, Weak};

use http::header::{CONNECTION, HOST, USER_AGENT};
use http::response::Parts;
use http::{HeaderValue, Request, StatusCode};
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::Inner;
use super::dial::{Dial, DialError};
use super::health::now_ms;
use super::protocol::Protocol;
use super::stream::UpstreamStream;
use super::target::{Address, Target};
use crate::settings::HealthCheck;
use crate::upstream::http2;

/// How a server's last checks went.
struct Course {
    target: Arc<Target>,
    /// Checks in a row that contradict the present state.
    against: u32,
    well: bool,
}

/// Checks all servers until the gate ends, also those of a name as they come and go. Each is checked separately: one that
/// does not answer delays no other.
pub(super) async fn all(inner: Weak<Inner>) {
    let Some(mut rounds) = inner.upgrade().map(|inner| inner.looked_up.subscribe()) else {
        return;
    };
    let mut followed: Vec<Arc<Target>> = Vec::new();
    let mut courses = JoinSet::new();
    loop {
        let Some(targets) = inner.upgrade().map(|inner| inner.targets.load_full()) else {
            return;
        };
        for target in unfollowed(&mut followed, &targets) {
            courses.spawn(Course::new(&target).run(inner.clone()));
        }
        while courses.try_join_next().is_some() {}
        if rounds.changed().await.is_err() {
            return;
        }
    }
}

/// Those of `targets` that are new; those that are gone are forgotten.
fn unfollowed(followed: &mut Vec<Arc<Target>>, targets: &[Arc<Target>]) -> Vec<Arc<Target>> {
    let is_in = |list: &[Arc<Target>], target: &Arc<Target>| list.iter().any(|one| Arc::ptr_eq(one, target));
    followed.retain(|target| is_in(targets, target));
    let new: Vec<_> = targets
        .iter()
        .filter(|target| !is_in(followed, target))
        .map(Arc::clone)
        .collect();
    followed.extend(new.iter().map(Arc::clone));
    new
}

impl Course {
    fn new(target: &Arc<Target>) -> Self {
        Self {
            target: Arc::clone(target),
            against: 0,
            // Where another configuration was in force before, its checks have had their say.
            well: !target.is_checked_out(),
        }
    }

    /// Goes on as long as its server is one of the upstream's.
    async fn run(mut self, inner: Weak<Inner>) {
        loop {
            let begun = Instant::now();
            let interval = {
                let Some(inner) = inner.upgrade().filter(|inner| inner.lists(&self.target)) else {
                    return;
                };
                let Some(check) = &inner.settings.check else { return };
                self.go_on(check, &inner).await;
                check.interval
            };
            // Gates that were started together do not ask together.
            sleep_until(begun + interval.mul_f32(fastrand::f32().mul_add(0.2, 0.9))).await;
        }
    }

    async fn go_on(&mut self, check: &HealthCheck, inner: &Inner) {
        let asked = timeout(check.timeout, ask(check, &inner.dial, &self.target)).await;
        let result = asked.unwrap_or_else(|_| Err("the check took too long".to_owned()));
        inner.in_charge(|| self.judge(&result, check, now_ms()));
    }

    fn judge(&mut self, result: &Result<(), String>, check: &HealthCheck, now_ms: u64) {
        match result {
            Ok(()) => self.target.check_passed(now_ms),
            Err(why) => self.target.check_failed(why),
        }
        // These checks override all other sources of the server's health.
        if self.take(result.is_ok(), check) || self.target.is_checked_out() == self.well {
            self.target.checked(self.well);
        }
    }

    /// Whether the server's state changed.
    fn take(&mut self, well: bool, check: &HealthCheck) -> bool {
        if well == self.well {
            self.against = 0;
            return false;
        }
        self.against += 1;
        let most = if self.well { check.out_after } else { check.back_after };
        if self.against < most {
            return false;
        }
        (self.against, self.well) = (0, well);
        true
    }
}

/// Runs one check; the error describes the failure.
async fn ask(check: &HealthCheck, dial: &Dial, target: &Target) -> Result<(), String> {
    let answer = answer(request(check, target), dial, target).await;
    let (head, _) = answer.map_err(|error| error.to_string())?;
    if check.statuses.contains(&head.status.as_u16()) {
        return Ok(());
    }
    Err(told(head.status))
}

/// Why a request over a connection of its own has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unanswered {
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error("{0}")]
    Exchange(String),
}

/// The head of the answer to one request over a connection of its own, and the protocol that is spoken on it.
pub(super) async fn answer(
    request: Request<Empty<Bytes>>,
    dial: &Dial,
    target: &Target,
) -> Result<(Parts, Protocol), Unanswered> {
    let (stream, protocol) = dial.connect(target, dial.most(target)).await?;
    let head = match protocol {
        Protocol::Http1 => over_http1(stream, request).await,
        Protocol::Http2 => http2::ask(stream, target.scheme(), request).await,
    };
    Ok((head.map_err(Unanswered::Exchange)?, protocol))
}

async fn over_http1(stream: UpstreamStream, request: Request<Empty<Bytes>>) -> Result<Parts, String> {
    let handshake = http1::Builder::new()
        .max_buf_size(HEAD_BYTES)
        .handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|error| error.to_string())?;
    let answer = async {
        let answer = sender.send_request(request).await;
        answer
            .map(|answer| answer.into_parts().0)
            .map_err(|error| format!("the check was not answered: {error}"))
    };
    // The connection works only while it is polled, and may end as soon as the answer arrives; a body is left unread.
    let mut answer = pin!(answer);
    tokio::select! {
        biased;
        head = &mut answer => head,
        _ = connection => answer.await,
    }
}

fn told(status: StatusCode) -> String {
    format!("the check was answered {status}")
}

fn request(check: &HealthCheck, target: &Target) -> Request<Empty<Bytes>> {
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = check.path.clone().into();
    let headers = request.headers_mut();
    headers.insert(HOST, check.host.clone().unwrap_or_else(|| own_host(target)));
    headers.insert(USER_AGENT, HeaderValue::from_static("ropeline-health"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    request
}

/// The `Host` for a server that is given no other.
pub(super) fn own_host(target: &Target) -> HeaderValue {
    let own = match target.address() {
        Address::Tcp(_) => HeaderValue::from_str(&target.place().to_string()).ok(),
        Address::Unix(_) => None,
    };
    own.unwrap_or(HeaderValue::from_static("localhost"))
}

const HEAD_BYTES: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::UpstreamSettings;

    fn check() -> HealthCheck {
        HealthCheck {
            path: "/health".parse().unwrap(),
            host: None,
            interval: Duration::from_secs(1),
            timeout: Duration::from_secs(1),
            statuses: 200..=299,
            out_after: 2,
            back_after: 3,
        }
    }

    fn course() -> Course {
        let settings = UpstreamSettings::new("127.0.0.1", 80);
        Course::new(&super::super::Names::of(&settings).targets(&[], &[])[0])
    }

    #[test]
    fn so_many_checks_in_a_row_turn_it() {
        let (mut course, check) = (course(), check());
        let turns: Vec<bool> = [false, true, false, false, true, true, false, true, true, true]
            .map(|well| course.take(well, &check))
            .to_vec();
        let expected = [false, false, false, true, false, false, false, false, false, true];
        assert_eq!(turns, expected);
    }

    #[test]
    fn what_checks_say_now_holds_whatever_others_have_said() {
        let (mut course, check) = (course(), check());
        course.target.checked(false);
        course.judge(&Ok(()), &check, 0);
        assert!(!course.target.is_checked_out());
    }

    #[test]
    fn a_good_check_finds_that_a_server_is_back_without_a_request() {
        let (mut course, check) = (course(), check());
        for _ in 0..100 {
            course.target.failed("it fails", 0);
        }
        let longest_ms = 3_600_000;
        course.judge(&Err("it fails".to_owned()), &check, longest_ms);
        assert!(!course.target.standing().healthy);
        course.judge(&Ok(()), &check, longest_ms);
        assert!(course.target.standing().healthy);
    }

    #[test]
    fn a_server_is_out_of_reach_by_connections_and_checks_alone() {
        let target = course().target;
        (0..100).for_each(|_| target.failed("it breaks its answers off", 0));
        assert!(target.is_reached());
        (0..100).for_each(|_| target.missed());
        assert!(!target.is_reached());
        target.succeeded();
        assert!(target.is_reached(), "a kept connection will do");
        target.checked(false);
        assert!(!target.is_reached());
    }

    #[test]
    fn every_server_is_followed_once_and_as_long_as_it_is_there() {
        let [one, other] = [course(), course()].map(|course| course.target);
        let mut followed = Vec::new();
        let mut new = |targets: &[&Arc<Target>]| {
            let targets: Vec<_> = targets.iter().map(|target| Arc::clone(target)).collect();
            unfollowed(&mut followed, &targets).len()
        };
        assert_eq!((new(&[&one]), new(&[&one, &other]), new(&[&other, &one])), (1, 1, 0));
        assert_eq!((new(&[&other]), new(&[&other, &one])), (0, 1));
    }
}

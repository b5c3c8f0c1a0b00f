//! Sessions as an upstream counts them: visitors with a request in the last `session_duration`, or `idle_after`.

use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Sessions {
    lasts_ms: u64,
    /// By visitor, when the last request was; `None` for one whom the shop does not count.
    last: Vec<Option<u64>>,
    /// Requests by time; of one visitor the last counts.
    asked: VecDeque<(u64, u32)>,
    count: u64,
    pub most: u64,
    now: u64,
    /// Time times visitors.
    pub held_ms: u128,
}

impl Sessions {
    pub fn new(visitors: usize, lasts_ms: u64) -> Self {
        Self {
            lasts_ms,
            last: vec![None; visitors],
            asked: VecDeque::new(),
            count: 0,
            most: 0,
            now: 0,
            held_ms: 0,
        }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn ask(&mut self, id: u32, now: u64) {
        self.count += u64::from(self.last[id as usize].replace(now).is_none());
        self.asked.push_back((now, id));
        self.most = self.most.max(self.count);
    }

    /// The shop, or the visitor, has ended the session.
    pub fn end(&mut self, id: u32) {
        self.count -= u64::from(self.last[id as usize].take().is_some());
    }

    /// Forgets visitors whose last request is so long ago.
    pub fn advance(&mut self, now: u64) {
        while let Some((at, id)) = self.asked.front().copied().filter(|(at, _)| at + self.lasts_ms <= now) {
            self.asked.pop_front();
            if self.last[id as usize] == Some(at) {
                self.pass(at + self.lasts_ms);
                self.end(id);
            }
        }
        self.pass(now);
    }

    fn pass(&mut self, to: u64) {
        self.held_ms += u128::from(self.count) * u128::from(to.saturating_sub(self.now));
        self.now = self.now.max(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_counts_until_a_session_after_the_last_request_or_until_the_end_is_said() {
        let mut sessions = Sessions::new(3, 10);
        sessions.ask(0, 0);
        sessions.advance(4);
        sessions.ask(1, 4);
        sessions.advance(8);
        sessions.ask(0, 8);
        sessions.advance(14);
        assert_eq!((sessions.count, sessions.most), (1, 2));
        sessions.ask(2, 14);
        sessions.end(2);
        sessions.advance(18);
        assert_eq!((sessions.count, sessions.most), (0, 2));
        assert_eq!(sessions.held_ms, 18 + 10, "to the end, not to when it is seen");
    }
}

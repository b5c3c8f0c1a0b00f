//! A few numbers in order.

/// Numbers of limits, or of rooms, that a request meets, sorted; up to eight without allocation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hits {
    first: [u16; 8],
    len: usize,
    more: Vec<u16>,
}

impl Hits {
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let inline = &self.first[..self.len];
        inline.iter().chain(&self.more).map(|id| usize::from(*id))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn contains(&self, id: u16) -> bool {
        self.iter().any(|own| own == usize::from(id))
    }

    pub(super) fn add(&mut self, id: u16) {
        if self.contains(id) {
            return;
        }
        if self.len < self.first.len() {
            self.first[self.len] = id;
            self.len += 1;
            self.first[..self.len].sort_unstable();
            return;
        }
        self.more.push(id);
        self.more.sort_unstable();
    }
}

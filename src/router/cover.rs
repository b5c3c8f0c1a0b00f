//! Relations of two patterns, to warn an operator of rules that can never act.

use super::route::{Route, Segment};

impl Route {
    /// Every request that `other` takes is taken here too.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let methods = self.methods().is_empty()
            || (!other.methods().is_empty() && other.methods().iter().all(|m| self.takes_method(m)));
        let queries = match (self.queries(), other.queries()) {
            (None, _) => true,
            (Some(own), Some(its)) => own >= its,
            (Some(_), None) => false,
        };
        methods && queries && self.covers_paths(other)
    }

    /// This exception leaves out the requests that `other` is for: all of them, or every read if `other` is for any method.
    #[must_use]
    pub fn leaves_out(&self, other: &Self) -> bool {
        let reads = self.queries().is_some() && other.methods().is_empty() && self.covers_paths(other);
        reads || self.covers(other)
    }

    fn covers_paths(&self, other: &Self) -> bool {
        let (own, its) = (self.segments(), other.segments());
        let length = if self.rest() {
            own.len() <= its.len()
        } else {
            !other.rest() && own.len() == its.len()
        };
        length && own.iter().zip(its).all(|(a, b)| segment_covers(a, b))
    }

    /// Some request is taken by both.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let methods = self.methods().is_empty()
            || other.methods().is_empty()
            || other.methods().iter().any(|m| self.takes_method(m))
            || self.methods().iter().any(|m| other.takes_method(m));
        let (own, its) = (self.segments(), other.segments());
        let length = (own.len() == its.len())
            || (self.rest() && own.len() < its.len())
            || (other.rest() && its.len() < own.len());
        methods
            && length
            && own
                .iter()
                .zip(its)
                .all(|(a, b)| segment_covers(a, b) || segment_covers(b, a))
    }
}

fn segment_covers(own: &Segment, other: &Segment) -> bool {
    match (own, other) {
        (Segment::Variable(_), Segment::Variable(_)) => true,
        (Segment::Variable(_), Segment::Literal(bytes)) => !bytes.is_empty(),
        (Segment::Literal(_), Segment::Variable(_)) => false,
        (Segment::Literal(a), Segment::Literal(b)) => a.eq_ignore_ascii_case(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(text: &str) -> Route {
        Route::parse(text).expect("route")
    }

    #[test]
    fn an_exception_leaves_out_reads_and_covers_one_that_takes_fewer_queries() {
        let exception = |text| Route::exception(text).expect("exception");
        assert!(exception("/a/*").leaves_out(&route("/a/b")) && !exception("/a/*").covers(&route("/a/b")));
        assert!(!exception("/a/*").leaves_out(&route("POST /a/b")));
        assert!(exception("/a/*?*").covers(&exception("/a/*")) && !exception("/a/*").covers(&exception("/a/*?*")));
        assert!(exception("GET /a").covers(&exception("/a?*")) && !exception("/a?*").covers(&exception("GET /a")));
    }

    #[test]
    fn covers_and_overlaps_follow_the_patterns() {
        for (wide, narrow) in [
            ("/*", "/a"),
            ("/a/*", "/a/b/*"),
            ("/{x}", "/a"),
            ("/a", "POST /a"),
            ("GET /a", "HEAD /a"),
        ] {
            assert!(route(wide).covers(&route(narrow)), "{wide} {narrow}");
            assert!(!route(narrow).covers(&route(wide)), "{narrow} {wide}");
            assert!(
                route(wide).overlaps(&route(narrow)) && route(narrow).overlaps(&route(wide)),
                "{wide} {narrow}"
            );
        }
        assert!(route("/a/*").overlaps(&route("/{x}/b")) && !route("/a/*").covers(&route("/{x}/b")));
        for (a, b) in [
            ("/a/*", "/b/*"),
            ("GET /a", "POST /a"),
            ("/a", "/a/b"),
            ("/a/{x}", "/a"),
        ] {
            assert!(
                !route(a).overlaps(&route(b)) && !route(b).overlaps(&route(a)),
                "{a} {b}"
            );
        }
    }
}

//! `Location` of the gate's own answers: always a path on the host that was asked for, or that host's own address.
//!
//! SECURITY: every `Location` of `src/gate` is made here. No target of a visitor and no parameter of a link brings another
//! host into it.

use std::borrow::Cow;

use http::HeaderValue;
use http::request::Parts;

use crate::config::Asker;
use crate::pages::path_on_this_host;

use super::aim::Aim;
use super::visit::{Visit, host};

/// To a path that a link's parameter names: `/` if it is none on this host.
#[must_use]
pub fn to(path: &str) -> HeaderValue {
    value(path_on_this_host(path).to_owned())
}

/// Back to a target of the visitor's own, or to another path on the same host.
#[must_use]
pub fn back(visit: &Visit, head: &Parts, target: &str) -> HeaderValue {
    let target = as_path(target);
    if visit.aim == Aim::LeaveOrWords(Asker::Traefik) {
        // Traefik takes a bare path for one of the gate's own.
        let scheme = if visit.secure { "https" } else { "http" };
        return value(format!("{scheme}://{}{target}", host(head)));
    }
    value(target.into_owned())
}

/// To the same target of this host over TLS. Behind a host that is named a target can only be a path, so it stays as it came.
#[must_use]
pub fn secure(host: &str, port: u16, target: &str) -> HeaderValue {
    let target = if target.starts_with('/') { target } else { "/" };
    value(match port {
        HTTPS_PORT => format!("https://{host}{target}"),
        port => format!("https://{host}:{port}{target}"),
    })
}

/// A target as a path that means the same: one that begins with two slashes would name another host, and a dot keeps it a path.
fn as_path(target: &str) -> Cow<'_, str> {
    if path_on_this_host(target) == target {
        return Cow::Borrowed(target);
    }
    let dotted = format!("/.{target}");
    if target.starts_with('/') && path_on_this_host(&dotted) == dotted {
        return Cow::Owned(dotted);
    }
    Cow::Borrowed("/")
}

fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("/"))
}

const HTTPS_PORT: u16 = 443;

#[cfg(test)]
mod tests {
    use http::Request;
    use proptest::prelude::*;

    use super::*;
    use crate::gate::request::kind::Kind;

    fn back_to(aim: Aim, target: &str) -> HeaderValue {
        let head = Request::get("/").header("host", "shop.test").body(()).unwrap();
        let mut visit = Visit::sample(Kind::Navigation);
        visit.aim = aim;
        back(&visit, &head.into_parts().0, target)
    }

    #[test]
    fn the_way_back_stays_on_the_host() {
        for aim in [Aim::Shop, Aim::LeaveOrWords(Asker::Caddy)] {
            assert_eq!(back_to(aim, "/seats?row=7"), "/seats?row=7");
            assert_eq!(back_to(aim, "//evil.test/"), "/.//evil.test/");
            assert_eq!(back_to(aim, "/%2Fevil.test/"), "/./%2Fevil.test/");
            assert_eq!(back_to(aim, "//0"), "/.//0");
            assert_eq!(back_to(aim, "/"), "/");
            assert_eq!(back_to(aim, "evil.test"), "/");
        }
        let traefik = Aim::LeaveOrWords(Asker::Traefik);
        assert_eq!(back_to(traefik, "/seats?row=7"), "http://shop.test/seats?row=7");
        assert_eq!(back_to(traefik, "@evil.test/"), "http://shop.test/");
        assert_eq!(to("//0"), "/");
    }

    #[test]
    fn the_usual_port_is_left_out() {
        assert_eq!(secure("shop.example", 443, "/a?b"), "https://shop.example/a?b");
        assert_eq!(secure("[::1]", 8443, "/a"), "https://[::1]:8443/a");
        assert_eq!(secure("shop.example", 443, ".evil.test"), "https://shop.example/");
    }

    proptest! {
        #[test]
        fn no_target_leads_to_another_host(target in r"[/\\.%25fFcC@:a0]{0,8}") {
            let base = url::Url::parse("http://shop.test/x").unwrap();
            for location in [back_to(Aim::Shop, &target), to(&target)] {
                let location = location.to_str().unwrap();
                let there = base.join(location).unwrap();
                prop_assert!(location.starts_with('/') && !location.starts_with("//"), "{target} gives {location}");
                prop_assert_eq!(there.host_str(), Some("shop.test"), "{} gives {}", target, location);
            }
        }
    }
}

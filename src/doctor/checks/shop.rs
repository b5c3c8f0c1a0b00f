//! Whether the shop answers, as the gate asks it: the same TLS, host, socket and signature.

use crate::doctor::check::Checking;
use crate::doctor::finding::Finding;
use crate::doctor::look::{Answered, Look};
use crate::doctor::subject::{Shop, Subject};
use crate::proxy::{Examined, Found, NotFound};

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    Box::pin(async {
        let subject = look.subject;
        let of_shop = |(shop, answered): (&Shop, &Answered)| match answered {
            Ok(servers) => servers.iter().map(|server| judge(subject, shop, server)).collect(),
            Err(why) => vec![
                Finding::fault(format!("No connection to the shop can be made: {why}.")).at(
                    &subject.places,
                    &shop.key("ca_file"),
                    "a file of certificates that can be read",
                ),
            ],
        };
        look.shops().await.flat_map(of_shop).collect()
    })
}

fn judge(subject: &Subject, shop: &Shop, server: &Examined) -> Finding {
    let (places, name) = (&subject.places, shop.at(&server.server));
    match &server.found {
        Ok(found) => judge_answer(subject, shop, (&name, found)),
        Err(NotFound::Tls(why)) => {
            let right = "the file of the authority that signed the shop's certificate; or server_name, the name in it";
            Finding::fault(format!("The shop at {name} does not prove who it is: {why}.")).at(
                places,
                &shop.key("ca_file"),
                right,
            )
        }
        Err(why) => {
            let right =
                "the address at which the shop listens; or start the shop, and let the gate through its firewall";
            Finding::fault(format!("The shop at {name} does not answer: {why}.")).at(
                places,
                &key_of(subject, shop),
                right,
            )
        }
    }
}

fn judge_answer(subject: &Subject, shop: &Shop, (name, found): (&str, &Found)) -> Finding {
    let (places, status, path) = (&subject.places, found.status, shop.path.as_str());
    let took = found.took.as_millis();
    let answered = format!("The shop at {name} answers GET {path} with {status}, in {took} ms");
    let is_good = |right: &std::ops::RangeInclusive<u16>| right.contains(&status.as_u16());
    if shop.statuses.as_ref().is_some_and(|right| !is_good(right)) {
        let right = "a path that the shop answers well, or health_status with what it answers";
        return Finding::fault(format!("{answered}, which health_status does not take.")).at(
            places,
            &shop.key("health_path"),
            right,
        );
    }
    match status.as_u16() {
        401 | 403 if shop.signer.is_some() => {
            Finding::fault(format!("{answered}: it may not take the gate's signature.")).at(
                places,
                &shop.key("signature_key"),
                "the key that the shop checks signatures with, and its id",
            )
        }
        500.. if shop.statuses.is_none() => Finding::fault(format!("{answered}: it fails.")).at(
            places,
            &key_of(subject, shop),
            "another address; or look at the shop's own log",
        ),
        400 | 421 => Finding::warning(format!("{answered}: it may not know the host that is asked for.")).at(
            places,
            &shop.key("host"),
            "the host that the shop expects, where that is not the visitors'",
        ),
        _ if took > SLOW_MS => Finding::warning(format!("{answered}, which is slow before there are visitors.")).at(
            places,
            &key_of(subject, shop),
            "nothing here: look at the shop's own load",
        ),
        _ => Finding::fine(format!("{answered}, over {}.", found.protocol)),
    }
}

fn key_of(subject: &Subject, shop: &Shop) -> String {
    let servers = shop.key("servers");
    if subject.places.is_set(&servers) {
        servers
    } else {
        shop.key("url")
    }
}

/// A page of a shop at rest takes less.
const SLOW_MS: u128 = 1_000;

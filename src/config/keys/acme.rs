//! Keys of certificates that the gate gets by itself.

use super::form::{AUTHORITIES, Form, HOUR, SECOND};
use super::key::{Brackets, Table, duration, key, list, text, words};

pub(super) const ACME: Table = Table {
    name: "tls.acme",
    brackets: Brackets::One,
    about: "Certificates that the gates get from an authority by ACME (RFC 8555). See docs/guides/tls.md.",
    keys: &[
        list("hosts", &HOST).or("[]").about(
            "Hosts for which the gates get and renew certificates, one certificate for each host. Who sets it agrees \
                to the authority's terms of service. With an empty list no authority is asked.",
        ),
        text(
            "directory",
            "an https URL such as \"https://acme-v02.api.letsencrypt.org/directory\"",
        )
        .or("https://acme-v02.api.letsencrypt.org/directory")
        .about("The authority's directory. The default is Let's Encrypt's."),
        list("contact", &ADDRESS)
            .or("[]")
            .about("Mail addresses that the authority may write to about the account."),
        key("ca_file", AUTHORITIES)
            .unset("the system's authorities")
            .about("Authorities for the certificate of the directory's server, where that is private."),
        key("external_account", EXTERNAL)
            .unset("none")
            .about("The account at the authority that the gates' account belongs to (external account binding)."),
        words("challenge", &["http-01", "tls-alpn-01"]).or("http-01").about(
            "How the authority verifies a host: by a request to port 80, or by a handshake on port 443. Any gate \
                that is asked answers.",
        ),
        duration("retry", SECOND..=HOUR).or("1 min").about(
            "Pause after an order that failed. It grows fourfold with each further failure, to 12 hours at most. A \
                longer time that the authority asks for is kept, up to a week.",
        ),
        key("replace_before", TIME).unset("none").about(
            "The account and the certificates that were made before this time are made anew, after a leak. See \
                docs/guides/runbook.md.",
        ),
    ],
};

const HOST: Form = Form::Text("a host such as \"shop.example\", without a port");
const ADDRESS: Form = Form::Text("a mail address such as \"ops@shop.example\"");
const TIME: Form = Form::Text("a time such as \"2026-11-28T20:00:00Z\"");
const EXTERNAL: Form = Form::Fields(
    &[
        ("id", Form::Text("the key identifier that the authority gives")),
        ("secret", Form::Secret(16)),
    ],
    "{ id = \"kid-1\", secret = { env = \"ROPELINE_ACME_SECRET\" } }",
);

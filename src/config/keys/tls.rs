//! Keys of TLS towards visitors.

use super::form::{Form, LISTENER};
use super::key::{Table, flag, list, number, words};

pub(super) const TLS: Table = Table {
    name: "tls",
    many: false,
    about: "Listeners that speak TLS with visitors, and what they show.",
    keys: &[
        list("listen", &LISTENER)
            .or("[]")
            .about(
                "Where visitors come in over TLS, besides those in the clear. All bounds of `[server]` hold here \
                    too.",
            )
            .at_start(),
        list("certificates", &CERTIFICATE).or("[]").about(
            "cert_file has the certificate and behind it those that issued it, key_file its key. A visitor gets \
                    the one for the host they ask for, or else the first. New files are taken within seconds, by \
                    themselves.",
        ),
        words("min_version", &["1.2", "1.3"])
            .or("1.2")
            .about("The oldest version of TLS that is spoken; the newest is 1.3."),
        flag("http2")
            .or("true")
            .about("Whether HTTP/2 is spoken with clients that prefer it, as browsers do."),
        flag("redirect").or("false").about(
            "Whether requests in the clear are sent to the same address over TLS, with 308. Not those for \
                    `/.well-known/acme-challenge/` and `/.ropeline/health`, nor those that come over TLS through a \
                    trusted proxy.",
        ),
        number("redirect_port", 1..=65_535)
            .unset("the port of the first listener with TLS, or 443 for one without")
            .about(
                "The port they are sent to, where visitors reach it by another one than the gate's own, as with a \
                    container's.",
            ),
    ],
};

const CERTIFICATE: Form = Form::Fields(
    &[("cert_file", FILE), ("key_file", FILE)],
    "{ cert_file = \"/path/fullchain.pem\", key_file = \"/path/privkey.pem\" }",
);

const FILE: Form = Form::Text("the path of a PEM file");

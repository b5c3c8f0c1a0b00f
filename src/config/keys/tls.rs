//! Keys of TLS towards visitors.

use super::form::{Form, LISTENER};
use super::key::{Brackets, Table, flag, list, number, words};

pub(super) const TLS: Table = Table {
    name: "tls",
    brackets: Brackets::One,
    about: "Listeners with TLS, and their certificates.",
    keys: &[
        list("listen", &LISTENER)
            .or("[]")
            .about(
                "The listeners with TLS, in addition to those in `[server]`. The limits in `[server]` apply to \
                them too.",
            )
            .at_start(),
        list("certificates", &CERTIFICATE).or("[]").about(
            "Certificates and their keys. `cert_file` holds a certificate, followed by the certificates that issued \
                it. A visitor gets the certificate for the requested host, or else the first one. New files are \
                loaded within seconds.",
        ),
        words("min_version", &["1.2", "1.3"])
            .or("1.2")
            .about("Oldest version of TLS. The newest is 1.3."),
        flag("http2")
            .or("true")
            .about("HTTP/2 with clients that prefer it, as browsers do."),
        flag("redirect").or("false").about(
            "Redirects requests without TLS to the same address with TLS, by 308. Exceptions are \
                 `/.well-known/acme-challenge/`, `/.ropeline/health`, and requests that reached a trusted proxy over \
                 TLS.",
        ),
        number("redirect_port", 1..=65_535)
            .unset("the port of the first listener with TLS that has one, or 443 if none has one (Unix sockets)")
            .about(
                "Port of the redirect, if visitors reach the gate through a port other than its own, as with a \
                    container.",
            ),
    ],
};

const CERTIFICATE: Form = Form::Fields(
    &[("cert_file", FILE), ("key_file", FILE)],
    "{ cert_file = \"/path/fullchain.pem\", key_file = \"/path/privkey.pem\" }",
);

const FILE: Form = Form::Text("the path of a PEM file");

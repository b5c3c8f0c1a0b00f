//! Keys of TLS towards visitors.

use super::{Key, Table, at_start, key, optional};

pub(super) const TLS: Table = Table {
    name: "tls",
    many: false,
    about: "Listeners that speak TLS with visitors, and what they show.",
    keys: &TLS_KEYS,
};

const TLS_KEYS: [Key; 6] = [
    at_start(key(
        "listen",
        "addresses with port, \"unix:\" and a path, \"systemd\" or \"systemd:NAME\"",
        "[]",
        "Where visitors come in over TLS, besides those in the clear. All bounds of `[server]` hold here too.",
    )),
    key(
        "certificates",
        "list of { cert_file, key_file }, paths of PEM files",
        "[]",
        "cert_file has the certificate and behind it those that issued it, key_file its key. A visitor gets the one for the \
         host they ask for, or else the first. New files are taken within seconds, by themselves.",
    ),
    key(
        "min_version",
        "\"1.2\" or \"1.3\"",
        "\"1.2\"",
        "The oldest version of TLS that is spoken; the newest is 1.3.",
    ),
    key(
        "http2",
        "true or false",
        "true",
        "Whether HTTP/2 is spoken with clients that prefer it, as browsers do.",
    ),
    key(
        "redirect",
        "true or false",
        "false",
        "Whether requests in the clear are sent to the same address over TLS, with 308. Not those for \
         `/.well-known/acme-challenge/` and `/.ropeline/health`, nor those that come over TLS through a trusted proxy.",
    ),
    optional(
        "redirect_port",
        "number, 1 to 65535",
        "the port of the first listener with TLS, or 443 for one without",
        "The port they are sent to, where visitors reach it by another one than the gate's own, as with a container's.",
    ),
];

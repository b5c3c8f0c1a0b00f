//! Keys of the gate itself: its listeners, the way to the shop, the store, the signing keys, the logs.

use super::{Key, Table, at_start, key, optional};

pub(super) const SERVER: Table = Table {
    name: "server",
    many: false,
    about: "The listeners, and what bounds a visitor's connection.",
    keys: &SERVER_KEYS,
};

const SERVER_KEYS: [Key; 24] = [
    at_start(key(
        "listen",
        "addresses with port, \"unix:\" and a path, \"systemd\" or \"systemd:NAME\"",
        "[\"0.0.0.0:8080\"]",
        "Where visitors come in. Whoever connects to a Unix socket counts as 127.0.0.1; `systemd` takes the sockets that systemd \
         passes, all or those of a name.",
    )),
    at_start(key(
        "unix_mode",
        "octal mode",
        "\"0660\"",
        "Who may connect to the Unix sockets in `listen`, as chmod writes it.",
    )),
    at_start(key(
        "admin_listen",
        "address with port",
        "\"127.0.0.1:9925\"",
        "The operator's side: health, metrics and the admin API. Elsewhere than on loopback only with `admin_token` or `admin_tokens`.",
    )),
    optional(
        "admin_token",
        "secret of 16 bytes or more",
        "no token is asked for",
        "What `Authorization: Bearer` must carry on the admin API.",
    ),
    key(
        "admin_tokens",
        "list of { name, token, may }",
        "[]",
        "A token for each operator: its name stands beside every change, `may` is `read` or `change`, `token` is a secret of 16 bytes or more. They are asked for beside or instead of `admin_token`, whose name is `operator`; no two have the same secret.",
    ),
    optional(
        "verify_token",
        "secret of 16 bytes or more",
        "as for the rest of the admin API",
        "What it may carry instead for `GET /api/v1/verify`, and for nothing else: for a shop that asks about a session.",
    ),
    key(
        "trusted_proxies",
        "networks",
        "[]",
        "Peers whose `X-Forwarded-For` is believed, such as a load balancer. From anybody else it is dropped.",
    ),
    key(
        "proxy_protocol",
        "networks",
        "[]",
        "Peers whose connections begin with a PROXY header (version 1 or 2), and are closed without one. The client that it names \
         counts as the peer; from anybody else no header is looked for.",
    ),
    at_start(optional(
        "threads",
        "number, 1 to 256",
        "one per core",
        "Threads that serve visitors, each with connections of its own.",
    )),
    key(
        "first_byte_timeout",
        "duration",
        "\"10s\"",
        "How long a new connection may stay silent.",
    ),
    key(
        "head_timeout",
        "duration",
        "\"10s\"",
        "How long a request's head may take from its first byte to its end.",
    ),
    key(
        "keep_alive",
        "duration",
        "\"75s\"",
        "How long a connection may stand idle between two requests.",
    ),
    key(
        "body_timeout",
        "duration",
        "\"30s\"",
        "How long a visitor may pause in the middle of a body.",
    ),
    key(
        "body_rate",
        "size per second",
        "\"240 B\"",
        "The least a body must average once it was waited for that long.",
    ),
    key(
        "write_timeout",
        "duration",
        "\"30s\"",
        "How long a visitor may take nothing while an answer is waiting.",
    ),
    key(
        "max_head",
        "size",
        "\"32 KiB\"",
        "Longest head of a request; beyond it the answer is 431.",
    ),
    key(
        "max_body",
        "size",
        "\"100 MiB\"",
        "Longest body of a request; beyond it the answer is 413.",
    ),
    key(
        "max_connections",
        "number",
        "100000",
        "Most connections at once; a further one is closed at once.",
    ),
    key(
        "max_connections_per_client",
        "number",
        "2000",
        "Most connections at once per client, an IPv4 address or an IPv6 /64; a further one is closed at once. Over \
         HTTP/2 a request that begins beside another on its connection counts as one. Peers in `trusted_proxies` may have any \
         number: a proxy in front that is not named there shares this one.",
    ),
    key(
        "drain_deadline",
        "duration",
        "\"30s\"",
        "How long requests under way may take to finish after SIGTERM before their connections are closed.",
    ),
    at_start(key(
        "upgrade_deadline",
        "duration",
        "\"30s\"",
        "How long the new process of an upgrade may take until it serves; then it is ended, and the gate goes on as before.",
    )),
    at_start(key(
        "backlog",
        "number",
        "4096",
        "Length of the kernel's queue of connections not yet taken; the kernel's own limit may be lower.",
    )),
    key(
        "h2c",
        "true or false",
        "false",
        "HTTP/2 in the clear from clients that begin with it, such as a proxy in front. Never by `Upgrade: h2c`.",
    ),
    optional(
        "room_files",
        "path of a folder",
        "they name no files",
        "Where rooms that operators add at run time find the templates and public keys that they name, by a path below it.",
    ),
];

pub(super) const FORWARD_AUTH: Table = Table {
    name: "forward_auth",
    many: false,
    about: "Proxies that carry the traffic themselves and ask the gate who may pass.",
    keys: &FORWARD_AUTH_KEYS,
};

const FORWARD_AUTH_KEYS: [Key; 1] = [key(
    "proxies",
    "list of \"nginx\", \"traefik\", \"caddy\", \"haproxy\", \"envoy\"",
    "[]",
    "Which of them may ask, at `/.ropeline/forward/` and the name; only from addresses in `trusted_proxies` of `[server]`.",
)];

pub(super) const STORE: Table = Table {
    name: "store",
    many: false,
    about: "Where the rooms are kept.",
    keys: &STORE_KEYS,
};

const STORE_KEYS: [Key; 7] = [
    at_start(key(
        "url",
        "\"embedded:\" and a folder, or the URL of a Redis or Valkey",
        "\"embedded:./ropeline-data\"",
        "The log of the rooms. embedded: a file in this folder, which is made if missing and which one gate at a time can use. \
         For gates that share their rooms `redis://` or `rediss://` (with TLS), user:password@, host, port and /database; \
         `redis+cluster://host,host` for nodes of a cluster, `redis+sentinel://host,host/master-name` for sentinels; \
         `valkey` for `redis` means the same. It needs `[tokens] keys`.",
    )),
    at_start(key(
        "prefix",
        "1 to 64 of letters, digits and \"-\", \"_\", \".\" or \":\"",
        "\"ropeline\"",
        "What the names of a shared store's keys begin with: gates with the same url and prefix share their rooms.",
    )),
    at_start(optional(
        "password",
        "secret",
        "the one in the url, or none",
        "The shared store's password, where it is not to stand in the url.",
    )),
    at_start(optional(
        "ca_file",
        "path of a PEM file",
        "the system's authorities",
        "The authorities that the certificate of a store with TLS is checked against.",
    )),
    at_start(optional(
        "archive",
        "path of a folder",
        "no archive",
        "Every entry of the log is kept here for good, in files chained by hashes, for `ropeline report`: a disk, or whatever is \
         mounted there. Of many gates the one whose turn it is writes; nothing in it is ever deleted.",
    )),
    at_start(key(
        "log_keep",
        "duration",
        "\"7 days\"",
        "How long an embedded log is kept for `ropeline replay`; a shared store keeps about a minute of it.",
    )),
    at_start(optional(
        "machine_version",
        "number, up to the newest that this binary knows",
        "the newest that all gates know",
        "The rooms' machine version that is not gone above: the present one keeps the way back open after an upgrade.",
    )),
];

pub(super) const TOKENS: Table = Table {
    name: "tokens",
    many: false,
    about: "What signs tickets and passes.",
    keys: &TOKENS_KEYS,
};

const TOKENS_KEYS: [Key; 2] = [
    key(
        "keys",
        "list of { id, secret }, secrets of 32 bytes or more",
        "[]",
        "The first key signs, all verify. To rotate without losing anybody: the new key second on every gate, then first on every \
         gate, and the old one out a week later: `docs/guides/runbook.md`. With none the gate makes one and keeps it in its data folder.",
    ),
    key(
        "audience",
        "text, or list of texts, of up to 64 letters, digits and \".-_:/\"; up to 4",
        "[]",
        "The name of this installation, the same on all its gates. It is mixed into the keys, so that production refuses what \
         staging signs with the same ones. Of a list the first signs and all verify, to rename as keys are rotated; \"\" stands \
         for the keys as they are.",
    ),
];

pub(super) const LOG: Table = Table {
    name: "log",
    many: false,
    about: "What the gate says about its work.",
    keys: &LOG_KEYS,
};

const LOG_KEYS: [Key; 4] = [
    at_start(key(
        "format",
        "\"auto\", \"text\" or \"json\"",
        "\"auto\"",
        "How log lines look; auto is text on a terminal and JSON otherwise.",
    )),
    key(
        "level",
        "\"error\", \"warn\", \"info\", \"debug\" or \"trace\", also by module",
        "\"info\"",
        "How much is logged, to standard error. By module: `\"info,ropeline::proxy=debug\"`.",
    ),
    key(
        "access",
        "\"off\", \"stdout\" or \"file:\" and a path",
        "\"off\"",
        "A line of JSON for every request: to standard output or to the end of a file.",
    ),
    key(
        "full_addresses",
        "true or false",
        "false",
        "Whole client addresses in the access log; otherwise the last part is left out.",
    ),
];

//! Keys of the gate itself: its listeners, the proxies that ask it, its log.

use super::form::{ADDRESS, DAY, Form, HOUR, LISTENER, NETWORK};
use super::key::{Table, duration, flag, key, list, number, size, text, words};

pub(super) const SERVER: Table = Table {
    name: "server",
    many: false,
    about: "The listeners, and what bounds a visitor's connection.",
    keys: &[
        list("listen", &LISTENER)
            .or("[\"0.0.0.0:8080\"]")
            .about(
                "Where visitors come in. Whoever connects to a Unix socket counts as 127.0.0.1; `systemd` takes the \
                    sockets that systemd passes, all or those of a name.",
            )
            .at_start(),
        text("unix_mode", "an octal mode in quotes, such as \"0660\" or \"0600\"")
            .or("0660")
            .about("Who may connect to the Unix sockets in `listen`, as chmod writes it.")
            .at_start(),
        key("admin_listen", ADDRESS)
            .or("127.0.0.1:9925")
            .about(
                "The operator's side: health, metrics and the admin API. Elsewhere than on loopback only with \
                    `admin_token` or `admin_tokens`.",
            )
            .at_start(),
        key("admin_token", TOKEN)
            .unset("no token is asked for")
            .about("What `Authorization: Bearer` must carry on the admin API."),
        list("admin_tokens", &NAMED_TOKEN).or("[]").about(
            "A token for each operator: its name stands beside every change, `may` is `read` or `change`, \
                    `token` is a secret of 16 bytes or more. They are asked for beside or instead of `admin_token`, \
                    whose name is `operator`; no two have the same secret.",
        ),
        key("verify_token", TOKEN)
            .unset("as for the rest of the admin API")
            .about(
                "What it may carry instead for `GET /api/v1/verify`, and for nothing else: for a shop that asks \
                    about a session.",
            ),
        list("trusted_proxies", &NETWORK).or("[]").about(
            "Peers whose `X-Forwarded-For` is believed, such as a load balancer. From anybody else it is \
                    dropped.",
        ),
        list("proxy_protocol", &NETWORK).or("[]").about(
            "Peers whose connections begin with a PROXY header (version 1 or 2), and are closed without one. \
                    The client that it names counts as the peer; from anybody else no header is looked for.",
        ),
        number("threads", 1..=256)
            .unset("one per core")
            .about("Threads that serve visitors, each with connections of its own.")
            .at_start(),
        duration("first_byte_timeout", 1..=HOUR)
            .or("10s")
            .about("How long a new connection may stay silent."),
        duration("head_timeout", 1..=HOUR)
            .or("10s")
            .about("How long a request's head may take from its first byte to its end."),
        duration("keep_alive", 1..=DAY)
            .or("75s")
            .about("How long a connection may stand idle between two requests."),
        duration("body_timeout", 1..=DAY)
            .or("30s")
            .about("How long a visitor may pause in the middle of a body."),
        size("body_rate", 0..=1 << 30)
            .or("240 B")
            .about("The least a body must average once it was waited for that long."),
        duration("write_timeout", 1..=DAY)
            .or("30s")
            .about("How long a visitor may take nothing while an answer is waiting."),
        size("max_head", 1 << 10..=1 << 20)
            .or("32 KiB")
            .about("Longest head of a request; beyond it the answer is 431."),
        size("max_body", 0..=1 << 40)
            .or("100 MiB")
            .about("Longest body of a request; beyond it the answer is 413."),
        number("max_connections", 1..=10_000_000)
            .or("100000")
            .about("Most connections at once; a further one is closed at once."),
        number("max_connections_per_client", 1..=10_000_000).or("2000").about(
            "Most connections at once per client, an IPv4 address or an IPv6 /64; a further one is closed at \
                    once. Over HTTP/2 a request that begins beside another on its connection counts as one. Peers in \
                    `trusted_proxies` may have any number: a proxy in front that is not named there shares this one.",
        ),
        duration("drain_deadline", 1..=HOUR)
            .or("30s")
            .about("How long requests under way may take to finish after SIGTERM before their connections are closed."),
        duration("upgrade_deadline", 1..=HOUR)
            .or("30s")
            .about(
                "How long the new process of an upgrade may take until it serves; then it is ended, and the gate \
                    goes on as before.",
            )
            .at_start(),
        number("backlog", 1..=1 << 20)
            .or("4096")
            .about("Length of the kernel's queue of connections not yet taken; the kernel's own limit may be lower.")
            .at_start(),
        flag("h2c").or("false").about(
            "HTTP/2 in the clear from clients that begin with it, such as a proxy in front. Never by `Upgrade: \
                    h2c`.",
        ),
        text("room_files", "the path of a folder")
            .unset("they name no files")
            .about(
                "Where rooms that operators add at run time find the templates and public keys that they name, by a \
                    path below it.",
            ),
    ],
};

pub(super) const FORWARD_AUTH: Table = Table {
    name: "forward_auth",
    many: false,
    about: "Proxies that carry the traffic themselves and ask the gate who may pass.",
    keys: &[list("proxies", &PROXY).or("[]").about(
        "Which of them may ask, at `/.ropeline/forward/` and the name; only from addresses in \
                    `trusted_proxies` of `[server]`.",
    )],
};

pub(super) const LOG: Table = Table {
    name: "logging",
    many: false,
    about: "What the gate says about its work.",
    keys: &[
        words("format", &["auto", "text", "json"])
            .or("auto")
            .about("How log lines look; auto is text on a terminal and JSON otherwise.")
            .at_start(),
        text(
            "level",
            "\"error\", \"warn\", \"info\", \"debug\" or \"trace\", or by module as in \"info,ropeline::proxy=debug\"",
        )
        .or("info")
        .about("How much is logged, to standard error. By module: `\"info,ropeline::proxy=debug\"`."),
        text("access", "\"off\", \"stdout\" or \"file:\" and a path")
            .or("off")
            .about("A line of JSON for every request: to standard output or to the end of a file."),
        flag("full_addresses")
            .or("false")
            .about("Whole client addresses in the access log; otherwise the last part is left out."),
    ],
};

const TOKEN: Form = Form::Secret(16);

const NAMED_TOKEN: Form = Form::Fields(
    &[
        (
            "name",
            Form::Text("1 to 32 of a-z, A-Z, 0-9, \"-\", \"_\", \".\" and \"@\""),
        ),
        ("token", TOKEN),
        ("may", Form::Words(&["read", "change"])),
    ],
    "{ name = \"anna\", token = { env = \"ROPELINE_ANNAS_TOKEN\" }, may = \"change\" }",
);

const PROXY: Form = Form::Words(&["nginx", "traefik", "caddy", "haproxy", "envoy"]);

//! Keys of the gate itself: its listeners, the proxies that ask it, its log.

use super::form::{ADDRESS, DAY, Form, HOUR, LISTENER, NETWORK};
use super::key::{Brackets, Table, duration, flag, key, list, number, size, text, words};

pub(super) const SERVER: Table = Table {
    name: "server",
    brackets: Brackets::One,
    about: "The listeners, and the limits on connections and requests.",
    keys: &[
        list("listen", &LISTENER)
            .or("[\"127.0.0.1:8080\"]")
            .about(
                "The listeners for visitors: `0.0.0.0:8080` is port 8080 on every address of the machine. Clients on a \
                    Unix socket are treated as 127.0.0.1. `\"systemd\"` stands for all sockets that systemd passes and no other entry names, \
                    `\"systemd:NAME\"` for those with that name. The environment variable ROPELINE_LISTEN, a list \
                    separated by commas, replaces the default.",
            )
            .at_start(),
        text("unix_mode", "an octal mode in quotes, such as \"0660\" or \"0600\"")
            .or("0660")
            .about("Access mode of the Unix sockets in `listen`, as for chmod.")
            .at_start(),
        key("admin_listen", ADDRESS)
            .or("127.0.0.1:9925")
            .about(
                "The listener for health, metrics and the admin API. An address other than loopback needs \
                 `admin_token` or `admin_tokens`.",
            )
            .at_start(),
        key("admin_token", TOKEN)
            .unset("no token is asked for")
            .about("The token that the admin API asks for in `Authorization: Bearer`."),
        list("admin_tokens", &NAMED_TOKEN).or("[]").about(
            "A token for each operator, in addition to `admin_token` or instead of it. The operator's name is logged \
                with every change; `may` is `read` or `change`. No two tokens may be the same. Changes made with \
                `admin_token` are logged under the name `operator`.",
        ),
        key("verify_token", TOKEN)
            .unset("this endpoint asks for the same token as the rest of the admin API")
            .about(
                "A token for the shop, with which it may only ask whether a session is open (`GET \
                /api/v1/verify`). See docs/guides/back-door.md.",
            ),
        list("trusted_proxies", &NETWORK).or("[]").about(
            "Peers whose `X-Forwarded-For` is believed, such as a load balancer. From any other peer the header \
                 is dropped.",
        ),
        list("proxy_protocol", &NETWORK).or("[]").about(
            "Peers whose connections begin with a PROXY header (version 1 or 2); a connection without this header is \
                closed. The client address in that header is then used in place of the connection's own. From any \
                other peer such a header is a malformed request.",
        ),
        number("threads", 1..=256)
            .unset("one per core")
            .about("Number of threads that serve visitors. Each has connections of its own.")
            .at_start(),
        duration("first_byte_timeout", 1..=HOUR)
            .or("10s")
            .about("Longest wait for the first byte of a new connection."),
        duration("head_timeout", 1..=HOUR)
            .or("10s")
            .about("Longest time from the first byte of a request's head to its end."),
        duration("keep_alive", 1..=DAY)
            .or("75s")
            .about("Longest idle time of a connection between two requests."),
        duration("body_timeout", 1..=DAY)
            .or("30s")
            .about("Longest pause of a client within a request body."),
        size("body_rate", 0..=1 << 30).or("240 B").about(
            "Lowest accepted average rate of a request body, in bytes per second. It is checked from the moment at \
                which the gate has waited `body_timeout` in total for the body.",
        ),
        duration("write_timeout", 1..=DAY)
            .or("30s")
            .about("Longest time that a client may stop reading while response data is ready."),
        size("max_head", 1 << 10..=1 << 20)
            .or("32 KiB")
            .about("Largest request head. A larger one gets 431."),
        size("max_body", 0..=1 << 40)
            .or("100 MiB")
            .about("Largest request body. A larger one gets 413."),
        number("max_connections", 1..=10_000_000)
            .or("100000")
            .about("Maximum number of connections at once. Any further one is closed."),
        number("max_connections_per_client", 1..=10_000_000).or("2000").about(
            "Maximum number of connections at once from one client: an IPv4 address or an IPv6 /64. Any further one \
                is closed. On an HTTP/2 connection each additional concurrent request counts as one more connection. \
                Peers in `trusted_proxies` have no such limit. If a proxy is not listed there, all visitors behind \
                it share one limit.",
        ),
        duration("drain_deadline", 1..=HOUR)
            .or("30s")
            .about("Longest time after SIGTERM for requests under way to finish. Then their connections are closed."),
        duration("upgrade_deadline", 1..=HOUR)
            .or("30s")
            .about(
                "Longest time that the new process of an upgrade may take until it serves. After that the new \
                    process is ended, and the old one goes on.",
            )
            .at_start(),
        number("backlog", 1..=1 << 20)
            .or("4096")
            .about(
                "Length of the kernel's queue of connections that are not accepted yet. The kernel's own limit may \
                 be lower.",
            )
            .at_start(),
        flag("h2c").or("false").about(
            "Accepts HTTP/2 without TLS from clients that start with it (prior knowledge), such as a proxy. \
                `Upgrade: h2c` is never accepted.",
        ),
        text("room_files", "the path of a folder")
            .unset("such rooms may name no files")
            .about("Folder of templates, wordings and public keys. A room that is added at run time may name only files in it."),
    ],
};

pub(super) const FORWARD_AUTH: Table = Table {
    name: "forward_auth",
    brackets: Brackets::One,
    about: "Proxies that forward requests themselves and ask the gate about each request.",
    keys: &[list("proxies", &PROXY).or("[]").about(
        "The proxies that may ask: nginx, traefik, caddy, haproxy or envoy. Each asks at `/.ropeline/forward/NAME`, \
            from an address in `trusted_proxies` of `[server]`.",
    )],
};

pub(super) const LOG: Table = Table {
    name: "logging",
    brackets: Brackets::One,
    about: "The gate's logs.",
    keys: &[
        words("format", &["auto", "text", "json"])
            .or("auto")
            .about("Form of log lines. `auto` is text on a terminal and JSON otherwise.")
            .at_start(),
        text(
            "level",
            "\"error\", \"warn\", \"info\", \"debug\" or \"trace\", or by module as in \"info,ropeline_proxy=debug\"",
        )
        .or("info")
        .about("Level of the log on standard error, also by module: `\"info,ropeline_proxy=debug\"`."),
        text("access", "\"off\", \"stdout\" or \"file:\" and a path")
            .or("off")
            .about("The access log, one line of JSON for each request: to standard output, or appended to a file."),
        flag("full_addresses")
            .or("false")
            .about("Whole client addresses in the access log. Otherwise their last part is left out."),
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

//! `ropeline probe`: tries known ways round the line on the operator's own deployment, and reports the requests that reached
//! the shop.
//!
//! An answer of the gate has the header `Ropeline-Status`, which the gate removes from every answer of the shop: an answer
//! without it was made behind the gate, or before it. So the room must be held or closed, or ordinary requests reach the shop
//! too. Exit codes: 0 nothing reached the shop, 1 something did or the probe could not run, 2 wrong usage.

mod attacks;
mod exchange;
mod request;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::output::{Format, plain, say};
use super::rehearse::place::{Aim, Place, authorities};
use super::remote::{self, AdminArgs, Failure, encoded, parsed};
use crate::admin::api;
use crate::doctor::refuses;
use attacks::{Attack, Expect, Site, all};
use exchange::{Answer, Head, exchange, exchange_http2};

/// Arguments of `ropeline probe`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ProbeArgs {
    /// URL at which visitors reach the gate
    url: String,
    #[command(flatten)]
    admin: AdminArgs,
    /// The room to test; its mode must be hold or closed
    #[arg(long)]
    room: String,
    /// A protected page of the room
    #[arg(long, value_name = "PATH", default_value = "/")]
    path: String,
    /// Host name to send, if the URL has an address
    #[arg(long)]
    host: Option<String>,
    /// A path of the room's `except`; repeatable
    #[arg(long, value_name = "PATH")]
    outside: Vec<String>,
    /// The query parameter that chooses a line, in a room with `per`
    #[arg(long, value_name = "NAME")]
    parameter: Option<String>,
    /// Path of the form that names the account, as in `on` of `[room.identity]`
    #[arg(long, value_name = "PATH", requires = "account")]
    account_path: Option<String>,
    /// Field of that form
    #[arg(long, value_name = "NAME", requires = "account_path")]
    account: Option<String>,
    /// The shop's own address, which must not answer, or must refuse
    #[arg(long, value_name = "URL")]
    back_door: Option<String>,
    /// Certificate authorities of the gate's certificate, if the system does not trust them
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Text, or one JSON object a line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  ropeline rooms set sale --mode hold
  ropeline probe https://shop.example --room sale --path /product/7
  ropeline probe https://shop.example --room sale --outside /static/app.css --back-door http://10.0.0.9:3000
  ropeline probe http://127.0.0.1:8080 --host shop.example --room seats --path '/buy?id=7' --parameter id
  ropeline probe https://shop.example --room sale --account-path /enter --account email

The probe sends some eighty requests, one after the other, and most of them again over HTTP/2. It sends them only to a gate that proves that it has the same keys as the gate behind the admin listener.";

/// Runs `ropeline probe`.
#[must_use]
pub fn run(args: &ProbeArgs) -> ExitCode {
    remote::run_to_code("probe", execute(args))
}

async fn execute(args: &ProbeArgs) -> Result<ExitCode, Failure> {
    let aim = Aim::named(&args.url)?;
    let host = args.host.clone().unwrap_or_else(|| aim.authority.clone());
    let place = aim.place(&host, authorities(args.ca_file.as_deref())?.as_deref())?;
    prove(args, &place, &host).await?;
    let mut site = Site {
        host: &host,
        room: &args.room,
        path: &args.path,
        is_whole: false,
        outside: &args.outside,
        parameter: args.parameter.as_deref(),
        account: args.account_path.as_deref().zip(args.account.as_deref()),
    };
    let ordinary = site.request("GET", site.path, "", "");
    let control = exchange(&place, &ordinary.bytes()).await;
    let Answer::Head(Head { word: Some(word), .. }) = &control else {
        return Err(Failure::Local(format!(
            "{} reaches the shop without any trick ({}): hold the room first (ropeline rooms set {} --mode hold), or name a protected \
             page with --path; nothing else was sent",
            args.path,
            told(&control),
            args.room
        )));
    };
    if ELSEWHERE.contains(&word.as_str()) {
        return Err(Failure::Local(format!(
            "{} is not held by a room of {host} ({}), so nothing would be proved: name a protected page with --path, with its query where \
             that chooses a line, and the site's name with --host; nothing else was sent",
            args.path,
            told(&control),
        )));
    }
    let results = Results(args.format);
    results.tried("kept", &args.path, word);
    // A path that no shop has: it waits where the room covers the whole site.
    let anywhere = exchange(&place, &site.request("GET", "/ropeline-probe", "", "").bytes()).await;
    site.is_whole = matches!(anywhere, Answer::Head(Head { word: Some(_), .. }));
    let speaks_http2 = matches!(
        exchange_http2(&place, &ordinary).await,
        Some(Answer::Head(Head { word: Some(_), .. }))
    );
    let mut reached = 0;
    for attack in all(&site) {
        let answer = exchange(&place, &attack.request.bytes()).await;
        reached += results.found(&attack, "", &answer);
        if speaks_http2 && let Some(answer) = exchange_http2(&place, &attack.request).await {
            reached += results.found(&attack, " over HTTP/2", &answer);
        }
    }
    if !speaks_http2 {
        results.tried("skipped", "HTTP/2", "it is not spoken there");
    }
    if let Some(url) = &args.back_door {
        reached += usize::from(!results.back_door(url, &site).await?);
    }
    if args.format == Format::Text {
        say(&format!(
            "{reached} found. Not tried from outside: what needs a session, two gates, a flood or a lost store (docs/contributing/threats.md).\n"
        ));
    }
    Ok(if reached == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The gate's statuses for requests of no room or line.
const ELSEWHERE: [&str; 4] = ["unknown_host", "unknown_line", "malformed", "not_found"];

/// Proves that the address is a gate with the keys of the admin listener, before any attack.
async fn prove(args: &ProbeArgs, place: &Place, host: &str) -> Result<(), Failure> {
    let room = encoded(&args.room);
    let begun = args.admin.client()?.get(&format!("/api/v1/rooms/{room}/probe")).await?;
    let probe: api::Probe = parsed(&begun)?;
    let target = format!("/.ropeline/rooms/{room}/probe?nonce={}", encoded(&probe.nonce));
    let ask = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    match exchange(place, ask.as_bytes()).await {
        Answer::Head(Head {
            status: 200,
            word: Some(word),
            ..
        }) if word == "probe" => Ok(()),
        other => Err(Failure::Local(format!(
            "what answers at {} is no gate with the keys of this admin listener and a room {} ({}); nothing else was sent. Only your \
             own deployment is probed",
            args.url,
            args.room,
            told(&other)
        ))),
    }
}

fn holds(expect: Expect, answer: &Answer) -> bool {
    match (expect, answer) {
        (_, Answer::Closed) => true,
        (_, Answer::Untrusted(_) | Answer::Silent(_)) => false,
        (Expect::Kept, Answer::Head(head)) => head.word.is_some(),
        (Expect::Refused, Answer::Head(head)) => head.word.is_some() && head.status == 400,
        (Expect::NoAccount, Answer::Head(head)) => head.word.is_some() && matches!(head.status, 400 | 413 | 415),
        (Expect::OwnPath, Answer::Head(head)) => {
            let own = |to: &str| to.starts_with('/') && !to.starts_with("//") && !to.starts_with("/\\");
            head.word.is_some() && head.location.as_deref().is_none_or(own)
        }
    }
}

/// Prints the results, a line each.
struct Results(Format);

impl Results {
    fn tried(&self, verdict: &str, attempt: &str, answer: &str) {
        let (attempt, answer) = (plain(attempt), plain(answer));
        say(&match self.0 {
            Format::Text => format!("{verdict:<8} {attempt}: {answer}\n"),
            Format::Json => {
                let verdict = verdict.to_ascii_lowercase();
                format!(
                    "{}\n",
                    json!({ "verdict": verdict, "attempt": attempt, "answer": answer })
                )
            }
        });
    }

    /// Prints the result of an attack; 1 if it is not the required one.
    fn found(&self, attack: &Attack, how: &str, answer: &Answer) -> usize {
        let holds = holds(attack.expect, answer);
        let verdict = match (holds, attack.expect, answer) {
            (true, ..) => "kept",
            (false, _, Answer::Untrusted(_) | Answer::Silent(_)) => "UNKNOWN",
            (false, Expect::Kept, _) => "REACHED",
            (false, ..) => "WRONG",
        };
        self.tried(verdict, &format!("{}{how}", attack.name), &told(answer));
        usize::from(!holds)
    }

    /// The shop's own address: no connection, or a refusal.
    async fn back_door(&self, url: &str, site: &Site<'_>) -> Result<bool, Failure> {
        let answer = around(url, site).await?;
        let shut = is_shut(&answer);
        let verdict = if shut { "kept" } else { "REACHED" };
        self.tried(verdict, &format!("the back door {url}"), &told(&answer));
        Ok(shut)
    }
}

fn told(answer: &Answer) -> String {
    match answer {
        Answer::Head(Head {
            status,
            word: Some(word),
            ..
        }) => format!("{status}, {}", plain(word)),
        Answer::Head(Head { status, .. }) => format!("{status}, not from the gate"),
        Answer::Closed => "closed without an answer".to_owned(),
        Answer::Untrusted(why) => format!("a server answers, {}", plain(why)),
        Answer::Silent(why) => plain(why),
    }
}

/// What answers at an address that a client without the gate finds; `None` where nothing does, or it refuses.
pub async fn answers(url: &str) -> Result<Option<String>, Failure> {
    let host = Aim::named(url)?.authority;
    let site = Site {
        host: &host,
        room: "",
        path: "/",
        is_whole: false,
        outside: &[],
        parameter: None,
        account: None,
    };
    let answer = around(url, &site).await?;
    Ok((!is_shut(&answer)).then(|| told(&answer)))
}

async fn around(url: &str, site: &Site<'_>) -> Result<Answer, Failure> {
    let place = Aim::named(url)?.place(site.host, None)?;
    Ok(exchange(&place, &site.request("GET", site.path, "", "").bytes()).await)
}

fn is_shut(answer: &Answer) -> bool {
    match answer {
        Answer::Silent(_) | Answer::Closed => true,
        Answer::Untrusted(_) => false,
        Answer::Head(head) => http::StatusCode::from_u16(head.status).is_ok_and(refuses),
    }
}

//! `ropeline demo`: a shop, a gate with a room of two, and the addresses to open.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use tokio_util::sync::CancellationToken;

use crate::admin::Reloads;
use crate::config::{self, Config};
use crate::metrics::Metrics;
use crate::proxy::Endpoint;
use crate::{demo, logging};

use super::output::say;
use crate::app::signals::Signals;
use crate::app::start::{self, Operator};

/// Arguments of `ropeline demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline demo
  ropeline demo --capacity 1          a room for one

Open the printed address in three browsers, or in one browser, a private window and a phone's simulator: two get in,
the third waits and gets in when one of them pays, leaves or idles for two minutes.")]
pub struct DemoArgs {
    /// Address for visitors
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Address of the admin listener
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9925")]
    admin_listen: SocketAddr,
    /// Visitors inside at once
    #[arg(long, value_name = "N", default_value_t = 2)]
    capacity: u32,
    /// Keep the store in this folder instead of a temporary one
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
}

/// Runs `ropeline demo`.
#[must_use]
pub fn run(args: &DemoArgs) -> ExitCode {
    match serve(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ropeline demo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(args: &DemoArgs) -> Result<(), Box<dyn std::error::Error>> {
    let metrics = Metrics::new();
    let options = logging::Options {
        filter: "warn".to_owned(),
        ..logging::Options::default()
    };
    let _logging = logging::init(&options, metrics.log_lines_dropped.clone())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let mut signals = Signals::catch()?;
    let (shop, provider) = (loopback()?, loopback()?);
    let shop_address = shop.local_addr()?;
    let folder = folder(args)?;
    let config = config(args, shop_address, &folder)?;
    let bound = start::bind(&config, None)?;
    let opened = start::open(&config, &metrics, None, false)?;
    let operator = Operator {
        metrics,
        reloads: Reloads::new().0,
        upgrades: None,
    };
    let (running, _) = start::serve(&config, bound, opened, operator, false)?;
    let closing = CancellationToken::new();
    let shop = runtime.block_on(async {
        let shop = tokio::net::TcpListener::from_std(shop)?;
        let provider = tokio::net::TcpListener::from_std(provider)?;
        std::io::Result::Ok(tokio::spawn(demo::serve(
            shop,
            provider,
            closing.clone().cancelled_owned(),
        )))
    })?;
    let (gate, admin) = (&running.endpoints()[0], running.admin_address());
    say(&(greeting(args, gate, admin, shop_address, &folder) + "\n"));
    signals.wait();
    signals.end_at_once();
    closing.cancel();
    let _ = running.stop(Duration::from_secs(2));
    runtime.block_on(shop)??;
    if args.data.is_none() {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

fn loopback() -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn folder(args: &DemoArgs) -> std::io::Result<PathBuf> {
    if let Some(folder) = &args.data {
        return Ok(folder.clone());
    }
    let folder = std::env::temp_dir().join(format!("ropeline-demo-{}", std::process::id()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(folder)
}

/// The demo's configuration, as an operator would write it.
fn config(args: &DemoArgs, shop: SocketAddr, folder: &Path) -> Result<Config, Box<dyn std::error::Error>> {
    let text = format!(
        r#"
[server]
listen = ["{listen}"]
admin_listen = "{admin}"
threads = 1
max_connections = 1000

[upstream]
url = "http://{shop}"

[store]
url = {store:?}

[[room]]
name = "shop"
total_active_users = {capacity}
except = ["/static/*", "/webhook"]
return_routes = ["POST /checkout/return"]
ends_on = [{{ route = "/checkout/complete", status = 200 }}]
session_duration = "2 min"
claim_deadline = "60s"
end_grace = "10s"

[[limit]]
name = "seats"
routes = ["POST /seats/{{n}}", "/seats/events"]
requests = 5
window = "10s"
"#,
        listen = args.listen,
        admin = args.admin_listen,
        store = format!("embedded:{}", folder.display()),
        capacity = args.capacity,
    );
    Ok(config::check(&text, "demo").finish()?.0)
}

fn greeting(args: &DemoArgs, gate: &Endpoint, admin: SocketAddr, shop: SocketAddr, folder: &Path) -> String {
    format!(
        "\nRopeline is in front of a small shop, with room for {}.\n\n  \
         open this       http://{gate}/\n  \
         in three browsers, or one and a private window and a phone: the third waits, and gets in when one pays or leaves\n\n  \
         the rooms       ropeline rooms --admin http://{admin} --watch\n  \
         the metrics     http://{admin}/metrics\n  \
         the bare shop   http://{shop}/   (what the gate protects)\n  \
         the log         {}\n\nCtrl-C ends it.",
        args.capacity,
        folder.display(),
    )
}

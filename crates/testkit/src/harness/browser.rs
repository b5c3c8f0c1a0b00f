//! One real browser with a profile of its own, as a visitor's: Chromium or Firefox.

use std::path::PathBuf;
use std::process::Command;

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use url::{ParseError, Url};

use super::look::{Engine, Look};
use super::process::Process;
use super::{eventually, patiently};

/// A browser; dropping it kills it and its driver and removes the profile.
pub struct Browser {
    // Dropped in this order: the processes go before their folder.
    driver: Process,
    profile: TempDir,
    /// The `WebDriver` session, for functions without a method here.
    pub client: Client,
}

impl Browser {
    /// Starts a browser with this look.
    pub async fn start(look: Look) -> Self {
        let (driver, address) = (0..ATTEMPTS)
            .find_map(|_| start_driver(look.engine))
            .expect("a port for the driver");
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(look.capabilities(&profile.path().to_string_lossy()))
            .connect(&address)
            .await
            .unwrap_or_else(|error| panic!("no browser: {error}\n{}", driver.said()));
        let browser = Self {
            driver,
            profile,
            client,
        };
        if look.dark && look.engine == Engine::Chromium {
            browser.emulate_dark().await;
        }
        browser
    }

    /// The folder of its profile, which every process of this browser names in its command line.
    pub fn profile(&self) -> String {
        self.profile.path().to_string_lossy().into_owned()
    }

    /// Opens an address and waits until the page has loaded.
    pub async fn open(&self, address: &str) {
        self.client
            .goto(address)
            .await
            .unwrap_or_else(|error| panic!("{address} does not open: {error}"));
    }

    /// The address in the address bar.
    pub async fn address(&self) -> String {
        self.client.current_url().await.expect("an address").into()
    }

    /// Waits until the address in the address bar contains `part`.
    pub async fn at(&self, part: &str) {
        let asked = async || self.address().await.contains(part).then_some(());
        let came = patiently(asked).await.is_some();
        assert!(
            came,
            "never at {part:?} but at {}:\n{}",
            self.address().await,
            self.text().await
        );
    }

    /// The page's visible text; empty while a page is being replaced by the next.
    pub async fn text(&self) -> String {
        let Ok(body) = self.client.find(Locator::Css("body")).await else {
            return String::new();
        };
        body.text().await.unwrap_or_default()
    }

    /// The page's title.
    pub async fn title(&self) -> String {
        self.client.title().await.unwrap_or_default()
    }

    /// Waits until the page shows `text`, and returns all it shows.
    pub async fn shows(&self, text: &str) -> String {
        let asked = async || Some(self.text().await).filter(|shown| shown.contains(text));
        let Some(shown) = patiently(asked).await else {
            panic!(
                "{} never showed {text:?} but:\n{}",
                self.address().await,
                self.text().await
            );
        };
        shown
    }

    /// Whether the page has an element that `css` selects.
    pub async fn has(&self, css: &str) -> bool {
        self.client.find(Locator::Css(css)).await.is_ok()
    }

    /// Waits until the page has an element that `css` selects.
    pub async fn awaits(&self, css: &str) {
        eventually(css, async || self.has(css).await.then_some(())).await;
    }

    /// Clicks the first element that `css` selects, once there is one.
    pub async fn click(&self, css: &str) {
        let clicked = async || {
            let element = self.client.find(Locator::Css(css)).await.ok()?;
            element.click().await.ok()
        };
        eventually(&format!("a click on {css}"), clicked).await;
    }

    /// Follows the link that reads `link` until the page shows `text`: a page that reloads by itself may take a click away.
    pub async fn follows(&self, link: &str, text: &str) -> String {
        let followed = async || {
            if let Ok(found) = self.client.find(Locator::LinkText(link)).await {
                found.click().await.ok()?;
            }
            Some(self.text().await).filter(|shown| shown.contains(text))
        };
        eventually(&format!("{text:?} by the link {link:?}"), followed).await
    }

    /// Types into the field that `css` selects, replacing its text.
    pub async fn fill(&self, css: &str, text: &str) {
        self.awaits(css).await;
        let field = self.client.find(Locator::Css(css)).await.expect("seen above");
        field
            .clear()
            .await
            .unwrap_or_else(|error| panic!("{css} cannot be emptied: {error}"));
        field
            .send_keys(text)
            .await
            .unwrap_or_else(|error| panic!("{css} takes no text: {error}"));
    }

    /// Names a file in the file field that `css` selects.
    pub async fn attach(&self, css: &str, file: &std::path::Path) {
        self.awaits(css).await;
        let field = self.client.find(Locator::Css(css)).await.expect("seen above");
        field
            .send_keys(&file.to_string_lossy())
            .await
            .unwrap_or_else(|error| panic!("{css} takes no file: {error}"));
    }

    /// Runs a script in the page and returns what it returns.
    pub async fn run(&self, script: &str) -> Value {
        self.client
            .execute(script, Vec::new())
            .await
            .unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Saves the window's content as `target/screenshots/NAME.png`.
    pub async fn screenshot(&self, name: &str) -> PathBuf {
        let target = crate::program().ancestors().nth(2).expect("a target folder").to_owned();
        let folder = target.join("screenshots");
        std::fs::create_dir_all(&folder).expect("a folder for screenshots");
        let file = folder.join(format!("{name}.png"));
        let picture = self.client.screenshot().await.expect("a screenshot");
        std::fs::write(&file, picture).expect("the screenshot is written");
        file
    }

    /// What a screen reader is told of the first element that `css` selects: its role and its name, as the browser computes them
    /// (`WebDriver`, sections 12.4.9 and 12.4.10).
    pub async fn computed(&self, css: &str) -> (String, String) {
        let element = self
            .client
            .find(Locator::Css(css))
            .await
            .unwrap_or_else(|error| panic!("{css}: {error}"));
        let element = element.element_id().to_string();
        let ask = async |what| {
            let element = element.clone();
            let told = self.client.issue_cmd(Computed { element, what }).await;
            let told = told.unwrap_or_else(|error| panic!("{what} of {css}: {error}"));
            told.as_str().unwrap_or_default().to_owned()
        };
        (ask("computedrole").await, ask("computedlabel").await)
    }

    /// Sends a command of the `DevTools` protocol, which Chromium alone has.
    pub async fn devtools(&self, method: &'static str, parameters: Value) -> Value {
        let command = DevTools { method, parameters };
        self.client
            .issue_cmd(command)
            .await
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Suspends the browser, as a phone does with its screen off: nothing runs until [`Self::wake`].
    pub fn sleep(&self) {
        self.driver.signal(Signal::STOP);
    }

    /// Ends the state that [`Self::sleep`] began.
    pub fn wake(&self) {
        self.driver.signal(Signal::CONT);
    }

    async fn emulate_dark(&self) {
        let features = json!([{ "name": "prefers-color-scheme", "value": "dark" }]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features }))
            .await;
    }
}

/// A driver and its address; none when another process has taken the port, for which Chromium's checks under IPv6 only.
fn start_driver(engine: Engine) -> Option<(Process, String)> {
    let (program, begin, end) = match engine {
        Engine::Chromium => ("chromedriver", "successfully on port ", "."),
        Engine::Firefox => ("geckodriver", "Listening on 127.0.0.1:", ""),
    };
    let driver = Process::start(Command::new(program).arg("--port=0"));
    let port = driver.line("the driver's port", |line| {
        if line.contains("port not available") {
            return Some(None);
        }
        let (_, port) = line.split_once(begin)?;
        Some(Some(port.trim_end_matches(end).parse::<u16>().ok()?))
    })?;
    Some((driver, format!("http://127.0.0.1:{port}")))
}

/// Ports tried for a driver before giving up.
const ATTEMPTS: usize = 20;

/// A `DevTools` command, which `ChromeDriver` passes on.
#[derive(Debug)]
struct DevTools {
    method: &'static str,
    parameters: Value,
}

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (
            Method::POST,
            Some(json!({ "cmd": self.method, "params": self.parameters }).to_string()),
        )
    }
}

/// A question about an element that fantoccini has no method for.
#[derive(Debug)]
struct Computed {
    element: String,
    what: &'static str,
}

impl WebDriverCompatibleCommand for Computed {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/element/{}/{}", self.element, self.what))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::GET, None)
    }
}

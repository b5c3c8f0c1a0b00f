//! Differences between visitors' browsers: language, colours, screen, refused features.

use serde_json::{Map, Value, json};

/// Whose browser it is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Engine {
    #[default]
    Chromium,
    Firefox,
}

/// A browser's settings. The default is an English desktop browser in light colours that refuses nothing: Chromium.
#[derive(Clone, Copy)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent settings, each named where it is used"
)]
pub struct Look {
    pub engine: Engine,
    /// As in `Accept-Language`.
    pub language: &'static str,
    pub dark: bool,
    pub scripts: bool,
    pub cookies: bool,
    /// A touch screen 360 px wide; Chromium's alone.
    pub phone: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            engine: Engine::Chromium,
            language: "en-US,en",
            dark: false,
            scripts: true,
            cookies: true,
            phone: false,
        }
    }
}

impl Look {
    /// The capabilities of a `WebDriver` session with this look and the profile folder `profile`.
    pub fn capabilities(self, profile: &str) -> Map<String, Value> {
        let (name, options) = match self.engine {
            Engine::Chromium => ("goog:chromeOptions", self.chromium(profile)),
            Engine::Firefox => ("moz:firefoxOptions", self.firefox(profile)),
        };
        // Certificates of the tests' own authority are as good as any.
        let all = json!({
            name: options,
            "acceptInsecureCerts": true,
            "timeouts": { "pageLoad": 60_000 },
        });
        let Value::Object(map) = all else {
            unreachable!("an object above")
        };
        map
    }

    fn chromium(self, profile: &str) -> Value {
        let mut options = json!({ "args": self.arguments(profile), "prefs": self.preferences() });
        if self.phone {
            options["mobileEmulation"] = json!({
                "deviceMetrics": { "width": 360, "height": 740, "pixelRatio": 2.0, "touch": true, "mobile": true },
            });
        }
        options
    }

    fn firefox(self, profile: &str) -> Value {
        assert!(!self.phone, "Firefox has no phone to emulate");
        json!({
            "args": ["-headless", "-profile", profile, "-width", "1100", "-height", "900"],
            "prefs": {
                "intl.accept_languages": self.language,
                "javascript.enabled": self.scripts,
                // 2 refuses every cookie; 0 takes all.
                "network.cookie.cookieBehavior": if self.cookies { 0 } else { 2 },
                // 0 is dark, 1 light.
                "layout.css.prefers-color-scheme.content-override": i32::from(!self.dark),
                // It calls home for none of these, which a closed network refuses.
                "app.update.enabled": false,
                "network.captive-portal-service.enabled": false,
                "network.connectivity-service.enabled": false,
            },
        })
    }

    fn arguments(self, profile: &str) -> Vec<String> {
        // No sandbox: it needs rights that a test has neither as root nor in a container. The rest keeps Chromium from
        // calling home, which a closed network refuses many times a second.
        let fixed = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run \
                     --disable-background-networking --disable-component-update --disable-sync --window-size=1100,900";
        let mut arguments: Vec<String> = fixed.split_ascii_whitespace().map(String::from).collect();
        arguments.push(format!("--user-data-dir={profile}"));
        arguments.push(format!("--accept-lang={}", self.language));
        arguments
    }

    fn preferences(self) -> Value {
        // 1 allows, 2 blocks.
        let setting = |allowed: bool| if allowed { 1 } else { 2 };
        json!({
            "intl.accept_languages": self.language,
            "profile.managed_default_content_settings.javascript": setting(self.scripts),
            "profile.default_content_setting_values.cookies": setting(self.cookies),
        })
    }
}

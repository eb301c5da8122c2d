//! Headless Chromium, and user actions in it. Every action waits for its effect.

use super::StealAwareInstant;
use super::driver::{Driver, DriverError};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What has not happened by then does not happen.
const CASE_TIMEOUT: Duration = Duration::from_secs(60);
/// The name under which the protocol hands out elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Keys that have no letter.
pub const TAB: &str = "\u{e004}";
pub const ENTER: &str = "\u{e007}";
pub const DOWN: &str = "\u{e015}";

/// Light or dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

/// How large the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    Desk,
    /// Held upright, as on a counter.
    Tablet,
    Phone,
}

impl Screen {
    fn size(self) -> (u32, u32) {
        match self {
            Self::Desk => (1440, 900),
            Self::Tablet => (820, 1180),
            Self::Phone => (360, 740),
        }
    }
}

/// A browser that looks at one service.
pub struct Browser {
    driver: Driver,
    base: String,
}

impl Browser {
    pub async fn open(addr: SocketAddr) -> Self {
        Self::open_with(addr, json!({})).await
    }

    /// A browser whose owner lets no page run scripts.
    pub async fn open_without_script(addr: SocketAddr) -> Self {
        let off = json!({ "profile.managed_default_content_settings.javascript": 2 });
        Self::open_with(addr, off).await
    }

    async fn open_with(addr: SocketAddr, preferences: Value) -> Self {
        let browser = Self {
            driver: Driver::start(&preferences).await,
            base: format!("http://{addr}"),
        };
        browser.resize(Screen::Desk).await;
        browser
    }

    /// Reaches the service by another address from now on.
    pub fn move_to(&mut self, addr: SocketAddr) {
        self.base = format!("http://{addr}");
    }

    /// Goes to a page.
    pub async fn go(&self, path: &str) {
        let url = json!({ "url": format!("{}{path}", self.base) });
        self.tell("POST", "/url", &url).await;
    }

    /// Path and query of the page that is shown.
    pub async fn path(&self) -> String {
        let url = self.tell("GET", "/url", &Value::Null).await;
        let url = url.as_str().unwrap();
        url.strip_prefix(&self.base).unwrap_or(url).to_owned()
    }

    /// Runs something in the page, past everything that it allows; `arguments` are there.
    pub async fn run(&self, script: &str, arguments: &[Value]) -> Value {
        let body = json!({ "script": script, "args": arguments });
        self.tell("POST", "/execute/sync", &body).await
    }

    /// The same, with a promise that is waited for.
    pub async fn run_async(&self, script: &str, arguments: &[Value]) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];
             (async () => {{ {script} }})().then(done, (error) => done({{ failed: String(error) }}))"
        );
        let body = json!({ "script": script, "args": arguments });
        let value = self.tell("POST", "/execute/async", &body).await;
        assert_eq!(value.get("failed"), None, "{value}");
        value
    }

    /// A command that only Chromium knows.
    pub async fn command(&self, name: &str, parameters: Value) -> Value {
        let body = json!({ "cmd": name, "params": parameters });
        self.tell("POST", "/goog/cdp/execute", &body).await
    }

    /// Keeps a cookie for the service whose page is shown.
    pub async fn keep_cookie(&self, name: &str, value: &str) {
        let cookie = json!({ "cookie": { "name": name, "value": value, "httpOnly": true } });
        self.tell("POST", "/cookie", &cookie).await;
    }

    pub async fn forget_cookies(&self) {
        self.tell("DELETE", "/cookie", &Value::Null).await;
    }

    pub async fn resize(&self, screen: Screen) {
        let (width, height) = screen.size();
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": screen != Screen::Desk,
        });
        self.command("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    pub async fn prefer(&self, scheme: Scheme) {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let features = json!({ "features": [
            { "name": "prefers-color-scheme", "value": value },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ] });
        self.command("Emulation.setEmulatedMedia", features).await;
    }

    /// Presses the first of what is found, as soon as it can be pressed.
    pub async fn click(&self, css: &str) {
        self.with(css, "can be pressed", async |element| {
            let path = format!("/element/{element}/click");
            self.driver.tell("POST", &path, &json!({})).await
        })
        .await;
    }

    /// Writes into a field, in place of what is in it.
    pub async fn fill(&self, css: &str, text: &str) {
        self.with(css, "can be filled in", async |element| {
            let path = format!("/element/{element}/clear");
            self.driver.tell("POST", &path, &json!({})).await?;
            let path = format!("/element/{element}/value");
            self.driver.tell("POST", &path, &json!({ "text": text })).await
        })
        .await;
    }

    /// Chooses from a list what has this value.
    pub async fn choose(&self, css: &str, value: &str) {
        self.click(&format!("{css} option[value=\"{value}\"]")).await;
    }

    /// Strikes keys, wherever the focus is.
    pub async fn strike(&self, keys: &str) {
        let strokes: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }))
            })
            .collect();
        let body = json!({ "actions": [{ "type": "key", "id": "keys", "actions": strokes }] });
        self.tell("POST", "/actions", &body).await;
    }

    /// The visible text of the first that is found; empty without one.
    pub async fn text(&self, css: &str) -> String {
        let text = self
            .run(
                "const it = document.querySelector(arguments[0]); return it?.checkVisibility() ? it.innerText : ''",
                &[json!(css)],
            )
            .await;
        text.as_str().unwrap().to_owned()
    }

    /// An attribute of the first that is found; empty without one.
    pub async fn attribute(&self, css: &str, name: &str) -> String {
        let script = "return document.querySelector(arguments[0])?.getAttribute(arguments[1]) ?? ''";
        let value = self.run(script, &[json!(css), json!(name)]).await;
        value.as_str().unwrap().to_owned()
    }

    pub async fn count(&self, css: &str) -> u64 {
        let script = "return document.querySelectorAll(arguments[0]).length";
        self.run(script, &[json!(css)]).await.as_u64().unwrap()
    }

    /// Waits until something is to be seen and says this.
    pub async fn wait_for_text(&self, css: &str, text: &str) {
        let script = "return [...document.querySelectorAll(arguments[0])].some((it) => it.checkVisibility() && it.innerText.includes(arguments[1]))";
        self.becomes(
            &format!("{css} shows {text:?}"),
            script,
            &[json!(css), json!(text)],
        )
        .await;
    }

    /// Waits until the page that is shown has this path.
    pub async fn arrives_at(&self, path: &str) {
        let script = "return location.pathname + location.search === arguments[0] && document.readyState === 'complete'";
        self.becomes(&format!("the page is {path}"), script, &[json!(path)])
            .await;
    }

    /// Waits until a question to the page is answered with yes.
    pub async fn becomes(&self, what: &str, script: &str, arguments: &[Value]) {
        let body = json!({ "script": script, "args": arguments });
        let begin = StealAwareInstant::now();
        loop {
            // A page that is being left cannot be asked.
            let answer = self.driver.tell("POST", "/execute/sync", &body).await;
            if matches!(answer, Ok(Value::Bool(true))) {
                return;
            }
            if begin.elapsed() > CASE_TIMEOUT {
                let shown = self.text("body").await;
                panic!("in vain: {what}: {answer:?}; at {}: {shown}", self.path().await);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Writes the whole page as a picture to `target/screenshots/`.
    pub async fn picture(&self, name: &str) {
        let bytes = self.screenshot(None).await;
        let folder = screenshots_folder();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }

    /// The page or a part of it as a PNG.
    pub async fn screenshot(&self, clip: Option<Value>) -> Vec<u8> {
        let mut shot =
            json!({ "format": "png", "captureBeyondViewport": true, "optimizeForSpeed": clip.is_some() });
        if let Some(clip) = clip {
            shot["clip"] = clip;
        }
        let shot = self.command("Page.captureScreenshot", shot).await;
        let text = shot["data"].as_str().unwrap();
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).unwrap()
    }

    /// Does something with the first that is found, again and again until it works.
    async fn with(&self, css: &str, what: &str, work: impl AsyncFn(String) -> Result<Value, DriverError>) {
        let by = json!({ "using": "css selector", "value": css });
        let begin = StealAwareInstant::now();
        loop {
            let done = match self.driver.tell("POST", "/element", &by).await {
                Ok(found) => work(found[ELEMENT].as_str().unwrap().to_owned()).await,
                Err(trouble) => Err(trouble),
            };
            let Err(trouble) = done else { return };
            if begin.elapsed() > CASE_TIMEOUT {
                panic!("in vain: {css} {what}: {trouble:?}; at {}", self.path().await);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn tell(&self, method: &str, path: &str, body: &Value) -> Value {
        match self.driver.tell(method, path, body).await {
            Ok(value) => value,
            Err(trouble) => panic!("{method} {path}: {trouble:?}"),
        }
    }
}

/// Where pictures of pages are written.
pub fn screenshots_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target")),
        PathBuf::from,
    );
    target.join("screenshots")
}

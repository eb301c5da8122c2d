//! The chromedriver process, and the WebDriver protocol: JSON over HTTP.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a page may take to load.
const PAGE_MILLIS: u64 = 30_000;
/// How long a command may take.
const COMMAND: Duration = Duration::from_secs(45);
/// How long a browser may take to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A driver with one browser. Dropping it ends both.
pub struct Driver {
    child: Child,
    addr: SocketAddr,
    session: String,
    _profile: tempfile::TempDir,
}

/// The error message of the driver.
pub type DriverError = String;

impl Driver {
    /// Starts a driver on a free port, and a browser with these preferences.
    pub async fn start(preferences: &Value) -> Self {
        let (child, port) = listening_driver();
        let profile = tempfile::tempdir().unwrap();
        let mut driver = Self {
            child,
            addr: SocketAddr::from(([127, 0, 0, 1], port)),
            session: String::new(),
            _profile: profile,
        };
        let folder = driver._profile.path().display().to_string();
        let options = json!({
            // Root is not given a sandbox; /dev/shm may be small in containers.
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-extensions",
                "--force-color-profile=srgb", "--lang=tr", "--window-size=1440,900",
                format!("--user-data-dir={folder}"),
            ],
            "prefs": preferences,
        });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "timeouts": { "pageLoad": PAGE_MILLIS, "script": PAGE_MILLIS },
        }}});
        let begun = driver.ask("POST", "/session", &wanted).await.unwrap();
        begun["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut driver.session);
        driver
    }

    /// A command to the browser.
    pub async fn tell(&self, method: &str, path: &str, body: &Value) -> Result<Value, DriverError> {
        let path = format!("/session/{}{path}", self.session);
        self.ask(method, &path, body).await
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, DriverError> {
        let (addr, request) = (self.addr, self.request(method, path, body));
        let exchange = tokio::task::spawn_blocking(move || exchange(addr, &request, COMMAND));
        let (status, body) = exchange.await.unwrap().map_err(|error| error.to_string())?;
        let mut value = serde_json::from_slice::<Value>(&body).unwrap()["value"].take();
        match status {
            200 => Ok(value),
            _ => Err(format!("{}: {}", value["error"].take(), value["message"].take())),
        }
    }

    /// The driver takes requests only in the name of this machine.
    fn request(&self, method: &str, path: &str, body: &Value) -> Vec<u8> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let (addr, length) = (self.addr, body.len());
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {addr}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }

    /// The browsers that it has started, as the system knows them.
    fn browsers(&self) -> Vec<String> {
        let id = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        children
            .unwrap_or_default()
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    }
}

/// Sends a request and reads its answer: the driver says how long it is, and leaves the connection open.
fn exchange(addr: SocketAddr, request: &[u8], patience: Duration) -> std::io::Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect_timeout(&addr, patience)?;
    stream.set_read_timeout(Some(patience))?;
    stream.write_all(request)?;
    let (mut reader, mut line) = (BufReader::new(stream), String::new());
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut length = 0;
    while line.trim_end() != "" {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((status, body))
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Gracefully, so that no process is left behind; by force if it does not respond.
        let path = format!("/session/{}", self.session);
        // It may hang; it is killed below.
        let _ = exchange(
            self.addr,
            &self.request("DELETE", &path, &Value::Null),
            CLOSE_TIMEOUT,
        );
        let left = self.browsers();
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        for browser in left {
            // It may have ended already.
            let _ = Command::new("kill").args(["-KILL", &browser]).output();
        }
    }
}

/// Starts a driver that listens. It picks one free port for IPv4 and IPv6, and ends when another process takes one of them in
/// between: then it is started again.
fn listening_driver() -> (Child, u16) {
    for _ in 0..10 {
        let mut child = Command::new("chromedriver")
            .arg("--port=0")
            // The panel follows the browser's language.
            .env("LANGUAGE", "tr")
            .env(
                "FONTCONFIG_FILE",
                concat!(env!("CARGO_MANIFEST_DIR"), "/suite/support/fonts.conf"),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("chromedriver: {error}; scripts/test installs chromium-driver"));
        match port(&mut child) {
            Some(port) => return (child, port),
            None => {
                child.wait().unwrap();
            }
        }
    }
    panic!("chromedriver ended instead of listening");
}

/// The port that it has found, which it prints in its first lines; nothing if it ends instead.
fn port(child: &mut Child) -> Option<u16> {
    const MARK: &str = "successfully on port ";
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let port = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once(MARK)?.1.trim_end_matches('.').parse().unwrap()))?;
    // A process blocks when it writes into a full pipe.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    Some(port)
}

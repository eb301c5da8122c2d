//! A POS for `garson certify`: good, unless a test says otherwise.

use crate::support::{CannedResponse, Outcome, ReceivedRequest, Receiver, command, program_run, request};
use garson::flow::deliver::signature::Signer;
use garson_core::clock::{Clock, SystemClock};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use http::HeaderMap;
use serde_json::Value;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub const KEY: &str = "gsn_receiver_key";
/// A file with that key.
pub const KEY_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/suite/cli/receiver.key");
pub const BEARER: &str = "Bearer gsn_receiver_key";
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A POS as it should be: the method, the key, the body.
pub fn good(seen: &ReceivedRequest) -> CannedResponse {
    match serde_json::from_str::<Value>(&seen.body) {
        _ if !seen.line.starts_with("POST ") => CannedResponse::Status(405),
        _ if seen.header("authorization") != Some(BEARER) => CannedResponse::Status(401),
        Err(_) => CannedResponse::Status(400),
        Ok(_) => CannedResponse::Status(200),
    }
}

/// Is the request signed with the secret, for its body, within five minutes?
pub fn is_well_signed(seen: &ReceivedRequest) -> bool {
    let header = |name| seen.header(name).unwrap_or_default();
    let Ok(seconds) = header("webhook-timestamp").parse::<i64>() else {
        return false;
    };
    let at = Timestamp::from_millis(seconds * 1000);
    let signer = Signer::new(&Secret::new(SECRET.to_owned()), None).unwrap();
    let mut expected = HeaderMap::new();
    signer.sign(&mut expected, header("webhook-id"), &seen.body, at);
    let age = (SystemClock.now().as_millis() - at.as_millis()).abs();
    expected["webhook-signature"] == header("webhook-signature") && age < 300_000
}

/// What a run of the command has left.
pub struct Run {
    pub outcome: Outcome,
    pub report: Value,
    pub markdown: String,
    folder: tempfile::TempDir,
}

impl Run {
    /// The scenarios with this result.
    pub fn with(&self, result: &str) -> Vec<String> {
        let scenarios = self.report["scenarios"].as_array().unwrap().iter();
        let of_it = scenarios.filter(|scenario| scenario["result"] == result);
        of_it
            .map(|scenario| scenario["id"].as_str().unwrap().to_owned())
            .collect()
    }

    pub fn scenario(&self, id: &str) -> &Value {
        let mut scenarios = self.report["scenarios"].as_array().unwrap().iter();
        scenarios.find(|scenario| scenario["id"] == id).unwrap()
    }

    pub fn api_file(&self) -> PathBuf {
        api_file(self.folder.path())
    }

    /// The names of what is left in the folder for temporary files.
    pub fn leftovers(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path().join("tmp")).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect()
    }
}

fn api_file(folder: &Path) -> PathBuf {
    folder.join("api.json")
}

/// A folder for the report and for temporary files.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tmp")).unwrap();
    folder
}

/// The command, with its report and its temporary files in this folder.
pub fn certify_in(folder: &Path, url: &str, flags: &[&str]) -> std::process::Command {
    let mut certify = command();
    certify
        .args(["certify", url, "--key-file", KEY_FILE, "--report"])
        .arg(folder.join("report"))
        .arg("--api-file")
        .arg(api_file(folder))
        .args(flags)
        .env("TMPDIR", folder.join("tmp"));
    certify
}

/// Runs it to its end while the POS, which may live in this process, goes on.
pub async fn run(folder: tempfile::TempDir, url: &str, flags: &[&str]) -> Run {
    let command = certify_in(folder.path(), url, flags);
    let outcome = tokio::task::spawn_blocking(move || program_run(command))
        .await
        .unwrap();
    let read = |ending: &str| {
        let path = folder.path().join(format!("report.{ending}"));
        std::fs::read_to_string(path).unwrap_or_default()
    };
    let report = serde_json::from_str(&read("json"))
        .unwrap_or_else(|_| panic!("no report: {}{}", outcome.out, outcome.err));
    Run {
        report,
        markdown: read("md"),
        outcome,
        folder,
    }
}

/// A POS that accepts orders: it verifies each of them once through the API, whose address is in a file.
#[derive(Clone)]
pub struct Acting {
    api_file: PathBuf,
    known: Arc<Mutex<HashSet<String>>>,
}

impl Acting {
    pub fn new(folder: &Path) -> Self {
        Self {
            api_file: api_file(folder),
            known: Arc::default(),
        }
    }

    /// Answers an event, and accepts its order in the background if it is new.
    pub fn respond(&self, seen: &ReceivedRequest) -> CannedResponse {
        let answer = good(seen);
        if answer.status() == Some(200) {
            let event = seen.json();
            let order = event["veri"]["orderId"].as_str().unwrap_or_default().to_owned();
            let is_new = event["olay"] == "siparis.olusturuldu";
            if is_new && self.known.lock().unwrap().insert(order.clone()) {
                tokio::spawn(self.clone().verify(order));
            }
        }
        answer
    }

    async fn verify(self, order: String) {
        let api: Value = serde_json::from_str(&std::fs::read_to_string(&self.api_file).unwrap()).unwrap();
        let address = api["url"].as_str().unwrap().strip_prefix("http://").unwrap();
        let address: SocketAddr = address.parse().unwrap();
        let bearer = format!("Bearer {}", api["key"].as_str().unwrap());
        let path = format!("/web-api/v1/orders/verify/{order}");
        let bytes = request("POST", &path, &[("authorization", &bearer)], b"");
        // The service may be killed and start again meanwhile; a platform may not be ready.
        loop {
            match exchange(address, &bytes).await {
                // A cancelled order is a 409, and one that does not exist a 404.
                Some(200 | 404 | 409) => return,
                Some(500..) | None => tokio::time::sleep(Duration::from_millis(50)).await,
                Some(other) => panic!("verifying {order} was answered {other}"),
            }
        }
    }
}

/// Sends a request; returns the status of the answer, if one comes.
async fn exchange(address: SocketAddr, bytes: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(bytes).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.split(' ').nth(1)?.parse().ok()
}

/// Starts a POS that is good except where `habit` says otherwise.
pub async fn pos(
    habit: impl Fn(&ReceivedRequest) -> Option<CannedResponse> + Send + Sync + 'static,
) -> Receiver {
    let receiver = Receiver::start().await.keeps_connections();
    receiver.respond_with(move |seen| habit(seen).unwrap_or_else(|| good(seen)));
    receiver
}

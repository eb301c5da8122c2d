//! Every command of the book is run, as a reader would, and every sample of JSON is compared with what the service answers.

use super::source::{Kind, LANGUAGES, Sample, names, samples};
use crate::support::{StealAwareInstant, TestService, request, send};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

cases! {
    ; sqlite_only:
    english_samples_are_true
    turkish_samples_are_true
    samples_are_the_same_in_both_languages
    difference_is_found
}

/// The blocks that are not run, by page, with the reason.
const NOT_RUN: [(&str, &str); 11] = [
    ("start", "it runs until Ctrl-C"),
    ("webhooks", "for your own database"),
    ("install", "installs a package on the machine"),
    ("install", "builds the program for several minutes"),
    ("install", "needs Docker"),
    ("install", "needs another service"),
    ("tls", "changes the proxy of the machine"),
    ("postgresql", "needs a PostgreSQL server"),
    ("postgresql", "needs a PostgreSQL server"),
    ("backup", "runs until Ctrl-C"),
    ("upgrade", "installs a package on the machine"),
];

async fn page_names(service: &TestService) -> Vec<String> {
    let first = send(service.addr, &request("GET", "/docs/en/start", &[], &[])).await;
    names(&first.text(), "en")
}

async fn english_samples_are_true(service: TestService) {
    check("en", &page_names(&service).await).await;
}

async fn turkish_samples_are_true(service: TestService) {
    check("tr", &page_names(&service).await).await;
}

async fn samples_are_the_same_in_both_languages(service: TestService) {
    let mut not_run = Vec::new();
    for name in page_names(&service).await {
        let [english, turkish] = LANGUAGES.map(|language| samples(language, &name));
        assert_eq!(english, turkish, "{name}");
        for sample in english {
            if let Kind::NotRun(reason) = sample.kind {
                not_run.push((name.clone(), reason));
            }
        }
    }
    let listed = NOT_RUN.map(|(page, reason)| (page.to_owned(), reason.to_owned()));
    assert_eq!(not_run, listed);
}

/// The shell with everything that it has started; dropping it ends all of it.
struct Shell(Child);

impl Drop for Shell {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        // It may have ended by itself.
        let _ = Command::new("kill")
            .args(["-KILL", "--", &group])
            .stderr(Stdio::null())
            .status();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// The commands of all pages as one script, which writes what each block has printed to a file of its own, and the events of the
/// account where a sample shows one.
fn script(pages: &[(String, Vec<Sample>)]) -> String {
    let mut script = "set -euo pipefail\n".to_owned();
    for (page, samples) in pages {
        for (number, sample) in samples.iter().enumerate() {
            let at = format!("$OUT/{page}-{number}");
            let _ = match sample.kind {
                Kind::Commands => {
                    write!(
                        script,
                        "echo {page}-{number} > $OUT/last\n{{\n{}}} > {at}.out 2> {at}.err < /dev/null\n",
                        sample.text
                    )
                }
                Kind::Event => writeln!(
                    script,
                    "curl --silent -H \"Authorization: Bearer $KEY\" \"$URL/web-api/v1/events?limit=200\" > {at}.events"
                ),
                Kind::Settings => {
                    write!(
                        script,
                        "cat > {at}.toml <<'END'\n{}END\ngarson config --config {at}.toml > {at}.out\n",
                        sample.text
                    )
                }
                Kind::Response | Kind::Output | Kind::NotRun(_) => Ok(()),
            };
        }
    }
    script
}

async fn check(language: &str, names: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    let [bin, home, out] = ["bin", "home", "out"].map(|name| folder.path().join(name));
    for made in [&bin, &home, &out] {
        std::fs::create_dir(made).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_garson-e2e"), bin.join("garson")).unwrap();
    let pages: Vec<(String, Vec<Sample>)> = names
        .iter()
        .map(|name| (name.clone(), samples(language, name)))
        .collect();
    // Other tests run at the same time, so the ports of the book are replaced by free ones.
    let (port, receiver) = (free_port(), free_port());
    let script = script(&pages)
        .replace("127.0.0.1:8080", &format!("127.0.0.1:{port}"))
        .replace("127.0.0.1:9000", &format!("127.0.0.1:{receiver}"));
    run(&script, &home, &bin, &out, port).await;
    let mut compared = 0;
    for (page, samples) in &pages {
        compared += compare(page, samples, &out);
    }
    assert!(compared > 20, "{compared}");
}

/// Longer than all commands take on a busy machine, and shorter than a case may.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(140);

async fn run(script: &str, home: &Path, bin: &Path, out: &Path, port: u16) {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(home).process_group(0);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("GARSON_")) {
        command.env_remove(name);
    }
    command
        .env("PATH", path)
        .env("OUT", out)
        .env("GARSON_LISTEN", format!("127.0.0.1:{port}"))
        .env("no_proxy", "127.0.0.1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut shell = Shell(command.spawn().unwrap());
    let start = StealAwareInstant::now();
    let ended = loop {
        if let Some(ended) = shell.0.try_wait().unwrap() {
            break Some(ended);
        }
        if start.elapsed() > SCRIPT_TIMEOUT {
            break None;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    if !ended.is_some_and(|ended| ended.success()) {
        let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap_or_default();
        let last = read("last");
        let last = last.trim();
        panic!(
            "the block {last} failed or did not end:\n{}\n{}\n{}",
            read(&format!("{last}.out")),
            read(&format!("{last}.err")),
            std::fs::read_to_string(home.join("garson.log")).unwrap_or_default()
        );
    }
}

/// Compares the samples of a page; returns how many there were.
fn compare(page: &str, samples: &[Sample], out: &Path) -> usize {
    let mut compared = 0;
    let mut printed = String::new();
    let mut answer: Option<Value> = None;
    for (number, sample) in samples.iter().enumerate() {
        let read = |extension: &str| {
            std::fs::read_to_string(out.join(format!("{page}-{number}.{extension}"))).unwrap()
        };
        let next = samples.get(number + 1).map(|next| &next.kind);
        match sample.kind {
            Kind::Commands => {
                printed = read("out");
                answer = last_json(&printed);
                // An error that the page does not show is a mistake of the page.
                let failed = answer.as_ref().is_some_and(|it| it["success"] == json!(false));
                assert!(
                    !failed || next == Some(&Kind::Response),
                    "{page}: {}: {answer:?}",
                    sample.text
                );
            }
            Kind::Response => {
                let shown: Value = serde_json::from_str(&sample.text).unwrap();
                let answer = answer
                    .as_ref()
                    .unwrap_or_else(|| panic!("{page}: no answer for {shown}"));
                assert_eq!(difference(&shown, answer, "answer"), None, "{page}: {answer:#}");
                compared += 1;
            }
            Kind::Event => {
                let shown: Value = serde_json::from_str(&sample.text).unwrap();
                let events: Value = serde_json::from_str(&read("events")).unwrap();
                let mut events = events["data"].as_array().unwrap().iter();
                assert!(
                    events.any(|event| difference(&shown, event, "event").is_none()),
                    "{page}: {shown:#}"
                );
                compared += 1;
            }
            Kind::Output => {
                let missing = sample
                    .text
                    .lines()
                    .find(|line| !printed.lines().any(|it| it == *line));
                assert_eq!(missing, None, "{page}: {printed}");
                compared += 1;
            }
            Kind::Settings | Kind::NotRun(_) => {}
        }
    }
    compared
}

/// The last JSON object in what commands have printed.
fn last_json(text: &str) -> Option<Value> {
    let mut rest = text;
    let mut last = None;
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                last = Some(value);
                rest = &rest[values.byte_offset()..];
            }
            _ => rest = &rest[1..],
        }
    }
    last
}

/// Where an answer does not have what a sample shows; see `source.rs`.
fn difference(shown: &Value, actual: &Value, at: &str) -> Option<String> {
    match (shown, actual) {
        (Value::Object(shown), Value::Object(actual)) => shown.iter().find_map(|(name, value)| {
            let at = format!("{at}.{name}");
            match actual.get(name) {
                Some(actual) => difference(value, actual, &at),
                None => Some(format!("{at} is missing")),
            }
        }),
        (Value::Array(shown), Value::Array(actual)) if shown.len() == actual.len() => {
            let pairs = shown.iter().zip(actual).enumerate();
            pairs
                .into_iter()
                .find_map(|(number, (shown, actual))| difference(shown, actual, &format!("{at}[{number}]")))
        }
        (Value::String(shown), Value::String(_)) if shown == "…" => None,
        _ if shown == actual => None,
        _ => Some(format!("{at}: {shown} is shown, but it is {actual}")),
    }
}

/// A comparison that finds nothing must be able to.
async fn difference_is_found(_: TestService) {
    let answer = json!({ "success": true, "data": { "id": "x", "list": [1, 2] } });
    let same = |shown: Value| difference(&shown, &answer, "a").is_none();
    assert!(same(json!({ "data": { "id": "…" } })) && same(json!({ "data": { "list": [1, 2] } })));
    for wrong in [
        json!({ "data": { "id": "y" } }),
        json!({ "data": { "list": [1] } }),
        json!({ "data": { "list": "…" } }),
        json!({ "more": null }),
        json!({ "success": false }),
    ] {
        assert!(!same(wrong.clone()), "{wrong}");
    }
    assert_eq!(last_json("ready{\"a\":{}}{\"b\":1} x {"), Some(json!({ "b": 1 })));
    let kinds: BTreeSet<bool> = samples("en", "start")
        .iter()
        .map(|it| it.kind == Kind::Commands)
        .collect();
    assert_eq!(kinds.len(), 2);
}

//! axe-core, which checks accessibility; `scripts/axe` fetches it.

use super::Browser;
use serde_json::{Value, json};
use std::process::Command;
use std::sync::LazyLock;

static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/axe");
    let output = Command::new(path).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "scripts/axe: {err}");
    let script = String::from_utf8(output.stdout).unwrap();
    std::fs::read_to_string(script.trim()).unwrap()
});

/// Has the checker ready in every page that is opened from now on.
pub async fn prepare(browser: &Browser) {
    let script = json!({ "source": *SCRIPT });
    browser
        .command("Page.addScriptToEvaluateOnNewDocument", script)
        .await;
}

/// What is wrong with the page that is shown, of any weight, in words.
pub async fn violations(browser: &Browser) -> Vec<String> {
    let found = browser
        .run_async(
            "const found = await axe.run(document, { resultTypes: ['violations'] });
             return found.violations.map((it) => [it.impact, it.id, it.help,
                it.nodes.slice(0, 3).map((node) => [node.html.slice(0, 160), node.failureSummary])])",
            &[],
        )
        .await;
    let words = |it: &Value| json!(it).to_string();
    found.as_array().unwrap().iter().map(words).collect()
}

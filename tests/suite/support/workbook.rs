//! Reads XLSX workbooks with a strict reader that is not our own.

use serde_json::Value;
use std::process::{Command, Stdio};

/// A cell of a workbook: a text, or a number as it is written, with the number of its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkbookCell {
    Empty,
    Text(String),
    Number(String, i64),
}

/// The rows of the first sheet. Fails if the file is not a valid workbook.
pub fn read_workbook(bytes: &[u8]) -> Vec<Vec<WorkbookCell>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/suite/support/read_workbook.py");
    let output = Command::new("python3")
        .arg(script)
        .arg(file.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    let sheets: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = sheets[0].as_array().unwrap().iter();
    rows.map(|row| row.as_array().unwrap().iter().map(cell).collect())
        .collect()
}

fn cell(value: &Value) -> WorkbookCell {
    let text = || value[1].as_str().unwrap().to_owned();
    match value[0].as_str() {
        None => WorkbookCell::Empty,
        Some("text") => WorkbookCell::Text(text()),
        Some(_) => WorkbookCell::Number(text(), value[2].as_i64().unwrap()),
    }
}

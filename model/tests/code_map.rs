//! The table in `README.md` names every step of the model, and code that still exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    let text = fs::read_to_string(path);
    assert!(text.is_ok(), "{}: {text:?}", path.display());
    text.unwrap_or_default()
}

/// The rows of the table: the model's step, a file and a function.
fn rows() -> Vec<[String; 3]> {
    let readme = read(&here().join("README.md"));
    let cells = |line: &str| -> Option<[String; 3]> {
        let cells: Vec<String> = line
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect();
        let code = |cell: &String| Some(cell.strip_prefix('`')?.strip_suffix('`')?.to_owned());
        let [step, file, function] = cells.as_slice() else {
            return None;
        };
        Some([code(step)?, code(file)?, code(function)?])
    };
    readme
        .lines()
        .filter(|line| line.starts_with('|'))
        .filter_map(cells)
        .collect()
}

#[test]
fn named_code_exists() {
    let rows = rows();
    assert!(rows.len() > 40, "{} rows", rows.len());
    for [step, file, function] in rows {
        let text = read(&here().join("..").join(&file));
        let is_there = [format!("fn {function}("), format!("fn {function}<")]
            .iter()
            .any(|it| text.contains(it));
        assert!(is_there, "{step}: no fn {function} in {file}");
    }
}

/// The variants of an enum in a source file.
fn variants(file: &str, name: &str) -> Vec<String> {
    let text = read(&here().join("src").join(file));
    let start = format!("pub enum {name} {{\n");
    assert!(text.contains(&start), "no {name} in {file}");
    let body = text.split(&start).nth(1).unwrap_or_default();
    let body = body.split("\n}").next().unwrap_or_default();
    let is_variant = |line: &&str| line.starts_with("    ") && line[4..].starts_with(char::is_uppercase);
    let word = |line: &str| {
        line.trim()
            .split(|c: char| !c.is_alphanumeric())
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    body.lines().filter(is_variant).map(word).collect()
}

#[test]
fn every_step_is_in_the_table() {
    let named: BTreeSet<String> = rows().into_iter().map(|[step, ..]| step).collect();
    let enums = [
        ("cluster", "cluster.rs", "Incident"),
        ("membership", "membership.rs", "Step"),
        ("delivery", "delivery/steps.rs", "Step"),
        ("calls", "calls/steps.rs", "Step"),
        ("slots", "slots/config.rs", "Step"),
    ];
    let mut all = BTreeSet::new();
    for (module, file, name) in enums {
        let found = variants(file, name);
        assert!(found.len() > 4, "{file}: {found:?}");
        all.extend(found.into_iter().map(|variant| format!("{module}::{variant}")));
    }
    let missing: Vec<_> = all.difference(&named).collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
    let unknown: Vec<_> = named.difference(&all).collect();
    assert!(unknown.is_empty(), "no such steps: {unknown:?}");
}
